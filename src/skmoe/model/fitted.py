"""What all layers may read of a fitted mixture of experts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

    Only classifiers have ``classes_``; only regressors have ``noise_scale_``, ``dof_`` and the settings ``noise`` and
    ``calibration``.
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
    n_experts_: int
    n_parameters_: int
    log_likelihood_: float
    converged_: bool
    identified_: bool
    gate_uncertain_: bool
    penalty_: float
    shares_: np.ndarray
    stability_: np.ndarray
    gate_coef_: np.ndarray
    noise_scale_: np.ndarray
    dof_: np.ndarray
    covariance_: np.ndarray | None
    covariance_robust_: np.ndarray | None
    covariance_at_origin_: np.ndarray | None
    profile_intervals_: np.ndarray | None
    record_: FitRecord

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
