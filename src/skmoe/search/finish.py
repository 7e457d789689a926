"""From a start to the maximum of the likelihood near it: EM, then Newton, few passes where rows are many.

A run stops by the distance to the optimum in standard errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg

from skmoe.likelihood import Curvature, Problem, Theta
from skmoe.search.compiled import make_optimiser
from skmoe.search.config import SearchConfig
from skmoe.search.lbfgs import Memory
from skmoe.search.optimiser import SUFFICIENT, Optimiser, Point
from skmoe.search.records import Control
from skmoe.search.solvers import inverse_root

__all__ = ["Fit", "extend", "maximise", "newton_is_costly", "polish"]

POLISH = 1e-18  # squared distance to the optimum in standard errors that last steps aim at
MEMORY, MOST_STEPS = 20, 60  # of L-BFGS
FIRST_ORDER_STEPS = 20  # between two attempts at a Newton step
NEWTON_GAIN = 1.0  # total log-likelihood that so many gain, above which Newton steps wait where they cost much
COSTLY = 60  # coefficients of all experts, from which on a Newton step takes some fifteen gradients
FLAT_GAIN = 0.01  # total log-likelihood that they gain at least where it is not concave, or the run ends
SHRINK, SMALLEST = 0.4, 1e-3  # of its steps


@dataclass(frozen=True)
class Fit:
    """The result of an optimiser.

    ``trace`` is the mean log-likelihood less the penalty, which never falls; ``curvature`` holds the gradient and the
    observed information per row at ``theta``, ``free`` the parameters that may move. ``converged`` says that the
    optimum was nearer than the tolerance, ``at_floor`` which learned noise scales are at their least value,
    ``admissible`` that none is and no expert is nearly empty. ``identified`` is false where the information is
    singular: there are no standard errors.
    """

    theta: Theta
    log_likelihood: float
    trace: list[float]
    converged: bool
    at_floor: np.ndarray
    share: np.ndarray
    admissible: bool
    identified: bool
    curvature: Curvature
    free: np.ndarray

    @property
    def objective(self) -> float:
        """Mean log-likelihood less the penalty."""
        return self.trace[-1]

    @cached_property
    def inverse_root(self) -> np.ndarray | None:
        """Root of the inverse information over the free parameters, see `solvers`; None where it is singular."""
        return inverse_root(self.curvature.information, self.free)

    @classmethod
    def of(cls, optimiser: Optimiser, converged: bool) -> Fit:
        """Return the current point of an optimiser as a result, with the information at it."""
        point, free = optimiser.point, optimiser.point.free()
        return cls(
            point.theta,
            point.curvature.log_likelihood,
            optimiser.trace,
            converged,
            optimiser.problem.at_least_scale(point.theta),
            point.curvature.share,
            optimiser.problem.is_admissible(point.theta, point.curvature.share),
            point.concave,
            point.curvature,
            free,
        )


def maximise(
    problem: Problem,
    theta: Theta,
    control: Control | None = None,
    config: SearchConfig | None = None,
    *,
    near: bool = False,
    rng: np.random.Generator | None = None,
    on_step: Callable[[Optimiser], None] | None = None,
) -> Fit:
    """Maximise the likelihood from `theta` on.

    EM first, for it is safe far from the optimum, then Newton on the observed likelihood. Of many rows a random
    subsample comes first, whose Hessian then preconditions a quasi-Newton finish on all of them.

    Parameters
    ----------
    problem : Problem
    theta : Theta
    control : Control, optional
        Its ``tol`` is the squared distance to the optimum in standard errors at which to stop; for experts with kinks,
        whose gradient jumps, the gain in total log-likelihood instead.
    config : SearchConfig, optional
    near : bool
        Whether `theta` is known to be near an optimum, as that of a subsample is: EM is then used only if needed.
    rng : Generator, optional
        Draws the subsample.
    on_step : callable, optional
        Called with the `Optimiser` after each iteration; an exception it raises ends the run.
    """
    control, config = control or Control(), config or SearchConfig()
    problem = problem.in_memory()
    # one regression by least squares is two Newton steps away from anywhere near it
    near = near or (problem.k == 1 and problem.family.least_squares and not newton_is_costly(problem))
    rows = max(config.rows.plenty * problem.n_parameters, config.rows.least_rows)
    many = rows < config.rows.enough_rows * problem.n
    optimiser = Optimiser(Point(problem, theta).with_sums("gradient"), on_step)
    enough = 0.0
    if many:
        near = _run_on_subsample(optimiser, rows, control, config, near, rng or np.random.default_rng(0))
        enough = control.tol if near else 0.0
    return Fit.of(optimiser, _run(optimiser, control, config, near, enough))


def extend(
    problem: Problem,
    start: Point,
    control: Control,
    config: SearchConfig,
    on_step: Callable[[Optimiser], None] | None = None,
) -> Fit:
    """Continue from the optimum of a sample of the rows, the point `start`, to that of all rows of `problem`.

    Few passes: gradients only, preconditioned by the sample's Hessian, down to rounding; then the Hessian once, which
    says how far the optimum is. Only where that is not near do EM and Newton steps follow.
    """
    optimiser = Optimiser(Point(problem, start.theta).with_sums("gradient"), on_step)
    _continue(optimiser, start, control)
    return Fit.of(optimiser, _run(optimiser, control, config, near=True, enough=control.tol))


def polish(problem: Problem, fit: Fit) -> Fit:
    """Take last Newton steps, down to rounding; experts with kinks are left as they are."""
    optimiser = Optimiser(Point(problem, fit.theta, fit.curvature))
    for _ in range(3 if problem.family.smooth else 0):
        distance, gain = optimiser.newton(enough=POLISH)
        if distance < POLISH or gain <= 0:
            break
    return replace(Fit.of(optimiser, fit.converged), trace=fit.trace)


def _run(optimiser: Optimiser, control: Control, config: SearchConfig, near: bool = False, enough: float = 0.0) -> bool:
    """Take EM steps unless the optimum is near, then Newton steps where they work and EM steps where not."""
    smooth, total, tol = optimiser.problem.family.smooth, optimiser.problem.total, control.tol
    for i in range(0 if near else config.race.steps // FIRST_ORDER_STEPS):
        if _first_order(optimiser, em=i == 0 or not smooth) < config.race.em_gain:
            break
    # a run that continues from a sample has had its L-BFGS steps
    gradients_first = near and not enough and smooth and newton_is_costly(optimiser.problem)
    while gradients_first and _first_order(optimiser) * total > NEWTON_GAIN:
        continue
    slow = False
    while len(optimiser.trace) < control.max_iter:
        concave, (distance, gain) = optimiser.point.concave, optimiser.newton(saddles=slow, enough=enough)
        if (smooth and distance < tol) or (not smooth and 0 < gain * total < tol):
            return True
        if concave and gain > 0:
            continue
        # first-order steps choose the better optimum; a saddle is left along its curvature only once they hardly move
        em_gain = _first_order(optimiser) if smooth else 0.0
        if em_gain * total < 0.1 * tol:
            em_gain += _first_order(optimiser, em=True)
        if (gain + em_gain) * total < (0.1 * tol if smooth else tol):
            return not smooth
        if slow and not concave and (gain + em_gain) * total < FLAT_GAIN:
            return True  # it rises for ever, as where a gate separates rows
        slow = em_gain < config.race.em_gain
    return False


def newton_is_costly(problem: Problem) -> bool:
    """Return whether the information takes far longer than a gradient, as with many experts."""
    return problem.k * problem.De > COSTLY


def _first_order(optimiser: Optimiser, *, em: bool = False) -> float:
    """Take L-BFGS steps with EM's curvature, or EM steps, safe where the likelihood is not concave.

    Returns the gain per row.
    """
    before, batch = optimiser.point.objective, Theta.stacked([optimiser.point.theta])
    steps = make_optimiser(optimiser.problem, batch, exact=True, on_step=lambda _: optimiser.note())
    (steps.em if em else steps.quasi_newton)(FIRST_ORDER_STEPS)
    trial = Point(optimiser.problem, steps.batch.picked(0)).with_sums("gradient")
    if not optimiser.allows(trial):
        return 0.0
    optimiser.go(trial)
    return max(trial.objective - before, 0.0)


def _run_on_subsample(
    optimiser: Optimiser, rows: int, control: Control, config: SearchConfig, near: bool, rng: np.random.Generator
) -> bool:
    """Run on a random subsample, then on all rows by L-BFGS with the subsample's Hessian as preconditioner.

    Returns whether that led near the optimum.
    """
    on_sample = Optimiser(Point(optimiser.problem.sample(rows, rng), optimiser.point.theta), optimiser.on_step)
    _run(on_sample, Control(tol=control.tol, max_iter=200), config, near)
    trial = Point(optimiser.problem, on_sample.point.theta).with_sums("gradient")
    if not optimiser.allows(trial):  # the subsample misled: start again on all rows
        return False
    optimiser.go(trial)
    return _continue(optimiser, on_sample.point, control)


def _continue(optimiser: Optimiser, start: Point, control: Control) -> bool:
    """Take L-BFGS steps on all rows from the optimum of some; return whether the Hessian allowed it.

    It goes down to rounding, since gradients take far less than the information that a last Newton step would need.
    """
    if start.factor is not None:
        _quasi_newton(optimiser, start.factor, start.free(), POLISH if optimiser.problem.family.smooth else control.tol)
    return start.concave


def _quasi_newton(optimiser: Optimiser, factor: tuple[np.ndarray, bool], free: np.ndarray, tol: float) -> None:
    """Take L-BFGS steps on all rows, preconditioned by a fixed Cholesky factor."""
    problem, slopes = optimiser.problem, optimiser.point.gradient.gradient[None, free]
    memory = Memory(MEMORY, slopes.shape)
    for _ in range(MOST_STEPS):
        step = np.zeros(len(free))
        step[free] = memory.direction(slopes, lambda v: linalg.cho_solve(factor, v[0])[None])[0]
        slope = float(slopes[0] @ step[free])
        if not slope > 0 or problem.total * slope < tol:
            return
        size, vector = 1.0, problem.pack(optimiser.point.theta)
        while size > SMALLEST:
            trial = Point(problem, problem.unpack(vector + size * step, optimiser.point.theta)).with_sums("gradient")
            if optimiser.allows(trial, SUFFICIENT * size * slope):
                break
            size *= SHRINK
        else:
            return
        optimiser.go(trial)
        before, slopes = slopes, trial.gradient.gradient[None, free]
        memory.remember(np.arange(1), (problem.pack(trial.theta) - vector)[None, free], before - slopes)
