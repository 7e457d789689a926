"""What all layers may read of a fitted mixture of experts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from types import MappingProxyType
from typing import Any

import numpy as np

from skmoe.model.calibration import Calibration
from skmoe.model.parameters import MoEParameters
from skmoe.model.predictive import PredictiveDistribution
from skmoe.model.record import FitRecord
from skmoe.tables.chosen import FittedColumns

__all__ = ["FittedMixture"]


class FittedMixture(FittedColumns):
    """A fitted mixture of experts: its settings and attributes, as `skmoe.MoERegressor` documents them.

    Only classifiers have ``classes_``; only regressors have ``noise_scale_`` and the setting ``noise``.
    """

    get_params: Callable[[], dict[str, Any]]
    _validate_params: Callable[[], None]

    n_experts: int | str
    fit_intercept: bool
    method: str
    penalty: float | str
    max_experts: int
    n_init: int
    noise: str | float
    calibration: str | None

    parameters_: MoEParameters
    members_: tuple[MoEParameters, ...]
    member_weights_: np.ndarray
    calibration_: Calibration | None
    shares_: np.ndarray
    stability_: np.ndarray
    noise_scale_: np.ndarray
    dof_: np.ndarray
    covariance_: np.ndarray | None
    covariance_robust_: np.ndarray | None
    covariance_at_origin_: np.ndarray | None
    profile_intervals_: np.ndarray | None
    record_: FitRecord

    family_ = property(attrgetter("parameters_.family"))
    expert_coef_ = property(attrgetter("parameters_.expert_coef"))
    expert_intercept_ = property(attrgetter("parameters_.expert_intercept"))
    gate_coef_ = property(attrgetter("parameters_.gate_coef"))
    gate_intercept_ = property(attrgetter("parameters_.gate_intercept"))
    n_parameters_ = property(attrgetter("record_.run.n_parameters"))
    log_likelihood_ = property(attrgetter("record_.run.log_likelihood"))
    converged_ = property(attrgetter("record_.run.converged"))
    identified_ = property(attrgetter("record_.run.identified"))
    penalty_ = property(attrgetter("record_.penalty"))
    gate_uncertain_ = property(attrgetter("record_.gate_uncertain"))

    @property
    def n_experts_(self) -> int:
        """Number of experts."""
        return len(self.parameters_.A)

    @property
    def n_iter_(self) -> int:
        """Iterations of the last run."""
        return max(len(self.record_.run.objective) - 1, 1)

    @property
    def history_(self) -> Mapping[str, Any]:
        """The record of the fit as plain values, to be read only."""
        return MappingProxyType(self.record_.history())

    def _distribution(self) -> PredictiveDistribution:
        """Return the distribution of the output given the inputs that all predictions come from."""
        raise NotImplementedError

    def _class_proba(self, X: Any) -> Any:
        """Return the probability of each class given the inputs."""
        raise NotImplementedError
