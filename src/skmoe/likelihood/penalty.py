r"""The penalty: priors that shrink experts, gates and noise scales towards a single regression and each other.

.. math:: \tfrac{\tau}{2} \Big[ \sum_i \| w_i - \bar w \|^2 + \sum_i \| a_i - a_0 \|^2 \Big]
    + \nu \sum_i \log \cosh \log(\sigma_i / s)

over the gate vectors :math:`w_i` of all experts about their mean, the experts :math:`a_i` about the pooled regression
:math:`a_0`, and the noise scales :math:`\sigma_i` about the standard deviation :math:`s` of the outputs, all on
the standardised scale. The first part is the log density of independent normal priors of variance :math:`1/\tau`. In
the second :math:`\sigma_i^2 / s^2` has an F distribution of :math:`\nu` and :math:`\nu` degrees of freedom, with
:math:`\nu` a degrees-of-freedom correction times the coefficients of an expert.

The correction prevents experts that interpolate a few rows. With D coefficients and N rows, an expert has a mean square
residual of RSS / N; the variance of the noise is about RSS / (N - D), and the mean square error of rows left out
RSS / (N - 2 D) (generalised cross-validation). Maximum likelihood takes the first for all of these, so that its highest
maxima are degenerate. Here :math:`\sigma_i^2` is RSS / (N - :math:`\nu`) where it is small relative to s, and the
correction is 2: noise scales are those of rows left out. An expert that the rows do not support vanishes: its share
goes to zero, its noise scale to s, and it costs nothing.

Both parts are in total log-likelihood, so that they count for less the more rows there are. With :math:`\tau = 0` a
ridge of `least_ridge` is left on the gate alone, which keeps it finite where rows are separable; below a penalty of
`FULL` the correction is proportional to the penalty. Everything here is per row: divided by the total weight of the
rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from skmoe.likelihood.problem import FULL, Problem
from skmoe.likelihood.theta import Theta
from skmoe.model.gate import GateSums

__all__ = [
    "PenaltySlopes",
    "gate_ridge",
    "noise_dof",
    "noise_penalty",
    "penalised_gate",
    "penalty_at",
    "penalty_information",
    "ridge",
]


class PenaltySlopes(NamedTuple):
    """The penalty per row at a point, and its slopes over experts (k, De), gate (k-1, Dg) and log scales (groups,)."""

    cost: float
    experts: np.ndarray
    gate: np.ndarray
    noise: np.ndarray


def ridge(problem: Problem) -> float:
    """Return the penalty per row."""
    return problem.settings.penalty / problem.total


def gate_ridge(problem: Problem) -> float:
    """Return the gate's ridge per row."""
    return max(problem.settings.penalty, problem.settings.least_ridge) / problem.total


def noise_dof(problem: Problem, penalty: float | np.ndarray | None = None) -> float | np.ndarray:
    """Return degrees of freedom per row of the prior of an expert's noise scale, for the problem's penalty or others.

    A family that is not degenerate at its least scale has no correction: its scales are shrunk like other parameters.
    """
    tau = problem.settings.penalty if penalty is None else penalty
    if not problem.unbounded:
        return tau / problem.total
    return problem.settings.dof_correction * problem.De * np.minimum(tau / FULL, 1.0) / problem.total


def noise_penalty(scales: np.ndarray, y_std: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log cosh of the log of scales over `y_std`, with its first and second derivative."""
    logs = np.log(scales / y_std)
    away, slope = np.abs(logs), np.tanh(logs)
    return away + np.log1p(np.exp(-2 * away)) - np.log(2.0), slope, 1.0 - slope**2


def penalty_at(problem: Problem, theta: Theta) -> PenaltySlopes:
    """Return the penalty at a point, with its slopes."""
    gate = gate_ridge(problem) * (theta.W - np.mean(theta.W, axis=0))
    cost = 0.5 * float(np.sum(gate * theta.W))
    experts, noise = np.zeros_like(theta.A), np.zeros(len(problem.noise_groups))
    if problem.settings.penalty:
        tau = ridge(problem)
        experts = tau * (theta.A - problem.settings.pooled)
        cost += 0.5 * float(np.sum(experts**2)) / tau
        if len(noise):
            dof = noise_dof(problem)
            costs, slopes, _ = noise_penalty(theta.sigma, problem.y_std)
            cost += float(dof * np.sum(costs))
            noise = dof * np.array([np.sum(slopes[group]) for group in problem.noise_groups])
    return PenaltySlopes(cost, experts, gate[:-1], noise)


def penalty_information(problem: Problem, theta: Theta) -> np.ndarray:
    """Return the second derivative of the penalty over (A, W, log noise) at a point, (p, p)."""
    k, a, w = problem.k, problem.k * problem.De, (problem.k - 1) * problem.Dg
    H = np.zeros((problem.n_parameters,) * 2)
    H[a : a + w, a : a + w] = gate_ridge(problem) * _mean_centred_identity(k, problem.Dg)
    if problem.settings.penalty:
        H[:a, :a] = ridge(problem) * np.eye(a)
        curvature = noise_penalty(theta.sigma, problem.y_std)[2]
        scales = [noise_dof(problem) * np.sum(curvature[group]) for group in problem.noise_groups]
        H[a + w :, a + w :] = np.diag(scales)
    return H


def penalised_gate(problem: Problem, gate: GateSums, W: np.ndarray) -> GateSums:
    """Return the gate's objective at `W`, less its penalty."""
    rho = gate_ridge(problem)
    slope = rho * (W - np.sum(W, axis=0) / problem.k)
    information = gate.information + rho * _mean_centred_identity(problem.k, problem.Dg)
    return GateSums(gate.value - 0.5 * float(np.sum(slope * W)), gate.gradient - slope, information)


@lru_cache(maxsize=16)
def _mean_centred_identity(k: int, D: int) -> np.ndarray:
    """Return the quadratic form of k gate vectors (the last one zero) about their mean, ((k-1) D, (k-1) D)."""
    return np.kron(np.eye(k - 1) - 1.0 / k, np.eye(D))
