"""Orth-ALS (Sharan and Valiant 2017), the decomposition of the paper's experiments.

Alternating least squares whose factors are made orthonormal at the start of each of the first sweeps, so that no two
of them chase the same component; plain sweeps then polish. It runs inside the leading space of T2: from random factors,
as published, and once from what the orthonormal sweeps find where T2 has been whitened, since alternating sweeps from
random factors can crawl for ever when components are nearly dependent. The smallest residual wins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from skmoe.rows.checks import generator
from skmoe.spectral.decomposition.common import Decomposition, apply, leading_space, weigh

__all__ = ["orth_als"]

LEAST_SWEEPS = 30


def orth_als(
    T2: np.ndarray,
    T3: np.ndarray,
    k: int,
    random_state: Any = None,
    *,
    n_starts: int = 5,
    orthogonal_sweeps: int = LEAST_SWEEPS,
    max_sweeps: int = 2000,
) -> Decomposition:
    """Decompose (T2, T3) by Orth-ALS, the best of a few random starts.

    Parameters
    ----------
    T2, T3 : (d, d) and (d, d, d) arrays
        Symmetric moments, sums of weighted powers of unit vectors.
    k : int
        Number of components.
    random_state : int, RandomState, Generator or None
        Draws the starts.
    n_starts : int
        Starts; the smallest residual wins.
    orthogonal_sweeps : int
        Sweeps at whose start factors are made orthonormal.
    max_sweeps : int
        Most sweeps of a start.

    Returns
    -------
    Decomposition
        ``components`` (r, d) of unit length and ``weights`` (r,), falling; r is k, or less where T2 has no more.
    """
    rng = generator(random_state, "orth_als")
    U, values = leading_space(T2, k)
    T = apply(T3, U, U, U)
    r = len(values)
    best, best_loss = np.eye(r), np.inf
    white = np.diag(values**-0.5)
    for start in range(n_starts):
        factors = rng.standard_normal((3, r, r))
        if start == 0:
            factors, _ = _sweep(apply(T, white, white, white), factors, 10 * LEAST_SWEEPS, 10 * LEAST_SWEEPS)
            factors = np.sqrt(values)[:, None] * factors
        factors, loss = _sweep(T, factors, orthogonal_sweeps if start else 0, max_sweeps)
        if loss < best_loss:
            best, best_loss = _symmetric(factors), loss
        if best_loss < 1e-20 * np.sum(T**2):
            break
    return weigh(T2, T3, best.T @ U.T)


def _sweep(T: np.ndarray, factors: np.ndarray, orthogonal: int, most: int) -> tuple[np.ndarray, float]:
    """Run ALS from (3, r, k) factors: the factors, columns of unit length, and the squared residual."""
    r = T.shape[0]
    unfolded = [np.moveaxis(T, mode, 0).reshape(r, r * r) for mode in range(3)]
    loss, size = np.inf, float(np.sum(T**2))
    for sweep in range(most):
        if sweep < orthogonal:
            factors = np.stack([np.linalg.qr(F)[0] for F in factors])
        for mode in range(3):
            B, C = (factors[m] for m in range(3) if m != mode)
            product = (B[:, None, :] * C[None, :, :]).reshape(r * r, -1)
            gram = (B.T @ B) * (C.T @ C)
            F = linalg.lstsq(gram, (unfolded[mode] @ product).T, lapack_driver="gelsy")[0].T
            length = np.linalg.norm(F, axis=0)
            factors[mode] = F / np.where(length > 0, length, 1.0)
        previous, loss = loss, float(np.sum((unfolded[2] - (factors[2] * length) @ product.T) ** 2))
        settled = abs(previous - loss) <= 1e-14 * previous or loss <= 1e-26 * size
        if sweep >= min(orthogonal, LEAST_SWEEPS) and settled:
            break
    return factors, loss


def _symmetric(factors: np.ndarray) -> np.ndarray:
    """One factor from three that agree up to sign."""
    signs = [np.where(np.sum(factors[0] * F, axis=0) < 0, -1.0, 1.0) for F in factors]
    return sum(F * sign for F, sign in zip(factors, signs, strict=True)) / 3
