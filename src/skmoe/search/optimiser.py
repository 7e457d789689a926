"""An optimiser of one model by Newton steps that never lower the objective; sums are computed once a point."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from scipy import linalg

from skmoe.likelihood import Curvature, Gradient, Problem, Theta, gradient, information
from skmoe.search.solvers import cholesky, saddle_step

__all__ = ["Optimiser", "Point"]

ROUNDING = 1e-13  # in a mean of n terms, which is no loss
SUFFICIENT = 1e-4  # part of the gain that a gradient promises which a step must reach
NEWTON_SIZES = (1.0, 0.25, 0.0625)


class Point:
    """A point and the sums over rows at it: each is computed when it is first needed, and once."""

    def __init__(self, problem: Problem, theta: Theta, curvature: Curvature | None = None) -> None:
        self.problem, self.theta = problem, theta
        if curvature is not None:
            self.curvature = curvature

    def with_sums(self, kind: str) -> Point:
        """Return the point with one kind of sums computed: "gradient" or "curvature"."""
        getattr(self, kind)
        return self

    @cached_property
    def curvature(self) -> Curvature:
        """Gradient and observed information."""
        return information(self.problem, self.theta)

    @cached_property
    def gradient(self) -> Gradient:
        """Gradient, with the information where that is known."""
        return self.curvature if "curvature" in vars(self) else gradient(self.problem, self.theta)

    @property
    def objective(self) -> float:
        """Mean log-likelihood less the penalty."""
        return self.gradient.objective

    @property
    def log_likelihood(self) -> float:
        """Mean log-likelihood."""
        return self.gradient.log_likelihood

    @property
    def share(self) -> np.ndarray:
        """Mean responsibility of each expert, (k,)."""
        return self.gradient.share

    @property
    def admissible(self) -> bool:
        """True where no expert is nearly empty and no noise scale is at its least value."""
        return self.problem.is_admissible(self.theta, self.share)

    @cached_property
    def factor(self) -> tuple[np.ndarray, bool] | None:
        """Cholesky factor of the information over the free parameters; None where it is not positive definite."""
        free = self.free()
        return cholesky(self.curvature.information[np.ix_(free, free)])

    @property
    def concave(self) -> bool:
        """True where the information over the free parameters is safely positive definite."""
        return self.factor is not None

    def free(self) -> np.ndarray:
        """Return which parameters may move: all but noise scales at their least value that would go below it."""
        free = np.ones(self.problem.n_parameters, dtype=bool)
        stuck = self.problem.at_least_scale(self.theta)
        if stuck.size:
            free[-stuck.size :] = ~(stuck & (self.curvature.gradient[-stuck.size :] <= 0))
        return free


class Optimiser:
    """An optimiser that starts from a point; no step lowers the objective.

    Parameters
    ----------
    start : Point
    on_step : callable, optional
        Called with the optimiser after each iteration; what it raises ends the run.

    Attributes
    ----------
    point : Point
        The current point.
    trace : list of float
        The objective at the start and after each iteration.
    """

    def __init__(self, start: Point, on_step: Callable[[Optimiser], None] | None = None) -> None:
        self.problem, self.point, self.on_step = start.problem, start, on_step
        self.trace = [start.objective]

    def go(self, point: Point) -> None:
        """Move to a point."""
        self.point = point
        self.trace.append(max(point.objective, self.trace[-1]))
        self.note()

    def note(self) -> None:
        """Call `on_step`, also while a step is under way."""
        if self.on_step is not None:
            self.on_step(self)

    def allows(self, trial: Point, gain: float = 0.0) -> bool:
        """Return whether a point gains enough and leaves every expert the weight of a row (or what it has now)."""
        current, least = self.point, min(self.problem.min_share, 1.0 / self.problem.total)
        slack = ROUNDING * (1 + abs(current.objective))
        full = np.all(trial.share >= np.minimum(current.share, least))
        return bool(trial.objective >= current.objective + gain - slack and full)

    @np.errstate(over="ignore", invalid="ignore")
    def newton(self, *, saddles: bool = False, enough: float = 0.0) -> tuple[float, float]:
        """Take a Newton step on the observed likelihood; where that is not concave only if `saddles` are to be left.

        Returns the squared distance to the optimum in standard errors before the step, infinite where the likelihood is
        not concave, and the gain per row, 0 where the step was refused or the distance was less than `enough`.
        """
        current, free = self.point.curvature, self.point.free()
        factor = self.point.factor
        if factor is None and not saddles:
            return np.inf, 0.0
        step = np.zeros(len(free))
        if factor is None:
            step[free] = saddle_step(current.information[np.ix_(free, free)], current.gradient[free])
        else:
            step[free] = linalg.cho_solve(factor, current.gradient[free])
        slope = float(current.gradient @ step)
        distance = np.inf if factor is None else self.problem.total * slope
        if distance < enough:
            return distance, 0.0
        vector = self.problem.pack(self.point.theta)
        for size in NEWTON_SIZES:
            trial = Point(self.problem, self.problem.unpack(vector + size * step, self.point.theta))
            trial.with_sums("curvature" if size == 1.0 else "gradient")  # a full step is most often the last but one
            if self.allows(trial, SUFFICIENT * size * slope):
                self.go(trial)
                return distance, trial.objective - current.objective
        return distance, 0.0
