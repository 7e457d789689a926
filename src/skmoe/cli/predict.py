"""``skmoe predict``: predictions for the rows of a table, in batches."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skmoe.cli import tables
from skmoe.cli.models import named, open_model
from skmoe.cli.shell import check_output, note

if TYPE_CHECKING:
    from skmoe.inference import Outside

__all__ = ["predict"]


def predict(
    model: Annotated[str, typer.Argument(help="Model file that skmoe fit wrote.")],
    data: Annotated[str, typer.Argument(help="Table with the model's columns; - for CSV from stdin.")],
    out: Annotated[str, typer.Option(help="File to write, CSV, Parquet or Arrow by its name; - for CSV on stdout.")],
    interval: Annotated[
        float | None, typer.Option(help="Add lower and upper bounds with this probability, such as 0.9.")
    ] = None,
    gate: Annotated[bool, typer.Option("--gate", help="Add the probability of each expert.")] = False,
    unseen: Annotated[
        str | None,
        typer.Option(help="Categories not there in fitting: other, empty or error; by default as skmoe fit was told."),
    ] = None,
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
) -> None:
    """Predict the rows of a table, one line a row in the same order; rows that lack an input get empty predictions.

    Example: skmoe predict houses.skmoe new.csv --interval 0.9 --out predictions.csv
    """
    if interval is not None and not 0 < interval < 1:
        raise ValueError(f"--interval must be between 0 and 1, such as 0.9; got {interval:g}")
    if unseen not in (None, "other", "empty", "error"):
        raise ValueError(f"--unseen must be other, empty or error; got {unseen!r}")
    check_output(out, "--out", model, data)
    from skmoe.inference import rows_outside
    from skmoe.rows.formats import kind_of_file
    from skmoe.rows.table_errors import arrow
    from skmoe.rows.writing import replacing, writing

    kind_of_file(out)
    fitted, encoder = open_model(model)
    table = tables.open_asked(data, separator, decimal, encoding)
    for line in table.notes:
        note(line)
    lacking = [name for name in encoder.names if name not in table.names]
    if lacking:
        has = ", ".join(table.names[:12])
        raise ValueError(f"{data}: lacks {', '.join(map(repr, lacking))}, which the model needs; it has {has}")
    pa = arrow()
    names = ["prediction", *(["lower", "upper"] if interval else [])]
    names += [f"gate_{i + 1}" for i in range(fitted.n_experts_)] if gate else []
    rows = empty = 0
    outside: Outside | None = None
    place: Any = nullcontext("-") if out == "-" else replacing(out)
    with place as path, writing(str(path), pa.schema([(name, pa.float64()) for name in names])) as writer:
        for batch in table.cells(encoder.names):
            X, keep = encoder.encode(batch, unseen=unseen, decimal=table.decimal)
            values = _predictions(fitted, named(X, encoder), interval, gate)
            found = rows_outside(fitted, X) if len(X) else None
            outside = outside + found if outside is not None and found is not None else outside or found
            writer.write_batch(pa.record_batch(_columns(values, keep, len(names)), names=names))
            rows, empty = rows + len(keep), empty + len(keep) - len(X)
    if empty:
        note(f"{empty} of {rows} rows lack an input and have empty predictions")
    if outside is not None and outside.outside:
        note(f"{outside}; predictions there are extrapolations, and their intervals may be far off")
    if out != "-":
        note(f"{rows} rows predicted, in {out}")


def _predictions(model: Any, X: Any, interval: float | None, gate: bool) -> Any:
    """Predictions of some rows, with bounds and gate where they are asked for; None where there are no rows."""
    import numpy as np

    if len(X.X) == 0:
        return None
    parts = [model.predict(X)[:, None]]
    if interval is not None:
        parts.append(model.predict_interval(X, coverage=interval))
    if gate:
        parts.append(model.gate_proba(X))
    return np.concatenate(parts, axis=1)


def _columns(values: Any, keep: Any, width: int) -> list[Any]:
    """The output's columns, empty where a row was not kept."""
    import numpy as np

    from skmoe.rows.table_errors import arrow

    full = np.full((len(keep), width), np.nan)
    if values is not None:
        full[keep] = values
    # an empty line would be no row at all to most readers of CSV: a column by itself says nan instead
    return [arrow().array(column, mask=~keep if width > 1 else None) for column in full.T]
