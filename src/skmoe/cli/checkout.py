"""The way from the command line to ``experiments/``, which lives in the repository and not in the installed package."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = ["experiments_folder", "listing", "reproduce", "show"]


def experiments_folder() -> Path | None:
    """Where the experiments are: in the checkout this package runs from, or in the working directory; else None."""
    for root in (Path(__file__).resolve().parents[3], Path.cwd()):
        if (root / "experiments" / "runner.py").is_file():
            return root / "experiments"
    return None


def _load(name: str) -> ModuleType:
    folder = experiments_folder()
    if folder is None:
        raise FileNotFoundError(
            "the experiments are in skmoe's repository, not in the installed package: clone it, run "
            "`pip install --editable .` there, and try again"
        )
    if str(folder.parent) not in sys.path:
        sys.path.insert(0, str(folder.parent))
    return importlib.import_module(f"experiments.{name}")


def listing() -> list[tuple[str, str]]:
    """Name and title of each experiment."""
    runner = _load("runner")
    return [(name, runner.module(name).TITLE) for name in runner.MODULES]


def reproduce(
    what: list[str],
    *,
    quick: bool = False,
    trials: int | None = None,
    jobs: int = 1,
    folder: Path | None = None,
    console: Console | None = None,
) -> list[str]:
    """Run what is missing of the experiments, print their tables, draw their figures.

    A full run brings ``docs/paper.md`` and its figures up to date. A quick run starts anew each time, leaves the docs
    alone, and returns how its numbers differ from those kept in the repository.
    """
    runner, tables, check = _load("runner"), _load("tables"), _load("check")
    console = console or Console()
    names = list(runner.MODULES) if "all" in what else list(dict.fromkeys(what))
    unknown = sorted(set(names) - set(runner.MODULES))
    if unknown:
        raise ValueError(f"no experiment is called {', '.join(unknown)}; there are {', '.join(runner.MODULES)} and all")
    if folder is None:
        folder = check.QUICK if quick else runner.RESULTS
    if quick:
        for old in folder.glob("*.jsonl"):
            old.unlink()
    runner.run(names, folder=folder, quick=quick, trials=trials, jobs=jobs, console=console)
    results = tables.load(folder)
    for grid in tables.grids({name: results[name] for name in names}).values():
        show(grid, console)
    committed = not quick and folder == runner.RESULTS
    figures = runner.RESULTS.parents[1] / "docs" / "figures" if committed else folder / "figures"
    if importlib.util.find_spec("matplotlib") is None:
        console.print('no figures were drawn: matplotlib is not installed (pip install "skmoe[plot]")')
    else:
        drawn = _load("drawing").draw(results, figures)
        console.print(f"{len(drawn)} figures in {figures}")
    if committed:
        _load("report").update(results)
    return check.differences(folder) if quick and trials is None and "all" in what else []


def show(grid: Any, console: Console) -> None:
    """Print a table of the experiments or benchmarks: title, columns and rows of text."""
    table = Table(title=escape(grid.title), title_justify="left")
    for column in grid.columns:
        table.add_column(escape(column))
    for row in grid.rows:
        table.add_row(*map(escape, row))
    console.print(table)
