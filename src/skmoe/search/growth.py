"""Models with one expert more that is pruned again, or with one fewer and another split in its place."""

from __future__ import annotations

import numpy as np

from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.batch import ThetaBatch
from skmoe.search.climb import OnStep
from skmoe.search.compiled import batch_ascent
from skmoe.search.config import SearchConfig
from skmoe.search.moves import grown_starts, pruned
from skmoe.search.records import Start, StartKind
from skmoe.search.removal import removal_losses

__all__ = ["regrown", "shrunk"]


def regrown(
    part: Problem, theta: Theta, config: SearchConfig, rng: np.random.Generator, on_step: OnStep | None = None
) -> list[Start]:
    """One expert more, climbed for a while, then the least missed one dropped."""
    bigger = part.with_experts(part.k + 1)
    starts = grown_starts(bigger, [theta], config, rng, config.moves.splits)
    ascent = batch_ascent(bigger, ThetaBatch.of([start.theta for start in starts]), on_step=on_step)
    ascent.em(config.race.em_steps // 2)
    ascent.quasi_newton(config.race.warm_up // 2)
    batch = pruned(part, ascent, part.k, config.race.em_steps // 2, on_step)
    return [Start(f"re{start.name}", StartKind.SPLIT, batch.theta(i)) for i, start in enumerate(starts)]


def shrunk(
    part: Problem, theta: Theta, config: SearchConfig, rng: np.random.Generator, on_step: OnStep | None = None
) -> list[Start]:
    """Each expert in turn dropped, those least missed first, the others climbed for a while, then one of them split."""
    order = np.argsort(removal_losses(part, ThetaBatch.of([theta]))[0], kind="stable")[: config.moves.splits]
    kept = np.array([np.delete(np.arange(part.k), j) for j in order])
    W = np.append(theta.W, np.zeros((1, part.Dg)), axis=0)
    fewer = ThetaBatch(theta.A[kept], W[kept], theta.sigma[kept])
    ascent = batch_ascent(part.with_experts(part.k - 1), fewer, on_step=on_step)
    ascent.em(config.race.em_steps // 2)
    ascent.quasi_newton(config.race.warm_up // 2)
    thetas = [ascent.batch.theta(i) for i in range(len(ascent))]
    return grown_starts(part, thetas, config, rng, max(1, config.moves.splits // part.k))
