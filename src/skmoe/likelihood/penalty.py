r"""The penalty: a ridge that draws experts, gates and noise scales of one model together.

.. math:: \tfrac{\tau}{2} \Big[ \sum_i \| w_i - \bar w \|^2 + \sum_i \| a_i - a_0 \|^2
    + \sum_i (\log\sigma_i - \overline{\log\sigma})^2 \Big]

over the gate vectors :math:`w_i` of all experts about their mean, the experts :math:`a_i` about the pooled regression
:math:`a_0`, and the logs of the noise scales about their mean, all on the standardised scale. It is the log density of
independent normal priors of variance :math:`1/\tau`, in total log-likelihood, so that it counts for less the more rows
there are. With :math:`\tau = 0` a ridge of `least_ridge` is left on the gate alone, which keeps it finite where rows
are separable. Everything here is per row: divided by the total weight of the rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from skmoe.likelihood.problem import Problem
from skmoe.likelihood.theta import Theta
from skmoe.model.gate import GateSums

__all__ = ["PenaltySlopes", "gate_ridge", "penalised_gate", "penalty_at", "penalty_information", "ridge"]


class PenaltySlopes(NamedTuple):
    """The penalty per row at a point, and its slopes over experts (k, De), gate (k-1, Dg) and log scales (groups,)."""

    cost: float
    experts: np.ndarray
    gate: np.ndarray
    noise: np.ndarray


def ridge(problem: Problem) -> float:
    """Strength of the penalty per row."""
    return problem.settings.penalty / problem.total


def gate_ridge(problem: Problem) -> float:
    """Strength of the gate's ridge per row."""
    return max(problem.settings.penalty, problem.settings.least_ridge) / problem.total


def penalty_at(problem: Problem, theta: Theta) -> PenaltySlopes:
    """The penalty at a point, with its slopes."""
    gate = gate_ridge(problem) * (theta.W - np.sum(theta.W, axis=0) / problem.k)
    cost = 0.5 * float(np.sum(gate * theta.W))
    experts, noise = np.zeros_like(theta.A), np.zeros(len(problem.noise_groups))
    if problem.settings.penalty:
        tau = ridge(problem)
        experts = tau * (theta.A - problem.settings.pooled)
        cost += 0.5 * float(np.sum(experts**2)) / tau
        if len(noise) > 1:
            logs = np.log(theta.sigma)
            noise = tau * (logs - np.mean(logs))
            cost += 0.5 * float(np.sum(noise**2)) / tau
    return PenaltySlopes(cost, experts, gate, noise)


def penalty_information(problem: Problem) -> np.ndarray:
    """Second derivative of the penalty over (A, W, log noise), (p, p)."""
    k, a, w = problem.k, problem.k * problem.De, (problem.k - 1) * problem.Dg
    H = np.zeros((problem.n_parameters,) * 2)
    H[a : a + w, a : a + w] = gate_ridge(problem) * _centred_identity(k, problem.Dg)
    if problem.settings.penalty:
        tau = ridge(problem)
        H[:a, :a] = tau * np.eye(a)
        if len(problem.noise_groups) > 1:
            H[a + w :, a + w :] = tau * (np.eye(k) - 1.0 / k)
    return H


def penalised_gate(problem: Problem, gate: GateSums, W: np.ndarray) -> GateSums:
    """The gate's objective at `W`, less its penalty."""
    strength = gate_ridge(problem)
    slope = strength * (W - np.sum(W, axis=0) / problem.k)
    information = gate.information + strength * _centred_identity(problem.k, problem.Dg)
    return GateSums(gate.value - 0.5 * float(np.sum(slope * W)), gate.gradient - slope, information)


@lru_cache(maxsize=16)
def _centred_identity(k: int, D: int) -> np.ndarray:
    """Quadratic form of k gate vectors (the last one zero) about their mean, ((k-1) D, (k-1) D)."""
    return np.kron(np.eye(k - 1) - 1.0 / k, np.eye(D))
