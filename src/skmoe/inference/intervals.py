"""95% intervals of a fitted model's coefficients, by the profile likelihood where it was computed, else by errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from skmoe.inference.covariance import packed, split, split_errors
from skmoe.model.fitted import FittedMixture

__all__ = ["Interval", "estimates_of", "gate_dof", "intervals_of"]


class Interval(NamedTuple):
    """Lower and upper bounds of intervals, in the shapes of the coefficients; NaN where there are none.

    They are infinite where no degrees of freedom are left.
    """

    low: np.ndarray
    high: np.ndarray


def gate_dof(model: FittedMixture) -> float:
    """Return the degrees of freedom of the gate's coefficients."""
    return float(max(model.record_.rows - model.n_parameters_, 2))


def intervals_of(model: FittedMixture, *, robust: bool = False) -> dict[str, Interval]:
    """Return 95% intervals by name, as `split_errors` names them.

    Parameters
    ----------
    model : estimator
        A fitted one.
    robust : bool
        By the standard errors of the sandwich formula, whatever else there is.
    """
    p = model.parameters_
    if not robust and model.profile_intervals_ is not None:
        low, high = (split(ends, p) for ends in model.profile_intervals_.T)
        return {name: Interval(low[name], high[name]) for name in low}
    errors = split_errors(model.covariance_robust_ if robust else model.covariance_, p)
    dof = model.dof_
    experts = stdtrit(dof, 0.975)
    half = {name: stdtrit(gate_dof(model), 0.975) * error for name, error in errors.items() if name.startswith("gate")}
    for name in errors.keys() - half.keys():
        half[name] = np.where(dof == 0, np.inf, experts * errors[name].T).T
    return {name: Interval(value - half[name], value + half[name]) for name, value in estimates_of(model).items()}


def estimates_of(model: FittedMixture) -> dict[str, np.ndarray]:
    """Return a fitted model's coefficients, intercepts and noise scales by name, as `split_errors` names them."""
    p = model.parameters_
    return split(packed(p, getattr(model, "noise_scale_", p.sigma)), p)
