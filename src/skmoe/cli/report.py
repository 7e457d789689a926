"""``skmoe report``: a saved model as an HTML page."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from skmoe.cli import tables
from skmoe.cli.models import open_model
from skmoe.cli.shell import check_output, check_page_name, note

if TYPE_CHECKING:
    import numpy as np

    from skmoe.tables import FileTable, TableEncoder

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
        typer.Option(help="Table of rows held out of the fit, to evaluate the model by; then DATA is the fit's."),
    ] = None,
    folds: Annotated[
        int, typer.Option(min=0, help="Folds in which rows of the fit are held out in turn; 0 for none.")
    ] = 5,
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
) -> None:
    """Write a report on a model as one HTML page; with a table, also how well it predicts rows held out.

    With the table of the fit, its rows are held out in folds: models like this one, least squares (of a classifier,
    logistic regression) and boosting are fitted to the others. With another table, the model is evaluated on its rows
    as they are.

    Example: skmoe report houses.skmoe houses.csv --html houses.html
    """
    check_output(html, "--html", model, data, test)
    check_page_name(html, "--html")
    if folds == 1:
        raise ValueError("--folds must be 0, for none, or at least 2; got 1")
    fitted, encoder = open_model(model)
    if encoder.target is None and (data or test):
        raise ValueError(f"{model}: the model does not know its target; leave the table out")
    classes = encoder.target if hasattr(fitted, "classes_") else None
    given, held_out = (
        None
        if path is None
        else _rows(encoder, *tables.read_asked(path, separator, decimal, encoding, classes=classes))
        for path in (data, test)
    )
    if given is not None and held_out is None and not _is_of_the_fit(fitted, given):
        note(
            f"{data} is not the table of the fit, which had {fitted.record_.rows} rows: the model is evaluated on "
            f"its {given.n} rows as rows that it has not seen"
        )
        given, held_out = None, given
    from skmoe.report.methods import can_be_evaluated

    if given is not None and held_out is None and folds and can_be_evaluated(fitted):
        note(f"fitting again in {folds} folds, to evaluate by rows held out (--folds 0 leaves that out)")
    from skmoe.report import write
    from skmoe.tables.writing import replacing

    X, y, weight = (None, None, None) if given is None else (given.X, given.y, given.weight)
    test_rows = None if held_out is None else (held_out.X, held_out.y)
    with replacing(html) as path:
        about: dict[str, Any] = {"target": encoder.target, "test": test_rows, "folds": folds}
        write(fitted, path, X, y, sample_weight=weight, **about)
    note(f"report in {html}")


class _Rows(NamedTuple):
    """Inputs, outputs and weights of a table, read in blocks; their number, and the range of each input.

    Rows without weight are in none but `n`.
    """

    X: Any
    y: Any
    weight: Any
    n: int
    weighted: int
    low: np.ndarray
    high: np.ndarray


def _rows(encoder: TableEncoder, table: FileTable, labels: np.ndarray | None) -> _Rows:
    """Return the rows that have all values, after one pass over the table.

    However long it is, memory stays flat, unless the target holds labels of classes: then the table is held.
    """
    import numpy as np

    for line in table.notes:
        note(line)
    if encoder.unseen == "error":  # such rows are left out here, and counted
        encoder = replace(encoder, unseen="empty")
    d = len(encoder.features)
    n, weighted, low, high = 0, 0, np.full(d, np.inf), np.full(d, -np.inf)
    encoder = replace(encoder, weights=encoder.weights if encoder.weights in table.names else None)
    for X, _, weight in encoder.chunks(table, encoder.target, encoder.weights):
        n += len(X)
        X = X if weight is None else X[weight > 0]
        weighted += len(X)
        low = np.minimum(low, np.min(X, axis=0, initial=np.inf))
        high = np.maximum(high, np.max(X, axis=0, initial=-np.inf))
    if weighted == 0:
        raise ValueError(f"{table.where}: no row has the target and all inputs")
    if n < table.n:
        note(f"{table.n - n} of {table.n} rows of {table.where} lack a value and were left out")
    encoder = replace(encoder, n_used=n)
    inputs, outputs, weights = encoder.streamed(table) if labels is None else encoder.rows(table)
    if labels is not None:
        outputs = labels[np.asarray(outputs, dtype=int)]
    return _Rows(inputs, outputs, weights, n, weighted, low, high)


def _is_of_the_fit(model: Any, rows: _Rows) -> bool:
    """Return whether rows are those of the fit: as many, over the same range of each input."""
    import numpy as np

    seen = model.record_.inputs
    if rows.weighted != model.record_.rows:
        return False
    return bool(np.allclose(rows.low, seen.low) and np.allclose(rows.high, seen.high))
