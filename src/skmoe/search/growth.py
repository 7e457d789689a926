"""Models grown from smaller ones by splits: from one expert up, by one that is pruned again, or in place of one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.batch import ThetaBatch
from skmoe.search.climb import OnStep
from skmoe.search.compiled import batch_ascent
from skmoe.search.config import SearchConfig
from skmoe.search.ends import climb_all, distinct
from skmoe.search.moves import grown_starts, pruned
from skmoe.search.records import Start, StartKind
from skmoe.search.removal import removal_losses

__all__ = ["ladder", "regrown", "shrunk"]


def ladder(
    part: Problem,
    one: Theta,
    config: SearchConfig,
    rng: np.random.Generator,
    same: float,
    on_step: OnStep | None = None,
    *,
    drawn: bool = False,
) -> list[Start]:
    """Models grown from the single regression `one`, with several strengths of the penalty side by side.

    Each expert of the best few is split in several ways. A penalty smooths the landscape: what is found under it is
    then let go, and is often a better optimum than without it. Ends whose objectives differ by less than `same` are
    taken for one. Splits are the most promising ones, or `drawn` by what they promise.
    """
    own = part.settings.penalty
    strengths = [own, *(tau for tau in config.strengths if tau > own)]
    models = {tau: [one] for tau in strengths}
    if not own:
        part = replace(part, settings=replace(part.settings, pooled=one.A[0]))
    if not part.guarded(own):  # its best optima are of experts on few rows, which a charge keeps off
        part = replace(part, settings=replace(part.settings, charge=0.0))
    hasty = replace(config, climb_gain=config.ladder_gain)
    shorter = replace(hasty, climb_steps=config.ladder_steps)
    k = 1
    while k < part.k:
        k = min(max(k + 1, round(k * config.growth)), part.k)
        problem, starts, penalties = part.with_experts(k), list[Start](), list[float]()
        for tau, thetas in models.items():
            grown = grown_starts(problem, thetas, config, rng, config.splits, drawn=drawn)
            starts, penalties = starts + grown, penalties + [tau] * len(grown)
        # what is split again, or climbed further without its penalty, need not be at its top
        ends = climb_all(problem, starts, hasty if k == part.k else shorter, penalties, on_step=on_step)
        for tau in strengths:
            tops = distinct((end for end in ends if end.penalty == tau), same)
            models[tau] = [end.start.theta for end in tops[: config.beam]]
    return [Start(f"grown under {tau:g}", StartKind.GROWN, theta) for tau in models for theta in models[tau]]


def regrown(
    part: Problem, thetas: list[Theta], config: SearchConfig, rng: np.random.Generator, on_step: OnStep | None = None
) -> list[Start]:
    """One expert more, climbed for a while, then the least missed one dropped."""
    bigger = part.with_experts(part.k + 1)
    starts = grown_starts(bigger, thetas, config, rng, config.regrow_splits)
    ascent = batch_ascent(bigger, ThetaBatch.of([start.theta for start in starts]), on_step=on_step)
    em_steps, further = config.regrow_steps
    ascent.em(em_steps)
    ascent.quasi_newton(further)
    batch = pruned(part, ascent, part.k, config.prune_steps, on_step)
    return [Start(f"re{start.name}", StartKind.SPLIT, batch.theta(i)) for i, start in enumerate(starts)]


def shrunk(
    part: Problem, thetas: list[Theta], config: SearchConfig, rng: np.random.Generator, on_step: OnStep | None = None
) -> list[Start]:
    """One of the experts least missed fewer, the others climbed for a while, then one of them split."""
    batch = ThetaBatch.of(thetas)
    order = np.argsort(removal_losses(part, batch), axis=1, kind="stable")
    kept = [np.delete(np.arange(part.k), j) for model in order for j in model[: config.drops]]
    of = np.repeat(np.arange(len(batch)), len(kept) // len(batch))[:, None]
    fewer = ThetaBatch(batch.A[of, kept], batch.W[of, kept], batch.sigma[of, kept])
    ascent = batch_ascent(part.with_experts(part.k - 1), fewer, on_step=on_step)
    em_steps, further = config.regrow_steps
    ascent.em(em_steps)
    ascent.quasi_newton(further)
    return grown_starts(part, [ascent.batch.theta(i) for i in range(len(ascent))], config, rng, config.drop_splits)
