"""The estimator's door: what callers have, as rows that kernels take; and results in the caller's own kind of array.

Tables in memory go through scikit-learn's checks. Arrays of other libraries stay in them, files and Dask collections
stay where they are, so these are checked here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from skmoe.rows.arrays import Array, array_namespace, is_array
from skmoe.rows.blocks import Streamed, is_dask, is_streamable, stream
from skmoe.rows.checks import check_rows, check_varies

__all__ = ["apply", "rows_to_fit", "rows_to_use"]


def _is_foreign(X: Any) -> bool:
    return is_array(X) and not isinstance(X, np.ndarray)


def _note_columns(model: Any, width: int, names: Any) -> None:
    model.n_features_in_ = width
    if names is not None:
        model.feature_names_in_ = names
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_


def rows_to_fit(model: Any, X: Any, y: Any, weight: Any) -> tuple[Array, Array, Array | None]:
    """Inputs, outputs and weights that a model is to be fitted to; notes their columns on the model."""
    if is_streamable(X):
        if y is None:
            raise ValueError("y is needed: the name of the output's column, or a Dask collection")
        X, y, weight, names = stream(X, y, weight)
        _note_columns(model, X.shape[1], names)
        return X, y, weight
    if _is_foreign(X):
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        X, y = check_rows(X, y)
        _note_columns(model, X.shape[1], None)
        if weight is not None:
            weight = check_rows(X, weight)[1]
            if float(array_namespace(X).min(weight)) < 0:
                raise ValueError("sample_weight has negative values; weights must be zero or more")
    else:
        X, y = validate_data(model, X, y, dtype=[np.float64, np.float32], y_numeric=True, ensure_min_samples=2)
        y = np.asarray(y, dtype=np.float64)
        if weight is not None:
            weight = _check_sample_weight(weight, X, dtype=np.float64, ensure_non_negative=True)
    if weight is not None:
        able = weight > 0
        if not bool(array_namespace(X).all(able)):
            X, y, weight = X[able], y[able], weight[able]
        if y.shape[0] < 2:
            raise ValueError("sample_weight leaves fewer than two rows with weight; at least two are needed")
    check_varies(y)
    return X, y, weight


def rows_to_use(model: Any, X: Any, y: Any = None) -> tuple[Array, Array | None]:
    """Inputs, and outputs if any, for a fitted model."""
    check_is_fitted(model)
    if is_streamable(X):
        X, y, *_ = stream(X, y, names=getattr(model, "feature_names_in_", None))
        _check_width(model, X)
        return X, y
    if _is_foreign(X):
        X, y = check_rows(X, y)
        _check_width(model, X)
        return X, y
    if y is None:
        return validate_data(model, X, reset=False, dtype=[np.float64, np.float32]), None
    X, y = validate_data(model, X, y, reset=False, dtype=[np.float64, np.float32], y_numeric=True)
    return X, np.asarray(y, dtype=np.float64)


def _check_width(model: Any, X: Array) -> None:
    if X.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting {model.n_features_in_} "
            "features as input"
        )


def apply(
    model: Any, function: Callable[..., Array], X: Any, y: Any = None, *, width: int | None = None, like: bool = True
) -> Array:
    """Evaluate a function of rows in the caller's library: lazily for Dask, a NumPy array for files.

    Parameters
    ----------
    function : callable
        Takes inputs, and outputs if given, and returns (n,), or (n, width).
    like : bool
        Whether the result takes the inputs' precision.
    """
    check_is_fitted(model)
    if is_dask(X):
        from skmoe.rows import cluster

        names = getattr(model, "feature_names_in_", None)
        if names is None and X.ndim == 2:
            _check_width(model, X)
        return cluster.apply(function, X, y, names=names, width=width)
    X, y = rows_to_use(model, X, y)
    values = function(X) if y is None else function(X, y)
    if not like or isinstance(X, Streamed):
        return values
    return array_namespace(values).astype(values, X.dtype, copy=False)
