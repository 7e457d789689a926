"""``skmoe report``: a saved model as an HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from skmoe.cli.models import open_model
from skmoe.cli.shell import check_output, note

__all__ = ["report"]


def report(
    model: Annotated[str, typer.Argument(help="Model file that skmoe fit wrote.")],
    html: Annotated[str, typer.Option(help="HTML file to write.")],
    data: Annotated[
        str | None, typer.Argument(help="Table to judge the model by, with its target; - for CSV from stdin.")
    ] = None,
) -> None:
    """Write what a model says as one HTML page; with a table, also how well it predicts.

    Example: skmoe report houses.skmoe houses.csv --html houses.html
    """
    check_output(html, "--html", model, data)
    fitted, encoder = open_model(model)
    X = y = None
    if data is not None:
        from skmoe.rows import open_table

        table = open_table(data)
        if encoder.target is None:
            raise ValueError(f"{model}: the model does not know its target; leave the table out")
        X, y, _ = encoder.rows(table, unseen="empty")
        if len(y) == 0:
            raise ValueError(f"{data}: no row has the target and all inputs")
        if len(y) < table.n:
            note(f"{table.n - len(y)} of {table.n} rows lack a value and were left out")
    from skmoe.report import write
    from skmoe.rows.writing import replacing

    with replacing(html) as beside:
        write(fitted, beside, X, y, title=Path(model).stem, target=encoder.target)
    note(f"report in {html}")
