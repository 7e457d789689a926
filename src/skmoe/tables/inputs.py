"""Rows of callers as inputs and outputs of a model.

Tables in memory go through scikit-learn's checks. Arrays of other libraries stay in them, files and Dask collections
stay where they are, so these are checked here; their values in `skmoe.arrays.table_moments`, when they are first read.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, validate_data

from skmoe.arrays.checks import (
    check_column,
    check_largest,
    check_output_columns,
    check_rows,
    check_same_rows,
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

__all__ = ["RowsToFit", "check_width", "is_dask", "rows_to_fit", "rows_to_use"]

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
    table, outputs, weight = _named(X, y, weight, columns)
    chosen = list(names) if names is not None else [n for n in table.names if n not in (*outputs, weight)]
    several = table.columns(outputs) if columns > 1 and outputs else None
    target = several if several is not None or not outputs else table.column(outputs[0])
    return table.columns(chosen), target, None if weight is None else table.column(weight), chosen


def _named(X: Any, y: Any, weight: Any, columns: int) -> tuple[FileTable, list[str], str | None]:
    """Open a table that has outputs and weights as columns; return their names with it."""
    if y is not None and columns > 1:
        named = isinstance(y, list | tuple) and len(y) == columns and all(isinstance(name, str) for name in y)
        if not named:
            raise TypeError(
                f"outputs of {columns} columns are given as a list of {columns} names of columns of a file or table of "
                f"pyarrow, or as an array beside an array; got X {type(X).__name__} and y {type(y).__name__}"
            )
        outputs = list(y)
    else:
        X, name = _with_column(X, y, "y", TARGET)
        outputs = [] if name is None else [name]
    X, weight = _with_column(X, weight, "sample_weight", WEIGHT)
    return open_table(X), outputs, weight


def _with_column(table: Any, values: Any, what: str, name: str) -> tuple[Any, str | None]:
    """Append an array to a table of pyarrow; return the table, and the name of its column, which files have already."""
    if values is None or isinstance(values, str):
        return table, values
    import pyarrow as pa

    if not isinstance(table, pa.Table):
        where = open_table(table).where
        raise TypeError(f"{what} must be the name of a column of {where}; got {type(values).__name__}")
    values = np.asarray(plain_numbers(values, what), dtype=np.float64).ravel()
    check_same_rows(table.num_rows, len(values), what)
    return table.append_column(name, pa.array(values)), name


def rows_to_fit(model: FittedColumns, X: Any, y: Any, weight: Any, columns: int = 1) -> RowsToFit:
    """Return the rows to fit a model to; store the number and names of their columns in the model.

    Outputs have one column, or several: an (n, columns) array, or a list of names of columns.
    """
    if y is None:
        # scikit-learn's checks look for this sentence
        raise ValueError(f"requires y to be passed, but the target y is None: {type(model).__name__} needs outputs")
    check_frame(X)
    if is_streamable(X):
        return _streamed_rows(model, X, y, weight, columns)
    names = encoder = columns_given = None
    if isinstance(X, EncodedTable) or _is_foreign(X):
        if isinstance(X, EncodedTable):
            X, names, encoder = X.X, X.names, X.encoder
        else:
            X, _ = check_rows(X, finite=False)
        y = check_column(X, y, "y") if columns == 1 else check_output_columns(X, y, columns)
        weight = None if weight is None else check_column(X, weight, "sample_weight")
    else:
        y = plain_numbers(y, "y") if columns == 1 else y
        if needs_encoder(X, getattr(model, "categorical", None)):
            X, encoder, columns_given = _encoded_frame(model, X, getattr(y, "name", None))
        X, y, weight = _validated(model, plain_numbers(X, "X"), y, weight, columns)
        names = getattr(model, "feature_names_in_", None) if encoder is None else encoder.features
    _note_columns(model, X.shape[1], names, encoder, columns_given)
    rows = RowsToFit(X, y, weight, names, encoder)
    return rows if weight is None or rows.streamed else _with_weight(rows, weight)


def _validated(model: Any, X: Any, y: Any, weight: Any, columns: int) -> tuple[np.ndarray, Array, np.ndarray | None]:
    """Return rows in memory after scikit-learn's checks."""
    how = {"dtype": [np.float64, np.float32], "ensure_min_samples": 2}
    if columns == 1:
        X, y = validate_data(model, X, y, y_numeric=True, **how)
        y = np.asarray(y, dtype=np.float64)
    else:
        X = validate_data(model, X, **how)
        y = check_output_columns(X, y, columns)
    if weight is not None:
        weight = plain_numbers(weight, "sample_weight")
        weight = _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)
    return X, y, weight


def _streamed_rows(model: FittedColumns, X: Any, y: Any, weight: Any, columns: int) -> RowsToFit:
    """Return rows of files, tables of pyarrow and Dask collections; encode them where the model asks for it."""
    if getattr(model, "categorical", None) is not None and not is_dask(X):
        X, (y, *others), weight = _named(X, y, weight, columns)
        output = OutputColumns(OutputLayout.AS_GIVEN, tuple(others)) if others else None
        X.check_names([name for name in (y, *others, weight) if name is not None])
        names = [name for name in X.names if name not in (y, *others, weight)]
        encoder = _transformer(model, names).learn(X, y, weights=weight, output=output)
        if encoder.n_targets_missing:
            found = encoder.n_targets_missing
            raise ValueError(f"y contains NaN, missing values or infinity ({found} found); drop those rows")
        if not encoder.plain or encoder.features != names:
            warn_of_unused(encoder, names)
            inputs, outputs, weight = encoder.streamed(X)
            encoder = replace(encoder, target=None) if y == TARGET else encoder
            _note_columns(model, inputs.X.shape[1], inputs.names, encoder, names)
            return RowsToFit(inputs.X, outputs, weight, inputs.names, encoder)
        y = [y, *others] if others else y
    X, y, weight, found_names = stream(X, y, weight, columns=columns)
    _note_columns(model, X.shape[1], found_names)
    return RowsToFit(X, y, weight, found_names)


def _encoded_frame(model: Any, X: Any, target: object) -> tuple[np.ndarray, TableEncoder, list[str]]:
    """Return the inputs that a DataFrame with text, dates or missing values became, and the names of its columns."""
    table = as_table(X)
    names = list(table.column_names)
    encoder = _transformer(model, names).learn(table)
    warn_of_unused(encoder, names)
    encoder = replace(encoder, target=target if isinstance(target, str) and target not in names else None)
    return encode_frame(encoder, table), encoder, names


def _transformer(model: Any, names: list[str]) -> TableTransformer:
    """Return the transformer that a model asks for, of columns that are all inputs."""
    return TableTransformer(columns=names, categorical=model.categorical, unseen=model.unseen)


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
    encoder = getattr(model, "encoder_", None)
    if isinstance(X, EncodedTable):
        known = list(model.encoded_feature_names_ if hasattr(model, "feature_names_in_") else X.names)
        if list(X.names) != known:
            raise ValueError(f"the table became the inputs {listed(X.names)}; the model was fitted to {listed(known)}")
        X, y = check_rows(X.X, y)
    elif is_streamable(X) and encoder is not None and not is_dask(X):
        table, outputs, _ = _named(X, y, None, columns)
        if columns > 1 and outputs and outputs != encoder.outputs:
            raise TypeError(f"outputs of several columns of a table are those of the fit, {encoder.outputs}; got {y!r}")
        return encoder.streamed_inputs(table, outputs[0] if outputs else None)
    elif is_streamable(X):
        X, y, *_ = stream(X, y, names=getattr(model, "feature_names_in_", None), columns=columns)
    elif encoder is not None or _is_foreign(X):
        X, y = check_rows(encode_frame(encoder, X) if encoder is not None and is_frame(X) else X, y)
    else:
        X, how = plain_numbers(X, "X"), {"reset": False, "dtype": [np.float64, np.float32]}
        if y is None:
            return validate_data(model, X, **how), None
        X, y = validate_data(model, X, plain_numbers(y, "y"), y_numeric=True, **how)
        return X, np.asarray(y, dtype=np.float64)
    check_width(model, X)
    return X, y


def check_width(model: Any, X: Array) -> None:
    """Refuse inputs of another number than those that a model was fitted to."""
    width, who = len(model.encoded_feature_names_), type(model).__name__
    if X.shape[1] != width and getattr(model, "encoder_", None) is not None:
        raise ValueError(
            f"X is an array of {X.shape[1]} columns; {who} was fitted to a table, of which it made {width} inputs: "
            f"pass a DataFrame with the columns {listed(list(model.feature_names_in_))}"
        )
    if X.shape[1] != width:
        raise ValueError(f"X has {X.shape[1]} features, but {who} is expecting {width} features as input")
