"""Experts with several predictors each: how channels of a block are laid out.

An expert of a family with m predictors has coefficients (m D,), one predictor after the other. Its scores are
(..., k, m, b), its curvatures (..., k, m (m + 1) / 2, b), those of the pairs of predictors in the order of an upper
triangle. With one predictor, as for most families, there is no such axis.
"""

from __future__ import annotations

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.arrays.products import place_blocks

__all__ = ["as_channels", "expert_blocks", "outputs_first", "repeated", "times", "with_predictors"]


def with_predictors(eta: Array, lead: tuple[int, ...], m: int) -> Array:
    """Return predictors (K, b) of all experts as (..., k, b), or (..., k, m, b) where each has several."""
    shape = (*lead, eta.shape[-1]) if m == 1 else (*lead, m, eta.shape[-1])
    return array_namespace(eta).reshape(eta, shape)


def times(R: Array, C: Array) -> Array:
    """Multiply responsibilities (..., k, b) with channels (..., k, b) or (..., k, m, b) of the experts."""
    return R * C if C.ndim <= R.ndim else R[..., None, :] * C


def as_channels(C: Array) -> Array:
    """Reshape channels (..., b) to (K, b)."""
    return C if C.ndim == 2 else array_namespace(C).reshape(C, (-1, C.shape[-1]))


def repeated(R: Array, m: int) -> Array:
    """Repeat responsibilities (..., k, b) for each predictor, (..., k m, b)."""
    return R if m == 1 else array_namespace(R).repeat(R, m, axis=-2)


def expert_blocks(grams: np.ndarray, experts: int, m: int) -> np.ndarray:
    """Return Gram matrices of all pairs of predictors, expert by expert, as one (m D, m D) matrix for each expert."""
    if m == 1:
        return grams
    pairs, D = m * (m + 1) // 2, grams.shape[-1]
    return np.stack([place_blocks(pairs_of_one, m) for pairs_of_one in grams.reshape(experts, pairs, D, D)])


def outputs_first(y: Array) -> Array:
    """Return outputs as families take them: (b,), (S, 1, b) of S tables, or parts before these if there are several."""
    xp = array_namespace(y)
    if y.ndim == 1:
        return y
    if y.ndim == 2:
        return xp.matrix_transpose(y)[:, None, :]
    y = xp.permute_dims(y, (2, 1, 0))
    return y if y.shape[1] == 1 else y[:, :, None, :]
