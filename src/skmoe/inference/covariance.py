"""Covariance of the estimates, by the observed information and by the sandwich formula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skmoe.likelihood import score_outer
from skmoe.search import Optimum

__all__ = [
    "Covariance",
    "at_zero",
    "callers_slopes",
    "covariance_of",
    "from_root",
    "slopes_at_zero",
    "split",
    "split_errors",
]


@dataclass(frozen=True)
class Covariance:
    r"""Covariance of (A, b, W, c, sigma) in the caller's units, laid out as one vector, in two versions.

    Each version is a root F, (q, r), of the covariance :math:`F F^\top`. Maps of the parameters multiply the root, so
    that the covariance is symmetric, and no variance negative, however large its condition number. Intercepts are those
    at the origin of the parameters, see `MoEParameters`.
    """

    model: np.ndarray  # by the observed information
    robust: np.ndarray  # by the sandwich formula


def covariance_of(optimum: Optimum | None, *, robust: bool = True) -> Covariance | None:
    """Return the covariance of a fit; None where the likelihood has no strict maximum, or was not maximised.

    Without `robust` the pass over the rows that the sandwich formula needs is saved, and both versions are the same.
    """
    root = None if optimum is None else optimum.fit.inverse_root
    if optimum is None or root is None:
        return None
    problem, fit, J = optimum.problem, optimum.fit, callers_slopes(optimum)
    model = J @ root / np.sqrt(problem.total)
    if not robust:
        return Covariance(model, model)
    outer = score_outer(problem, fit.theta) if fit.curvature.outer is None else fit.curvature.outer
    return Covariance(model, model @ sandwich_root(root, outer))


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


def at_zero(root: np.ndarray, k: int, origin: np.ndarray | None, m: int = 1) -> np.ndarray:
    """Return the root of the covariance with intercepts at inputs of zero, from that with intercepts at an origin (d,).

    Experts have m predictors each.
    """
    return root if origin is None else slopes_at_zero(k, origin, m) @ root


def slopes_at_zero(k: int, origin: np.ndarray, m: int = 1) -> np.ndarray:
    """Return derivatives of (A, b, W, c, sigma) with intercepts at inputs of zero over those at an origin."""
    d = len(origin)
    J = np.eye((m + 1) * k * (d + 1) + k)
    for start, vectors in ((0, k * m), (k * m * (d + 1), k)):  # experts, then gate
        for i in range(vectors):
            first = start + i * d
            J[start + vectors * d + i, first : first + d] = -origin
    return J


def _noise_slopes(optimum: Optimum) -> np.ndarray:
    """Return derivatives of the noise scales (k,) in the caller's units over the parameters of the fit, (k, p)."""
    problem, sigma = optimum.problem, optimum.fit.theta.sigma
    slopes = np.zeros((problem.k, problem.n_parameters))
    first = problem.n_parameters - len(problem.noise_groups)
    for s, group in enumerate(problem.noise_groups):
        slopes[group, first + s] = sigma[group] * problem.rows.map.y_scale
    return slopes


def split_errors(covariance: np.ndarray | None, k: int, d: int, m: int = 1) -> dict[str, np.ndarray]:
    """Return standard errors by name from a covariance over (A, b, W, c, sigma); NaN where there is none.

    Experts have m predictors each; those of their coefficients are (k, m, d) where there are several.
    """
    if covariance is None:
        return split(np.full((m + 1) * k * (d + 1) + k, np.nan), k, d, m)
    return split(np.sqrt(np.maximum(np.diag(covariance), 0.0)), k, d, m)


def split(values: np.ndarray, k: int, d: int, m: int = 1) -> dict[str, np.ndarray]:
    """Split a vector over (A, b, W, c, sigma) by name, in the shapes of `split_errors`."""
    several = () if m == 1 else (m,)
    sizes = {
        "expert_coef": (k, *several, d),
        "expert_intercept": (k, *several),
        "gate_coef": (k, d),
        "gate_intercept": (k,),
        "noise_scale": (k,),
    }
    parts, start = {}, 0
    for name, shape in sizes.items():
        size = int(np.prod(shape))
        parts[name] = values[start : start + size].reshape(shape)
        start += size
    return parts
