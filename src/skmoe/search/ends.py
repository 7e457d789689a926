"""Starts climbed side by side on the same rows, poor ones dropped on the way, and where the others ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skmoe.likelihood import Problem
from skmoe.likelihood.batch import ThetaBatch
from skmoe.search.climb import OnStep, OwnRows
from skmoe.search.compiled import batch_ascent
from skmoe.search.config import SearchConfig
from skmoe.search.records import Stage, Start, StartRecord

PATIENCE = 6  # times its usual length that a climb may take where it gains much with each stride

__all__ = ["End", "climb_all", "distinct", "ranked"]


@dataclass(frozen=True)
class End:
    """Where a start ended: the start with its last point, what it reached, and whether it was climbed to the top."""

    start: Start
    objective: float  # mean log-likelihood less the penalty
    log_likelihood: float
    admissible: bool
    finished: bool
    penalty: float
    group: int = 0  # of the starts it was compared with

    @property
    def rank(self) -> tuple[bool, float]:
        """Admissible before inadmissible, then by what was maximised."""
        return self.admissible, self.objective

    def record(self) -> StartRecord:
        """What is told of it."""
        stage = Stage.SUBSAMPLE if self.finished else Stage.RACE
        return StartRecord(self.start.name, self.start.kind, self.log_likelihood, stage)


def ranked(ends: Iterable[End]) -> list[End]:
    """Best first."""
    return sorted(ends, key=lambda end: end.rank, reverse=True)


def distinct(ends: Iterable[End], same: float) -> list[End]:
    """One of each optimum, best first: ends whose objectives differ by less than `same` are at the same one."""
    found: list[End] = []
    for end in ranked(ends):
        if not found or found[-1].admissible != end.admissible or found[-1].objective - end.objective > same:
            found.append(end)
    return found


def climb_all(
    problem: Problem,
    starts: Sequence[Start],
    config: SearchConfig,
    penalties: Sequence[float] | None = None,
    *,
    groups: Sequence[int] | None = None,
    own: OwnRows | None = None,
    bar: float | np.ndarray = -np.inf,
    on_step: OnStep | None = None,
) -> list[End]:
    """Climb all starts at once; all are told, those that were dropped on the way as not finished.

    A model is finished when steps gain next to nothing, and dropped where they gain too little to come near the best,
    or `bar`, an objective known already, one for all or one for each. Only models of the same penalty are compared, or
    of the same group where `groups` says which start is of which; `own` says what each sees of the rows, where they see
    different ones.
    """
    strengths = np.full(len(starts), problem.settings.penalty) if penalties is None else np.array(penalties)
    group = np.unique(strengths, return_inverse=True)[1] if groups is None else np.array(groups)
    bars = np.broadcast_to(bar, len(starts))
    batch = ThetaBatch.of([start.theta for start in starts])
    ascent = batch_ascent(problem, batch, penalties=strengths, own=own, on_step=on_step)
    alive, ends = np.arange(len(starts)), list[End]()

    def leave(which: np.ndarray, finished: bool) -> None:
        """Take models out of the climb."""
        nonlocal alive
        if not np.any(which):
            return
        fine = problem.are_admissible(ascent.batch.A, ascent.batch.sigma, ascent.share) & np.isfinite(ascent.objective)
        for i in np.flatnonzero(which).tolist():
            start = replace(starts[alive[i]], theta=ascent.batch.theta(i))
            reached = float(ascent.objective[i]), float(ascent.log_likelihood[i]), bool(fine[i])
            ends.append(End(start, *reached, finished, float(strengths[alive[i]]), int(group[alive[i]])))
        alive = alive[~which]
        if len(alive):
            ascent.keep(np.flatnonzero(~which))

    ascent.em(config.race.em_steps)
    ascent.quasi_newton(config.race.warm_up)
    steps = 0
    while len(alive):
        before = ascent.objective
        ascent.quasi_newton(config.race.stride)
        gain = (ascent.objective - before) * problem.total
        best = np.maximum(bars[alive], _best_of_group(ascent.objective, group[alive]))
        short = (best - ascent.objective) * problem.total
        done = gain < config.race.gain
        hopeless = ~done & (config.race.hope * gain < short - config.race.margin)
        steps += config.race.stride
        slow = gain < config.race.margin  # one that still gains much is not stopped yet
        last = (steps >= config.race.steps) & slow | (steps >= PATIENCE * config.race.steps)
        leave(hopeless, finished=False)
        leave((done | last)[~hopeless], finished=True)
    return ends


def _best_of_group(objective: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The best objective among models of the same group, for each model."""
    best = np.full(int(np.max(groups)) + 1, -np.inf)
    np.fmax.at(best, groups, objective)
    return best[groups]
