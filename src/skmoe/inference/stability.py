"""Stability of regimes: the share of other models of the same rows in which each expert has a match."""

from __future__ import annotations

import numpy as np

from skmoe.search.learn import Learned
from skmoe.search.stability import memberships, stability

__all__ = ["regime_stability"]


def regime_stability(learned: Learned) -> np.ndarray:
    """Return the share of other models in which each expert of a fitted model has a match, (k,).

    Other models are those averaged or, without any, the best fit of each fold; NaN where there are neither.
    """
    parameters, choice = learned.fitted.parameters, learned.choice
    unknown = np.full(len(parameters.A), np.nan)
    if choice is None or choice.folds is None or learned.task is None:
        return unknown
    rows, weight, to_theta = choice.folds.rows, choice.folds.weight, learned.task.map.from_parameters
    if learned.ensemble is not None:
        others = [to_theta(member) for member in learned.ensemble.parameters]
    elif choice.fits is not None and len(parameters.A) > 1:  # one expert matches that of any other model of one
        others = choice.fits.best
    else:
        return unknown
    family = parameters.family.base
    others_memberships = [memberships(rows, family.any_experts, theta) for theta in others]
    return stability(memberships(rows, family, to_theta(parameters)), others_memberships, weight)
