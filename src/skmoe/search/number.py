"""The number of experts and the strength of the penalty, chosen by the log density of held-out rows.

A larger number of experts is taken where held-out rows gain more than a standard error by it; the less stable its
experts are across folds, the more they must gain. The penalty is chosen after the number, and stays at its default
unless another strength gains more than a standard error.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from skmoe.likelihood import Theta
from skmoe.likelihood.means import mean_entropy, mean_log_likelihood
from skmoe.search.batch_optimiser import BatchOptimiser, OnStep
from skmoe.search.config import SearchConfig
from skmoe.search.folds import (
    FoldFits,
    Folds,
    HeldOut,
    converged,
    fit_folds,
    folds_of,
    run_briefly,
)
from skmoe.search.records import OutOfTimeError
from skmoe.search.stability import memberships, stability
from skmoe.search.task import Task, most_experts

__all__ = ["Choice", "Tried", "choose", "gain"]


@dataclass(frozen=True)
class Tried:
    """Models with one number of experts, and their evaluation.

    Attributes
    ----------
    k : int
    held_out : (n,) array
        Log densities of held-out rows, calibrated, on the standardised scale.
    averaged : float
        Mean of the same for the average of all models fitted with so many experts; NaN where no average is asked for.
    stability : float
        Share of the experts that have a match in the best fit of another fold, mean over folds and other folds.
    fits : list of FoldFits
        One for each strength of the penalty.
    theta : Theta
        The best of the same models after some steps on all these rows.
    log_likelihood, entropy : float
        Mean per row there, of the model and of its responsibilities.
    n_parameters : int
    """

    k: int
    held_out: np.ndarray
    averaged: float
    stability: float
    fits: list[FoldFits]
    theta: Theta
    log_likelihood: float
    entropy: float
    n_parameters: int

    def bic(self, n: float) -> float:
        """Return Bayes' criterion; smaller is better."""
        return self.n_parameters * float(np.log(n)) - 2 * n * self.log_likelihood

    def icl(self, n: float) -> float:
        """Return Bayes' criterion with the entropy of the responsibilities; smaller is better."""
        return self.bic(n) + 2 * n * self.entropy


@dataclass(frozen=True)
class Choice:
    """The number of experts and the penalty chosen, and the comparisons that led to them.

    Attributes
    ----------
    k : int
    penalty : float
    folds : Folds or None
        None where no rows were held out.
    fits : FoldFits or None
        The best model of each fold with this number of experts and penalty.
    tried : list of Tried
    penalties : list of (float, float)
        Strengths compared, with the mean log density of held-out rows.
    stopped_at : Theta or None
        The best model known, where the fit was stopped before its search.
    """

    k: int
    penalty: float
    folds: Folds | None = None
    fits: FoldFits | None = None
    tried: list[Tried] = field(default_factory=list)
    penalties: list[tuple[float, float]] = field(default_factory=list)
    stopped_at: Theta | None = None


def choose(task: Task, n_experts: int | str, averaging: int, rng: np.random.Generator) -> Choice:
    """Choose what was left open: the number of experts, the penalty, or neither, where folds serve calibration only."""
    config, chosen = task.config, task.spec.penalty == "auto"
    numbers = _numbers_to_try(task, averaging) if isinstance(n_experts, str) else [int(n_experts)]
    fixed = not isinstance(n_experts, str) and not averaging
    folds = folds_of(task, task.problem(numbers[-1]).n_parameters, rng)
    if folds is None:
        return Choice(numbers[0], task.penalty)
    if fixed:
        return _of_number(task, folds, numbers[0], chosen, rng)
    strengths = [task.penalty]
    if averaging and chosen and folds.n < config.folds.most_rows:
        strengths.append(config.folds.ensemble_penalty)
    starts = max(config.folds.starts, -(-averaging // len(folds.parts)))
    tried: list[Tried] = []
    try:
        for k in numbers:
            progress = _ProgressCallback(task, k, numbers[-1])
            smaller = tried[-1].fits[0] if tried else None
            fits = fit_folds(task, folds, k, strengths, starts, rng, smaller=smaller, on_step=progress)
            tried.append(_evaluated(task, folds, fits, averaging, progress))
            if _enough(tried, averaging, folds, config):
                break
    except (KeyboardInterrupt, OutOfTimeError):
        if not tried:
            return _stopped(task, numbers[0], progress)
        best = _simplest(tried, folds, config)
        return Choice(best.k, task.penalty, tried=tried, stopped_at=best.theta)
    best = _simplest(tried, folds, config)
    choice = Choice(best.k, task.penalty if best.k > 1 else 0.0, folds, best.fits[0], tried)
    if best.k == 1:
        return choice
    try:
        return _with_penalty(
            task, folds, choice, best.fits[0].of_best(), chosen, _ProgressCallback(task, best.k, best.k)
        )
    except (KeyboardInterrupt, OutOfTimeError):
        return replace(choice, fits=None, stopped_at=best.theta)


def _of_number(task: Task, folds: Folds, k: int, chosen: bool, rng: np.random.Generator) -> Choice:
    """Choose the penalty for a given number of experts, whose fits converge at once: nothing is compared."""
    progress = _ProgressCallback(task, k, k)
    try:
        (fits,) = fit_folds(task, folds, k, [task.penalty], task.config.folds.starts, rng, checks=0, on_step=progress)
        return _with_penalty(task, folds, Choice(k, task.penalty, folds), fits, chosen, progress)
    except (KeyboardInterrupt, OutOfTimeError):
        return _stopped(task, k, progress)


def _stopped(task: Task, k: int, progress: _ProgressCallback) -> Choice:
    """Return what is known when a fit is stopped before anything was chosen."""
    if progress.theta is None:  # nothing is known yet
        raise KeyboardInterrupt
    return Choice(k, task.penalty, stopped_at=progress.theta)


def _numbers_to_try(task: Task, averaging: int) -> list[int]:
    """Return the numbers of experts to try: those for whose parameters there are enough rows."""
    config = task.config
    most = config.number.numbers[-1] if averaging else config.number.most_experts
    most = min(most, most_experts(task.spec, task.moments, config))
    return [1, *(k for k in config.number.numbers if 1 < k <= most and task.supports(k))]


class _ProgressCallback:
    """Reports progress while models are fitted to folds, ends a fit that is out of time, and notes the best so far."""

    def __init__(self, task: Task, k: int, most: int) -> None:
        self.task, self.k, self.most = task, k, most
        self.theta: Theta | None = None

    def __call__(self, optimiser: BatchOptimiser) -> None:
        best = int(np.argmax(optimiser.objective))
        self.theta = optimiser.batch.picked(best)
        log_likelihood = self.task.in_callers_units(float(optimiser.log_likelihood[best]))
        self.task.control.report("folds", self.k, log_likelihood, self.most)


def _evaluated(task: Task, folds: Folds, fits: list[FoldFits], averaging: int, on_step: OnStep) -> Tried:
    """Evaluate models fitted to folds by held-out rows and criteria."""
    k = fits[0].k
    problem = task.problem(k, folds.rows)
    theta = fits[0].best[0]
    if k > 1:
        best = fits[0].best
        theta = run_briefly(problem, best, [task.penalty] * len(best), task.config, on_step=on_step)[0][1]
    averaged = float("nan")
    if averaging:
        density = HeldOut.of(folds, fits, [1 / len(fits)] * len(fits)).calibrated()
        averaged = float(np.average(density, weights=folds.weight))
    return Tried(
        k,
        HeldOut.of(folds, [fits[0].of_best()], [1.0]).calibrated(),
        averaged,
        _stability(folds, fits[0]),
        fits,
        theta,
        mean_log_likelihood(problem, theta),
        mean_entropy(problem, theta),
        problem.n_parameters,
    )


def _enough(tried: list[Tried], averaging: int, folds: Folds, config: SearchConfig) -> bool:
    """Return whether the last few numbers tried gained nothing, for a single model and, if wanted, an average."""
    idle = len(tried) - 1 - tried.index(_best_number(tried, config.number.most_experts, folds))
    if averaging:
        idle = min(idle, len(tried) - 1 - int(np.argmax([t.averaged for t in tried])))
    return idle >= config.number.patience


def gain(better: np.ndarray, other: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Return the mean gain in log density over rows, and its standard error."""
    gains = better - other
    mean = float(np.average(gains, weights=weight))
    spread = float(np.average((gains - mean) ** 2, weights=weight)) ** 0.5
    return mean, spread / float(np.sum(weight)) ** 0.5


def _best_number(tried: list[Tried], most: int, folds: Folds) -> Tried:
    """Return the last number of experts that gained more than a standard error over the best before it."""
    best = tried[0]
    for t in tried[1:]:
        mean, error = gain(t.held_out, best.held_out, folds.weight)
        if mean > error and t.k <= most:
            best = t
    return best


def _simplest(tried: list[Tried], folds: Folds, config: SearchConfig) -> Tried:
    """Return the smallest number of experts over which the best one gains too little."""
    best = _best_number(tried, config.number.most_experts, folds)
    for t in tried[: tried.index(best)]:
        mean, error = gain(best.held_out, t.held_out, folds.weight)
        if mean <= max(error, config.number.unseen_gain * (1 - best.stability)):
            return t
    return best


def _stability(folds: Folds, fits: FoldFits) -> float:
    """Return the share of experts of each fold's best fit that have a match in the best fit of another fold."""
    if fits.k == 1:
        return 1.0
    each = [memberships(folds.rows, one.family, theta) for one, theta in zip(fits.problems, fits.best, strict=True)]
    others = [[R for R in each if R is not one] for one in each]
    return float(np.mean([stability(R, rest, folds.weight) for R, rest in zip(each, others, strict=True)]))


def _with_penalty(task: Task, folds: Folds, choice: Choice, fits: FoldFits, chosen: bool, on_step: OnStep) -> Choice:
    """Return the choice with converged models of the folds and, if wanted, the penalty that held-out rows prefer."""
    config = task.config
    candidates = converged(task, folds, fits, [task.penalty], on_step)
    if not (chosen and task.few_rows(fits.k)):
        return replace(choice, fits=candidates[0])
    others = [tau for tau in config.folds.penalties if tau != task.penalty]
    candidates += converged(task, folds, candidates[0], others, on_step)
    densities = [HeldOut.of(folds, [fits], [1.0]).calibrated() for fits in candidates]
    means = [float(np.average(d, weights=folds.weight)) for d in densities]
    best = int(np.argmax(means))
    mean, error = gain(densities[best], densities[0], folds.weight)
    won = candidates[best if mean > error else 0]
    compared = sorted((fits.penalty, task.in_callers_units(m)) for fits, m in zip(candidates, means, strict=True))
    return replace(choice, penalty=won.penalty, fits=won, penalties=compared)
