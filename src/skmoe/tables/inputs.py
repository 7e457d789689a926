"""Rows of callers as inputs and outputs of a model, and results in the caller's own kind of array.

Tables in memory go through scikit-learn's checks. Arrays of other libraries stay in them, files and Dask collections
stay where they are, so these are checked here; their values in `skmoe.arrays.table_moments`, when they are first read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import (
    _check_sample_weight,
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from skmoe.arrays.checks import (
    check_column,
    check_largest,
    check_no_nan,
    check_output_columns,
    check_rows,
    refuse_weights,
    weight_scale,
)
from skmoe.arrays.kinds import plain_numbers
from skmoe.arrays.namespaces import Array, array_namespace, is_array, to_numpy
from skmoe.arrays.streamed import Streamed
from skmoe.arrays.visible import listed
from skmoe.tables.chosen import FittedColumns
from skmoe.tables.encoder import EncodedTable, TableEncoder
from skmoe.tables.files import FileTable, open_table
from skmoe.tables.frames import as_table, check_frame, encode_frame, is_frame, needs_encoder, warn_of_unused
from skmoe.tables.output_columns import OutputColumns, OutputLayout
from skmoe.tables.transformer import TableTransformer

__all__ = ["RowsToFit", "apply", "evaluated", "rows_to_fit", "rows_to_use"]

TARGET, WEIGHT = "skmoe: target", "skmoe: weight"  # names of columns of outputs and weights that have none


@dataclass(frozen=True)
class RowsToFit:
    """Inputs (n, d), outputs and weights (n,) that a model is to be fitted to, with the names of the inputs."""

    X: Array
    y: Array
    weight: Array | None
    names: Sequence[str] | None
    encoder: TableEncoder | None = None

    @property
    def streamed(self) -> bool:
        """True where rows are read a block at a time, and their values were not checked yet."""
        return isinstance(self.X, Streamed)


def _module(x: object) -> str:
    return type(x).__module__.partition(".")[0]


def is_dask(x: object) -> bool:
    """Return whether `x` is a Dask collection; Dask is not imported to find out."""
    return _module(x) == "dask"


def is_streamable(X: object) -> bool:
    """Return whether `X` is a path, a pyarrow table or dataset, an opened table, or a Dask collection."""
    return isinstance(X, str | os.PathLike | FileTable) or is_dask(X) or _module(X) == "pyarrow"


def _is_foreign(X: object) -> bool:
    return is_array(X) and not isinstance(X, np.ndarray)


def stream(
    X: Any, y: Any = None, weight: Any = None, *, names: Any = None, columns: int = 1
) -> tuple[Any, Any, Any, Any]:
    """Return streamed columns of inputs, output and weight, and the names of the inputs (None where they have none).

    Parameters
    ----------
    X : what `is_streamable` accepts
    y, weight : column names of a table or a Dask DataFrame, Dask collections, or arrays beside a pyarrow Table
    names : the inputs to take, by default all columns but `y` and `weight`
    columns : columns of the outputs; where there are several, `y` is a list of names
    """
    if is_dask(X):
        from skmoe.arrays import dask

        return dask.stream(X, y, weight, names, columns)
    if y is not None and columns > 1:
        return _stream_outputs(X, y, weight, names, columns)
    X, *others = _with_named_columns(X, y, weight)
    table = open_table(X)
    chosen = list(names) if names is not None else [n for n in table.names if n not in others]
    target, weights = (None if name is None else table.column(name) for name in others)
    return table.columns(chosen), target, weights, chosen


def _with_named_columns(X: Any, y: Any, weight: Any) -> tuple[Any, Any, Any]:
    """Return a table with outputs and weights as columns, and their names."""
    found = []
    for what, value, name in (("y", y, TARGET), ("sample_weight", weight, WEIGHT)):
        if value is not None and not isinstance(value, str):
            X, value = _with_column(X, value, what, name), name
        found.append(value)
    return X, *found


def _stream_outputs(X: Any, y: Any, weight: Any, names: Any, columns: int) -> tuple[Any, Any, Any, Any]:
    """Return streamed columns, of which several are outputs."""
    if not _names_of(y, columns):
        raise TypeError(
            f"outputs of {columns} columns are given as a list of {columns} names of columns of a file or table of "
            f"pyarrow, or as an array beside an array; got X {type(X).__name__} and y {type(y).__name__}"
        )
    table = open_table(X)
    chosen = list(names) if names is not None else [n for n in table.names if n not in (*y, weight)]
    return table.columns(chosen), table.columns(list(y)), None if weight is None else table.column(weight), chosen


def _names_of(y: Any, columns: int) -> bool:
    """Return whether outputs are given as so many names of columns."""
    return isinstance(y, list | tuple) and len(y) == columns and all(isinstance(name, str) for name in y)


def _with_column(table: Any, values: Any, what: str, name: str) -> Any:
    """Append a column to a table of pyarrow; refuse one for files, which take the names of columns they hold."""
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        where = open_table(table).where
        raise TypeError(f"{what} must be the name of a column of {where}; got {type(values).__name__}")
    values = np.asarray(plain_numbers(values, what), dtype=np.float64).ravel()
    if len(values) != table.num_rows:
        raise ValueError(f"X has {table.num_rows} rows and {what} has {len(values)}; they must match")
    return table.append_column(name, pa.array(values))


def rows_to_fit(model: FittedColumns, X: Any, y: Any, weight: Any, columns: int = 1) -> RowsToFit:
    """Return the rows to fit a model to; store the number and names of their columns in the model.

    Outputs have one column, or several: an (n, columns) array, or a list of names of columns.
    """
    if y is None:
        # scikit-learn's checks look for this sentence
        raise ValueError(f"requires y to be passed, but the target y is None: {type(model).__name__} needs outputs")
    check_frame(X)
    if isinstance(X, EncodedTable):
        _note_columns(model, X.X.shape[1], X.names, X.encoder)
        rows = RowsToFit(X.X, *_outputs_and_weight(X.X, y, weight, columns), X.names, X.encoder)
    elif is_streamable(X):
        return _streamed_rows(model, X, y, weight, columns)
    elif needs_encoder(X, model.categorical):
        rows = _frame_rows(model, X, y, weight, columns)
    elif _is_foreign(X):
        X, _ = check_rows(X, finite=False)
        _note_columns(model, X.shape[1], None)
        rows = RowsToFit(X, *_outputs_and_weight(X, y, weight, columns), None)
    else:
        X = plain_numbers(X, "X")
        if columns == 1:
            y = plain_numbers(y, "y")
            X, y = validate_data(model, X, y, dtype=[np.float64, np.float32], y_numeric=True, ensure_min_samples=2)
            y = np.asarray(y, dtype=np.float64)
        else:
            X = validate_data(model, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
            y = check_output_columns(X, y, columns)
        if weight is not None:
            weight = plain_numbers(weight, "sample_weight")
            weight = _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)
        names = getattr(model, "feature_names_in_", None)
        _note_columns(model, X.shape[1], names)
        rows = RowsToFit(X, y, weight, names)
    return rows if rows.weight is None or rows.streamed else _with_weight(rows, rows.weight)


def _streamed_rows(model: FittedColumns, X: Any, y: Any, weight: Any, columns: int) -> RowsToFit:
    """Return rows of files, tables of pyarrow and Dask collections; encode them where the model asks for it."""
    categorical = model.categorical
    if categorical is not None and not is_dask(X) and (columns == 1 or _names_of(y, columns)):
        output, several = None, y
        if columns > 1:
            y, output = y[0], OutputColumns(OutputLayout.AS_GIVEN, tuple(y[1:]))
        X, y, weight = _with_named_columns(X, y, weight)
        table = open_table(X)
        others = [y, weight, *(() if output is None else output.names)]
        names = [name for name in table.names if name not in others]
        table.check_names([name for name in others if name is not None])
        encoder = _transformer(model, names).learn(table, y, weights=weight, output=output)
        if encoder.n_targets_missing:
            found = encoder.n_targets_missing
            raise ValueError(f"y contains NaN, missing values or infinity ({found} found); drop those rows")
        if not encoder.plain or encoder.features != names:
            warn_of_unused(encoder, names)
            inputs, outputs, weight = encoder.streamed(table)
            encoder = replace(encoder, target=None) if y == TARGET else encoder
            _note_columns(model, inputs.X.shape[1], inputs.names, encoder, names)
            return RowsToFit(inputs.X, outputs, weight, inputs.names, encoder)
        y = y if output is None else several
    X, y, weight, found_names = stream(X, y, weight, columns=columns)
    _note_columns(model, X.shape[1], found_names)
    return RowsToFit(X, y, weight, found_names)


def _frame_rows(model: FittedColumns, X: Any, y: Any, weight: Any, columns: int) -> RowsToFit:
    """Return rows of a DataFrame with text, dates or missing values."""
    if columns > 1:
        outputs = check_output_columns(np.empty((len(X), 0)), y, columns)
    else:
        outputs = check_array(plain_numbers(y, "y"), ensure_2d=False, dtype=np.float64, input_name="y")
        outputs = column_or_1d(outputs, warn=True)
    check_consistent_length(X, outputs)
    table, name = as_table(X), getattr(y, "name", None)
    names = list(table.column_names)
    encoder = _transformer(model, names).learn(table)
    warn_of_unused(encoder, names)
    encoder = replace(encoder, target=name if isinstance(name, str) and name not in names else None)
    inputs = encode_frame(encoder, table)
    _note_columns(model, inputs.shape[1], encoder.features, encoder, names)
    if weight is not None:
        weight = plain_numbers(weight, "sample_weight")
        weight = _check_sample_weight(weight, inputs, dtype=np.float64, ensure_non_negative=True)
    return RowsToFit(inputs, outputs, weight, encoder.features, encoder)


def _transformer(model: Any, names: list[str]) -> TableTransformer:
    """Return the transformer that a model asks for, of columns that are all inputs."""
    return TableTransformer(columns=names, categorical=model.categorical, unseen=model.unseen)


def _outputs_and_weight(X: Array, y: Any, weight: Any, columns: int) -> tuple[Array, Array | None]:
    y = check_column(X, y, "y") if columns == 1 else check_output_columns(X, y, columns)
    return y, None if weight is None else check_column(X, weight, "sample_weight")


def _note_columns(
    model: FittedColumns,
    width: int,
    inputs: Sequence[str] | None,
    encoder: TableEncoder | None = None,
    names: Sequence[str] | None = None,
) -> None:
    """Store the number and names of inputs in a model, and the caller's columns that an encoder made them of."""
    if names is None:
        names = inputs if encoder is None else encoder.names
    model.encoder_ = encoder
    model.n_features_in_ = width if names is None else len(names)
    unnamed = [f"x{i}" for i in range(width)]
    model.encoded_feature_names_ = np.array(unnamed if inputs is None else inputs, dtype=object)
    if names is not None:
        model.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def _with_weight(rows: RowsToFit, weight: Array) -> RowsToFit:
    """Drop rows without weight, and scale the weights of the others.

    Whole numbers count repeated rows; others are relative, and are scaled to a mean of one.
    """
    X, y = rows.X, rows.y
    xp = array_namespace(X)
    values = to_numpy(weight)
    refuse_weights(values)
    able = weight > 0
    if not bool(xp.all(able)):
        X, y, weight, values = X[able], y[able], weight[able], values[values > 0]
    scale = weight_scale(values)
    ones = np.all(values == values[0]) and (scale != 1 or values[0] == 1)  # no weights, to the last digit
    return RowsToFit(X, y, None if ones else weight * scale, rows.names, rows.encoder)


def rows_to_use(model: FittedColumns, X: Any, y: Any = None, columns: int = 1) -> tuple[Array, Array | None]:
    """Return inputs, and outputs of so many columns if any, for a fitted model."""
    if y is not None and columns > 1 and not is_streamable(X):
        X, _ = rows_to_use(model, X)
        return X, check_output_columns(X, y, columns)
    X, y = _rows_to_use(model, X, y, columns)
    if not isinstance(X, Streamed):  # streamed rows are checked where they are read
        check_largest(X, y, model.encoded_feature_names_ if hasattr(model, "feature_names_in_") else None)
    return X, y


def _rows_to_use(model: FittedColumns, X: Any, y: Any, columns: int) -> tuple[Array, Array | None]:
    check_frame(X)
    if isinstance(X, EncodedTable):
        _check_names(model, X.names)
        _check_width(model, X.X)
        return check_rows(X.X, y)
    encoder = model.encoder_
    if encoder is not None and is_frame(X):
        return check_rows(encode_frame(encoder, X), y)
    if encoder is not None and is_streamable(X) and not is_dask(X):
        if columns > 1 and y is not None:
            y = _target_of(encoder, y)
        X, y, _ = _with_named_columns(X, y, None)
        return encoder.streamed_inputs(X, y)
    if is_streamable(X):
        X, y, *_ = stream(X, y, names=getattr(model, "feature_names_in_", None), columns=columns)
        _check_width(model, X)
        return X, y
    if _is_foreign(X):
        X, y = check_rows(X, y)
        _check_width(model, X)
        return X, y
    X = plain_numbers(X, "X")
    if encoder is not None:
        return _encoded_already(model, X, y)
    if y is None:
        return validate_data(model, X, reset=False, dtype=[np.float64, np.float32]), None
    y = plain_numbers(y, "y")
    X, y = validate_data(model, X, y, reset=False, dtype=[np.float64, np.float32], y_numeric=True)
    return X, np.asarray(y, dtype=np.float64)


def _target_of(encoder: TableEncoder, y: Any) -> str:
    """Return the target among outputs of several columns; an encoder knows the others."""
    names = None if encoder.output is None or encoder.target is None else [encoder.target, *encoder.output.names]
    if names is None or list(y) != names:
        raise TypeError(f"outputs of several columns of a table are those of the fit, {names}; got {y!r}")
    return names[0]


def _encoded_already(model: FittedColumns, X: Any, y: Any) -> tuple[Array, Array | None]:
    """Check inputs that are an array, as `TableEncoder.encode` gives them; columns without names cannot be encoded."""
    X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    width, given = len(model.encoded_feature_names_), list(model.feature_names_in_)
    if X.shape[1] != width:
        raise ValueError(
            f"X is an array of {X.shape[1]} columns; {type(model).__name__} was fitted to a table, of which "
            f"it made {width} inputs: pass a DataFrame with the columns {listed(given)}"
        )
    if y is None:
        return X, None
    check_consistent_length(X, y)
    return X, check_array(plain_numbers(y, "y"), ensure_2d=False, dtype=np.float64, input_name="y")


def _check_names(model: FittedColumns, names: Sequence[str]) -> None:
    known = list(model.encoded_feature_names_ if hasattr(model, "feature_names_in_") else names)
    if list(names) != known:
        raise ValueError(f"the table became the inputs {listed(list(names))}; the model was fitted to {listed(known)}")


def _check_width(model: FittedColumns, X: Array) -> None:
    width = len(model.encoded_feature_names_)
    if X.shape[1] != width:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {width} features as input"
        )


def apply(
    model: FittedColumns,
    function: Callable[..., Array],
    X: Any,
    y: Any = None,
    *,
    width: int | None = None,
    like: bool = True,
    columns: int = 1,
) -> Array:
    """Evaluate a function of rows in the caller's library: lazily for Dask, a NumPy array for files.

    Parameters
    ----------
    model : fitted estimator
    function : callable
        Takes inputs, and outputs if given, and returns (n,), or (n, width).
    X, y : rows as the caller has them
    width : int, optional
    like : bool
        Whether the result takes the inputs' precision.
    columns : int
        Columns of the outputs.
    """
    check_is_fitted(model)
    if is_dask(X):
        from skmoe.arrays import dask

        names = getattr(model, "feature_names_in_", None)
        if names is None and X.ndim == 2:
            _check_width(model, X)
        return dask.apply(partial(evaluated, function), X, y, names=names, width=width, columns=columns)
    X, y = rows_to_use(model, X, y, columns)
    values = evaluated(function, *((X,) if y is None else (X, y)))
    if not like or isinstance(X, Streamed):
        return values
    return in_precision_of(X, values)


def evaluated(function: Callable[..., Array], *rows: Array) -> Array:
    """Return the values of a function of a model for rows; refuse NaN."""
    values = function(*rows)
    check_no_nan(values)
    return values


def in_precision_of(X: Array, values: Array) -> Array:
    """Convert values to the precision of the inputs; refuse those that single precision cannot hold."""
    xp = array_namespace(values)
    if values.dtype == X.dtype:
        return values
    sizes = xp.abs(values)
    largest = float(xp.max(sizes)) if 0 not in values.shape else 0.0
    held = xp.finfo(X.dtype)
    if float(held.max) < largest < np.inf or 0 < largest < float(held.smallest_normal):
        raise ValueError(
            f"predictions as large as {largest:.2g} do not fit the single precision of X; pass X as float64"
        )
    return xp.astype(values, X.dtype)
