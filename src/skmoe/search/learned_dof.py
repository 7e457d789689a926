"""Degrees of freedom of Student t experts, learned beside everything else: the profile likelihood over them.

The search knows one number of degrees of freedom. From its optimum the likelihood is maximised over all parameters for
other numbers, until the best is found; the search is repeated there, with that optimum among its starts.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import optimize

from skmoe.likelihood import Curvature, Problem, Theta, gradient
from skmoe.model.families.student import StudentFamily
from skmoe.search.finish import Fit, maximise
from skmoe.search.fitting import Fitted, fit_search
from skmoe.search.records import Start, StartKind
from skmoe.search.task import Task

__all__ = ["fit_with_dof"]

RANGE = (1.0, 100.0)  # of the degrees of freedom; above, the law is Gaussian for all that rows tell
GRID = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 100.0)  # compared first: the profile may have a maximum at either end
EXACT = 1e-3  # relative, to which they are found
STEP = 1e-3  # of differences over their log


def fit_with_dof(task: Task, k: int, rng: np.random.Generator, warm: list[Start]) -> tuple[Task, Fitted]:
    """A search whose family's degrees of freedom are learned; the task with them, and the fit."""
    first = fit_search(task, k, rng, warm=warm)
    if first.interrupted or first.optimum is None:
        return task, first
    theta = first.optimum.fit.theta
    task, theta = _best_dof(task, k, theta)
    again = fit_search(task, k, rng, warm=[*warm, Start("first search", StartKind.CHOSEN, theta)])
    if again.interrupted or again.optimum is None:
        return task, again
    task, theta = _best_dof(task, k, again.optimum.fit.theta)
    whole = task.problem(k)
    fit = maximise(whole, theta, task.control, task.config, near=True)
    curvature = _with_unknown_dof(whole, fit)
    fitted = again.at(task, whole, replace(fit, curvature=curvature))
    return task, replace(fitted, n_parameters=fitted.n_parameters + 1)


def _with_dof(problem: Problem, log_dof: float) -> Problem:
    return replace(problem, family=StudentFamily(float(np.exp(log_dof)), learned=True))


def _best_dof(task: Task, k: int, theta: Theta) -> tuple[Task, Theta]:
    """The task with the best degrees of freedom near a point, and the optimum there."""
    problem = task.problem(k, task.searched)
    found: dict[float, Fit] = {}

    def loss(log_dof: float) -> float:
        nearest = min(found, key=lambda other: abs(other - log_dof), default=None)
        start = theta if nearest is None else found[nearest].theta
        found[log_dof] = maximise(_with_dof(problem, log_dof), start, task.control, task.config, near=True)
        return -found[log_dof].objective

    def rank(log_dof: float) -> tuple[bool, float]:
        return found[log_dof].admissible, found[log_dof].objective

    assert isinstance(task.spec.family, StudentFamily)
    grid, here = np.log(GRID), float(np.log(task.spec.family.dof))
    # outward from where the optimum was found, so that each fit starts from its neighbour's
    for log_dof in sorted(grid.tolist(), key=lambda other: abs(other - here)):
        loss(log_dof)
    place = grid.tolist().index(max(grid.tolist(), key=rank))
    bounds = float(grid[max(place - 1, 0)]), float(grid[min(place + 1, len(grid) - 1)])
    optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": EXACT})
    best = max(found, key=rank)
    family = _with_dof(problem, best).family
    return replace(task, spec=replace(task.spec, family=family)), found[best].theta


def _with_unknown_dof(problem: Problem, fit: Fit) -> Curvature:
    """The information that is left of the parameters when the degrees of freedom are unknown too.

    With c and d the mixed and own second derivatives over the log of the degrees of freedom, by differences, it is
    H - c c' / d. Where the likelihood is flat in them they cost nothing.
    """
    assert isinstance(problem.family, StudentFamily)
    log_dof, here = float(np.log(problem.family.dof)), fit.curvature
    low, high = (gradient(_with_dof(problem, log_dof + sign * STEP), fit.theta) for sign in (-1, 1))
    c = -(high.gradient - low.gradient) / (2 * STEP)
    d = -(high.objective - 2 * here.objective + low.objective) / STEP**2
    own = d - float(c[fit.free] @ np.linalg.solve(here.information[np.ix_(fit.free, fit.free)], c[fit.free]))
    if not own > 0:
        return here
    return replace(here, information=here.information - np.outer(c, c) / d)
