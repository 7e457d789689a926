"""Measure speed, memory and size: cost over the bare matrix products, flat memory, the same answer everywhere.

    python -m benchmarks.scale.runner products same [--quick] [--out FILE] [--folder FOLDER]

A full run keeps its numbers in ``benchmarks/results`` and brings ``docs/scaling.md`` up to date; a quick one, or one
with --out, leaves both alone. ``make bench-products`` runs one of them, ``make bench-all`` all.
"""

from __future__ import annotations

import argparse
import importlib
import json
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console

from skmoe.cli.shell import check_output, print_grid

from . import MODULES, RESULTS, describe, scaling_page

__all__ = ["run"]


def module(name: str) -> ModuleType:
    return importlib.import_module(f".{MODULES[name]}", __package__)


def run(
    what: list[str], *, quick: bool = False, out: Path | None = None, folder: Path | None = None, console: Console
) -> dict[str, Any]:
    """Run benchmarks and return their results by name.

    Large files go to `folder`, by default a temporary one, and are deleted.
    """
    names = list(MODULES) if "all" in what else list(dict.fromkeys(what))
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
            command = f"python -m benchmarks.scale.runner {name}{' --quick' if quick else ''}"
            results[name] = {**describe(command), **benchmark.measure(quick, Path(place))}
            for grid in benchmark.grids(results[name]).values():
                print_grid(grid, console)
            if not quick and out is None:
                path = RESULTS / f"{name}.json"
                path.write_text(json.dumps(results[name], indent=1) + "\n")
                scaling_page.update()
            if out is not None:
                out.write_text(json.dumps(results, indent=1) + "\n")
    return results


def main(arguments: list[str] | None = None) -> None:
    there_are = "\n".join(f"  {name:14}{module(name).TITLE}" for name in MODULES)
    parser = argparse.ArgumentParser(
        description=__doc__, epilog=there_are, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="+", choices=[*MODULES, "all"], metavar="NAME", help="of those below, or all")
    parser.add_argument("--quick", action="store_true", help="everything tiny: shows that it runs, measures nothing")
    parser.add_argument("--out", type=Path, help="JSON file for the numbers, in place of the repository's")
    parser.add_argument("--folder", type=Path, help="where files of up to 4 GB may be written; they are deleted")
    given = parser.parse_args(arguments)
    if given.out is not None:
        check_output(str(given.out), "--out")
    run(given.what, quick=given.quick, out=given.out, folder=given.folder, console=Console(highlight=False))


if __name__ == "__main__":
    main()
