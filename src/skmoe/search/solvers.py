"""Small linear systems of a fit, on the host: Newton's directions and roots of the inverse information."""

from __future__ import annotations

import numpy as np
from scipy import linalg

__all__ = ["cholesky", "inverse_root", "saddle_step"]

SAFE = 1e-7  # least diagonal of the Cholesky factor of a safely positive definite matrix of unit diagonal


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
