"""``skmoe predict``: predictions for the rows of a table, in batches."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skmoe.cli import tables
from skmoe.cli.models import named, open_model
from skmoe.cli.shell import check_output, note

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from skmoe.inference import Outside
    from skmoe.tables import TableEncoder

__all__ = ["predict"]


def predict(
    model: Annotated[str, typer.Argument(help="Model file that skmoe fit wrote.")],
    data: Annotated[str, typer.Argument(help="Table with the model's columns; - for CSV from stdin.")],
    out: Annotated[str, typer.Option(help="File to write, CSV, Parquet or Arrow by its name; - for CSV on stdout.")],
    interval: Annotated[
        float | None, typer.Option(help="Add lower and upper bounds with this probability, such as 0.9.")
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of each class, of a classifier.")] = False,
    gate: Annotated[bool, typer.Option("--gate", help="Add the probability of each expert.")] = False,
    unseen: Annotated[
        str | None,
        typer.Option(help="Categories not there in fitting: other, empty or error; by default as in skmoe fit."),
    ] = None,
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
) -> None:
    """Predict the rows of a table, one line a row in the same order; rows that lack an input get empty predictions.

    Counts that were fitted with exposures are predicted over those of the table, if it has their column.

    Example: skmoe predict houses.skmoe new.csv --interval 0.9 --out predictions.csv
    """
    if interval is not None and not 0 < interval < 1:
        raise ValueError(f"--interval must be between 0 and 1, such as 0.9; got {interval:g}")
    if unseen not in (None, "other", "empty", "error"):
        raise ValueError(f"--unseen must be other, empty or error; got {unseen!r}")
    check_output(out, "--out", model, data)
    from skmoe.inference import rows_outside
    from skmoe.tables.columns import as_numbers, warn_of_unseen
    from skmoe.tables.table_errors import arrow
    from skmoe.tables.writing import kind_to_write, replacing, writing

    kind_to_write(out)
    fitted, encoder = open_model(model)
    classes = getattr(fitted, "classes_", None)
    if classes is None and proba:
        raise ValueError("--proba is of classifiers, which skmoe fit --family classes fits; this model is a regression")
    if classes is not None and interval is not None:
        raise ValueError("--interval is of regressions; use --proba for the probabilities of classes")
    if interval is not None and fitted.parameters_.family.few_values:
        note("outputs are 0 and 1; the prediction is the probability of 1, and intervals tell little more")
    table = tables.open_asked(data, separator, decimal, encoding)
    for line in table.notes:
        note(line)
    lacking = [name for name in encoder.names if name not in table.names]
    if lacking:
        has = ", ".join(table.names[:12])
        raise ValueError(f"{data}: lacks {', '.join(map(repr, lacking))}, which the model needs; it has {has}")
    exposure = _exposure_column(encoder, table.names)
    pa = arrow()
    names = ["prediction", *(["lower", "upper"] if interval else [])]
    names += [f"p_{label}" for label in classes] if proba and classes is not None else []
    names += [f"gate_{i + 1}" for i in range(fitted.n_experts_)] if gate else []
    kinds = [pa.float64()] * len(names)
    if classes is not None:
        kinds[0] = pa.array(classes.tolist()).type
    rows = empty = 0
    outside: Outside | None = None
    tally: Counter[str] = Counter()
    place: Any = nullcontext("-") if out == "-" else replacing(out)
    with place as path, writing(str(path), pa.schema(list(zip(names, kinds, strict=True)))) as writer:
        for batch in table.cells([*encoder.names, *([] if exposure is None else [exposure])]):
            X, keep = encoder.encode(batch, unseen=unseen, decimal=table.decimal, tally=tally)
            times = None
            if exposure is not None:
                times = as_numbers(batch.column(exposure), exposure, table.decimal)
                able = (times > 0) & (times < float("inf"))
                X, keep, times = X[able[keep]], keep & able, times[keep & able]
            columns = [pa.nulls(len(keep), kind) for kind in kinds]
            if len(X):
                found = rows_outside(fitted, X)
                outside = outside + found if outside is not None and found is not None else outside or found
                predicted = _predictions(fitted, named(X, encoder), interval, gate, proba, times)
                columns = [_with_gaps(values, keep, kind) for values, kind in zip(predicted, kinds, strict=True)]
            writer.write_batch(pa.record_batch(columns, names=names))
            rows, empty = rows + len(keep), empty + len(keep) - len(X)
    warn_of_unseen(tally)
    if empty:
        lack = "an input" if exposure is None else "an input or a positive exposure"
        note(f"{empty} of {rows} rows lack {lack} and have empty predictions")
    if outside is not None and outside.outside:
        note(f"{outside}; predictions there are extrapolations, and their intervals may be far off")
    if out != "-":
        note(f"{rows} rows predicted, in {out}")


def _exposure_column(encoder: TableEncoder, names: Sequence[str]) -> str | None:
    """Return the column of exposures to predict counts over, if the model has one and the table as well."""
    from skmoe.tables.output_columns import OutputLayout

    output = encoder.output
    if output is None or output.layout != OutputLayout.EXPOSURE:
        return None
    (name,) = output.names
    if name not in names:
        note(f"the table lacks the exposure {name!r}: counts are predicted for an exposure of one")
        return None
    return name


def _predictions(
    model: Any, X: Any, interval: float | None, gate: bool, proba: bool, exposure: np.ndarray | None
) -> list[np.ndarray]:
    """Return the columns of predictions of some rows."""
    if hasattr(model, "classes_"):
        P = model.predict_proba(X)
        columns = [model.classes_[P.argmax(axis=1)], *(P.T if proba else [])]
    else:
        predictive = model.predictive(X, exposure=exposure)
        columns = [predictive.mean(), *([] if interval is None else predictive.interval(interval).T)]
    return [*columns, *(model.gate_proba(X).T if gate else [])]


def _with_gaps(values: np.ndarray, keep: np.ndarray, kind: Any) -> Any:
    """Return a column of all rows, empty for those that were not kept."""
    import numpy as np

    from skmoe.tables.table_errors import arrow

    column = np.zeros(len(keep), dtype=values.dtype)
    column[keep] = values
    return arrow().array(column, type=kind, mask=~keep)
