"""One EM step of each model of a batch, and how strongly each model is penalised."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.batch import BatchSums
from skmoe.likelihood.penalty import noise_dof

__all__ = ["FEWEST_ROWS", "PenaltyStrengths", "em_scales", "em_step_of_batch", "mean_centred", "with_ridge"]

FEWEST_ROWS = 0.5  # that an expert keeps where no penalty prevents degenerate components


def mean_centred(values: np.ndarray) -> np.ndarray:
    """Subtract from parameters (S, k, ...) their mean over the experts of a model."""
    return values - np.sum(values, axis=1, keepdims=True) / values.shape[1]


@dataclass(frozen=True)
class PenaltyStrengths:
    """Strengths of the penalty per row, (S,) each, and the regressions (S, 1, De) that experts are shrunk towards.

    One strength is for the experts, one for the gate, which is never zero, and one for noise scales
    (`skmoe.likelihood.penalty.noise_dof`). ``fewest_rows`` (S,) is what each expert keeps: zero where the penalty
    prevents degenerate components.
    """

    expert: np.ndarray
    gate: np.ndarray
    noise_dof: np.ndarray
    pooled: np.ndarray
    fewest_rows: np.ndarray

    @classmethod
    def of(
        cls, problem: Problem, models: int, penalties: np.ndarray | None = None, pooled: np.ndarray | None = None
    ) -> PenaltyStrengths:
        """Return those of a problem for a number of models, or those of given penalties and regressions."""
        settings = problem.settings
        expert = np.full(models, settings.penalty) if penalties is None else np.asarray(penalties, dtype=float)
        shrunk_towards = settings.pooled if pooled is None else pooled[:, None, :]
        return cls(
            expert / problem.total,
            np.maximum(expert, settings.least_ridge) / problem.total,
            np.asarray(noise_dof(problem, expert)),
            np.broadcast_to(shrunk_towards, (models, 1, problem.De)),
            np.where(problem.prevents_degeneracy(expert), 0.0, FEWEST_ROWS),
        )

    def picked(self, rows: np.ndarray) -> PenaltyStrengths:
        """Return those of some of the models."""
        return PenaltyStrengths(*(getattr(self, field.name)[rows] for field in fields(self)))


def em_step_of_batch(problem: Problem, batch: Theta, sums: BatchSums, penalties: PenaltyStrengths) -> Theta:
    """Return the parameters of each model of a batch after an EM step."""
    family, gate = problem.family, penalties.gate[:, None, None]
    ridge = penalties.expert[:, None] * family.step_scale(batch.sigma)
    gram = sums.expert_gram + ridge[..., None, None] * np.eye(batch.A.shape[2])
    gradient = sums.expert_gradient - ridge[..., None] * (batch.A - penalties.pooled)
    steps = np.linalg.solve(with_ridge(gram), gradient[..., None])[..., 0]
    slope = sums.gate_gradient - gate * mean_centred(batch.W)
    curve = with_ridge(sums.gate_gram + gate[..., None] * np.eye(batch.W.shape[2]))
    W = batch.W + np.linalg.solve(curve, slope[..., None])[..., 0]
    return Theta(batch.A + steps, W, em_scales(problem, batch, sums, penalties, steps))


def em_scales(
    problem: Problem, batch: Theta, sums: BatchSums, penalties: PenaltyStrengths, steps: np.ndarray
) -> np.ndarray:
    """Return the scales (S, k) after an EM step that moves experts by `steps`."""
    family, floor = problem.family, problem.least_scale
    if not problem.noise_groups:
        return batch.sigma
    statistic = family.statistic_after(sums.statistic, steps, sums.expert_gradient, sums.expert_gram)
    share = np.maximum(sums.share, np.finfo(float).tiny)
    if problem.settings.noise == "shared":
        left, mass = (np.sum(part, axis=1, keepdims=True) for part in (statistic, share))
        found = family.updated_scales(left, mass, batch.k * penalties.noise_dof[:, None], problem.y_std, floor)
        return np.broadcast_to(found, share.shape).copy()
    return family.updated_scales(statistic, share, penalties.noise_dof[:, None], problem.y_std, floor)


def with_ridge(gram: np.ndarray) -> np.ndarray:
    """Add to Gram matrices (..., D, D) a ridge far below the information of the rows, so that none is singular."""
    D = gram.shape[-1]
    size = np.trace(gram, axis1=-2, axis2=-1)[..., None, None] / D
    return gram + (1e-9 * size + 1e-14) * np.eye(D)
