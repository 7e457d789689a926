"""Averages of models with several numbers of experts, weighted by their log density on held-out rows (stacking)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from skmoe.likelihood import Theta, largest_predictors
from skmoe.model.parameters import MoEParameters
from skmoe.search.folds import FoldFits, HeldOut, run_briefly
from skmoe.search.number import Choice
from skmoe.search.task import Task

__all__ = ["Ensemble", "average", "stacked_shares"]

STEPS = 200  # of EM for the shares: a few dozen converge all but those that go to zero


@dataclass(frozen=True)
class Ensemble:
    """Models in the caller's units, their weights (m,), and held-out rows evaluated by the same average."""

    parameters: tuple[MoEParameters, ...]
    weights: np.ndarray
    held_out: HeldOut


def stacked_shares(log_density: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return shares of models that maximise the log density of their average on held-out rows (stacking).

    Parameters
    ----------
    log_density : (G, n) array
        Log densities of held-out rows under each model.
    weight : (n,) array

    Returns
    -------
    (G,) array
    """
    shares = np.full(len(log_density), 1.0 / len(log_density))
    density = np.exp(log_density - np.max(log_density, axis=0))
    for _ in range(STEPS):
        parts = shares[:, None] * density
        shares = (parts / np.sum(parts, axis=0)) @ weight / np.sum(weight)
    return shares


def average(task: Task, choice: Choice, m: int) -> Ensemble | None:
    """Return an average of m models on all rows.

    None where no rows were held out to weight them by, and where these prefer one regression to all others, which has
    exact distributions for small samples.
    """
    if choice.folds is None:
        return None
    folds = choice.folds
    each = -(-m // len(folds.parts))  # of each fold the best ones, which will be used
    groups = [fits.of_best(each) for tried in choice.tried for fits in tried.fits]
    densities = [HeldOut.of(folds, [group], [1.0]).log_density for group in groups]
    shares = stacked_shares(np.stack(densities), folds.weight)
    counts = _counts(shares, m, [1 if group.k == 1 else m for group in groups])
    kept = [g for g in range(len(groups)) if counts[g]]
    if all(groups[g].k == 1 for g in kept):
        return None
    shares = shares[kept] / np.sum(shares[kept])
    parameters: list[MoEParameters] = []
    weights: list[float] = []
    for g, share in zip(kept, shares.tolist(), strict=True):
        group = groups[g]
        problem = task.problem(group.k, task.searched)
        thetas = _in_turn(group, int(counts[g]))
        if group.k > 1:
            thetas = [theta for _, theta in run_briefly(problem, thetas, [group.penalty] * len(thetas), task.config)]
        parameters += [
            replace(task.map.to_parameters(theta, task.spec.family), largest=largest_predictors(problem, theta))
            for theta in thetas
        ]
        weights += [share / len(thetas)] * len(thetas)
    return Ensemble(tuple(parameters), np.array(weights), HeldOut.of(folds, [groups[g] for g in kept], shares.tolist()))


def _counts(shares: np.ndarray, m: int, most: list[int]) -> np.ndarray:
    """Return how many models of each group make m, by largest remainders, and no more of a group than it holds."""
    exact = shares * m
    counts = np.floor(exact).astype(int)
    order = np.argsort(counts - exact, kind="stable")
    counts[order[: m - int(np.sum(counts))]] += 1
    return np.minimum(counts, most)


def _in_turn(group: FoldFits, count: int) -> list[Theta]:
    """Return `count` models of a group, the best of each fold first."""
    most = max(len(thetas) for thetas in group.thetas)
    ordered = [thetas[i] for i in range(most) for thetas in group.thetas if i < len(thetas)]
    return ordered[:count]
