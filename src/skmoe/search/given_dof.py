"""Degrees of freedom that are given for the Student t experts: the fit finds which expert has which.

Experts have no order before a fit, so that a list of degrees of freedom says how many experts have each of them. The
search uses one number, the geometric mean of those given. From its optimum the given ones are assigned to experts:
first by the slope of the likelihood over each expert's own number, then by exchanging those of two experts as long as
that raises the likelihood.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from skmoe.likelihood import Problem, Theta
from skmoe.model.families.student import StudentFamily
from skmoe.model.family import Family
from skmoe.search.finish import Fit, maximise
from skmoe.search.fitting import Fitted, fit_search, fitted_at
from skmoe.search.learned_dof import slopes_over_dof, with_expert_dof
from skmoe.search.records import Start
from skmoe.search.task import Task

__all__ = ["check_given_dof", "fit_with_given_dof", "given_dof", "searched_family"]

CLEAR = 1e-6  # gain in total log-likelihood for which degrees of freedom are exchanged


def given_dof(family: Family) -> tuple[float, ...]:
    """Return the degrees of freedom that are given for each expert, in no order; empty for any other family."""
    return family.expert_dof if isinstance(family, StudentFamily) else ()


def searched_family(family: Family) -> Family:
    """Return the family of the search, with one number of degrees of freedom for all experts."""
    if not isinstance(family, StudentFamily) or not family.expert_dof:
        return family
    return replace(family.any_experts, dof=float(np.exp(np.mean(np.log(family.expert_dof)))))


def check_given_dof(family: Family, n_experts: Any, method: str) -> None:
    """Refuse degrees of freedom for each expert that do not go with the rest of a fit's settings."""
    if not (given := given_dof(family)):
        return
    if isinstance(family, StudentFamily) and family.learned:
        raise ValueError("expert_dof gives degrees of freedom, which learned=True asks to learn: leave out one of them")
    if method != "auto":
        raise ValueError(f'expert_dof is for method="auto"; method is {method!r}')
    if n_experts != len(given):
        raise ValueError(
            f"expert_dof has {len(given)} degrees of freedom, one for each expert; n_experts is {n_experts!r}: set "
            f"n_experts={len(given)}"
        )


def fit_with_given_dof(
    task: Task, k: int, rng: np.random.Generator, warm: list[Start], given: tuple[float, ...]
) -> tuple[Task, Fitted]:
    """Search, then assign the given degrees of freedom to experts; return the searched task, and the fit."""
    if k != len(given):
        raise ValueError(
            f"expert_dof has {len(given)} degrees of freedom, but there are rows for {k} experts only: give fewer"
        )
    found = fit_search(task, k, rng, warm=warm)
    if found.search.interrupted or found.optimum is None:
        return task, found
    theta, order = _assigned(task, task.problem(k, task.searched), found.optimum.fit.theta, given)
    whole = with_expert_dof(task.problem(k), order)
    fit = maximise(whole, theta, task.control, task.config, near=True)
    return task, fitted_at(replace(task, spec=replace(task.spec, family=whole.family)), whole, fit, found.search)


def _assigned(task: Task, problem: Problem, theta: Theta, given: tuple[float, ...]) -> tuple[Theta, tuple[float, ...]]:
    """Return the optimum near a point with the best assignment of degrees of freedom, and that assignment."""

    def fitted(dof: tuple[float, ...], start: Theta) -> Fit:
        return maximise(with_expert_dof(problem, dof), start, task.control, task.config, near=True)

    wanted = np.argsort(np.argsort(slopes_over_dof(problem, theta)))  # the steeper the rise, the more of them
    dof = tuple(np.sort(given)[wanted].tolist())
    best, better = fitted(dof, theta), True
    while better:
        better = False
        for i, j in combinations(range(len(dof)), 2):
            if dof[i] == dof[j]:
                continue
            swapped = list(dof)
            swapped[i], swapped[j] = dof[j], dof[i]
            other = fitted(tuple(swapped), best.theta)
            if (other.objective - best.objective) * problem.total > CLEAR and other.admissible >= best.admissible:
                best, dof, better = other, tuple(swapped), True
    return best.theta, dof
