"""Runs from many starts side by side on the same rows, of which poor ones are stopped early, and their results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skmoe.likelihood import Problem, Theta
from skmoe.search.batch_optimiser import OnStep, PerModelRows
from skmoe.search.compiled import make_optimiser
from skmoe.search.config import SearchConfig
from skmoe.search.records import Stage, Start, StartRecord

PATIENCE = 6  # times its usual length that a run may take while it gains much between checks

__all__ = ["RunResult", "best_optima", "better", "count_agreeing", "distinct", "ranked", "run_all"]


@dataclass(frozen=True)
class RunResult:
    """The result of a run: the start with its last point, what it reached, and whether the run was finished."""

    start: Start
    objective: float  # mean log-likelihood less the penalty
    log_likelihood: float
    admissible: bool
    finished: bool
    penalty: float
    group: int = 0  # of the runs it was compared with

    @property
    def rank(self) -> tuple[bool, float]:
        """Key to order results by: admissible before inadmissible, then the objective."""
        return self.admissible, self.objective

    def record(self) -> StartRecord:
        """Return what is reported of it."""
        stage = Stage.SUBSAMPLE if self.finished else Stage.RACE
        return StartRecord(self.start.name, self.start.kind, self.log_likelihood, stage)


def ranked(results: Iterable[RunResult]) -> list[RunResult]:
    """Order results, the best first."""
    return sorted(results, key=lambda result: result.rank, reverse=True)


def distinct(results: Iterable[RunResult], same: float) -> list[RunResult]:
    """Keep one result of each optimum, best first; objectives that differ by less than `same` are of the same one."""
    found: list[RunResult] = []
    for result in ranked(results):
        if not found or found[-1].admissible != result.admissible or found[-1].objective - result.objective > same:
            found.append(result)
    return found


def better(result: RunResult, other: RunResult, same: float) -> bool:
    """Return whether a result is better than another, and not the same optimum."""
    return result.rank > (other.admissible, other.objective + same)


def count_agreeing(results: Iterable[RunResult], best: float, same: float) -> int:
    """Count the finished results at an optimum of the objective `best`."""
    return sum(result.admissible and result.finished and result.objective > best - same for result in results)


def best_optima(results: Iterable[RunResult], same: float, most: int, margin: float = np.inf) -> list[RunResult]:
    """Return at most `most` finished results of different optima within a margin of the best, best first."""
    best = distinct((result for result in results if result.finished), same)[:most]
    return [result for result in best if best[0].objective - result.objective < margin]


def run_all(
    problem: Problem,
    starts: Sequence[Start],
    config: SearchConfig,
    penalties: Sequence[float] | None = None,
    *,
    groups: Sequence[int] | None = None,
    per_model: PerModelRows | None = None,
    cutoff: float | np.ndarray = -np.inf,
    on_step: OnStep | None = None,
) -> list[RunResult]:
    """Run the optimiser from all starts at once; all are returned, those that were stopped early as not finished.

    A run is finished when steps gain next to nothing, and stopped where they gain too little to come near the best, or
    near `cutoff`, a known objective, one for all or one for each. Only models of the same penalty are compared, or of
    the same group where `groups` gives the group of each start; `per_model` is for models that see different rows.
    """
    strengths = np.full(len(starts), problem.settings.penalty) if penalties is None else np.array(penalties)
    group = np.unique(strengths, return_inverse=True)[1] if groups is None else np.array(groups)
    cutoffs = np.broadcast_to(cutoff, len(starts))
    batch = Theta.stacked([start.theta for start in starts])
    optimiser = make_optimiser(problem, batch, penalties=strengths, per_model=per_model, on_step=on_step)
    running, results = np.arange(len(starts)), list[RunResult]()

    def stop(which: np.ndarray, finished: bool) -> None:
        """Take models out of the batch."""
        nonlocal running
        if not np.any(which):
            return
        admissible = problem.are_admissible(optimiser.batch.A, optimiser.batch.sigma, optimiser.share) & np.isfinite(
            optimiser.objective
        )
        for i in np.flatnonzero(which).tolist():
            start = replace(starts[running[i]], theta=optimiser.batch.picked(i))
            reached = float(optimiser.objective[i]), float(optimiser.log_likelihood[i]), bool(admissible[i])
            results.append(RunResult(start, *reached, finished, float(strengths[running[i]]), int(group[running[i]])))
        running = running[~which]
        if len(running):
            optimiser.keep(np.flatnonzero(~which))

    optimiser.em(config.race.em_steps)
    optimiser.quasi_newton(config.race.warm_up)
    steps = 0
    while len(running):
        before = optimiser.objective
        optimiser.quasi_newton(config.race.check_every)
        gain = (optimiser.objective - before) * problem.total
        best = np.maximum(cutoffs[running], _best_of_group(optimiser.objective, group[running]))
        gap = (best - optimiser.objective) * problem.total
        done = gain < config.race.gain
        hopeless = ~done & (config.race.catch_up * gain < gap - config.race.margin)
        steps += config.race.check_every
        slow = gain < config.race.margin  # a run that still gains much goes on
        last = (steps >= config.race.steps) & slow | (steps >= PATIENCE * config.race.steps)
        stop(hopeless, finished=False)
        stop((done | last)[~hopeless], finished=True)
    return results


def _best_of_group(objective: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the best objective among models of the same group, for each model."""
    best = np.full(int(np.max(groups)) + 1, -np.inf)
    np.fmax.at(best, groups, objective)
    return best[groups]
