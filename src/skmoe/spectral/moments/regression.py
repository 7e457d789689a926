r"""Moments by Hermite regression: T1, T2, T3 as least-squares coefficients instead of averages.

Under a standard Gaussian law :math:`E[q\, He_r(z)]` is also the coefficient of :math:`He_r` in the regression of q on
all Hermite features of z. It has the limit of the average and less variance: the part of q that lower and other
features explain no longer contributes to it. Features of orders 0 to 3 in q dimensions number (q + 3 choose 3).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from math import comb, sqrt
from typing import Any

import numpy as np
from scipy import linalg

from skmoe.arrays.blocks import block_rows_for, sum_over_blocks
from skmoe.arrays.namespaces import Array, array_namespace, columns, to_device, to_numpy
from skmoe.arrays.products import tensor
from skmoe.spectral.moments.plain import score_moment
from skmoe.spectral.rows import Rows
from skmoe.spectral.scores.reference import Reference, reference_in, whitened_along

__all__ = [
    "hermite_features",
    "hermite_regression",
    "leading_basis",
    "regression_dimension",
]

GRAM_FLOPS = 5e9  # work allowed for a regression's Gram matrix; beyond it rows are sampled, and all rows correct it
ROWS_PER_FEATURE = 6  # with fewer rows per feature the regression would add noise instead of removing it
SAMPLE_PER_FEATURE = 200  # rows per feature beyond which more of them in the Gram matrix make no difference
MOST_FEATURES = 455  # 12 dimensions
SINGULAR = 1e-15  # reciprocal condition number of a Gram matrix below which its inverse is rounding


Labels = Callable[[Array, Array], Array]


def order_slices(q: int) -> list[slice]:
    """Return the slices of the features of each order 0..3."""
    ends = np.cumsum([0, *(comb(q + r - 1, r) for r in range(4))])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def hermite_features(z: Array, order: int = 3) -> Array:
    """Return the orthonormal Hermite polynomials of orders 0 to `order` of a block (q, b): (m, b), as `index_table`."""
    xp = array_namespace(z)
    q = z.shape[0]
    second = (z * z - 1) / sqrt(2)  # of one coordinate
    rows = [xp.ones_like(z[:1, :]), z]
    for i in range(q):
        rows += [second[i : i + 1, :], z[i, :] * z[i + 1 :, :]]
    for i in range(q if order == 3 else 0):
        rows += [z[i : i + 1, :] * (z[i : i + 1, :] ** 2 - 3) / sqrt(6), second[i, :] * z[i + 1 :, :]]
        for j in range(i + 1, q):
            rows += [z[i : i + 1, :] * second[j : j + 1, :], (z[i, :] * z[j, :]) * z[j + 1 :, :]]
    return xp.concat(rows, axis=0)


def regression_dimension(n: int, d: int, k: int) -> int:
    """Return the dimension of the regression: d where rows and time allow, else a few more than k."""

    def fits(q: int, flops: float) -> bool:
        m = comb(q + 3, 3)
        return m * ROWS_PER_FEATURE <= n and min(n, GRAM_FLOPS / m**2) * m**2 <= flops

    if comb(d + 3, 3) <= MOST_FEATURES and fits(d, GRAM_FLOPS):
        return d
    return next((q for q in (k + 3, k + 2, k + 1) if q < d and fits(q, max(n * d * d, 1e9))), min(k, d))


def _block_terms(labels: Labels, reference: Reference, x: Array, t: Array) -> tuple[Array, Array, Array]:
    """Return features (m, b), labels (l, b) and weights (b,) of a block under the reference law."""
    Z = columns(x)
    z = reference.coordinates(Z)
    return hermite_features(z), labels(Z, t), reference.weights(z)


def _fit_sample(
    rows: Rows, labels: Labels, reference: Reference, q: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Regress on enough random rows; return coefficients (l, m) and the inverse of the features' Gram matrix."""
    m = comb(q + 3, 3)

    def kernel(x: Array, t: Array, row_weight: Array | None) -> tuple[Array, Array, Array]:
        F, L, w = _block_terms(labels, reference, x, t)
        w = w if row_weight is None else w * row_weight
        weighted = F * w
        return array_namespace(F).sum(w), weighted @ F.T, L @ weighted.T

    enough = min(SAMPLE_PER_FEATURE * m, max(GRAM_FLOPS / m**2, ROWS_PER_FEATURE * m))
    sums = sum_over_blocks(kernel, *rows.sampled(enough, rng).arrays, block_rows=block_rows_for(2 * m))
    total, gram, right = map(to_numpy, sums)
    inverse = _inverse(gram / total)
    return (right / total) @ inverse, inverse


def _inverse(gram: np.ndarray) -> np.ndarray:
    """Return the inverse of the features' Gram matrix; the pseudo-inverse where features are linearly dependent."""
    factor, info = linalg.lapack.dpotrf(gram)
    if info == 0 and linalg.lapack.dpocon(factor, np.linalg.norm(gram, 1))[0] > SINGULAR:
        return linalg.inv(gram)
    return linalg.pinvh(gram, rtol=1e-10)


def hermite_regression(
    rows: Rows, labels: Labels, reference: Reference, q: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Regress labels on Hermite features under the reference law.

    Parameters
    ----------
    rows : Rows
    labels : callable
        Takes a block of inputs (d, b) and of outputs (b,), returns (l, b).
    reference : Reference
        Its coordinates, q of them, and weights.
    q : int
    rng : Generator

    Returns
    -------
    coef : (l, m), orthonormal coefficients
    variances : (l, 4), the sampling variance of a coefficient of each order, averaged over the order
    """
    orders = order_slices(q)
    coef, inverse = _fit_sample(rows, labels, reference, q, rng)

    def kernel(x: Array, t: Array, row_weight: Array | None) -> tuple[Array, Array, Array]:
        F, L, w = _block_terms(labels, reference, x, t)
        xp = array_namespace(F)
        R = (L - to_device(coef, F) @ F) * w
        squares = R * R
        if row_weight is not None:  # a row of weight two is two rows, each with its own noise
            w, R, squares = w * row_weight, R * row_weight, squares * row_weight
        size = xp.stack([xp.mean(F[s, :] ** 2, axis=0) for s in orders])
        return xp.sum(w), R @ F.T, squares @ size.T

    # all rows correct a regression on a sample of them; after one on all rows this adds nothing but the variances
    sums = sum_over_blocks(kernel, *rows.arrays, block_rows=block_rows_for(2 * comb(q + 3, 3)))
    total, correction, squares = map(to_numpy, sums)
    return coef + (correction / total) @ inverse, squares / total**2


def leading_basis(
    rows: Rows, label: Callable[[Array], Array], law: Any, sign: float, q: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading q-space (d, q) of sign times T2, and T2 itself: one pass to find it and one to improve it.

    Plain T2 of the residuals of a linear regression of P2(y) gives a first space; plain T2 of the residuals of a
    Hermite regression inside it, plus that regression's second-order term, gives the last. Both regressions are control
    variates: their moments are known, so any coefficients are valid and a sample of rows suffices for good ones.
    """
    X, y, weight = rows.arrays
    mean, covariance = law.mean_and_covariance(X.shape[1])
    offset, line = _line_of(rows.sampled(SAMPLE_PER_FEATURE * X.shape[1], rng), label, mean, covariance)
    line_ = to_device(line, X)

    def rest(Z: Array, t: Array) -> Array:
        return label(t) - offset - line_ @ Z

    U = _top(sign * score_moment(X, y, rest, law, 2, weight=weight), q)
    inside = replace(reference_in(law, *whitened_along(law, U), 1.0), temper=0.0)
    coef, _ = _fit_sample(rows, lambda Z, t: rest(Z, t)[None, :], inside, q, rng)
    quadratic = order_slices(q)[2]
    explained = to_device(coef[:, : quadratic.stop], X)

    def last(Z: Array, t: Array) -> Array:
        return rest(Z, t) - (explained @ hermite_features(inside.coordinates(Z), order=2))[0, :]

    T2 = score_moment(X, y, last, law, 2, weight=weight) + inside.B.T @ tensor(coef[0, quadratic], q, 2) @ inside.B
    return _top(sign * T2, q), T2


def _line_of(
    rows: Rows, label: Callable[[Array], Array], mean: np.ndarray, covariance: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return offset and slopes (d,) of the linear regression of the labels, under the law of the inputs."""
    centred, values = to_numpy(rows.X) - mean, to_numpy(label(rows.y))
    w = None if rows.weight is None else to_numpy(rows.weight)
    center = float(np.average(values, weights=w))
    rest = values - center if w is None else w * (values - center)
    line = linalg.solve(covariance, centred.T @ rest / rows.total, assume_a="pos")
    return float(center - mean @ line), line


def _top(T2: np.ndarray, q: int) -> np.ndarray:
    d = len(T2)
    return linalg.eigh(T2, subset_by_index=(d - q, d - 1))[1][:, ::-1]
