"""How sure a fit is: covariance of the estimates, by the observed information and by the sandwich formula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skmoe.likelihood import score_outer
from skmoe.search import Optimum

__all__ = ["Covariance", "at_zero", "callers_slopes", "covariance_of", "slopes_at_zero", "split", "split_errors"]


@dataclass(frozen=True)
class Covariance:
    """Covariance of (A, b, W, c, sigma) in the caller's units, laid out as one vector, in two versions.

    Intercepts are those at the origin of the parameters, see `MoEParameters`.
    """

    model: np.ndarray  # by the observed information
    robust: np.ndarray  # by the sandwich formula


def covariance_of(optimum: Optimum | None, *, robust: bool = True) -> Covariance | None:
    """Covariance of a fit; None where the likelihood has no strict maximum, or none was climbed.

    Without `robust` the pass over the rows that the sandwich formula needs is saved, and both versions are the same.
    """
    inverse = None if optimum is None else optimum.fit.inverse
    if optimum is None or inverse is None:
        return None
    problem, fit = optimum.problem, optimum.fit
    outer = fit.curvature.information
    if robust:
        outer = score_outer(problem, fit.theta) if fit.curvature.outer is None else fit.curvature.outer
    inner = covariances(inverse, outer, problem.total)
    J = callers_slopes(optimum)
    return Covariance(*(J @ C @ J.T for C in inner))


def covariances(inverse: np.ndarray, outer: np.ndarray, n: float) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the estimate by the observed information, and its sandwich version, (p, p) each.

    The `inverse` of the information and `outer` are per row; parameters that are not free (noise on its floor), zero in
    the inverse, have no variance.
    """
    inverse = inverse / n
    return 0.5 * (inverse + inverse.T), n * inverse @ outer @ inverse


def callers_slopes(optimum: Optimum) -> np.ndarray:
    """Derivatives of all parameters in the caller's units, (A, b, W, c, sigma), over those of the fit."""
    problem, order = optimum.problem, optimum.order
    k, m = problem.k, problem.family.predictors
    expert, vector = problem.rows.map.slopes()
    told = np.eye(k)[order]
    experts, gates = _blocks(told, np.eye(m)), (told - told[-1])[:, :-1]  # the last gate vector told is zero
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
    """The Kronecker product of two small matrices, without what `numpy.kron` does for others."""
    product = which[:, None, :, None] * part[None, :, None, :]
    return product.reshape(len(which) * len(part), which.shape[1] * part.shape[1])


def at_zero(covariance: np.ndarray | None, k: int, origin: np.ndarray | None, m: int = 1) -> np.ndarray | None:
    """The covariance with intercepts at inputs of zero, from that with intercepts at an origin (d,).

    Experts have m predictors each.
    """
    if covariance is None or origin is None:
        return covariance
    J = slopes_at_zero(k, origin, m)
    return J @ covariance @ J.T


def slopes_at_zero(k: int, origin: np.ndarray, m: int = 1) -> np.ndarray:
    """Derivatives of (A, b, W, c, sigma) with intercepts at inputs of zero over those with intercepts at an origin."""
    d = len(origin)
    J = np.eye((m + 1) * k * (d + 1) + k)
    for start, vectors in ((0, k * m), (k * m * (d + 1), k)):  # experts, then gate
        for i in range(vectors):
            first = start + i * d
            J[start + vectors * d + i, first : first + d] = -origin
    return J


def _noise_slopes(optimum: Optimum) -> np.ndarray:
    """Derivatives of the noise scales (k,) in the caller's units over the parameters of the fit, (k, p)."""
    problem, sigma = optimum.problem, optimum.fit.theta.sigma
    slopes = np.zeros((problem.k, problem.n_parameters))
    first = problem.n_parameters - len(problem.noise_groups)
    for s, group in enumerate(problem.noise_groups):
        slopes[group, first + s] = sigma[group] * problem.rows.map.y_scale
    return slopes


def split_errors(covariance: np.ndarray | None, k: int, d: int, m: int = 1) -> dict[str, np.ndarray]:
    """Standard errors by name from a covariance over (A, b, W, c, sigma); NaN where there is none.

    Experts have m predictors each; those of their coefficients are (k, m, d) where there are several.
    """
    if covariance is None:
        return split(np.full((m + 1) * k * (d + 1) + k, np.nan), k, d, m)
    return split(np.sqrt(np.maximum(np.diag(covariance), 0.0)), k, d, m)


def split(values: np.ndarray, k: int, d: int, m: int = 1) -> dict[str, np.ndarray]:
    """A vector over (A, b, W, c, sigma) by name, in the shapes of `split_errors`."""
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
