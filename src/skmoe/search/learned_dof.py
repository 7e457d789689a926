"""Degrees of freedom of Student t experts, learned beside everything else: the profile likelihood over them.

The search uses one number of degrees of freedom. From its optimum the likelihood is maximised over all parameters for
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
from skmoe.search.fitting import Fitted, fit_search, fitted_at
from skmoe.search.records import Start, StartKind
from skmoe.search.task import Task

__all__ = ["fit_with_dof", "slopes_over_dof", "with_expert_dof"]

GRID = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, MOST_LEARNED)  # compared first: the profile may have a maximum at either end
HEAVY = 1.0  # degrees of freedom of a search that is robust to gross errors
EXACT = 1e-3  # relative, to which they are found
STEP = 1e-3  # of differences over their log


def fit_with_dof(task: Task, k: int, rng: np.random.Generator, warm: list[Start]) -> tuple[Task, Fitted]:
    """Search and learn the degrees of freedom; return the task with the number for all experts, and the fit."""
    first = fit_search(task, k, rng, warm=warm)
    if first.optimum is not None and not first.optimum.fit.admissible and not first.search.interrupted:
        # an expert of gross errors alone: with heavier tails they do not determine starts
        first = fit_search(_at_dof(task, HEAVY), k, rng, warm=warm)
    if first.search.interrupted or first.optimum is None:
        return task, first
    task, theta = _best_dof(task, k, first.optimum.fit.theta)
    again = fit_search(task, k, rng, warm=[*warm, Start("first search", StartKind.CHOSEN, theta)])
    if again.search.interrupted or again.optimum is None:
        return task, again
    task, theta = _best_dof(task, k, again.optimum.fit.theta)
    whole, reported = task.problem(k), task
    assert isinstance(whole.family, StudentFamily)
    if whole.family.per_expert:
        whole, theta = _best_dof_each(task, whole, theta)
        reported = replace(task, spec=replace(task.spec, family=whole.family))
    fit = maximise(whole, theta, task.control, task.config, near=True)
    curvature = _with_unknown_dof(whole, fit)
    fitted = fitted_at(reported, whole, replace(fit, curvature=curvature), again.search)
    run = replace(fitted.run, n_parameters=fitted.run.n_parameters + len(_log_dof(whole)))
    return task, replace(fitted, run=run)


def _log_dof(problem: Problem) -> np.ndarray:
    """Return logs of the degrees of freedom: one number, or one for each expert."""
    return np.log(np.atleast_1d(problem.family.noise_dof))


def _bounds(family: StudentFamily) -> tuple[float, float]:
    """Return logs of the fewest and the most degrees of freedom that are learned."""
    return float(np.log(family.least_dof)), float(np.log(MOST_LEARNED))


def _with_dof(problem: Problem, log_dof: np.ndarray | float) -> Problem:
    """Return the problem with other degrees of freedom: one number for all, or one for each expert."""
    dof = np.exp(np.atleast_1d(log_dof))
    assert isinstance(problem.family, StudentFamily)
    if problem.family.expert_dof:
        return with_expert_dof(problem, tuple(dof.tolist()))
    return replace(problem, family=replace(problem.family, dof=float(dof[0])))


def _at_dof(task: Task, dof: float) -> Task:
    """Return the task with one number of degrees of freedom for all experts."""
    assert isinstance(task.spec.family, StudentFamily)
    return replace(task, spec=replace(task.spec, family=replace(task.spec.family, dof=dof)))


def _best_dof(task: Task, k: int, theta: Theta) -> tuple[Task, Theta]:
    """Return the task with the best degrees of freedom for all experts near a point, and the optimum with these."""
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
    least, current = family.least_dof, float(np.log(family.dof))
    grid = np.log([least, *(dof for dof in GRID if dof > least)])
    # outward from where the optimum was found, so that each fit starts from its neighbour's
    for log_dof in sorted(grid.tolist(), key=lambda other: abs(other - current)):
        loss(log_dof)
    place = grid.tolist().index(max(grid.tolist(), key=rank))
    bounds = float(grid[max(place - 1, 0)]), float(grid[min(place + 1, len(grid) - 1)])
    optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": EXACT})
    best = max(found, key=rank)
    return _at_dof(task, float(np.exp(best))), found[best].theta


def _best_dof_each(task: Task, problem: Problem, theta: Theta) -> tuple[Problem, Theta]:
    """Return the problem with the best degrees of freedom for each expert near a point, and the optimum with these.

    The slope of the profile likelihood is that of the likelihood with other parameters held, by differences.
    """
    assert isinstance(problem.family, StudentFamily)
    begin, family = _one_each(problem), problem.family
    best: list[tuple[bool, float, Problem, Theta]] = []

    def loss(log_dof: np.ndarray) -> tuple[float, np.ndarray]:
        trial = _with_dof(begin, log_dof)
        fit = maximise(trial, best[0][3] if best else theta, task.control, task.config, near=True)
        if not best or (fit.admissible, fit.objective) > best[0][:2]:
            best[:] = [(fit.admissible, fit.objective, trial, fit.theta)]
        return -fit.objective, -_slopes(trial, fit.theta)

    bounds = [_bounds(family)] * problem.k
    optimize.minimize(
        loss, _log_dof(begin), jac=True, method="L-BFGS-B", bounds=bounds, options={"gtol": EXACT / problem.n}
    )
    return best[0][2:]


def _slopes(problem: Problem, theta: Theta) -> np.ndarray:
    """Return slopes of the objective over the log of each expert's degrees of freedom, by differences, (k,)."""
    steps = STEP * np.eye(problem.k)
    objectives = [
        [gradient(_with_dof(problem, _log_dof(problem) + s * step), theta).objective for s in (-1, 1)] for step in steps
    ]
    return np.array([(high - low) / (2 * STEP) for low, high in objectives])


def slopes_over_dof(problem: Problem, theta: Theta) -> np.ndarray:
    """Return slopes of the objective over the log of each expert's degrees of freedom, from one number for all."""
    return _slopes(_one_each(problem), theta)


def with_expert_dof(problem: Problem, dof: tuple[float, ...]) -> Problem:
    """Return the problem with degrees of freedom for each expert."""
    assert isinstance(problem.family, StudentFamily)
    return replace(problem, family=replace(problem.family, expert_dof=dof))


def _one_each(problem: Problem) -> Problem:
    """Return the problem with the number for all experts given for each of them."""
    assert isinstance(problem.family, StudentFamily)
    return with_expert_dof(problem, (problem.family.dof,) * problem.k)


def _with_unknown_dof(problem: Problem, fit: Fit) -> Curvature:
    """Return the information on the parameters when the degrees of freedom are estimated too.

    With C and D the mixed and own second derivatives over the logs of the degrees of freedom, by differences, it is
    H - C inv(D) C'. Those at a bound count as known: at the upper one the distribution is practically Gaussian, and the
    lower one is given.
    """
    curvature, log_dof = fit.curvature, _log_dof(problem)
    m = len(log_dof)
    assert isinstance(problem.family, StudentFamily)
    lower, upper = _bounds(problem.family)
    inside = [i for i in range(m) if lower + EXACT < log_dof[i] < upper - EXACT]
    if not inside:
        return curvature

    def at(*moves: tuple[int, int]) -> Gradient:
        shift = np.zeros(m)
        for i, sign in moves:
            shift[i] += sign * STEP
        return gradient(_with_dof(problem, log_dof + shift), fit.theta)

    C, D = np.zeros((len(curvature.gradient), len(inside))), np.zeros((len(inside), len(inside)))
    for a, i in enumerate(inside):
        low, high = at((i, -1)), at((i, 1))
        C[:, a] = -(high.gradient - low.gradient) / (2 * STEP)
        D[a, a] = -(high.objective - 2 * curvature.objective + low.objective) / STEP**2
        for b, j in enumerate(inside[:a]):
            mixed = sum(s * t * at((i, s), (j, t)).objective for s in (-1, 1) for t in (-1, 1))
            D[a, b] = D[b, a] = -mixed / (4 * STEP**2)
    free = np.ix_(fit.free, fit.free)
    left = D - C[fit.free].T @ np.linalg.solve(curvature.information[free], C[fit.free])
    if not np.min(np.linalg.eigvalsh(left)) > 0:
        return curvature
    return replace(curvature, information=curvature.information - C @ np.linalg.solve(D, C.T))
