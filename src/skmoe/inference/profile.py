r"""Intervals of coefficients by the profile likelihood, for rows of so little information that it is no parabola.

An interval holds the values :math:`v` of a coefficient :math:`\psi = j^\top \theta` for which the objective, maximised
over all other parameters, is at most :math:`\tfrac12 z^2` below its maximum in total (R's ``confint`` of a generalised
linear model). Its ends are the least and the greatest :math:`j^\top \theta` at that height (Venzon and Moolgavkar,
1988). With gradient g and observed information H in total, where the objective is :math:`s` above the height, the
parabola there has its end at the step

.. math:: H^{-1} (g + \nu j), \qquad \nu^2 = (2 s + g^\top H^{-1} g) \,/\, j^\top H^{-1} j,

which is that of the standard error at the optimum, and is repeated until the end is found.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.special import ndtri

from skmoe.inference.covariance import at_zero, callers_slopes, packed
from skmoe.likelihood import Problem, information
from skmoe.model.parameters import MoEParameters
from skmoe.search import Optimum
from skmoe.search.solvers import cholesky, saddle_step

__all__ = ["profile_intervals"]

Z95 = float(ndtri(0.975))
ENOUGH_ROWS = 1000  # per parameter, from which on intervals by standard errors hold
MOST_WORK = 2e8  # rows times the third power of the parameters: about two seconds
MOST_STEPS = 60
LONGEST = 1.0  # step, in standard errors at the optimum
EXACT = 0.01  # standard errors to which an end is found, and the part of the height


def profile_intervals(optimum: Optimum | None, p: MoEParameters) -> np.ndarray | None:
    """Return 95% intervals of (A, b, W, c, sigma) in the caller's units, intercepts at inputs of zero, (q, 2).

    None where intervals by standard errors serve: for one expert, outputs of many values and many rows; without a
    penalty, since an interval may then have no end; where it takes too long, and where there is no strict maximum.
    A bound that is not found in `MOST_STEPS` steps is that of the standard error.

    Parameters
    ----------
    optimum : Optimum or None
    p : MoEParameters
        The same in the caller's units.
    """
    if optimum is None or not optimum.fit.identified or not _serves(optimum.problem):
        return None
    J = at_zero(callers_slopes(optimum), p)
    ends = [(-_furthest(optimum, -j), _furthest(optimum, j)) if np.any(j) else (0.0, 0.0) for j in J]
    return packed(p, p.sigma)[:, None] + np.array(ends)


def _serves(problem: Problem) -> bool:
    few = problem.family.few_values and problem.k > 1 and problem.settings.penalty > 0
    p = problem.n_parameters
    return few and problem.total < ENOUGH_ROWS * p and problem.n * p**3 <= MOST_WORK


def _furthest(optimum: Optimum, j: np.ndarray) -> float:
    """Return by how much the greatest j'theta at the height of the bounds exceeds that of the optimum."""
    problem, theta, best = optimum.problem, optimum.fit.theta, optimum.fit.curvature
    n, metric, start = problem.total, best.information, problem.pack(theta)
    vector, current = start, best
    error = float(np.sqrt(j @ _solved(metric, j) / n))
    for _ in range(MOST_STEPS):
        below = n * (best.objective - current.objective)
        across, up = _solved(current.information, j), _solved(current.information, current.gradient)
        room = 2 * (Z95**2 / 2 - below) / n + current.gradient @ up
        step = up + np.sqrt(max(room, 0.0) / (j @ across)) * across
        length = float(np.sqrt(n * step @ metric @ step)) / LONGEST
        if abs(j @ step) < EXACT * error and abs(below / (Z95**2 / 2) - 1) < EXACT:
            return float(j @ (vector - start))
        vector = vector + step / max(length, 1.0)
        current = information(problem, problem.unpack(vector, theta))
    return Z95 * error


def _solved(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve a system; where H is not positive definite, with absolute values of its curvatures."""
    factor = cholesky(H)
    return saddle_step(H, right) if factor is None else linalg.cho_solve(factor, right)
