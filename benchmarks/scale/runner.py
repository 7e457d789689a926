"""Run benchmarks, print their tables, keep their numbers."""

from __future__ import annotations

import importlib
import json
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

from skmoe.cli.shell import print_grid

from . import MODULES, RESULTS, describe, scaling_page

__all__ = ["listing", "run"]


def module(name: str) -> ModuleType:
    return importlib.import_module(f".{MODULES[name]}", __package__)


def listing() -> list[tuple[str, str]]:
    """Name and title of each benchmark."""
    return [(name, module(name).TITLE) for name in MODULES]


def run(
    what: list[str], *, quick: bool = False, out: Path | None = None, folder: Path | None = None, console: Console
) -> dict[str, Any]:
    """Run benchmarks and return their results by name.

    A full run keeps them in ``benchmarks/results`` and brings ``docs/scaling.md`` up to date; a quick one, or one with
    `out`, leaves both alone. Large files go to `folder`, by default a temporary one, and are deleted.
    """
    names = list(MODULES) if "all" in what else list(dict.fromkeys(what))
    unknown = sorted(set(names) - set(MODULES))
    if unknown:
        raise ValueError(f"no benchmark is called {', '.join(unknown)}; there are {', '.join(MODULES)} and all")
    skipped = {name: reason for name in names if (reason := module(name).missing()) is not None}
    if skipped and "all" not in what:
        raise ValueError("; ".join(f"{name} cannot run: {reason}" for name, reason in skipped.items()))
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(dir=folder) as place:
        for name in names:
            if name in skipped:
                console.print(f"{name} is skipped: {skipped[name]}", markup=False)
                continue
            benchmark = module(name)
            command = f"skmoe bench {name}{' --quick' if quick else ''}"
            results[name] = {**describe(command), **benchmark.measure(quick, Path(place))}
            for grid in benchmark.grids(results[name]).values():
                print_grid(grid, console)
            if not quick and out is None and name != "peers":  # which keeps its own results and fills its own page
                path = RESULTS / f"{name}.json"
                path.write_text(json.dumps(results[name], indent=1) + "\n")
                scaling_page.update()
            if out is not None:
                out.write_text(json.dumps(results, indent=1) + "\n")
    return results
