r"""EM on the gate alone (paper: Algorithm 2, equations 8 and 9, with the missing logarithm).

E-step: :math:`p^{(i)} \propto \mathrm{softmax}_i(W_t x)\, N(y \mid g(a_i^\top x), \sigma^2)`.
M-step: :math:`W_{t+1} = \arg\max_{W \in \Omega} \sum_n \sum_i p^{(i)}_n \log \mathrm{softmax}_i(W x_n)`, in full.

Each pass over the rows recomputes the posterior instead of storing it, so memory does not grow with the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skmoe.arrays.blocks import block_rows_for, sum_over_blocks
from skmoe.arrays.namespaces import Array, array_namespace, columns, design, to_device
from skmoe.arrays.products import gram_channels
from skmoe.model.gate import (
    GateSums,
    check_gate_memory,
    gate_kernel,
    gate_sums,
    maximise_gate,
    project_rows,
    softmax,
    with_zero_row,
)
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.posterior import posterior

__all__ = ["GateResult", "GateTask", "Objective", "follow", "gate_objective", "random_gate", "run_gate_em"]

HESSIAN_ROWS = 20_000
"""Rows that estimate the curvature well enough, where there are ten times as many; the gradient, which determines the
limit of EM, uses all."""

Objective = Callable[[np.ndarray, np.ndarray], tuple[float, GateSums]]


@dataclass(frozen=True)
class GateResult:
    """A learned gate and the path of the iteration; see `learn_gate`."""

    coef: np.ndarray
    path: np.ndarray
    log_likelihood: np.ndarray
    n_iter: int
    converged: bool


def random_gate(k: int, d: int, radius: float | None, rng: np.random.Generator) -> np.ndarray:
    """Draw gate vectors uniform in the ball of the given radius (1 if None), the last one zero."""
    W = rng.standard_normal((k, d))
    W *= (1.0 if radius is None else radius) * rng.random((k, 1)) ** (1 / d) / np.linalg.norm(W, axis=1, keepdims=True)
    W[-1] = 0.0
    return W


@dataclass(frozen=True)
class GateTask:
    """Rows, and the experts whose gate is to be learned."""

    X: Array
    y: Array
    weight: Array | None
    A: np.ndarray
    sigma: float
    family: GaussianFamily

    @property
    def k(self) -> int:
        """Number of experts."""
        return len(self.A)


def gate_objective(task: GateTask) -> Objective:
    """Return the M-step's objective as a function of (W_t, W), both (k-1, d).

    It returns the mean log-likelihood at W_t, and value, gradient and information of Q(W | W_t) per row: one pass.
    """
    (n, d), k = task.X.shape, task.k
    check_gate_memory(k, d)
    every = n // max(HESSIAN_ROWS, 50 * (k - 1) * d)
    every = every if every >= 10 else 1
    widest = gram_channels(d, k * (k - 1) // 2) // every
    block_rows = block_rows_for(max(widest, d + 4 * k))
    A, sigma = to_device(task.A, task.X), to_device(np.full(k, task.sigma), task.X)

    def objective(W_t: np.ndarray, W: np.ndarray) -> tuple[float, GateSums]:
        old, new = (to_device(with_zero_row(w), task.X) for w in (W_t, W))
        same = W_t is W

        def kernel(x: Array, t: Array, w: Array | None) -> tuple[Array, ...]:
            Z = design(x, False) if every == 1 else columns(x)
            post = posterior(A, old, sigma, task.family, Z, Z, t)
            xp = array_namespace(Z)
            P, log_P = (post.P, post.log_P) if same else softmax(new @ Z)
            total = float(x.shape[0]) if w is None else xp.sum(w)
            density = xp.sum(post.log_density if w is None else post.log_density * w)
            return total, density, *gate_kernel(post.R, P, log_P, Z, w, every=every)

        total, density, *sums = sum_over_blocks(kernel, task.X, task.y, task.weight, block_rows=block_rows)
        return float(density) / float(total), gate_sums(*(s / float(total) for s in sums))

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


def run_gate_em(task: GateTask, start: np.ndarray, *, radius: float | None, max_iter: int, tol: float) -> GateResult:
    """Run EM with a full M-step from `start` (k, d)."""
    objective = gate_objective(task)

    def step(W: np.ndarray, first: GateSums) -> np.ndarray:
        return maximise_gate(lambda V: objective(W, V)[1], W, first, radius=radius)

    return follow(objective, project_rows(start[:-1], radius), step, max_iter=max_iter, tol=tol)
