"""What ``skmoe reproduce`` does: run what is missing, print the tables, draw the figures, bring the page up to date."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from rich.console import Console

from skmoe.cli.shell import print_grid

from . import check, page, runner, tables


def listing() -> list[tuple[str, str]]:
    """Name and title of each experiment, and of the page."""
    return [*((name, runner.module(name).TITLE) for name in runner.MODULES), ("page", "docs/paper.md from the results")]


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

    A full run brings ``docs/paper.md`` and its figures up to date; "page" alone writes the page from the results there
    are. A quick run starts anew each time, leaves the docs
    alone, and returns how its numbers differ from those kept in the repository.
    """
    console = console or Console()
    if what == ["page"]:
        write_page(tables.load(), console)
        return []
    names = list(runner.MODULES) if "all" in what else list(dict.fromkeys(what))
    unknown = sorted(set(names) - set(runner.MODULES))
    if unknown:
        raise ValueError(
            f"no experiment is called {', '.join(unknown)}; there are {', '.join(runner.MODULES)}, page and all"
        )
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
        write_page(results, console)
    return check.differences(folder) if quick and trials is None and "all" in what else []


def write_page(results: dict[str, tables.Found], console: Console) -> None:
    """Render ``docs/paper.md``, which needs the results of every experiment."""
    missing = [name for name in runner.MODULES if name not in results]
    if missing:
        console.print(f"docs/paper.md is left as it is: there are no results of {', '.join(missing)}")
        return
    page.update(results)
    console.print(f"{page.PAGE} was written")
