"""Run the paper's tables and figures again; a trial that was done before is not run again.

    python -m experiments.reproduce table1 figure3 [--quick] [--trials N] [--jobs 2]

Tables are printed, figures drawn, and a full run brings ``docs/paper.md`` up to date; "page" alone writes it from the
results there are. A quick run makes two small trials of everything and compares them with those in the repository.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path

from rich.console import Console

from skmoe.cli.shell import print_grid

from . import check, page, runner, tables


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

    A quick run starts anew each time, leaves the docs alone, and returns how its numbers differ from those kept in the
    repository.
    """
    console = console or Console()
    if what == ["page"]:
        write_page(tables.load(), console)
        return []
    names = list(runner.MODULES) if "all" in what else [name for name in runner.MODULES if name in what]
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


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line asks for."""
    there_are = "\n".join(f"  {name:14}{runner.module(name).TITLE}" for name in runner.MODULES)
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=there_are, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    known = [*runner.MODULES, "page", "all"]
    parser.add_argument("what", nargs="+", choices=known, metavar="NAME", help="of those below, page, or all")
    parser.add_argument("--quick", action="store_true", help="two small trials, compared with the repository's")
    parser.add_argument("--trials", type=int, help="trials of each setting, in place of each experiment's own number")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    given, console = parser.parse_args(arguments), Console(highlight=False)
    found = reproduce(given.what, quick=given.quick, trials=given.trials, jobs=given.jobs, console=console)
    if given.quick and "all" in given.what:
        console.print(f"{len(found)} differences from the repository's", *found[:5], sep="\n", markup=False)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
