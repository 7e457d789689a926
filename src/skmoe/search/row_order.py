"""One order for the rows of small tables, so that the caller's order of rows does not matter."""

from __future__ import annotations

import numpy as np

from skmoe.arrays.namespaces import Array
from skmoe.search.config import SearchConfig

__all__ = ["canonical", "sorted_rows"]


def sorted_rows(X: Array, y: Array, weight: Array | None, config: SearchConfig) -> tuple[Array, Array, Array | None]:
    """Sort rows by outputs, inputs and weights, so that sums over them are the same to the last digit."""
    if not isinstance(X, np.ndarray) or len(X) > config.rows.canonical_rows:
        return X, y, weight
    order = np.argsort(y, kind="stable") if y.ndim == 1 else None
    if order is None or not _rises(y[order]):  # equal outputs: inputs and weights decide
        keys = [y, X] if weight is None else [y, X, weight]
        order = np.lexsort(np.column_stack(keys).T[::-1])
    return X[order], y[order], None if weight is None else weight[order]


def _rises(y: np.ndarray) -> bool:
    """Return whether outputs (n,) rise strictly: rows are then in order, and none is repeated."""
    return y.ndim == 1 and bool(np.all(y[1:] > y[:-1]))


def canonical(X: Array, y: Array, weight: Array | None, config: SearchConfig) -> tuple[Array, Array, Array | None]:
    """Sort the rows of small tables and turn repeated ones into weights, so that neither order nor repeats matter."""
    if not isinstance(X, np.ndarray) or len(X) > config.rows.canonical_rows:
        return X, y, weight
    if weight is None and _rises(y):
        return np.ascontiguousarray(X), np.ascontiguousarray(y), None
    parts = 1 if y.ndim == 1 else y.shape[1]
    table, back, counts = np.unique(np.column_stack([y, X]), axis=0, return_inverse=True, return_counts=True)
    if weight is not None:
        counts = np.bincount(back.ravel(), weights=weight)
        table, counts = table[counts > 0], counts[counts > 0]
    counted = None if weight is None and len(table) == len(X) else counts.astype(np.float64)
    if counted is not None and np.all(counted == 1):
        counted = None
    outputs = np.ascontiguousarray(table[:, 0] if y.ndim == 1 else table[:, :parts])
    return np.ascontiguousarray(table[:, parts:]), outputs, counted
