r"""Coupled least-squares matching of T1, T2 and T3, without whitening.

.. math:: \min_{p, \|a_i\| = 1}\; \sum_r \frac{1}{v_r} \Big\| t_r - \sum_i p_i\, t_r(a_i) \Big\|^2,

where :math:`t_r(a)` holds the entries of :math:`a^{\otimes r}` as orthonormal Hermite coefficients, each with sampling
variance :math:`v_r`, so that orders are weighted by their precision. Nothing is divided by small eigenvalues of T2, so
that it works for many experts, where whitening does not. Levenberg-Marquardt runs from several starts at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import factorial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from skmoe.arrays.checks import generator
from skmoe.arrays.products import coefficients, index_table
from skmoe.spectral.decomposition.common import Decomposition, apply, leading_space

__all__ = ["WeightMode", "matching"]

N_STARTS = 10
KEEP = 3
AGREE = 3  # runs that converged to the lowest cost, with which the search stops
SCREEN_ITERATIONS = 25
ITERATIONS = 200
TOTAL_WEIGHT = 1e3  # weight of the constraint that weights add up to one, in units of the moments' noise


class WeightMode(NamedTuple):
    """A way in which an expert's weight differs between orders: p_i + factor[r] * D_i, D_i ~ (0, sd)."""

    sd: float
    factor: Sequence[float]  # for r = 1, 2, 3


class _Problem(NamedTuple):
    k: int
    data: dict[int, np.ndarray]  # order -> coefficients
    precision: dict[int, float]  # order -> 1 / sqrt(v_r)
    modes: tuple[WeightMode, ...]
    share_sd: float | None


class _State(NamedTuple):
    """Points of several runs: experts (S, k, q), weights (S, k), mode amplitudes (S, f, k)."""

    A: np.ndarray
    p: np.ndarray
    D: np.ndarray

    def chosen(self, rows: np.ndarray) -> _State:
        return _State(self.A[rows], self.p[rows], self.D[rows])


def matching(
    T2: np.ndarray,
    T3: np.ndarray,
    k: int,
    random_state: Any = None,
    *,
    T1: np.ndarray | None = None,
    variances: Sequence[float] | None = None,
    modes: Sequence[WeightMode] = (),
    share_sd: float | None = None,
    tol: float = 1e-10,
) -> Decomposition:
    """Decompose (T2, T3), and T1 where given, by coupled least squares, which is ours and not the paper's.

    Parameters
    ----------
    T2, T3 : (d, d) and (d, d, d) arrays
        Symmetric moments, sums of weighted powers of unit vectors.
    k : int
        Number of components.
    random_state : int, RandomState, Generator or None
        Draws the starts.
    T1 : (d,) array, optional
        First moment, the weighted sum of the vectors.
    variances : three numbers, optional
        Sampling variances of the coefficients of T1, T2, T3; without them T2 and T3 are weighted by their Frobenius
        norms.
    modes : sequence of WeightMode
        Ways in which weights may differ between orders.
    share_sd : float, optional
        Declares that weights are shares: they add up to one, and each is 1/k give or take this.
    tol : float
        Relative decrease of the cost below which a run has converged.

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
    >>> found = decomposition.matching(T2, T3, 2, random_state=0)
    >>> bool(np.allclose(abs(found.components @ A.T).max(axis=0), 1)), found.weights.round(6).tolist()
    (True, [0.5, 0.5])
    """
    rng = generator(random_state, "matching")
    if variances is None:  # exact tensors; for noisy ones the caller, who knows the noise, chooses the rank
        k = leading_space(T2, k)[0].shape[1]
    tensors = {2: T2, 3: T3} if T1 is None else {1: T1, 2: T2, 3: T3}
    v = [1 / factorial(r) for r in (1, 2, 3)] if variances is None else variances
    problem = _Problem(
        k,
        {r: coefficients(T) for r, T in tensors.items()},
        {r: 1 / np.sqrt(v[r - 1]) for r in tensors},
        tuple(modes),
        share_sd,
    )
    A = _starts(T2, T3, k, rng)
    state = _State(A, np.full((len(A), k), 1 / k), np.zeros((len(A), len(modes), k)))
    state, cost = _levenberg_marquardt(problem, state, SCREEN_ITERATIONS, tol)
    state, cost = _levenberg_marquardt(problem, state.chosen(np.argsort(cost)[:KEEP]), ITERATIONS, tol)
    best = int(np.argmin(cost))
    order = np.argsort(-state.p[best], kind="stable")
    return Decomposition(state.A[best][order], state.p[best][order])


def _starts(T2: np.ndarray, T3: np.ndarray, k: int, rng: np.random.Generator) -> np.ndarray:
    """Return starts: half by whitening and a random contraction of T3, half at random in T2's leading space."""
    values, vectors = linalg.eigh(T2)
    # bounded below: some of the k values may be noise, of either sign
    values, U = np.maximum(values[::-1][:k], 0.02 * np.max(np.abs(values))), vectors[:, ::-1][:, :k]
    white = apply(T3, *(U / np.sqrt(values),) * 3)
    starts = []
    for run in range(N_STARTS):
        if run % 2 == 0:
            V = linalg.eigh(apply(white, rng.standard_normal(k)))[1]
        else:
            V = np.linalg.qr(rng.standard_normal((k, k)))[0]
        sign = np.where(np.sum(V * np.sum(V * (white @ V), axis=1), axis=0) >= 0, 1.0, -1.0)  # of T3(v, v, v)
        A = ((U * np.sqrt(values)) @ (V * sign)).T
        starts.append(A / np.linalg.norm(A, axis=1, keepdims=True))
    return np.array(starts)


def _order_weights(problem: _Problem, state: _State, r: int) -> np.ndarray:
    terms = [mode.factor[r - 1] * state.D[:, f] for f, mode in enumerate(problem.modes)]
    return state.p + reduce(np.add, terms) if terms else state.p


def _legs(state: _State, table: np.ndarray) -> list[np.ndarray]:
    """Return the factors of entries of the powers of experts, one array (S, k, N) for each factor."""
    return [state.A[:, :, column] for column in table.T]


def _product(factors: list[np.ndarray]) -> np.ndarray | float:
    """Return the product of factors, one where there are none."""
    return reduce(np.multiply, factors) if factors else 1.0


def _residual(problem: _Problem, state: _State) -> np.ndarray:
    """Return the residuals of all runs, (S, N)."""
    parts = []
    for r, data in problem.data.items():
        table, scale = index_table(state.A.shape[2], r)
        powers = scale * _product(_legs(state, table))
        model = (_order_weights(problem, state, r)[:, None, :] @ powers)[:, 0]
        parts.append(problem.precision[r] * (model - data))
    if problem.share_sd is not None:
        parts.append(TOTAL_WEIGHT * (state.p.sum(axis=1, keepdims=True) - 1))
        parts.append((state.p - 1 / problem.k) / problem.share_sd)
    parts += [state.D[:, f] / mode.sd for f, mode in enumerate(problem.modes)]
    return np.concatenate(parts, axis=1)


def _jacobian(problem: _Problem, state: _State) -> np.ndarray:
    """Return the Jacobian of `_residual`, (S, N, k q + k + f k); experts are kept on the sphere."""
    S, k, q = state.A.shape
    modes = problem.modes
    parts = []
    for r in problem.data:
        table, scale = index_table(q, r)
        legs = _legs(state, table)
        powers = scale * _product(legs)
        slope = np.zeros((*powers.shape, q))
        rows = np.arange(len(table))
        for leg in range(r):
            slope[:, :, rows, table[:, leg]] += scale * _product(legs[:leg] + legs[leg + 1 :])
        slope -= r * powers[..., None] * state.A[:, :, None, :]  # Euler: the radial part of a product of r legs
        slope *= _order_weights(problem, state, r)[:, :, None, None]
        experts = slope.transpose(0, 2, 1, 3).reshape(S, len(table), k * q)
        weights = powers.transpose(0, 2, 1)
        block = np.concatenate([experts, weights, *(weights * mode.factor[r - 1] for mode in modes)], axis=2)
        parts.append(problem.precision[r] * block)
    width = k * q + k + len(modes) * k
    priors = []
    if problem.share_sd is not None:
        priors += [TOTAL_WEIGHT * np.eye(k, width, k * q).sum(axis=0, keepdims=True)]
        priors += [np.eye(k, width, k * q) / problem.share_sd]
    priors += [np.eye(k, width, k * (q + 1 + f)) / mode.sd for f, mode in enumerate(modes)]
    parts += [np.broadcast_to(prior, (S, *prior.shape)) for prior in priors]
    return np.concatenate(parts, axis=1)


def _levenberg_marquardt(problem: _Problem, state: _State, iterations: int, tol: float) -> tuple[_State, np.ndarray]:
    """Run every start for at most so many steps: the points reached and their costs."""
    S, k, q = state.A.shape
    residual = _residual(problem, state)
    cost = np.sum(residual**2, axis=1)
    size = sum(float(np.sum((problem.precision[r] * data) ** 2)) for r, data in problem.data.items())
    damping = np.full(S, 1e-2)
    for _ in range(iterations):
        J = _jacobian(problem, state)
        JT = J.transpose(0, 2, 1)
        H = JT @ J
        scale = np.trace(H, axis1=1, axis2=2) / H.shape[1]
        H += (damping * scale)[:, None, None] * np.eye(H.shape[1])
        step = -np.linalg.solve(H, JT @ residual[..., None])[..., 0]
        A = state.A + step[:, : k * q].reshape(S, k, q)
        moved = _State(
            A / np.linalg.norm(A, axis=2, keepdims=True),
            state.p + step[:, k * q : k * q + k],
            state.D + step[:, k * q + k :].reshape(state.D.shape),
        )
        trial_residual = _residual(problem, moved)
        new = np.sum(trial_residual**2, axis=1)
        better = new < cost
        settled = (better & (cost - new < tol * cost)) | (damping >= 1e5) | (cost <= 1e-28 * size)
        pick = better[:, None, None]
        state = _State(
            np.where(pick, moved.A, state.A), np.where(pick[:, 0], moved.p, state.p), np.where(pick, moved.D, state.D)
        )
        cost = np.where(better, new, cost)
        damping = np.where(better, np.maximum(damping / 5, 1e-15), damping * 4)
        lead = cost <= np.min(cost) + 1e-6 * np.min(cost) + 1e-26 * size
        if np.all(settled) or np.sum(lead & settled) >= AGREE:
            break
        residual = np.where(better[:, None], trial_residual, residual)
    return state, cost
