"""The results file ``benchmarks/results/tables.json``, and the table of docs/messy_tables.md that is filled from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..shared.pages import fill, markdown

__all__ = ["fill_page", "read_results", "write_results"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "benchmarks/results/tables.json", ROOT / "docs/messy_tables.md"
HEADS = [
    "table",
    "rows",
    "inputs",
    "what is awkward",
    "experts",
    "seconds",
    "coverage",
    "error",
    "boosting",
    "least squares",
]


def read_results() -> dict[str, Any]:
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def write_results(results: dict[str, Any], order: list[str]) -> None:
    kept = {name: results[name] for name in order if name in results}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


def fill_page(results: dict[str, Any]) -> None:
    """Fill the table and the sentences above it."""
    fitted = {name: one for name, one in results.items() if "coverage" in one}
    refused = {name: one for name, one in results.items() if "error" in one}
    better = sum(one["rmse"] < one["rmse_of"]["boosting"] for one in fitted.values())
    rows = sum(one["held_out"] for one in fitted.values())
    inside = sum(one["held_out"] * one["coverage"] for one in fitted.values()) / max(rows, 1)
    coverages = sorted(one["coverage"] for one in fitted.values())
    words = (
        f"{len(fitted)} tables were fitted, {len(refused)} refused; the longest fit took "
        f"{max(one['seconds'] for one in results.values()):.0f} s. Intervals of 90% hold {100 * inside:.0f}% of all "
        f"{rows:,} rows held out, and {100 * coverages[len(coverages) // 2]:.0f}% in the median table. The error is "
        f"below that of boosting in {better} of {len(fitted)}."
    )
    lines = [_line(name, one) for name, one in results.items()]
    fill(PAGE, {"tables": words + "\n\n" + markdown(HEADS, lines)})


def _line(name: str, one: dict[str, Any]) -> list[str]:
    seconds = f"{one['seconds']:.1f}"
    if "coverage" not in one:
        why = one.get("error") or one.get("predict_error", "")
        return [
            name,
            f"{one['rows']:,}",
            "",
            one["troubles"],
            "refused: " + why.partition("error: ")[2],
            seconds,
            *[""] * 4,
        ]
    errors = [f"{error / one['spread']:.2f}" for error in (one["rmse"], *one["rmse_of"].values())]
    return [
        name,
        f"{one['used']:,} of {one['rows']:,}" if one["used"] < one["rows"] else f"{one['rows']:,}",
        str(one["inputs"]),
        one["troubles"],
        str(one["n_experts"]),
        seconds,
        f"{one['coverage']:.2f}",
        *errors,
    ]
