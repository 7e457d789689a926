"""Where an EM step leads each model of a batch, and how strongly each is penalised."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from skmoe.likelihood import Problem
from skmoe.likelihood.batch import BatchSums, ThetaBatch
from skmoe.likelihood.penalty import noise_dof

__all__ = ["FEWEST_ROWS", "Ridges", "centred", "em_goal", "em_scales", "steadied"]

FEWEST_ROWS = 0.5  # that an expert is left where nothing keeps it off spikes


def centred(parts: np.ndarray) -> np.ndarray:
    """Parts (S, k, ...) of all experts less their mean over the experts of a model."""
    return parts - np.sum(parts, axis=1, keepdims=True) / parts.shape[1]


@dataclass(frozen=True)
class Ridges:
    """Strengths of the penalty per row, (S,) each, and the regressions (S, 1, De) that experts are drawn to.

    One strength is for the experts, one for the gate, which keeps a least one, and one for noise scales
    (`skmoe.likelihood.penalty.noise_dof`). An expert is left so many rows at the least, (S,): none where the penalty
    keeps experts off spikes.
    """

    own: np.ndarray
    gate: np.ndarray
    noise_dof: np.ndarray
    pooled: np.ndarray
    fewest_rows: np.ndarray

    @classmethod
    def of(
        cls, problem: Problem, models: int, penalties: np.ndarray | None = None, pooled: np.ndarray | None = None
    ) -> Ridges:
        """Those of a problem for so many models, or those of given penalties and regressions."""
        settings = problem.settings
        own = np.full(models, settings.penalty) if penalties is None else np.asarray(penalties, dtype=float)
        drawn_to = settings.pooled if pooled is None else pooled[:, None, :]
        return cls(
            own / problem.total,
            np.maximum(own, settings.least_ridge) / problem.total,
            np.asarray(noise_dof(problem, own)),
            np.broadcast_to(drawn_to, (models, 1, problem.De)),
            np.where(problem.prevents_degeneracy(own), 0.0, FEWEST_ROWS),
        )

    def picked(self, rows: np.ndarray) -> Ridges:
        """Those of some of the models."""
        return Ridges(*(getattr(self, part.name)[rows] for part in fields(self)))


def em_goal(problem: Problem, batch: ThetaBatch, sums: BatchSums, ridges: Ridges) -> ThetaBatch:
    """Where an EM step leads each model of a batch."""
    family, gate = problem.family, ridges.gate[:, None, None]
    drawn = ridges.own[:, None] * family.step_scale(batch.sigma)
    gram = sums.expert_gram + drawn[..., None, None] * np.eye(batch.A.shape[2])
    gradient = sums.expert_gradient - drawn[..., None] * (batch.A - ridges.pooled)
    steps = np.linalg.solve(steadied(gram), gradient[..., None])[..., 0]
    slope = sums.gate_gradient - gate * centred(batch.W)
    curve = steadied(sums.gate_gram + gate[..., None] * np.eye(batch.W.shape[2]))
    W = batch.W + np.linalg.solve(curve, slope[..., None])[..., 0]
    return ThetaBatch(batch.A + steps, W, em_scales(problem, batch, sums, ridges, steps))


def em_scales(problem: Problem, batch: ThetaBatch, sums: BatchSums, ridges: Ridges, steps: np.ndarray) -> np.ndarray:
    """Scales (S, k) after an EM step that moves experts by `steps`."""
    family, floor = problem.family, problem.least_scale
    if not problem.noise_groups:
        return batch.sigma
    statistic = family.statistic_after(sums.statistic, steps, sums.expert_gradient, sums.expert_gram)
    share = np.maximum(sums.share, np.finfo(float).tiny)
    if problem.settings.noise == "shared":
        left, mass = (np.sum(part, axis=1, keepdims=True) for part in (statistic, share))
        found = family.updated_scales(left, mass, batch.k * ridges.noise_dof[:, None], problem.y_std, floor)
        return np.broadcast_to(found, share.shape).copy()
    return family.updated_scales(statistic, share, ridges.noise_dof[:, None], problem.y_std, floor)


def steadied(gram: np.ndarray) -> np.ndarray:
    """Gram matrices (..., D, D) with a ridge far below what rows tell, so that none is singular."""
    D = gram.shape[-1]
    size = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / D
    return gram + (1e-9 * size + 1e-14) * np.eye(D)
