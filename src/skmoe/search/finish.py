"""From a start to the maximum of the likelihood near it: EM, then Newton, few passes where rows are many.

The climb stops by the distance to the optimum in standard errors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import linalg

from skmoe.likelihood import Curvature, Problem, Theta
from skmoe.likelihood.batch import ThetaBatch
from skmoe.search.compiled import make_optimiser
from skmoe.search.config import SearchConfig
from skmoe.search.optimiser import SUFFICIENT, Optimiser, Point
from skmoe.search.records import Control
from skmoe.search.solvers import Pair, inverse_root, two_loop

__all__ = ["EMTrace", "Fit", "extend", "maximise", "newton_is_costly", "polish", "run_em"]

POLISH = 1e-18  # squared distance to the optimum in standard errors that last steps aim at
MEMORY, MOST_STEPS = 20, 60  # of L-BFGS
FIRST_ORDER_STEPS = 20  # between two attempts at a Newton step
NEWTON_GAIN = 1.0  # total log-likelihood that so many gain, above which Newton steps wait where they cost much
COSTLY = 60  # coefficients of all experts, from which on a Newton step takes some fifteen gradients
FLAT_GAIN = 0.01  # total log-likelihood that they gain at least where it is not concave, or the climb ends
SHRINK, SMALLEST = 0.4, 1e-3  # of its steps


@dataclass(frozen=True)
class Fit:
    """Where an optimiser ended.

    ``trace`` is the mean log-likelihood less the penalty, which never falls; ``curvature`` holds the gradient and the
    observed information per row at ``theta``, ``free`` the parameters that may move. ``converged`` says that the
    optimum was nearer than the tolerance, ``at_floor`` which learned noise scales sit on their floor, ``admissible``
    that none does and no expert is nearly empty. ``identified`` is false where the information is singular: there are
    no standard errors.
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
        """What was maximised: mean log-likelihood less the penalty."""
        return self.trace[-1]

    @cached_property
    def inverse_root(self) -> np.ndarray | None:
        """Root of the inverse information over the free parameters, see `solvers`; None where it is singular."""
        return inverse_root(self.curvature.information, self.free)

    @classmethod
    def of(cls, optimiser: Optimiser, converged: bool) -> Fit:
        """Report where an optimiser stands, with the information there."""
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
    """Climb from `theta` to the maximum of the likelihood near it.

    EM first, for it is safe far from the optimum, then Newton on the observed likelihood. Many rows are first climbed
    on a random subsample, whose Hessian then preconditions a quasi-Newton finish on all of them.

    Parameters
    ----------
    problem : Problem
    theta : Theta
    control : Control, optional
        Its ``tol`` is the squared distance to the optimum in standard errors at which to stop; for experts with kinks,
        whose gradient jumps, the gain in total log-likelihood instead.
    config : SearchConfig, optional
    near : bool
        Whether `theta` is known to be near an optimum, as that of a subsample is: EM is then called on only if needed.
    rng : Generator, optional
        Draws the subsample.
    on_step : callable, optional
        Called with the `Optimiser` after each iteration; an exception it raises ends the climb.
    """
    control, config = control or Control(), config or SearchConfig()
    problem = problem.in_memory()
    # one regression by least squares is two Newton steps away from anywhere near it
    near = near or (problem.k == 1 and problem.family.least_squares and not newton_is_costly(problem))
    rows = max(config.rows.plenty * problem.n_parameters, config.rows.least_rows)
    many = rows < config.rows.enough_rows * problem.n
    optimiser = Optimiser(Point(problem, theta).taking("gradient" if many or near else "em"), on_step)
    enough = 0.0
    if many:
        near = _run_on_subsample(optimiser, rows, control, config, near, rng or np.random.default_rng(0))
        enough = control.tol if near else 0.0
    return Fit.of(optimiser, _climb(optimiser, control, config, near, enough))


def extend(
    problem: Problem,
    part: Point,
    control: Control,
    config: SearchConfig,
    on_step: Callable[[Optimiser], None] | None = None,
) -> Fit:
    """Carry the optimum of a sample of the rows, the point `part`, to that of all rows of `problem`.

    Few passes: gradients only, preconditioned by the sample's Hessian, down to rounding; then the Hessian once, which
    says how far the optimum is. Only where that is not near do EM and Newton steps follow.
    """
    optimiser = Optimiser(Point(problem, part.theta).taking("gradient"), on_step)
    _carry(optimiser, part, control)
    return Fit.of(optimiser, _climb(optimiser, control, config, near=True, enough=control.tol))


def polish(problem: Problem, fit: Fit) -> Fit:
    """Last Newton steps, down to rounding; experts with kinks are left as they are."""
    optimiser = Optimiser(Point(problem, fit.theta, fit.curvature))
    for _ in range(3 if problem.family.smooth else 0):
        distance, gain = optimiser.newton(enough=POLISH)
        if distance < POLISH or gain <= 0:
            break
    return replace(Fit.of(optimiser, fit.converged), trace=fit.trace)


def _climb(
    optimiser: Optimiser, control: Control, config: SearchConfig, near: bool = False, enough: float = 0.0
) -> bool:
    """EM unless the optimum is near, then Newton where it works and EM where not, until the optimum is near."""
    smooth, total, tol = optimiser.problem.family.smooth, optimiser.problem.total, control.tol
    if not near:
        optimiser.em_until(config.race.em_gain, least=config.race.em_steps, most=config.race.steps)
    # one that was carried over from a sample has had its gradients
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
        # first-order steps pick the better basin; a saddle is left along its curvature only once they hardly move
        em_gain = _first_order(optimiser) if smooth else 0.0
        if em_gain * total < 0.1 * tol:
            em_gain += sum(optimiser.em() for _ in range(5))
        if (gain + em_gain) * total < (0.1 * tol if smooth else tol):
            return not smooth
        if slow and not concave and (gain + em_gain) * total < FLAT_GAIN:
            return True  # a ridge that rises for ever, as where a gate separates rows
        slow = em_gain < config.race.em_gain
    return False


def newton_is_costly(problem: Problem) -> bool:
    """Whether the information takes far longer than a gradient, as with many experts."""
    return problem.k * problem.De > COSTLY


def _first_order(optimiser: Optimiser) -> float:
    """L-BFGS steps with EM's curvature, which are safe where the likelihood is not concave; the gain per row."""
    before = optimiser.point.objective
    batch = make_optimiser(optimiser.problem, ThetaBatch.of([optimiser.point.theta]), exact=True)
    batch.quasi_newton(FIRST_ORDER_STEPS)
    there = Point(optimiser.problem, batch.batch.theta(0)).taking("gradient")
    if not optimiser.allows(there):
        return 0.0
    optimiser.go(there)
    return max(there.objective - before, 0.0)


def _run_on_subsample(
    optimiser: Optimiser, rows: int, control: Control, config: SearchConfig, near: bool, rng: np.random.Generator
) -> bool:
    """Climb on a random subsample, then on all rows by L-BFGS with the subsample's Hessian as preconditioner.

    Returns whether that led near the optimum.
    """
    part = Optimiser(Point(optimiser.problem.sample(rows, rng), optimiser.point.theta), optimiser.on_step)
    _climb(part, Control(tol=control.tol, max_iter=200), config, near)
    there = Point(optimiser.problem, part.point.theta).taking("gradient")
    if not optimiser.allows(there):  # the subsample led astray: start over on all rows
        return False
    optimiser.go(there)
    return _carry(optimiser, part.point, control)


def _carry(optimiser: Optimiser, part: Point, control: Control) -> bool:
    """L-BFGS on all rows from the optimum of some, where their gradient is known; whether the Hessian allowed it.

    It goes down to rounding, since gradients take far less than the information that a last Newton step would need.
    """
    if part.factor is not None:
        _quasi_newton(optimiser, part.factor, part.free(), POLISH if optimiser.problem.family.smooth else control.tol)
    return part.concave


def _quasi_newton(optimiser: Optimiser, factor: tuple[np.ndarray, bool], free: np.ndarray, tol: float) -> None:
    """L-BFGS on all rows, preconditioned by a frozen Cholesky factor."""
    problem, here = optimiser.problem, optimiser.point.gradient
    pairs: list[Pair] = []
    for _ in range(MOST_STEPS):
        step = np.zeros(len(free))
        step[free] = two_loop(here.gradient[free], pairs[-MEMORY:], lambda v: linalg.cho_solve(factor, v))
        slope = float(here.gradient @ step)
        if not slope > 0 or problem.total * slope < tol:
            return
        size, vector = 1.0, problem.pack(optimiser.point.theta)
        while size > SMALLEST:
            there = Point(problem, problem.unpack(vector + size * step, optimiser.point.theta)).taking("gradient")
            if optimiser.allows(there, SUFFICIENT * size * slope):
                break
            size *= SHRINK
        else:
            return
        optimiser.go(there)
        moved = (problem.pack(there.theta) - vector)[free]
        bent = (here.gradient - there.gradient.gradient)[free]
        if moved @ bent > 1e-12 * np.linalg.norm(moved) * np.linalg.norm(bent):
            pairs.append((moved, bent, 1.0 / (moved @ bent)))
        here = there.gradient


@dataclass(frozen=True)
class EMTrace:
    """Where EM went: points, mean log-likelihood at each, and whether it settled."""

    points: list[Theta]
    log_likelihood: list[float]
    converged: bool


def run_em(problem: Problem, theta: Theta, *, max_iter: int, tol: float, gate_steps: int = 50) -> EMTrace:
    """EM from `theta` until no parameter moves by `tol`; the objective never falls."""
    optimiser = Optimiser(Point(problem, theta))
    points = [theta]
    for _ in range(max_iter):
        optimiser.em(gate_steps=gate_steps)
        moved = optimiser.point.theta.distance(points[-1])
        if optimiser.point.theta is not points[-1]:
            points.append(optimiser.point.theta)
        if moved <= tol:
            return EMTrace(points, optimiser.trace, True)
    return EMTrace(points, optimiser.trace, False)
