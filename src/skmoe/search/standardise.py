"""The standardised scale: inputs of unit covariance, outputs of unit variance, whatever the caller's units."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import linalg

from skmoe.arrays.namespaces import Array
from skmoe.arrays.table_moments import TableMoments
from skmoe.likelihood import InputMap

__all__ = ["standardised", "whitening"]

WIDE = 4  # columns per row from which on a table has far more of them
SINGULAR = 1e-10  # eigenvalues of a correlation matrix below this part of the largest are no directions of their own


def whitening(
    moments: TableMoments, columns: Sequence[int] | None = None, *, centered: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Return the center (d,) from the moments' origin and the transform (d, r) to unit covariance.

    Directions that do not vary are dropped. Columns are scaled first, so that the rank does not depend on their units.
    Without an intercept in the model the origin has a meaning: `centered=False` leaves it in place. Only the given
    `columns` are used, if any.
    """
    index = slice(None) if columns is None else list(columns)
    mean, second = moments.mean[index], moments.covariance[index][:, index]
    scale = np.sqrt(np.maximum(np.diag(second), 0.0))
    flat = moments.flat[index]
    if not centered:
        second = second + np.outer(mean, mean)
        scale = np.sqrt(np.diag(second))
        flat = scale == 0
    scale[flat] = np.inf
    values, vectors = _eigen(second / np.outer(scale, scale), moments.rows)
    keep = values > SINGULAR * np.max(values, initial=np.finfo(float).tiny)
    d = len(moments.mean)
    center, transform = np.zeros(d), np.zeros((d, int(np.sum(keep))))
    center[index] = mean if centered else 0.0
    transform[index] = (vectors[:, keep] / np.sqrt(values[keep])) / scale[:, None]
    return center, transform


def _eigen(M: np.ndarray, rank: int) -> tuple[np.ndarray, np.ndarray]:
    """Return eigenvalues, the largest last, and eigenvectors of a positive semi-definite matrix of at most this rank.

    Where there are far fewer rows than columns, a pivoted Cholesky factor (d, r) has the same ones at a cost of d r^2.
    """
    if WIDE * rank > len(M):
        values, vectors = np.linalg.eigh(M)
        return values, vectors
    factor, pivots, found, _ = linalg.lapack.dpstrf(M, lower=1)
    L = np.zeros((len(M), found))
    L[pivots - 1] = np.tril(factor[:, :found])
    vectors, values, _ = linalg.svd(L, full_matrices=False)
    return values[::-1] ** 2, vectors[:, ::-1]


def standardised(
    moments: TableMoments,
    *,
    intercept: bool,
    outputs: bool,
    expert_columns: Sequence[int] | None = None,
    gate_columns: Sequence[int] | None = None,
    transform_response: Callable[[Array], Array] | None = None,
) -> InputMap:
    """Return the map to standardised inputs and, if `outputs`, to standardised outputs, after `working` if given.

    Where experts and gate see other columns, each has its own whitening.
    """
    shift, scale = 0.0, 1.0
    if outputs:
        shift = moments.y_mean if intercept else 0.0
        scale = float(np.hypot(moments.y_std, moments.y_mean - shift)) or 1.0
    if expert_columns is None and gate_columns is None:
        center, transform = whitening(moments, centered=intercept)
        return InputMap(
            center,
            transform,
            intercept,
            y_shift=shift,
            y_scale=scale,
            transform_response=transform_response,
            origin=moments.origin,
        )
    center = np.zeros(len(moments.mean))
    blocks = []
    for columns in (expert_columns, gate_columns):
        index = list(range(len(center)) if columns is None else columns)
        middle, block = whitening(moments, index, centered=intercept)
        center[index] = middle[index]
        blocks.append(block)
    first, width = blocks[0].shape[1], blocks[0].shape[1] + blocks[1].shape[1]
    return InputMap(
        center,
        np.concatenate(blocks, axis=1),
        intercept,
        expert_columns=tuple(range(first)),
        gate_columns=tuple(range(first, width)),
        y_shift=shift,
        y_scale=scale,
        transform_response=transform_response,
        origin=moments.origin,
    )
