"""Small linear systems of a fit, on the host: least squares of experts and gate, Newton and quasi-Newton directions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

__all__ = ["cholesky", "inverse_root", "saddle_step", "solve_each", "two_loop"]

SINGULAR = 1e-12  # eigenvalues below this part of the largest are directions without information
WELL_CONDITIONED = 1e-5  # ratio of a Cholesky factor's diagonal above which a system is solved by it
SAFE = 1e-7  # least diagonal of the Cholesky factor of a safely positive definite matrix of unit diagonal

Pair = tuple[np.ndarray, np.ndarray, float]


def _least_norm(gram: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the least-norm solution of a positive semi-definite system, zero along directions without information."""
    values, vectors = linalg.eigh(gram)
    keep = values > max(SINGULAR * values[-1], np.finfo(float).tiny)
    return vectors[:, keep] @ ((vectors[:, keep].T @ gradient) / values[keep])


def solve_each(grams: np.ndarray, gradients: np.ndarray) -> np.ndarray:
    """Solve systems (m, D, D) with right sides (m, D); least-norm solutions where a system is nearly singular."""
    if len(grams) == 1:  # the gate's, which may be large: factored once
        factor, info = linalg.lapack.dpotrf(grams[0], lower=1)
        if info == 0 and _well_conditioned(np.diag(factor)[None]):
            return linalg.lapack.dpotrs(factor, gradients[0], lower=1)[0][None]
    elif _positive_definite(grams):
        return np.linalg.solve(grams, gradients[:, :, None])[:, :, 0]
    return np.stack([_least_norm(G, v) for G, v in zip(grams, gradients, strict=True)])


def _positive_definite(grams: np.ndarray) -> bool:
    try:
        return _well_conditioned(np.diagonal(np.linalg.cholesky(grams), axis1=1, axis2=2))
    except np.linalg.LinAlgError:
        return False


def _well_conditioned(diagonals: np.ndarray) -> bool:
    """Return whether Cholesky factors with these diagonals (m, D) are far from singular."""
    return bool(np.all(np.min(diagonals, axis=1) > WELL_CONDITIONED * np.max(diagonals, axis=1)))


def cholesky(H: np.ndarray) -> tuple[np.ndarray, bool] | None:
    """Return the Cholesky factor, or None where the matrix is not safely positive definite."""
    scale = np.sqrt(np.maximum(np.diag(H), 0.0))
    if not np.all(np.isfinite(H)) or np.any(scale == 0):
        return None
    # the test is on a matrix of unit diagonal, so that it does not depend on units
    factor, info = linalg.lapack.dpotrf(H / np.outer(scale, scale), lower=1)
    if info != 0 or np.min(np.diag(factor)) < SAFE:
        return None
    return factor * scale[:, None], True


def inverse_root(H: np.ndarray, free: np.ndarray) -> np.ndarray | None:
    r"""Return a root R of the inverse :math:`R R^\top` over some of the parameters, zero for the others, (p, p).

    None where there is no `cholesky` factor.
    """
    factor = cholesky(H[np.ix_(free, free)])
    if factor is None:
        return None
    root = np.zeros_like(H)
    root[np.ix_(free, free)] = linalg.solve_triangular(factor[0], np.eye(len(factor[0])), lower=True).T
    return root


def saddle_step(H: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return Newton's step with absolute values of the curvatures, which leads away from saddles."""
    scale = np.sqrt(np.maximum(np.abs(np.diag(H)), np.finfo(float).tiny))
    values, vectors = linalg.eigh(H / np.outer(scale, scale))
    sizes = np.maximum(np.abs(values), 1e-3 * np.max(np.abs(values)))
    return vectors @ ((vectors.T @ (gradient / scale)) / sizes) / scale


def two_loop(gradient: np.ndarray, pairs: list[Pair], precondition: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the L-BFGS direction of ascent from pairs (step, fall of the gradient, 1 / their product)."""
    q, coefficients = gradient.copy(), []
    for s, z, rho in reversed(pairs):
        a = rho * (s @ q)
        q -= a * z
        coefficients.append(a)
    r = precondition(q)
    for (s, z, rho), a in zip(pairs, reversed(coefficients), strict=True):
        r += s * (a - rho * (z @ r))
    return r
