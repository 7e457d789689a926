"""The page docs/scaling.md: prose by hand, and between its markers what the results files say."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

from ..shared.pages import Grid, fill, markdown
from . import MODULES, RESULTS
from . import cluster as cluster_benchmark

__all__ = ["blocks", "update"]

PAGE = RESULTS.parents[1] / "docs" / "scaling.md"
ROWS, PARTITION_ROWS = 10**10, 250_000  # of the table that no machine here holds
CORES = (10, 100, 1000)


def blocks(results: dict[str, Any]) -> dict[str, str]:
    """Text of each block of the page by name, of the benchmarks there are results of."""
    shown = {}
    for name, result in results.items():
        grids = importlib.import_module(f".{MODULES[name]}", __package__).grids(result)
        shown |= {block: f"{grid.title}.\n\n{_table(grid)}" for block, grid in grids.items()}
    if {"cluster", "memory"} <= set(results):
        shown["forecast"] = _table(forecast(results["cluster"], results["memory"]))
    return shown | {"run": _table(runs(results))}


def _table(grid: Grid) -> str:
    return markdown(grid.columns, grid.rows)


def forecast(cluster: dict[str, Any], memory: dict[str, Any]) -> Grid:
    """Hours of a fit of a table that is read again at each pass, by the constants measured."""
    largest = memory["tables"][-1]
    kinds = {kind: times for kind, times in largest["fit"]["passes_by_kind"].items() if times}
    # the first look and the mean of the gate cost no more than a gradient; the sample is reading alone
    passes = kinds | {"gradient": kinds["gradient"] + 2, "read": 1}
    speed = 8e0 * largest["rows"] * (memory["d"] + 1) / largest["read"]["cpu_s"]
    rows = []
    for cores in CORES:
        hours = {
            kind: cluster_benchmark.forecast(cluster, ROWS, cores, PARTITION_ROWS, {kind: n}, speed)
            for kind, n in passes.items()
        }
        rows.append([f"{cores:,}", *(f"{hours[kind]:.2g}" for kind in passes), f"{sum(hours.values()):.2g}"])
    heads = [f"{cluster_benchmark.NAMES.get(kind, 'sample, read')} ×{n}" for kind, n in passes.items()]
    return Grid("", ["cores", *heads, "all passes, hours"], rows)


def runs(results: dict[str, Any]) -> Grid:
    """Which command gave the numbers, with which versions."""
    rows = []
    for result in results.values():
        words = ", ".join(f"{library} {version}" for library, version in result.get("versions", {}).items())
        rows.append([f"`{result['command']}`", str(result.get("cpu_count", "")), str(result.get("seed", 0)), words])
    return Grid("", ["command", "cores", "seed", "versions"], rows)


def update(page: Path = PAGE, folder: Path = RESULTS) -> None:
    """Put what the results files say between the page's markers."""
    paths = {name: folder / f"{name}.json" for name in MODULES}
    fill(page, blocks({name: json.loads(path.read_text()) for name, path in paths.items() if path.is_file()}))
