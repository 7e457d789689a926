"""``skmoe report``: a saved model as an HTML page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skmoe.cli.models import open_model
from skmoe.cli.shell import check_output, note

if TYPE_CHECKING:
    from skmoe.rows import TableEncoder

__all__ = ["report"]


def report(
    model: Annotated[str, typer.Argument(help="Model file that skmoe fit wrote.")],
    html: Annotated[str, typer.Option(help="HTML file to write.")],
    data: Annotated[
        str | None,
        typer.Argument(help="Table of the fit, or one that it has not seen, with the target; - for CSV from stdin."),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(help="Table of rows held out of the fit, to judge the model by; then DATA is the fit's."),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=0, help="Folds in which rows of the fit are held out in turn; 0 for none.")
    ] = 5,
) -> None:
    """Write what a model says as one HTML page; with a table, also how well it predicts rows held out.

    With the table of the fit, its rows are held out in folds: models like this one, least squares and boosting are
    fitted to the others. With another table, the model is judged on its rows as they are.

    Example: skmoe report houses.skmoe houses.csv --html houses.html
    """
    check_output(html, "--html", model, data, test)
    if folds == 1:
        raise ValueError("--folds must be 0, for none, or at least 2; got 1")
    fitted, encoder = open_model(model)
    given = None if data is None else _rows(model, encoder, data)
    held_out = None if test is None else _rows(model, encoder, test)
    if given is not None and held_out is None and not _is_of_the_fit(fitted, *given):
        n = len(given[1])
        note(
            f"{data} is not the table of the fit, which had {fitted.history_['rows']} rows: the model is judged on its "
            f"{n} rows as rows that it has not seen"
        )
        given, held_out = None, given
    if given is not None and held_out is None and folds:
        note(f"fitting again in {folds} folds, to judge by rows held out (--folds 0 leaves that out)")
    from skmoe.report import write
    from skmoe.rows.writing import replacing

    X, y = (None, None) if given is None else given
    with replacing(html) as beside:
        write(fitted, beside, X, y, title=Path(model).stem, target=encoder.target, test=held_out, folds=folds)
    note(f"report in {html}")


def _rows(model: str, encoder: TableEncoder, data: str) -> tuple[Any, Any]:
    """Inputs and outputs of a table."""
    from skmoe.rows import open_table

    table = open_table(data).read()
    if encoder.target is None:
        raise ValueError(f"{model}: the model does not know its target; leave the table out")
    X, y, _ = encoder.rows(table, unseen="empty")
    if len(y) == 0:
        raise ValueError(f"{data}: no row has the target and all inputs")
    if len(y) < table.num_rows:
        note(f"{table.num_rows - len(y)} of {table.num_rows} rows of {data} lack a value and were left out")
    return X, y


def _is_of_the_fit(model: Any, X: Any, y: Any) -> bool:
    """Whether rows are those of the fit: as many, over the same range of each input."""
    import numpy as np

    seen = model.history_["inputs"]
    if len(y) != model.history_["rows"] or "low" not in seen:
        return False
    ends = (np.min(X.X, axis=0), np.max(X.X, axis=0))
    return all(np.allclose(end, seen[name]) for end, name in zip(ends, ("low", "high"), strict=True))
