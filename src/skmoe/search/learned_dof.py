"""Degrees of freedom of Student t experts, learned beside everything else: the profile likelihood over them.

The search knows one number of degrees of freedom. From its optimum the likelihood is maximised over all parameters for
other numbers, until the best is found; the search is repeated there, with that optimum among its starts. Degrees of
freedom of each expert are learned last, from the optimum with one number for all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import optimize

from skmoe.likelihood import Curvature, Gradient, Problem, Theta, gradient
from skmoe.model.families.student import MOST_LEARNED, StudentFamily
from skmoe.search.finish import Fit, maximise
from skmoe.search.fitting import Fitted, fit_search
from skmoe.search.records import Start, StartKind
from skmoe.search.task import Task

__all__ = ["fit_with_dof"]

GRID = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, MOST_LEARNED)  # compared first: the profile may have a maximum at either end
HEAVY = 1.0  # degrees of freedom of a search that gross errors do not lead astray
EXACT = 1e-3  # relative, to which they are found
STEP = 1e-3  # of differences over their log


def fit_with_dof(task: Task, k: int, rng: np.random.Generator, warm: list[Start]) -> tuple[Task, Fitted]:
    """A search whose family's degrees of freedom are learned; the task with the number for all, and the fit."""
    first = fit_search(task, k, rng, warm=warm)
    if first.optimum is not None and not first.optimum.fit.admissible and not first.interrupted:
        # an expert of gross errors alone: with heavier tails they draw no start after them
        first = fit_search(_at_dof(task, HEAVY), k, rng, warm=warm)
    if first.interrupted or first.optimum is None:
        return task, first
    task, theta = _best_dof(task, k, first.optimum.fit.theta)
    again = fit_search(task, k, rng, warm=[*warm, Start("first search", StartKind.CHOSEN, theta)])
    if again.interrupted or again.optimum is None:
        return task, again
    task, theta = _best_dof(task, k, again.optimum.fit.theta)
    whole, to_tell = task.problem(k), task
    assert isinstance(whole.family, StudentFamily)
    if whole.family.per_expert:
        whole, theta = _best_dof_each(task, whole, theta)
        to_tell = replace(task, spec=replace(task.spec, family=whole.family))
    fit = maximise(whole, theta, task.control, task.config, near=True)
    curvature = _with_unknown_dof(whole, fit)
    fitted = again.at(to_tell, whole, replace(fit, curvature=curvature))
    return task, replace(fitted, n_parameters=fitted.n_parameters + len(_log_dof(whole)))


def _log_dof(problem: Problem) -> np.ndarray:
    """Logs of the degrees of freedom: one number, or one for each expert."""
    return np.log(np.atleast_1d(problem.family.noise_dof))


def _bounds(family: StudentFamily) -> tuple[float, float]:
    """Logs of the fewest and the most degrees of freedom that are learned."""
    return float(np.log(family.least_dof)), float(np.log(MOST_LEARNED))


def _with_dof(problem: Problem, log_dof: np.ndarray | float) -> Problem:
    """The problem with other degrees of freedom: one number for all, or one for each expert."""
    dof = np.exp(np.atleast_1d(log_dof))
    assert isinstance(problem.family, StudentFamily)
    if problem.family.expert_dof:
        return replace(problem, family=replace(problem.family, expert_dof=tuple(dof)))
    return replace(problem, family=replace(problem.family, dof=float(dof[0])))


def _at_dof(task: Task, dof: float) -> Task:
    """The task with one number of degrees of freedom for all experts."""
    assert isinstance(task.spec.family, StudentFamily)
    return replace(task, spec=replace(task.spec, family=replace(task.spec.family, dof=dof)))


def _best_dof(task: Task, k: int, theta: Theta) -> tuple[Task, Theta]:
    """The task with the best degrees of freedom for all experts near a point, and the optimum there."""
    problem = task.problem(k, task.searched)
    found: dict[float, Fit] = {}

    def loss(log_dof: float) -> float:
        nearest = min(found, key=lambda other: abs(other - log_dof), default=None)
        start = theta if nearest is None else found[nearest].theta
        found[log_dof] = maximise(_with_dof(problem, log_dof), start, task.control, task.config, near=True)
        return -found[log_dof].objective

    def rank(log_dof: float) -> tuple[bool, float]:
        return found[log_dof].admissible, found[log_dof].objective

    family = task.spec.family
    assert isinstance(family, StudentFamily)
    least, here = family.least_dof, float(np.log(family.dof))
    grid = np.log([least, *(dof for dof in GRID if dof > least)])
    # outward from where the optimum was found, so that each fit starts from its neighbour's
    for log_dof in sorted(grid.tolist(), key=lambda other: abs(other - here)):
        loss(log_dof)
    place = grid.tolist().index(max(grid.tolist(), key=rank))
    bounds = float(grid[max(place - 1, 0)]), float(grid[min(place + 1, len(grid) - 1)])
    optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": EXACT})
    best = max(found, key=rank)
    return _at_dof(task, float(np.exp(best))), found[best].theta


def _best_dof_each(task: Task, problem: Problem, theta: Theta) -> tuple[Problem, Theta]:
    """The problem with the best degrees of freedom for each expert near a point, and the optimum there.

    The slope of the profile likelihood is that of the likelihood with other parameters held, by differences.
    """
    assert isinstance(problem.family, StudentFamily)
    family = problem.family
    begin = replace(problem, family=replace(family, expert_dof=(family.dof,) * problem.k))
    best: list[tuple[bool, float, Problem, Theta]] = []

    def loss(log_dof: np.ndarray) -> tuple[float, np.ndarray]:
        here = _with_dof(begin, log_dof)
        fit = maximise(here, best[0][3] if best else theta, task.control, task.config, near=True)
        if not best or (fit.admissible, fit.objective) > best[0][:2]:
            best[:] = [(fit.admissible, fit.objective, here, fit.theta)]
        slope = [(high - low) / (2 * STEP) for low, high in (_beside(here, fit.theta, i) for i in range(problem.k))]
        return -fit.objective, -np.array(slope)

    bounds = [_bounds(family)] * problem.k
    optimize.minimize(
        loss, _log_dof(begin), jac=True, method="L-BFGS-B", bounds=bounds, options={"gtol": EXACT / problem.n}
    )
    return best[0][2:]


def _beside(problem: Problem, theta: Theta, i: int) -> tuple[float, float]:
    """Objectives with the i-th degrees of freedom a step lower and a step higher."""
    step = STEP * np.eye(len(_log_dof(problem)))[i]
    low, high = (gradient(_with_dof(problem, _log_dof(problem) + s * step), theta).objective for s in (-1, 1))
    return low, high


def _with_unknown_dof(problem: Problem, fit: Fit) -> Curvature:
    """The information that is left of the parameters when the degrees of freedom are unknown too.

    With C and D the mixed and own second derivatives over the logs of the degrees of freedom, by differences, it is
    H - C inv(D) C'. Those at a bound cost nothing: at the upper one the law is Gaussian for all that rows tell, and the
    lower one is given.
    """
    here, log_dof = fit.curvature, _log_dof(problem)
    m = len(log_dof)
    assert isinstance(problem.family, StudentFamily)
    lower, upper = _bounds(problem.family)
    inside = [i for i in range(m) if lower + EXACT < log_dof[i] < upper - EXACT]
    if not inside:
        return here

    def at(*moves: tuple[int, int]) -> Gradient:
        shift = np.zeros(m)
        for i, sign in moves:
            shift[i] += sign * STEP
        return gradient(_with_dof(problem, log_dof + shift), fit.theta)

    C, D = np.zeros((len(here.gradient), len(inside))), np.zeros((len(inside), len(inside)))
    for a, i in enumerate(inside):
        low, high = at((i, -1)), at((i, 1))
        C[:, a] = -(high.gradient - low.gradient) / (2 * STEP)
        D[a, a] = -(high.objective - 2 * here.objective + low.objective) / STEP**2
        for b, j in enumerate(inside[:a]):
            mixed = sum(s * t * at((i, s), (j, t)).objective for s in (-1, 1) for t in (-1, 1))
            D[a, b] = D[b, a] = -mixed / (4 * STEP**2)
    free = np.ix_(fit.free, fit.free)
    own = D - C[fit.free].T @ np.linalg.solve(here.information[free], C[fit.free])
    if not np.min(np.linalg.eigvalsh(own)) > 0:
        return here
    return replace(here, information=here.information - C @ np.linalg.solve(D, C.T))
