r"""The gate's ridge, symmetric in the experts.

.. math:: \tfrac{\rho}{2} \sum_i \| w_i - \bar w \|^2

over the gate vectors of all k experts, the zero one included. It is what keeps gates finite on separable rows.
Everything is per row: :math:`\rho` is the penalty over the total weight of the rows.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from skmoe.likelihood.problem import Problem
from skmoe.model.gate import GateSums

__all__ = ["penalised_gate", "penalty_at", "penalty_information"]


def _strength(problem: Problem) -> float:
    return problem.settings.penalty / problem.total


def penalty_at(problem: Problem, W: np.ndarray) -> tuple[float, np.ndarray]:
    """The penalty at a gate (k-1, Dg), and its gradient."""
    slope = _strength(problem) * (W - np.sum(W, axis=0) / problem.k)
    return 0.5 * float(np.sum(slope * W)), slope


def penalty_information(problem: Problem) -> np.ndarray:
    """Second derivative of the penalty, ((k-1) Dg, (k-1) Dg)."""
    return _strength(problem) * _centred_identity(problem.k, problem.Dg)


def penalised_gate(problem: Problem, gate: GateSums, W: np.ndarray) -> GateSums:
    """The gate's objective at `W`, less the penalty."""
    cost, slope = penalty_at(problem, W)
    return GateSums(gate.value - cost, gate.gradient - slope, gate.information + penalty_information(problem))


@lru_cache(maxsize=16)
def _centred_identity(k: int, D: int) -> np.ndarray:
    """Quadratic form of k gate vectors (the last one zero) about their mean, ((k-1) D, (k-1) D)."""
    return np.kron(np.eye(k - 1) - 1.0 / k, np.eye(D))
