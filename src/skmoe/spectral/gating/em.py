r"""EM on the gate alone (paper: algo. gatingrecov, eq. computep, eq. Qdef with its lost logarithm put back).

E-step: :math:`p^{(i)} \propto \mathrm{softmax}_i(W_t x)\, N(y \mid g(a_i^\top x), \sigma^2)`.
M-step: :math:`W_{t+1} = \arg\max_{W \in \Omega} \sum_n \sum_i p^{(i)}_n \log \mathrm{softmax}_i(W x_n)`, in full.

Each pass over the rows recomputes the posterior instead of storing it, so memory does not grow with the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.model.activations import Activation
from skmoe.model.gate import GateSums, gate_kernel, gate_sums, maximise_gate, project_rows
from skmoe.model.parameters import design, posterior, softmax
from skmoe.rows.arrays import Array, array_namespace, columns, to_device
from skmoe.rows.blocks import block_rows_for, sum_over_blocks
from skmoe.rows.products import gram_channels

__all__ = ["GateResult", "follow", "gate_objective", "random_gate", "run_gate_em"]

HESSIAN_ROWS = 20_000
"""Rows that show the curvature well enough, where there are ten times as many; the gradient, which decides where EM
ends, is of all."""

Objective = Callable[[np.ndarray, np.ndarray], tuple[float, GateSums]]


@dataclass(frozen=True)
class GateResult:
    """A learned gate and how it was reached; see `learn_gate`."""

    coef: np.ndarray
    path: np.ndarray
    log_likelihood: np.ndarray
    n_iter: int
    converged: bool


def random_gate(k: int, d: int, radius: float | None, rng: np.random.Generator) -> np.ndarray:
    """Gate vectors uniform in the ball of the given radius (1 if None), the last one zero."""
    W = rng.standard_normal((k, d))
    W *= (1.0 if radius is None else radius) * rng.random((k, 1)) ** (1 / d) / np.linalg.norm(W, axis=1, keepdims=True)
    W[-1] = 0.0
    return W


def with_zero_row(W: np.ndarray) -> np.ndarray:
    """Append the zero row of the last expert."""
    return np.vstack([W, np.zeros((1, W.shape[1]))])


def gate_objective(X: Array, y: Array, A: np.ndarray, sigma: float, g: Activation) -> Objective:
    """The M-step's objective as a function of (W_t, W), both (k-1, d).

    It returns the mean log-likelihood at W_t, and value, gradient and information of Q(W | W_t) per row: one pass.
    """
    n, d = X.shape
    k = len(A)
    every = n // max(HESSIAN_ROWS, 50 * (k - 1) * d)
    every = every if every >= 10 else 1
    widest = gram_channels(d, k * (k - 1) // 2, X) // every
    block_rows = block_rows_for(max(widest, d + 4 * k))
    A_, sigma_ = to_device(A, X), to_device(np.full(k, sigma), X)

    def objective(W_t: np.ndarray, W: np.ndarray) -> tuple[float, GateSums]:
        old, new = (to_device(with_zero_row(w), X) for w in (W_t, W))
        same = W_t is W

        def kernel(x: Array, t: Array) -> tuple[Array, ...]:
            Z = design(x, False) if every == 1 else columns(x)
            post = posterior(A_, old, sigma_, g, Z, Z, t)
            xp = array_namespace(Z)
            P, log_P = (post.P, post.log_P) if same else softmax(new @ Z)
            return xp.sum(post.log_density), *gate_kernel(post.R, P, log_P, Z, every=every)

        log_likelihood, value, gradient, packed = sum_over_blocks(kernel, X, y, block_rows=block_rows)
        return float(log_likelihood) / n, gate_sums(value / n, gradient / n, packed / n)

    return objective


def follow(
    objective: Objective,
    start: np.ndarray,
    step: Callable[[np.ndarray, GateSums], np.ndarray],
    *,
    max_iter: int,
    tol: float,
) -> GateResult:
    """Repeat a step from `start` (k-1, d) until no gate vector moves by more than `tol`."""
    path, trace, converged = [start], [], False
    while not converged and len(path) <= max_iter:
        log_likelihood, sums = objective(path[-1], path[-1])
        trace.append(log_likelihood)
        path.append(step(path[-1], sums))
        converged = bool(np.max(np.linalg.norm(path[-1] - path[-2], axis=1)) <= tol)
    trace.append(objective(path[-1], path[-1])[0])
    full = np.stack([with_zero_row(w) for w in path])
    return GateResult(full[-1], full, np.array(trace), len(path) - 1, converged)


def run_gate_em(
    X: Array,
    y: Array,
    A: np.ndarray,
    sigma: float,
    g: Activation,
    start: np.ndarray,
    *,
    radius: float | None,
    **stop: Any,
) -> GateResult:
    """EM with a full M-step from `start` (k, d)."""
    objective = gate_objective(X, y, A, sigma, g)

    def step(W: np.ndarray, first: GateSums) -> np.ndarray:
        return maximise_gate(lambda V: objective(W, V)[1], W, first, radius=radius)

    return follow(objective, project_rows(start[:-1], radius), step, **stop)
