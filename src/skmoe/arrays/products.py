r"""Weighted products over rows: the matrix products that every stage uses.

A block of rows is laid out ``Z (d, b)`` (`skmoe.arrays.namespaces.rows_last`), weights ``C (m, b)``, one channel a row.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations_with_replacement, permutations
from math import factorial

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, device, multiply_into, on_accelerator

__all__ = [
    "coefficients",
    "gram_channels",
    "index_table",
    "monomials",
    "place_blocks",
    "tensor",
    "unpack_symmetric",
    "weighted_grams",
]

MANY_CHANNELS = 4
"""From ``m >= d / MANY_CHANNELS`` on, one product against all monomials beats ``m`` products (measured on a CPU, d 5 to
100, and on a GPU, d 65: with 120 channels by a factor of five)."""

GROUP = 8
"""Columns whose products with the others are one call on an accelerator, where each call costs microseconds; of
65 columns an eighth of the products is then taken twice."""


@lru_cache(maxsize=64)
def _triangle(d: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(d)


def gram_channels(d: int, m: int) -> int:
    """Return float64 values a row that `weighted_grams` holds at a time, for choosing the block size."""
    return d * (d + 1) // 2 if m * MANY_CHANNELS >= d else 2 * d


def monomials(Z: Array) -> Array:
    """Return all products ``z_i z_j``, i <= j, of a block (d, b): a (d (d + 1) / 2, b) array."""
    d, b = Z.shape
    M = array_namespace(Z).empty((d * (d + 1) // 2, b), dtype=Z.dtype, device=device(Z))
    end = 0
    for i in range(d):
        start, end = end, end + d - i
        multiply_into(M[start:end, :], Z[i : i + 1, :], Z[i:, :])
    return M


@lru_cache(maxsize=64)
def _group_places(d: int) -> np.ndarray:
    """Return the positions of the products i <= j among those of `_grouped_monomials`."""
    i, j = _triangle(d)
    first = i - i % GROUP
    starts = np.concatenate([[0], np.cumsum([min(GROUP, d - f) * (d - f) for f in range(0, d, GROUP)])])
    return starts[i // GROUP] + (i - first) * (d - first) + j - first


def _grouped_monomials(Z: Array) -> Array:
    """Return products ``z_i z_j`` for groups of i, with all j from the first of the group on: few calls, for a GPU."""
    d, b = Z.shape
    groups = [(first, min(first + GROUP, d)) for first in range(0, d, GROUP)]
    size = sum((last - first) * (d - first) for first, last in groups)
    M = array_namespace(Z).empty((size, b), dtype=Z.dtype, device=device(Z))
    end = 0
    for first, last in groups:
        start, end = end, end + (last - first) * (d - first)
        out = array_namespace(Z).reshape(M[start:end, :], (last - first, d - first, b))
        multiply_into(out, Z[first:last, None, :], Z[None, first:, :])
    return M


def weighted_grams(C: Array, Z: Array) -> Array:
    r"""Return the sums over rows of :math:`c\, z z^\top` for each channel of weights, packed.

    Returns (m, d (d + 1) / 2): the upper triangles, a sum over rows; see `unpack_symmetric`.
    """
    xp = array_namespace(C, Z)
    m, d = C.shape[0], Z.shape[0]
    if m * MANY_CHANNELS >= d:
        if not on_accelerator(Z):
            return C @ monomials(Z).T
        return xp.take(C @ _grouped_monomials(Z).T, xp.asarray(_group_places(d), device=device(Z)), axis=1)
    i, j = (xp.asarray(t, device=device(Z)) for t in _triangle(d))
    full = xp.stack([(Z * C[c, :]) @ Z.T for c in range(m)])
    return xp.take(xp.reshape(full, (m, d * d)), i * d + j, axis=1)


def unpack_symmetric(packed: np.ndarray) -> np.ndarray:
    """Return symmetric (..., d, d) matrices from packed upper triangles (..., d (d + 1) / 2), on the host."""
    d = int((np.sqrt(8 * packed.shape[-1] + 1) - 1) / 2)
    i, j = _triangle(d)
    full = np.empty((*packed.shape[:-1], d, d))
    full[..., i, j] = packed
    full[..., j, i] = packed
    return full


def place_blocks(blocks: np.ndarray, q: int) -> np.ndarray:
    """Return symmetric blocks (q (q + 1) / 2, D, D) of an upper triangle laid out as one (q D, q D) matrix."""
    D = blocks.shape[-1]
    H = np.empty((q, D, q, D))
    i, j = _triangle(q)
    H[i, :, j, :] = blocks
    H[j, :, i, :] = blocks
    return H.reshape(q * D, q * D)


@lru_cache(maxsize=64)
def index_table(q: int, order: int) -> tuple[np.ndarray, np.ndarray]:
    """Return multi-indices i1 <= ... <= ir of q symbols, (N, r), and factors that make their products orthonormal."""
    table = np.array(list(combinations_with_replacement(range(q), order)), dtype=np.intp).reshape(-1, order)
    repeats = [np.prod([factorial(c) for c in np.unique(row, return_counts=True)[1]]) for row in table]
    return table, 1 / np.sqrt(np.array(repeats, dtype=np.float64))


def coefficients(T: np.ndarray) -> np.ndarray:
    """Return the entries of a symmetric tensor as orthonormal Hermite coefficients (N,): squared norm |T|^2 / r!."""
    table, scale = index_table(T.shape[0], T.ndim)
    return scale * T[tuple(table.T)]


def tensor(values: np.ndarray, q: int, order: int) -> np.ndarray:
    """Return the symmetric tensor with the given orthonormal Hermite coefficients; undoes `coefficients`."""
    table, scale = index_table(q, order)
    T = np.empty((q,) * order)
    for legs in permutations(range(order)):
        T[tuple(table[:, legs].T)] = values / scale
    return T
