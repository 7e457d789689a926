"""Functions of rows in the caller's own kind of array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skmoe.arrays.checks import check_no_nan
from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.arrays.streamed import Streamed
from skmoe.tables.inputs import check_width, is_dask, rows_to_use

__all__ = ["apply", "in_precision_of"]


def apply(
    model: Any,
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
            check_width(model, X)
        return dask.apply(lambda *rows: check_no_nan(function(*rows)), X, y, names=names, width=width, columns=columns)
    X, y = rows_to_use(model, X, y, columns)
    values = check_no_nan(function(*((X,) if y is None else (X, y))))
    if not like or isinstance(X, Streamed):
        return values
    return in_precision_of(X, values)


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
