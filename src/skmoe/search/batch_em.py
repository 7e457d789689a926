"""Where an EM step leads each model of a batch, and how strongly each is penalised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skmoe.likelihood import Problem
from skmoe.likelihood.batch import BatchSums, ThetaBatch

__all__ = ["Ridges", "em_goal", "steadied"]


@dataclass(frozen=True)
class Ridges:
    """Strengths of the penalty per row, (S,) each, and the regressions (S, 1, De) that experts are drawn to.

    One strength is for all parameters, one for the gate, which keeps a least one.
    """

    own: np.ndarray
    gate: np.ndarray
    pooled: np.ndarray

    @classmethod
    def of(
        cls, problem: Problem, models: int, penalties: np.ndarray | None = None, pooled: np.ndarray | None = None
    ) -> Ridges:
        """Those of a problem for so many models, or those of given penalties and regressions."""
        settings = problem.settings
        own = np.full(models, settings.penalty) if penalties is None else np.asarray(penalties, dtype=float)
        drawn_to = np.broadcast_to(settings.pooled if pooled is None else pooled[:, None, :], (models, 1, problem.De))
        return cls(own / problem.total, np.maximum(own, settings.least_ridge) / problem.total, drawn_to)

    def picked(self, rows: np.ndarray) -> Ridges:
        """Those of some of the models."""
        return Ridges(self.own[rows], self.gate[rows], self.pooled[rows])


def em_goal(problem: Problem, batch: ThetaBatch, sums: BatchSums, ridges: Ridges) -> ThetaBatch:
    """Where an EM step leads each model of a batch."""
    family, gate = problem.family, ridges.gate[:, None, None]
    drawn = ridges.own[:, None] * family.step_scale(batch.sigma)
    gram = sums.expert_gram + drawn[..., None, None] * np.eye(batch.A.shape[2])
    gradient = sums.expert_gradient - drawn[..., None] * (batch.A - ridges.pooled)
    steps = np.linalg.solve(steadied(gram), gradient[..., None])[..., 0]
    statistic = family.statistic_after(sums.statistic, steps, sums.expert_gradient, sums.expert_gram)
    share, sigma, floor = np.maximum(sums.share, np.finfo(float).tiny), batch.sigma, problem.noise_floor
    if problem.settings.noise == "shared":
        left, mass = (np.sum(part, axis=1, keepdims=True) for part in (statistic, share))
        sigma = np.broadcast_to(family.updated_scales(left, mass, 0.0, floor), share.shape).copy()
    elif problem.noise_groups:
        sigma = family.updated_scales(statistic, share, ridges.own[:, None], floor)
    slope = sums.gate_gradient - gate * (batch.W - np.mean(batch.W, axis=1, keepdims=True))
    curve = steadied(sums.gate_gram + gate[..., None] * np.eye(batch.W.shape[2]))
    return ThetaBatch(batch.A + steps, batch.W + np.linalg.solve(curve, slope[..., None])[..., 0], sigma)


def steadied(gram: np.ndarray) -> np.ndarray:
    """Gram matrices (..., D, D) with a ridge far below what rows tell, so that none is singular."""
    D = gram.shape[-1]
    size = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / D
    return gram + (1e-9 * size + 1e-14) * np.eye(D)
