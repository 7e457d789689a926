"""The command line, ``skmoe``: one file a command, and `shell`, which knows errors, notes and exit codes.

Whatever is slow to import (NumPy, scikit-learn, pyarrow, the estimator) is imported inside commands: help is for
people in a hurry.
"""

from __future__ import annotations

import typer

from skmoe.cli.compare import compare
from skmoe.cli.demo import demo
from skmoe.cli.fit import fit
from skmoe.cli.predict import predict
from skmoe.cli.report import report
from skmoe.cli.shell import Shell

__all__ = ["app"]

EPILOG = (
    "Exit codes: 0 all went well; 1 it ran, but the result is not to be relied on (the fit did not converge or was "
    "interrupted; the model so far is saved); 2 a mistake in what was asked or given; 3 the machine failed (memory, "
    "disk) or skmoe has a defect; 130 interrupted with no result."
)

app = typer.Typer(cls=Shell, epilog=EPILOG, add_completion=False, pretty_exceptions_enable=False)


@app.callback(invoke_without_command=True)
def main(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and leave."),
) -> None:
    """Mixtures of experts: regimes of a table, their coefficients with standard errors, predictions with intervals.

    Example: skmoe demo
    """
    if version:
        from skmoe import __version__

        typer.echo(f"skmoe {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for command in (demo, fit, predict, report, compare):
    app.command()(command)
