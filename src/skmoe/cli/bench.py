"""``skmoe bench``: speed, memory and size, measured on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skmoe.cli.checkout import load
from skmoe.cli.shell import check_output, terminal

__all__ = ["bench"]


def bench(
    what: Annotated[
        list[str] | None, typer.Argument(help="products, memory, same, cluster, gpu, peers, or all.")
    ] = None,
    show: bool = typer.Option(False, "--list", help="Say what there is, and run nothing."),
    quick: bool = typer.Option(False, "--quick", help="Everything tiny: shows that it runs, measures nothing."),
    out: Annotated[str | None, typer.Option(help="JSON file for the numbers, in place of the repository's.")] = None,
    folder: Annotated[
        str | None, typer.Option(help="Where files of up to 4 GB may be written; they are deleted.")
    ] = None,
) -> None:
    """Measure speed, memory and size: cost over the bare matrix products, flat memory, the same answer everywhere.

    Example: skmoe bench products same --out numbers.json
    """
    runner, console = load("benchmarks.scale.runner"), terminal()
    if show or not what:
        for name, title in runner.listing():
            console.print(f"{name:8} {title}")
        return
    if out is not None:
        check_output(out, "--out")
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"--folder: there is no directory {folder}")
    place = None if folder is None else Path(folder)
    runner.run(what, quick=quick, out=None if out is None else Path(out), folder=place, console=console)
