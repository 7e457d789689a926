"""What ``skmoe reproduce`` does: run what is missing, print the tables, draw the figures, bring the page up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from rich.console import Console

from skmoe.cli.shell import print_grid

from . import check, report, runner, tables


def listing() -> list[tuple[str, str]]:
    """Name and title of each experiment."""
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
        print_grid(grid, console)
    committed = not quick and folder == runner.RESULTS
    figures = runner.RESULTS.parents[1] / "docs" / "figures" if committed else folder / "figures"
    if importlib.util.find_spec("matplotlib") is None:
        console.print('no figures were drawn: matplotlib is not installed (pip install "skmoe[plot]")')
    else:
        from . import drawing

        drawn = drawing.draw(results, figures)
        console.print(f"{len(drawn)} figures in {figures}")
    if committed:
        report.update(results)
    return check.differences(folder) if quick and trials is None and "all" in what else []
