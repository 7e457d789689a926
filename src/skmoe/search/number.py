"""The number of experts: tried from one upwards, each fit also started from a split of the one before."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skmoe.likelihood import Theta
from skmoe.search.fitting import Fitted, fit_search
from skmoe.search.moves import grown_starts
from skmoe.search.records import Start, StartKind
from skmoe.search.task import Task, most_experts

__all__ = ["choose_experts"]


def choose_experts(task: Task, rng: np.random.Generator) -> tuple[Fitted, list[tuple[int, float]]]:
    """The fit whose number of experts has the smallest BIC, and the numbers tried with theirs.

    Numbers are compared by quick searches; the one chosen is then searched for in full.
    """
    config = task.config
    most = _most_to_choose_from(task)
    tried: list[tuple[int, float]] = []
    fits: dict[int, Fitted] = {}

    def best() -> int:
        return min(tried, key=lambda pair: pair[1])[0]

    try:
        for k in range(1, most + 1):
            warm = []
            if k > 1:
                problem = task.problem(k, task.searched)
                warm = grown_starts(problem, [_theta(fits[k - 1])], config, rng, config.splits)
            fits[k] = fit_search(task, k, rng, warm=warm, quick=True, most_experts=most)
            tried.append((k, bic(fits[k], task.moments.total)))
            if fits[k].interrupted:
                raise KeyboardInterrupt
            if k - best() >= config.patience:
                break
        chosen = fits[best()]
        if best() == 1:
            return chosen, tried
        again = Start("chosen", StartKind.CHOSEN, _theta(chosen))
        full = fit_search(task, best(), rng, warm=[again])
        return max(full, chosen, key=lambda fitted: fitted.log_likelihood), tried
    except KeyboardInterrupt:
        if not tried:  # nothing to keep yet
            raise
        return replace(fits[best()], interrupted=True, converged=False), tried


def _most_to_choose_from(task: Task) -> int:
    """The largest number of experts to try: one whose parameters, gate and noise among them, the rows can carry."""
    config, k = task.config, 1
    most = min(config.most_experts, most_experts(task.spec, task.moments, config))
    while k < most and config.rows_per_parameter * task.problem(k + 1).n_parameters <= task.moments.total:
        k += 1
    return k


def bic(fitted: Fitted, n: float) -> float:
    """Bayes' criterion; smaller is better."""
    return fitted.n_parameters * float(np.log(n)) - 2 * n * fitted.log_likelihood


def _theta(fitted: Fitted) -> Theta:
    if fitted.optimum is None:
        raise ValueError("a fit without an optimum of the likelihood cannot be grown")
    return fitted.optimum.fit.theta
