"""``skmoe reproduce``: the paper's tables and figures again."""

from __future__ import annotations

from typing import Annotated

import typer

from skmoe.cli.checkout import load
from skmoe.cli.failures import UNRELIABLE
from skmoe.cli.shell import terminal

__all__ = ["reproduce"]


def reproduce(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="table1, table2, figure3 ... figure6, theory, scaling-panel, all, or page."),
    ] = None,
    show: bool = typer.Option(False, "--list", help="Say what there is, and run nothing."),
    quick: bool = typer.Option(
        False, "--quick", help="Two small trials of everything, compared with those in the repository."
    ),
    trials: int = typer.Option(None, min=1, help="Trials of each setting, in place of each experiment's own number."),
    jobs: int = typer.Option(1, min=1, help="Processes."),
) -> None:
    """Run the paper's tables and figures again; a trial that was done before is not run again.

    Example: skmoe reproduce table1 figure3 --jobs 2
    """
    experiments, console = load("experiments.reproduce"), terminal()
    if show or not what:
        for name, title in experiments.listing():
            console.print(f"{name:14} {title}")
        return
    differences = experiments.reproduce(what, quick=quick, trials=trials, jobs=jobs, console=console)
    if differences:
        console.print(
            f"{len(differences)} differences from the repository's:", *differences[:5], sep="\n", markup=False
        )
        raise typer.Exit(UNRELIABLE)
    if quick and "all" in what:
        console.print("the quick set is the same as the repository's")
