"""DataFrames of pandas and polars with text, categories, dates or missing values, as tables that an encoder takes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from skmoe.arrays.visible import listed
from skmoe.tables.encoder import TableEncoder
from skmoe.tables.table_errors import TableError, arrow, check_unique

__all__ = [
    "UnusedColumnsWarning",
    "as_table",
    "check_frame",
    "encode_frame",
    "is_frame",
    "needs_encoder",
    "warn_of_unused",
]


class UnusedColumnsWarning(UserWarning):
    """Columns of a table hold nothing that can be fitted, and were left out."""


def is_frame(X: object) -> bool:
    """Return whether `X` is a DataFrame of pandas or polars; neither is imported to find out."""
    return type(X).__module__.partition(".")[0] in ("pandas", "polars") and type(X).__name__ == "DataFrame"


def check_frame(X: Any) -> None:
    """Refuse a DataFrame without rows or columns, or with two of one name; names 1 and "1" are the same to a model."""
    if type(X).__module__.startswith("polars") and type(X).__name__ == "LazyFrame":
        raise TypeError("X is a LazyFrame of polars, whose rows are yet to be computed; pass X.collect()")
    if is_frame(X):
        check_unique("X", [str(name) for name in X.columns])
        if 0 in X.shape:
            raise ValueError(f"X has no {'rows' if X.shape[1] else 'columns'}: its shape is {X.shape}")


def _text_columns(X: Any) -> list[Any]:
    """Return the columns of a DataFrame that do not hold numbers or booleans."""
    if type(X).__module__.startswith("polars"):
        return [name for name, kind in X.schema.items() if not (kind.is_numeric() or str(kind) == "Boolean")]
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    return [name for name, kind in X.dtypes.items() if not (is_numeric_dtype(kind) or is_bool_dtype(kind))]


def needs_encoder(X: Any, categorical: Any) -> bool:
    """Return whether a DataFrame holds anything but numbers, lacks values, or has columns named as categories."""
    if not is_frame(X) or categorical is None or 0 in X.shape:
        return False
    if not isinstance(categorical, str) or _text_columns(X):
        return True
    if type(X).__module__.startswith("polars"):
        return any(c.null_count() or (c.dtype.is_float() and c.is_nan().any()) for c in X.get_columns())
    return bool(X.isna().to_numpy().any())


def as_table(X: Any, names: Sequence[str] | None = None) -> Any:
    """Convert a DataFrame, without its index, or an (n, d) array with names; a table of pyarrow stays what it is."""
    if hasattr(X, "num_rows"):
        return X
    pa, polars, columns = arrow(), type(X).__module__.startswith("polars"), {}
    for name, column in ((name, X[name]) for name in X.columns) if names is None else zip(names, X.T, strict=True):
        try:
            if isinstance(column, np.ndarray):
                columns[name] = pa.array(column, from_pandas=True)
            else:
                columns[str(name)] = column.to_arrow() if polars else _pandas_column(column)
        except (pa.ArrowException, OverflowError) as error:
            raise TableError(
                f"column {name!r} holds values of several kinds, or that are neither numbers, text nor dates "
                f"({str(error).splitlines()[0]}); make them numbers or text, or leave the column out"
            ) from error
    return pa.table(columns)


def _pandas_column(column: Any) -> Any:
    """Convert a column of pandas to an array of pyarrow: intervals to text categories, periods to their first days."""
    pa = arrow()
    import pandas as pd

    if isinstance(column.dtype, pd.SparseDtype):
        column = column.sparse.to_dense()
    if column.dtype == np.longdouble:
        column = column.astype(np.float64)
    if isinstance(column.dtype, pd.IntervalDtype):
        column = column.astype("category")
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _with_order(column)
    return pa.Array.from_pandas(column.dt.to_timestamp() if isinstance(column.dtype, pd.PeriodDtype) else column)


def _with_order(column: Any) -> Any:
    """Convert a Categorical; its categories keep their order, of which the first becomes the reference."""
    pa = arrow()
    import pandas as pd

    categories = column.cat.categories
    if isinstance(categories, pd.IntervalIndex) or categories.map(type).isin([tuple, frozenset]).any():
        categories = categories.astype(str)
    codes = column.cat.codes.to_numpy()
    return pa.DictionaryArray.from_arrays(
        pa.array(codes, mask=codes < 0), pa.Array.from_pandas(categories), ordered=True
    )


def warn_of_unused(encoder: TableEncoder, names: Sequence[str]) -> None:
    """Warn of the columns among `names` that were left out."""
    unused = [name for name in encoder.dropped if name in names or name.partition(": ")[0] in names]
    if unused:
        warnings.warn(
            f"columns that were not used: {listed(unused)} ({'; '.join(encoder.notes)})",
            UnusedColumnsWarning,
            stacklevel=7,  # the line that calls `fit`
        )


def encode_frame(encoder: TableEncoder, X: Any) -> np.ndarray:
    """Return inputs (n, d) of all rows of a DataFrame or of a table of pyarrow; refuse rows that lack one."""
    inputs, keep = encoder.encode(as_table(X))
    if not np.all(keep):
        first = int(np.argmin(keep))
        raise TableError(
            f"{np.sum(~keep)} of {len(keep)} rows lack an input that the model needs, or hold a category that it does "
            f"not know (the first is row {first}); drop them, or fill them in"
        )
    return inputs
