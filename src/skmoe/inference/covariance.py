r"""Covariance of the estimates, by the observed information and by the sandwich formula.

It is that of (A, b, W, c, sigma) in the caller's units, laid out as one vector, with intercepts at the origin of the
parameters, see `MoEParameters`. It is held as a root F, (q, r), of :math:`F F^\top`: maps of the parameters multiply
the root, so that the covariance is symmetric, and no variance negative, however large its condition number.
"""

from __future__ import annotations

import numpy as np

from skmoe.likelihood import score_outer
from skmoe.model.parameters import MoEParameters
from skmoe.search import Optimum

__all__ = [
    "at_zero",
    "callers_slopes",
    "covariance_root",
    "from_root",
    "packed",
    "robust_root",
    "split",
    "split_errors",
]


def covariance_root(optimum: Optimum | None) -> np.ndarray | None:
    """Return a root of the covariance of a fit; None where there is no strict maximum of the likelihood."""
    root = None if optimum is None else optimum.fit.inverse_root
    if optimum is None or root is None:
        return None
    return callers_slopes(optimum) @ root / np.sqrt(optimum.problem.total)


def robust_root(optimum: Optimum, root: np.ndarray) -> np.ndarray:
    """Return a root of the covariance by the sandwich formula, given that by the observed information."""
    problem, fit = optimum.problem, optimum.fit
    assert fit.inverse_root is not None
    outer = score_outer(problem, fit.theta) if fit.curvature.outer is None else fit.curvature.outer
    return root @ sandwich_root(fit.inverse_root, outer)


def sandwich_root(root: np.ndarray, outer: np.ndarray) -> np.ndarray:
    r"""Return a root of the sandwich formula, to be multiplied by that of the covariance by the information.

    With :math:`R R^\top` the inverse of the information H and :math:`S S^\top` the mean outer product of the scores,
    :math:`H^{-1} S S^\top H^{-1} = R T T^\top R^\top` with :math:`T = R^\top S`.
    """
    scale = np.sqrt(np.diag(outer))
    scale = np.where(scale > 0, scale, 1.0)
    values, vectors = np.linalg.eigh(outer / np.outer(scale, scale))
    return root.T @ (scale[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def from_root(root: np.ndarray) -> np.ndarray:
    """Return the covariance of a root: symmetric to the last digit."""
    covariance = root @ root.T
    return 0.5 * (covariance + covariance.T)


def callers_slopes(optimum: Optimum) -> np.ndarray:
    """Return derivatives of all parameters in the caller's units, (A, b, W, c, sigma), over those of the fit."""
    problem, order = optimum.problem, optimum.order
    k, m = problem.k, problem.family.predictors
    expert, vector = problem.rows.map.slopes()
    reported = np.eye(k)[order]
    experts, gates = _blocks(reported, np.eye(m)), (reported - reported[-1])[:, :-1]  # the last gate vector is zero
    a, w = k * problem.De, (k - 1) * problem.Dg
    parts = [(slice(0, a), experts, expert), (slice(a, a + w), gates, vector)]
    rows = []
    for columns, which, slopes in parts:
        for part in (slopes[:-1], slopes[-1:]):  # coefficients, then intercepts
            J = np.zeros((len(which) * len(part), problem.n_parameters))
            J[:, columns] = _blocks(which, part)
            rows.append(J)
    return np.vstack([*rows, _noise_slopes(optimum)[order]])


def _blocks(which: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return the Kronecker product of two small matrices, faster than `numpy.kron`."""
    product = which[:, None, :, None] * part[None, :, None, :]
    return product.reshape(len(which) * len(part), which.shape[1] * part.shape[1])


def at_zero(root: np.ndarray, p: MoEParameters) -> np.ndarray:
    """Return derivatives of (A, b, W, c, sigma), or a root of a covariance, with intercepts at inputs of zero.

    Those of `root`, which they are made of, are at the origin of the parameters.
    """
    if p.origin is None:
        return root
    d = len(p.origin)
    J = np.eye(len(root))
    for start, vectors in ((0, p.b.size), (p.A.size + p.b.size, len(p.W))):  # experts, then gate
        for i in range(vectors):
            first = start + i * d
            J[start + vectors * d + i, first : first + d] = -p.origin
    return J @ root


def _noise_slopes(optimum: Optimum) -> np.ndarray:
    """Return derivatives of the noise scales (k,) in the caller's units over the parameters of the fit, (k, p)."""
    problem, sigma = optimum.problem, optimum.fit.theta.sigma
    slopes = np.zeros((problem.k, problem.n_parameters))
    first = problem.n_parameters - len(problem.noise_groups)
    for s, group in enumerate(problem.noise_groups):
        slopes[group, first + s] = sigma[group] * problem.rows.map.y_scale
    return slopes


def split_errors(covariance: np.ndarray | None, p: MoEParameters) -> dict[str, np.ndarray]:
    """Return standard errors by name from a covariance over (A, b, W, c, sigma); NaN where there is none."""
    if covariance is None:
        return split(np.full(len(packed(p, p.sigma)), np.nan), p)
    return split(np.sqrt(np.maximum(np.diag(covariance), 0.0)), p)


def packed(p: MoEParameters, sigma: np.ndarray) -> np.ndarray:
    """Return (A, b, W, c, sigma) as one vector, intercepts at inputs of zero."""
    return np.concatenate([p.A.ravel(), p.expert_intercept.ravel(), p.W.ravel(), p.gate_intercept, sigma])


def split(values: np.ndarray, p: MoEParameters) -> dict[str, np.ndarray]:
    """Split a vector over (A, b, W, c, sigma) by name, in the shapes of the parameters."""
    shapes = {
        "expert_coef": p.A.shape,
        "expert_intercept": p.b.shape,
        "gate_coef": p.W.shape,
        "gate_intercept": p.c.shape,
        "noise_scale": p.sigma.shape,
    }
    parts = np.split(values, np.cumsum([np.prod(shape) for shape in shapes.values()])[:-1])
    return {name: part.reshape(shape) for (name, shape), part in zip(shapes.items(), parts, strict=True)}
