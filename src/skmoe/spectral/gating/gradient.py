r"""Gradient EM: one projected ascent step on Q in place of the M-step (paper: theorem 5, appendix G).

:math:`W_{t+1} = \Pi_\Omega(W_t + \alpha \nabla Q(W_t | W_t))` with :math:`\alpha = 2 / (\mu + \lambda)`, where Q is
:math:`\lambda`-strongly concave and :math:`\mu`-smooth. It contracts by
:math:`1 - (2\lambda - 2\gamma_\sigma) / (\mu + \lambda)`; the paper prints the wrong sign before :math:`\gamma_\sigma`.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from skmoe.model.gate import GateSums, project_rows
from skmoe.spectral.gating.em import GateResult, GateTask, Objective, follow, gate_objective

__all__ = ["concavity", "run_gradient_em"]


def concavity(origin: GateSums, boundary: GateSums, k: int) -> tuple[float, float]:
    r"""Return the strong concavity :math:`\lambda` and smoothness :math:`\mu` of Q on the sample.

    The curvature is smallest on the ball's boundary, and largest at the origin for two experts. For more it may be
    larger elsewhere, but never twice the softmax's bound 1/2 over its value 1/k at the origin.
    For standard Gaussian inputs, two experts and the unit ball these are the paper's 0.1442 and 0.25.
    """
    at_most = 1.0 if k == 2 else k / 2
    return float(linalg.eigvalsh(boundary.information)[0]), at_most * float(linalg.eigvalsh(origin.information)[-1])


def run_gradient_em(
    task: GateTask, start: np.ndarray, *, radius: float | None, max_iter: int, tol: float, step_size: float | None
) -> GateResult:
    """Run projected gradient EM from `start` (k, d)."""
    objective = gate_objective(task)
    W = project_rows(start[:-1], radius)
    alpha = _step_size(objective, W, radius, task.k) if step_size is None else step_size

    def step(W: np.ndarray, sums: GateSums) -> np.ndarray:
        return project_rows(W + alpha * sums.gradient, radius)

    return follow(objective, W, step, max_iter=max_iter, tol=tol)


def _step_size(objective: Objective, W: np.ndarray, radius: float | None, k: int) -> float:
    r"""Return the paper's step :math:`2 / (\mu + \lambda)`, with the concavity and smoothness of Q on the rows."""
    boundary = np.where(np.linalg.norm(W, axis=1, keepdims=True) > 0, W, 1.0)
    boundary *= (1.0 if radius is None else radius) / np.linalg.norm(boundary, axis=1, keepdims=True)
    weakest, smooth = concavity(objective(0 * W, 0 * W)[1], objective(boundary, boundary)[1], k)
    return 2 / (smooth + weakest)
