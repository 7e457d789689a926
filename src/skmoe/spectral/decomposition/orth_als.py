"""Orth-ALS (Sharan and Valiant 2017), the decomposition of the paper's experiments, and our variant of it.

Alternating least squares whose factors are made orthonormal at the start of each of the first sweeps, so that no two
of them converge to the same component; plain sweeps follow. Of a few random starts that of smallest residual is kept.

`orth_als` is the published algorithm: it decomposes all of T3, and T2 only gives the number of components.
`orth_als_t2` is ours: it runs inside the leading space of T2, where T3 has far less noise, and starts once from
the result of orthonormal sweeps after whitening T2, since alternating sweeps from random factors can fail to converge
when components are nearly dependent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from skmoe.arrays.checks import generator
from skmoe.spectral.decomposition.common import Decomposition, apply, leading_space, weigh

__all__ = ["orth_als", "orth_als_t2"]

LEAST_SWEEPS = 30
EXACT = 1e-20  # relative squared residual below which components count as exact


def orth_als(
    T2: np.ndarray,
    T3: np.ndarray,
    k: int,
    random_state: Any = None,
    *,
    n_starts: int = 5,
    orthogonal_sweeps: int = LEAST_SWEEPS,
    max_sweeps: int = 2000,
    tol: float = 1e-9,
) -> Decomposition:
    """Decompose T3 by Orth-ALS, as published, the best of a few random starts (paper: section 4).

    Parameters
    ----------
    T2, T3 : (d, d) and (d, d, d) arrays
        Symmetric moments, sums of weighted powers of unit vectors. T2 gives the number of components.
    k : int
        Number of components.
    random_state : int, RandomState, Generator or None
        Draws the starts.
    n_starts : int
        Starts; that of smallest residual is kept.
    orthogonal_sweeps : int
        Sweeps at whose start factors are made orthonormal; plain ones follow.
    max_sweeps : int
        Most sweeps of a start.
    tol : float
        A start ends when a sweep lowers the squared residual by less than this share of it.

    Returns
    -------
    Decomposition
        ``components`` (r, d) of unit length and ``weights`` (r,), falling; r is k, or less where T2 has no more.

    Examples
    --------
    >>> import numpy as np
    >>> from skmoe import decomposition
    >>> A = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
    >>> T2, T3 = np.einsum("ia,ib->ab", A, A) / 2, np.einsum("ia,ib,ic->abc", A, A, A) / 2
    >>> found = decomposition.orth_als(T2, T3, 2, random_state=0)
    >>> bool(np.allclose(abs(found.components @ A.T).max(axis=0), 1)), found.weights.round(6).tolist()
    (True, [0.5, 0.5])
    """
    rng = generator(random_state, "orth_als")
    r = len(leading_space(T2, k)[1])

    def run(start: int) -> tuple[np.ndarray, float]:
        return _sweep(T3, rng.standard_normal((3, len(T3), r)), orthogonal_sweeps, max_sweeps, tol)

    return weigh(T2, T3, _best(run, n_starts, T3).T)


def orth_als_t2(
    T2: np.ndarray,
    T3: np.ndarray,
    k: int,
    random_state: Any = None,
    *,
    n_starts: int = 5,
    orthogonal_sweeps: int = LEAST_SWEEPS,
    max_sweeps: int = 2000,
) -> Decomposition:
    """Decompose (T2, T3) by Orth-ALS inside the leading space of T2, which is ours and not the paper's.

    Parameters
    ----------
    T2, T3 : (d, d) and (d, d, d) arrays
        Symmetric moments, sums of weighted powers of unit vectors.
    k : int
        Number of components.
    random_state : int, RandomState, Generator or None
        Draws the starts.
    n_starts : int
        Starts; that of smallest residual is kept.
    orthogonal_sweeps : int
        Sweeps at whose start factors are made orthonormal.
    max_sweeps : int
        Most sweeps of a start.

    Returns
    -------
    Decomposition
        ``components`` (r, d) of unit length and ``weights`` (r,), falling; r is k, or less where T2 has no more.

    Examples
    --------
    >>> import numpy as np
    >>> from skmoe import decomposition
    >>> A = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
    >>> T2, T3 = np.einsum("ia,ib->ab", A, A) / 2, np.einsum("ia,ib,ic->abc", A, A, A) / 2
    >>> found = decomposition.orth_als_t2(T2, T3, 2, random_state=0)
    >>> bool(np.allclose(abs(found.components @ A.T).max(axis=0), 1)), found.weights.round(6).tolist()
    (True, [0.5, 0.5])
    """
    rng = generator(random_state, "orth_als_t2")
    U, values = leading_space(T2, k)
    T = apply(T3, U, U, U)
    r = len(values)
    white = np.diag(values**-0.5)

    def run(start: int) -> tuple[np.ndarray, float]:
        factors = rng.standard_normal((3, r, r))
        if start == 0:
            factors, _ = _sweep(apply(T, white, white, white), factors, 10 * LEAST_SWEEPS, 10 * LEAST_SWEEPS)
            factors = np.sqrt(values)[:, None] * factors
        return _sweep(T, factors, orthogonal_sweeps if start else 0, max_sweeps)

    return weigh(T2, T3, _best(run, n_starts, T).T @ U.T)


def _best(run: Callable[[int], tuple[np.ndarray, float]], n_starts: int, T: np.ndarray) -> np.ndarray:
    """Return one factor from the run of smallest residual; no more runs follow one that is exact."""
    best, best_loss = run(0)
    for start in range(1, n_starts):
        if best_loss < EXACT * np.sum(T**2):
            break
        factors, loss = run(start)
        if loss < best_loss:
            best, best_loss = factors, loss
    return _symmetric(best)


def _sweep(
    T: np.ndarray, factors: np.ndarray, orthogonal: int, most: int, tol: float = 1e-14
) -> tuple[np.ndarray, float]:
    """Run ALS from (3, d, r) factors: the factors, columns of unit length, and the squared residual."""
    d = T.shape[0]
    unfolded = [np.moveaxis(T, mode, 0).reshape(d, d * d) for mode in range(3)]
    loss, size = np.inf, float(np.sum(T**2))
    for sweep in range(most):
        if sweep < orthogonal:
            factors = np.stack([np.linalg.qr(F)[0] for F in factors])
        for mode in range(3):
            B, C = (factors[m] for m in range(3) if m != mode)
            product = (B[:, None, :] * C[None, :, :]).reshape(d * d, -1)
            gram = (B.T @ B) * (C.T @ C)
            F = linalg.lstsq(gram, (unfolded[mode] @ product).T, lapack_driver="gelsy")[0].T
            length = np.linalg.norm(F, axis=0)
            factors[mode] = F / np.where(length > 0, length, 1.0)
        previous, loss = loss, float(np.sum((unfolded[2] - (factors[2] * length) @ product.T) ** 2))
        settled = abs(previous - loss) <= tol * previous or loss <= 1e-26 * size
        if sweep >= min(orthogonal, LEAST_SWEEPS) and settled:
            break
    return factors, loss


def _symmetric(factors: np.ndarray) -> np.ndarray:
    """Return one factor from three that agree up to sign."""
    signs = [np.where(np.sum(factors[0] * F, axis=0) < 0, -1.0, 1.0) for F in factors]
    return sum(F * sign for F, sign in zip(factors, signs, strict=True)) / 3
