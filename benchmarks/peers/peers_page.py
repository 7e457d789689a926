"""Tables from the results file, and the page docs/peers.md: prose by hand, tables between its markers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..shared.pages import fill, markdown

__all__ = ["blocks", "problem_table", "update"]

OURS = "skmoe"
QUALITY = ["log density", "on rows fitted", "RMSE", "expert error"]
HEADS = ["method", *QUALITY, "CPU s", "wall s", "times skmoe", "MiB", "failed"]


def _spread(values: list[float], digits: int) -> str:
    if not values:
        return "n/a"
    deviation = f" ± {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{deviation}"


def _mean(values: list[float], digits: int) -> str:
    return f"{np.mean(values):.{digits}f}" if values else "n/a"


def _median(values: list[float], digits: int) -> str:
    return f"{np.median(values):.{digits}f}" if values else "n/a"


def problem_table(records: list[dict[str, Any]], problem: str) -> str:
    """One row for each method: mean ± standard deviation of what it is judged on, medians of what it costs."""
    chosen = [record for record in records if record["problem"] == problem]
    ours = {record["seed"]: record["cpu_seconds"] for record in chosen if record["method"] == OURS and "rmse" in record}
    rows = []
    for method in dict.fromkeys(record["method"] for record in chosen):
        mine = [record for record in chosen if record["method"] == method]
        good = [record for record in mine if "error" not in record]

        def values(key: str, good: list[dict[str, Any]] = good) -> list[float]:
            return [record[key] for record in good if record.get(key) is not None]

        ratios = [r["cpu_seconds"] / ours[r["seed"]] for r in good if "cpu_seconds" in r and r["seed"] in ours]
        rows.append(
            [
                method,
                _spread(values("log_density"), 3),
                _mean(values("fitted_log_density"), 3),
                _spread(values("rmse"), 3),
                _spread(values("coefficient_error"), 3),
                _median(values("cpu_seconds"), 2),
                _median(values("wall_seconds"), 2),
                "" if method == OURS else _median(ratios, 1),
                _median(values("memory_mib"), 0),
                f"{len(mine) - len(good)} of {len(mine)}",
            ]
        )
    return markdown(HEADS, rows)


def blocks(results: dict[str, Any]) -> dict[str, str]:
    """Text of each block of the page by name."""
    records = results["records"]
    problems = dict.fromkeys(record["problem"] for record in records)
    text = "\n\n".join(f"{_title(records, problem)}\n\n{problem_table(records, problem)}" for problem in problems)
    failures = [
        f"- {r['method']} on {r['problem']}, seed {r['seed']}: {r['error'].splitlines()[0]}"
        for r in records
        if "error" in r
    ]
    skipped = [f"- {name}: {reason}" for name, reason in results["skipped"].items()]
    sizes = [
        f"- {method} on {problem}: " + ", ".join(str(size) for size in found)
        for (method, problem), found in _sizes(records).items()
    ]
    versions = ", ".join(f"{name} {version}" for name, version in results["versions"].items())
    commands = ", then ".join(f"`{command}`" for command in results["commands"])
    return {
        "tables": text,
        "methods": markdown(["method", "how it was used"], [[name, how] for name, how in results["methods"].items()]),
        "failures": "\n".join(failures + skipped) or "No fit failed and no peer was skipped.",
        "sizes": "\n".join(sizes),
        "run": f"{commands}; at most {results['limit']:g} seconds a fit; {versions}.",
    }


def _title(records: list[dict[str, Any]], problem: str) -> str:
    seeds = sorted({record["seed"] for record in records if record["problem"] == problem})
    return f"**{problem}** ({'seed' if len(seeds) == 1 else 'seeds'} {', '.join(map(str, seeds))})"


def _sizes(records: list[dict[str, Any]]) -> dict[tuple[str, str], list[int]]:
    """Components chosen, seed by seed, by the methods that choose."""
    found: dict[tuple[str, str], list[int]] = {}
    for record in records:
        if any(word in record["method"] for word in ("BIC", "tuned", "StepMix")) and "n_components" in record:
            found.setdefault((record["method"], record["problem"]), []).append(record["n_components"])
    return found


def update(results: dict[str, Any], page: Path) -> None:
    """Put what the results say between the page's markers."""
    fill(page, blocks(results))
