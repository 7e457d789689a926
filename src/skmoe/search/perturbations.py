"""Perturbed restarts of a run: on reweighted rows, or with one expert more or less for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from skmoe.arrays.namespaces import to_device, to_numpy
from skmoe.likelihood import Problem, Theta
from skmoe.search.batch_em import mean_centred
from skmoe.search.batch_optimiser import BatchOptimiser, OnStep, PerModelRows
from skmoe.search.compiled import make_optimiser
from skmoe.search.config import SearchConfig
from skmoe.search.records import Start, StartKind
from skmoe.search.removal import removal_losses
from skmoe.search.splits import grown_starts

__all__ = ["experts_to_remove", "grow_and_prune", "prune", "reweighted_restarts", "shrink_and_split"]

AT_A_TIME = 4  # superfluous experts of which one is removed before the losses are computed again
FAR = 2.5  # standard deviations along a direction beyond which weights grow no more


def reweighted_restarts(
    problem: Problem,
    thetas: Sequence[Theta],
    config: SearchConfig,
    rng: np.random.Generator,
    on_step: OnStep | None = None,
) -> list[Start]:
    """Return starts from models run for a while on rows whose weights rise along a random direction.

    On rows so weighted the optimum is another, which may lead to a better one on all rows (Nixon, 1999, has done so
    with trees of species). Without a penalty gates are so steep that a row never changes its expert: they begin less
    steep then, but not where rows are too few for the parameters and the highest maxima are degenerate.
    """
    rows, count, batch = problem.laid_out(), len(thetas), Theta.stacked(thetas)
    enough_rows = problem.total >= config.number.rows_per_parameter * problem.n_parameters
    if enough_rows and not problem.prevents_degeneracy(problem.settings.penalty):
        low, high = np.log(config.moves.softening)
        batch = replace(batch, W=np.exp(rng.uniform(low, high, count))[:, None, None] * mean_centred(batch.W))
    Z = to_numpy(rows.X)
    Z = Z[:, :-1] if rows.map.intercept else Z
    along = Z @ rng.standard_normal((Z.shape[1], count))
    along -= np.mean(along, axis=0)
    along /= np.maximum(np.std(along, axis=0), np.finfo(float).tiny)
    low, high = np.log(config.moves.weight_slope)
    weight = np.exp(np.exp(rng.uniform(low, high, count)) * np.clip(along, -FAR, FAR))
    counts = np.ones(len(Z)) if rows.weight is None else to_numpy(rows.weight)
    weight *= np.sum(counts) / (counts @ weight)
    pooled = np.broadcast_to(problem.settings.pooled, (count, problem.De))
    per_model = PerModelRows(to_device(weight, rows.X), pooled)
    optimiser = make_optimiser(problem, batch, per_model=per_model, on_step=on_step)
    optimiser.em(config.race.em_steps)
    optimiser.quasi_newton(config.race.warm_up)
    return [Start(f"reweighted {i}", StartKind.REWEIGHTED, optimiser.batch.picked(i)) for i in range(count)]


def grow_and_prune(
    problem: Problem, theta: Theta, config: SearchConfig, rng: np.random.Generator, on_step: OnStep | None = None
) -> list[Start]:
    """Return starts from a model with one expert more, run for a while, whose least useful expert is then removed."""
    bigger = problem.with_experts(problem.k + 1)
    starts = grown_starts(bigger, [theta], config, rng, config.moves.splits)
    optimiser = make_optimiser(bigger, Theta.stacked([start.theta for start in starts]), on_step=on_step)
    _run_briefly(optimiser, config)
    batch = prune(problem, optimiser, config.race.em_steps // 2, on_step)
    return [Start(f"re{start.name}", StartKind.SPLIT, batch.picked(i)) for i, start in enumerate(starts)]


def experts_to_remove(problem: Problem, theta: Theta, config: SearchConfig) -> list[np.ndarray]:
    """Return groups of experts to remove: several that nothing is lost without as one group, else each by itself."""
    losses = removal_losses(problem, Theta.stacked([theta]))[0]
    unused = np.flatnonzero(losses < config.race.same)
    if len(unused) > 1:
        return [unused[: problem.k // 2]]
    return [np.array([j]) for j in np.argsort(losses, kind="stable")[: config.moves.splits]]


def shrink_and_split(
    problem: Problem,
    theta: Theta,
    groups: list[np.ndarray],
    config: SearchConfig,
    rng: np.random.Generator,
    on_step: OnStep | None = None,
) -> list[Start]:
    """Return starts with each group of experts removed, the others run for a while, and as many of them split."""
    kept = np.array([np.delete(np.arange(problem.k), group) for group in groups])
    fewer = replace(theta, W=theta.W - theta.W[-1]).picked(kept)
    optimiser = make_optimiser(problem.with_experts(kept.shape[1]), fewer, on_step=on_step)
    _run_briefly(optimiser, config)
    thetas = [optimiser.batch.picked(i) for i in range(len(optimiser))]
    return grown_starts(problem, thetas, config, rng, max(1, config.moves.splits // len(groups)))


def _run_briefly(optimiser: BatchOptimiser, config: SearchConfig) -> None:
    optimiser.em(config.race.em_steps // 2)
    optimiser.quasi_newton(config.race.warm_up // 2)


def prune(problem: Problem, optimiser: BatchOptimiser, steps: int, on_step: OnStep | None = None) -> Theta:
    """Remove the least useful experts, with some EM steps after each removal, until as many are left as in `problem`.

    Of many experts a few are removed at a time.
    """
    while optimiser.batch.k > problem.k:
        batch = optimiser.batch
        left = batch.k - max(1, (batch.k - problem.k) // AT_A_TIME)
        kept = np.sort(np.argsort(-removal_losses(problem, batch), axis=1, kind="stable")[:, :left], axis=1)
        rows = np.arange(len(batch))[:, None]
        fewer = batch.picked((rows, kept))
        optimiser = make_optimiser(problem, fewer, on_step=on_step)
        optimiser.em(steps)
    return optimiser.batch
