"""Writes what the studies of families found into the page about them, docs/guide/families.md.

    python -m benchmarks.families.family_page

Tables between the markers of the page are made anew from the files that the studies write with --record.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from benchmarks.shared import pages

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "guide" / "families.md"
EXPERTS = (2, 3, 4)
NUMBERS = {"auto": '"auto"', "2": "two experts"}


def recorded(name: str) -> dict[str, Any]:
    """What a study found."""
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def reach() -> str:
    """In how many problems the default fit is as good as the one from the truth."""
    found = recorded("family_reach")
    rows = []
    for family in dict.fromkeys(title.split(" k=")[0] for title in found):
        cells = [found[f"{family} k={k}"] for k in EXPERTS]
        rows.append([family, *(f"{cell['reached']} of {cell['problems']}" for cell in cells)])
    return pages.markdown(["family", *(f"{k} experts" for k in EXPERTS)], rows)


def coverage() -> str:
    """How often 95% intervals hold the truth."""
    rows = [
        [
            one["family"],
            f"{one['rows']}",
            "default" if one["penalty"] == "auto" else f"{one['penalty']:g}",
            *(f"{one[what]:.1f}%" for what in ("experts", "gate", "sandwich")),
        ]
        for one in recorded("family_coverage").values()
    ]
    return pages.markdown(["family", "rows of a table", "penalty", "experts", "gate", "experts, sandwich"], rows)


def flexmix() -> str:
    """Log-likelihoods and CPU seconds beside those of flexmix."""
    rows = []
    for title, one in recorded("family_flexmix").items():
        seconds = [f"{one['skmoe_seconds']:.2f}", f"{one['flexmix_seconds']:.2f}"]
        rows.append([title, f"{one['skmoe']:.2f}", f"{one['flexmix']:.2f}", *seconds, f"{one['n_init']}"])
    return pages.markdown(["table", "skmoe", "flexmix", "CPU seconds", "of one start of flexmix", "`n_init`"], rows)


def gained(density: dict[str, float], name: str) -> float:
    """Log density that a fit gains over one regression, to the digits shown and with no negative zero."""
    return round(density[name] - density["statsmodels"], 3) + 0.0


def counts() -> str:
    """Held-out counts beside regressions of the same law and least squares."""
    rows = []
    for title, one in recorded("count_tables").items():
        density, rmse = one["log_density"], one["rmse"]
        cells = [f"{density['statsmodels']:.2f}", *(f"{gained(density, k):+.3f}" for k in NUMBERS)]
        cells += [f"{rmse['statsmodels']:.2f}"]
        cells += [f"{rmse[name] / rmse['statsmodels']:.2f}" for name in (*NUMBERS, "least squares")]
        rows.append([title, f"{one['rows']}", *cells])
    heads = ["table", "rows", "log density of one regression", *(f"{name} gains" for name in NUMBERS.values())]
    heads += ["RMSE of one regression", *(f"{name}, times" for name in (*NUMBERS.values(), "least squares"))]
    return pages.markdown(heads, rows)


def texts() -> dict[str, str]:
    """The tables of the page by the names of their markers."""
    return {"reach": reach(), "coverage": coverage(), "beside flexmix": flexmix(), "counts": counts()}


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    pages.fill(PAGE, texts())


if __name__ == "__main__":
    main()
