r"""A reference under which the indices of all experts have one law, where inputs are not isotropic.

Label transforms are for one law of the index :math:`a_i^\top x`. Under inputs :math:`N(\mu, \Sigma)` its variance
is :math:`a_i^\top \Sigma a_i`, which differs between experts unless :math:`\Sigma = s^2 I`; no one transform is then
right for all. So rows are weighted to a Gaussian law under which one is, with the precision

.. math:: K = (1 - t)\, \Sigma^{-1} + t\, \tau^{-2} I + \sum_i c_i\, a_i a_i^\top.

In the first round no expert is known: c = 0, t is as large as the rows allow, and the transform is that of the mean
variance over all unit directions. The rounds after it take t = 0 and the :math:`c_i` that make
:math:`a_i^\top K^{-1} a_i` the same for all experts found in the round before: of such laws the one nearest to that of
the inputs in relative entropy.
The centre is moved likewise until the :math:`a_i^\top c` are equal, and, where wanted, towards the origin. Where
experts have equal variances from the outset rows keep equal weights, and the moments are those of the whitened inputs.
Experts and reference converge in a few rounds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import linalg

from skmoe.arrays.namespaces import columns
from skmoe.spectral.scores.gaussian import InputLaw
from skmoe.spectral.scores.reference import (
    LEAST_EFFECTIVE,
    Reference,
    effective_share,
    largest_kept,
    reference_in,
)

__all__ = ["index_reference", "one_transform_each"]

NEWTON_STEPS = 50


def one_transform_each(law: InputLaw, d: int) -> bool:
    """Return whether one label transform for each component is valid for all unit experts.

    It is where covariances are multiples of I, and the mean, of a law of one component, is zero.
    """
    components = law.components(d)
    if len(components) == 1 and np.any(components[0].mean):
        return False
    return all(np.allclose(c.whitener / c.whitener[0, 0], np.eye(d), rtol=0, atol=1e-9) for c in components)


def index_reference(
    law: InputLaw,
    U: np.ndarray,
    X_sample: np.ndarray,
    row_weight: np.ndarray | None = None,
    *,
    experts: np.ndarray | None = None,
    width: float = 1.0,
    toward_origin: bool = False,
) -> Reference | None:
    """Return the reference inside the span of U (d, q), evaluated on a sample of rows.

    Parameters
    ----------
    law : input law of `skmoe.scores`
        Law of the inputs.
    U : (d, q) array
        Orthonormal directions.
    X_sample : (n, d) array
        Some inputs.
    row_weight : (n,) array, optional
        Their weights.
    experts : (k, d) array, optional
        Experts found so far, whose indices are to have one law.
    width : float
        Width of the reference relative to the law.
    toward_origin : bool
        Move the centre towards the origin as far as the rows allow, where a gate without intercepts is symmetric.

    Returns
    -------
    Reference or None
        None where no such reference leaves the share `LEAST_EFFECTIVE` of the rows.
    """
    mean, covariance = law.mean_and_covariance(len(U))
    projected_mean, precision = U.T @ mean, linalg.inv(U.T @ covariance @ U)
    A = None if experts is None else _unit(experts @ U)

    def at(t: float, shift: float = 0.0) -> Reference:
        q = U.shape[1]
        K = ((1 - t) * precision + t * np.trace(precision) / q * np.eye(q)) / width**2
        M = linalg.inv(K)
        c = M @ ((1 - t) / width**2 * precision @ projected_mean)
        std, index_mean = float(np.sqrt(np.trace(M) / q)), 0.0
        if A is not None:
            M = _equal_variances(K, A)
            c = (1 - shift) * _equal_means(c, M, A)
            std, index_mean = float(np.sqrt(np.mean(np.sum((A @ M) * A, axis=1)))), float(np.mean(A @ c))
        values, vectors = linalg.eigh(M)
        B = (vectors / np.sqrt(values)) @ vectors.T @ U.T
        return replace(reference_in(law, B, U @ c, std), index_mean=index_mean)

    def effective(reference: Reference) -> float:
        return effective_share(reference.log_weights(reference.coordinates(columns(X_sample))), row_weight)

    wanted = (1.0, 0.0) if A is None else (0.0, 1.0)
    t = next((t for t in wanted if effective(at(t)) >= LEAST_EFFECTIVE), None)
    if t is None:
        return None
    if A is None:
        return at(largest_kept(lambda u: effective(at(u)), xtol=1e-2))
    if not toward_origin or not np.any(projected_mean):
        return at(t)
    return at(t, largest_kept(lambda u: effective(at(t, u)), xtol=1e-2))


def _unit(A: np.ndarray) -> np.ndarray:
    return A / np.linalg.norm(A, axis=1, keepdims=True)


def _equal_variances(K: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return the covariance nearest to inv(K) under which the rows of A all have their least variance."""

    def variances(M: np.ndarray) -> np.ndarray:
        return np.sum((A @ M) * A, axis=1)

    M, c = linalg.inv(K), np.zeros(len(A))
    goal = np.min(variances(M))
    for _ in range(NEWTON_STEPS):
        excess = variances(M) - goal
        if np.max(np.abs(excess)) <= 1e-10 * goal:
            break
        step = linalg.lstsq((A @ M @ A.T) ** 2, excess)[0]
        shrink = 1.0
        while np.min(linalg.eigvalsh(K + (A.T * (c + shrink * step)) @ A)) <= 1e-9 * np.max(np.diag(K)):
            shrink *= 0.5  # stay inside the positive definite matrices
        c = c + shrink * step
        M = linalg.inv(K + (A.T * c) @ A)
    return M


def _equal_means(c: np.ndarray, M: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return the centre nearest to c, in the metric of M, at which all rows of A have the same mean."""
    if not np.any(c):
        return c
    inverse, means = linalg.pinvh(A @ M @ A.T), A @ c
    common = np.sum(inverse @ means) / np.sum(inverse)
    return c + M @ A.T @ inverse @ (common - means)
