"""From a prepared table to a fitted model: the consistent start, the search, the finish on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from skmoe.likelihood import Problem, Theta, largest_predictors, mean_gate
from skmoe.model.parameters import MoEParameters
from skmoe.model.record import RunRecord, SearchRecord, Spectrum, Stage, StartKind, StartRecord
from skmoe.search.finish import Fit, extend, polish
from skmoe.search.optimiser import Optimiser, Point
from skmoe.search.race import Search
from skmoe.search.records import OutOfTimeError, Start
from skmoe.search.starts import spectral_start
from skmoe.search.task import Task
from skmoe.spectral.experts import ExpertsResult

__all__ = ["Fitted", "Optimum", "fit_search", "fitted_at", "interrupted_at", "spectrum_of"]


@dataclass(frozen=True)
class Optimum:
    """The result of a fit on the standardised scale, and the order in which its experts are reported."""

    problem: Problem
    fit: Fit
    order: np.ndarray  # by falling mean gate weight


@dataclass(frozen=True)
class Fitted:
    """A fit in the caller's units, experts in order of falling mean gate weight.

    Attributes
    ----------
    parameters : MoEParameters
    shares : (k,) array
        Mean gate weights.
    run : RunRecord
    search : SearchRecord
    optimum : Optimum or None
        None for the paper's method, which maximises no likelihood.
    """

    parameters: MoEParameters
    shares: np.ndarray
    run: RunRecord
    search: SearchRecord
    optimum: Optimum | None = None


def fitted_at(task: Task, problem: Problem, fit: Fit, search: SearchRecord) -> Fitted:
    """Return a fit in the caller's units and order, after a search."""
    shares = mean_gate(problem, fit.theta)
    order = np.argsort(-shares, kind="stable")
    largest = largest_predictors(task.problem(problem.k, task.searched), fit.theta)
    run = RunRecord(
        log_likelihood=float(task.rows.total * task.in_callers_units(fit.log_likelihood)),
        n_parameters=problem.n_parameters,
        converged=bool(fit.converged),
        identified=bool(fit.identified),
        at_floor=not problem.may_end_at_least_scale and bool(np.any(fit.at_floor)),
        objective=tuple(task.in_callers_units(np.array(fit.trace)).tolist()),
        passes=task.rows.passes.count,
    )
    parameters = replace(task.map.to_parameters(fit.theta, task.spec.family), largest=largest).permuted(order)
    return Fitted(parameters, shares[order], run, search, Optimum(problem, fit, order))


def spectrum_of(experts: ExpertsResult) -> Spectrum:
    """Return the eigenvalues that experts were learned from."""
    return Spectrum(tuple(experts.spectrum.tolist()), experts.gap, experts.noise_level)


class _Reporter:
    """Reports progress in the caller's units, saves points to the checkpoint, and ends a fit that is out of time."""

    def __init__(self, task: Task, k: int, rng: np.random.Generator) -> None:
        self.task, self.k, self.rng = task, k, rng
        self.reached: Theta | None = None  # after the search

    def report(self, stage: str, objective: float, done: int, most: int) -> None:
        self.task.control.report(stage, self.k, self.task.in_callers_units(objective), self.k, done, most)

    def save(self, theta: Theta) -> None:
        self.reached = theta
        if self.task.control.checkpoint is not None:
            self.task.control.checkpoint.put(theta, self.rng)

    def on_all_rows(self, optimiser: Optimiser) -> None:
        self.save(optimiser.point.theta)
        self.report("all rows", optimiser.trace[-1], 1, 1)

    def on_search(self, search: Search) -> None:
        if search.theta is not None:  # nothing to report before
            self.report(
                "starts" if search.best is None else "finish", search.objective, search.ended, search.most_starts
            )


def fit_search(
    task: Task,
    k: int,
    rng: np.random.Generator,
    *,
    warm: Sequence[Start] = (),
) -> Fitted:
    """Fit by the default method: the consistent start and random ones, then maximum likelihood from the best.

    A large table is searched on its sample, and the winner finished on all rows.
    """
    reporter = _Reporter(task, k, rng)
    checkpoint = task.control.checkpoint
    known = None if checkpoint is None else checkpoint.get(k, rng)
    if known is not None:
        return _resumed(task, k, known, reporter)
    problem = task.problem(k, task.searched)
    found = spectral_start(task, problem, rng)
    starts = list(warm) if found is None else [found[0], *warm]
    search = Search(problem, rng, task.control, task.config, starts=starts, on_step=reporter.on_search)

    def record(records: Sequence[StartRecord], *, interrupted: bool) -> SearchRecord:
        won = _winner(records, Stage.ALL_ROWS)
        return SearchRecord(
            starts=_in_callers_units(task, records),
            winner="" if won is None else won.name,
            agreement=search.agreement,
            interrupted=interrupted,
            limited=search.limited,
            spectrum=None if found is None else spectrum_of(found[1]),
        )

    try:
        fit = search.run()
        reporter.save(fit.theta)
        records = search.records
        if task.sampled:
            records = [replace(r, stage=Stage.SAMPLE) if r.stage is Stage.ALL_ROWS else r for r in records]
            won = _winner(records, Stage.SAMPLE)
            assert won is not None
            fit = _on_all_rows(task, Point(problem, fit.theta, fit.curvature), reporter)
            records.append(StartRecord(won.name, won.kind, fit.log_likelihood, Stage.ALL_ROWS))
        all_rows = task.problem(k)
        return fitted_at(task, all_rows, polish(all_rows, fit), record(records, interrupted=False))
    except (KeyboardInterrupt, OutOfTimeError):
        best = search.theta if reporter.reached is None else reporter.reached
        if best is None:  # nothing is known yet
            raise
        stopped = Fit.of(Optimiser(Point(problem, best)), converged=False)
        return fitted_at(task, problem, stopped, record(search.records, interrupted=True))


def interrupted_at(task: Task, theta: Theta) -> Fitted:
    """Return a fit that was stopped before its search began, at the best point known."""
    problem = task.problem(len(theta.A), task.searched)
    fit = Fit.of(Optimiser(Point(problem, theta)), converged=False)
    return fitted_at(task, problem, fit, SearchRecord(interrupted=True))


def _in_callers_units(task: Task, records: Sequence[StartRecord]) -> tuple[StartRecord, ...]:
    return tuple(replace(r, log_likelihood=task.in_callers_units(r.log_likelihood)) for r in records)


def _winner(records: Sequence[StartRecord], stage: Stage) -> StartRecord | None:
    return max((r for r in records if r.stage is stage), key=lambda r: r.log_likelihood, default=None)


def _on_all_rows(task: Task, start: Point, reporter: _Reporter) -> Fit:
    """Continue from the sample's optimum to that of all rows, reporting each step."""
    return extend(task.problem(start.problem.k), start, task.control, task.config, reporter.on_all_rows)


def _resumed(task: Task, k: int, known: Theta, reporter: _Reporter) -> Fitted:
    """Continue from a checkpoint: the search is over, the finish is not."""
    all_rows = task.problem(k)
    fit = _on_all_rows(task, Point(task.problem(k, task.searched), known), reporter)
    start = StartRecord("checkpoint", StartKind.CHECKPOINT, fit.log_likelihood, Stage.ALL_ROWS)
    search = SearchRecord(_in_callers_units(task, [start]), winner=start.name)
    return fitted_at(task, all_rows, polish(all_rows, fit), search)
