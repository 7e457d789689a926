"""Inputs of unit covariance, whatever the units and dependences of the columns."""

from __future__ import annotations

import numpy as np

from skmoe.arrays import Array, to_device, to_numpy
from skmoe.blocks import block_rows_for, sum_over_blocks
from skmoe.model import design

__all__ = ["whitening_map"]


def whitening_map(
    X: Array, weight: Array | None = None, *, centered: bool = True, tol: float = 1e-10
) -> tuple[np.ndarray, np.ndarray]:
    """Center (d,) and transform (d, r) to inputs of unit covariance; directions without variance are dropped.

    Columns are scaled first, so that the rank found does not depend on their units. Without an intercept in the model
    the origin has a meaning: `centered=False` leaves it in place.
    """
    one = to_numpy(X[0, :]).astype(np.float64)  # sums about a row of the data lose no digits to a far origin

    def kernel(x: Array, w: Array | None) -> tuple[Array, ...]:
        Z = design(x, True) - to_device(np.append(one, 0.0), X)[:, None]
        C = Z if w is None else Z * w
        return (C @ Z.T,)

    (total,) = sum_over_blocks(kernel, X, weight, block_rows=block_rows_for(2 * X.shape[1]))
    S = to_numpy(total)
    mean = S[:-1, -1] / S[-1, -1]
    second = S[:-1, :-1] / S[-1, -1] - np.outer(mean, mean)
    center = one + mean if centered else np.zeros_like(one)
    scale = np.sqrt(np.maximum(np.diag(second), 0.0))
    # a constant column far from zero shows a variance of rounding errors only
    flat = scale <= 1e-12 * np.abs(one + mean)
    if not centered:
        second = second + np.outer(one + mean, one + mean)
        scale = np.sqrt(np.diag(second))
        flat = scale == 0
    scale[flat] = np.inf
    values, vectors = np.linalg.eigh(second / np.outer(scale, scale))
    keep = values > tol * max(values[-1], np.finfo(float).tiny)
    return center, (vectors[:, keep] / np.sqrt(values[keep])) / scale[:, None]
