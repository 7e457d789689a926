"""Predictive distributions of counts over an exposure."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from skmoe.arrays.blocks import in_memory
from skmoe.arrays.checks import check_column
from skmoe.arrays.namespaces import array_namespace, device, to_numpy
from skmoe.estimators.base import MixtureOfExperts
from skmoe.estimators.predictive import Predictive
from skmoe.model.families import NegativeBinomialExposureFamily, PoissonExposureFamily
from skmoe.model.predictive import PredictiveDistribution
from skmoe.tables.inputs import rows_to_use

__all__ = ["predictive_over"]


def predictive_over(model: MixtureOfExperts, distribution: PredictiveDistribution, X: Any, exposure: Any) -> Predictive:
    """Predict counts over exposures: by the model with the log of the exposure as one input more.

    Parameters
    ----------
    model : MoERegressor
        A model fitted to counts and exposures.
    distribution : PredictiveDistribution
        Its predictive distribution for an exposure of one.
    X : (n, d) inputs
    exposure : (n,) array or float

    Returns
    -------
    Predictive
    """
    if not isinstance(model.parameters_.family, PoissonExposureFamily | NegativeBinomialExposureFamily):
        raise ValueError(
            "exposure is for counts that were fitted with exposures, a second column of y; this model has "
            f"family={model.parameters_.family.name!r} without"
        )
    (rows,) = in_memory(rows_to_use(model, X)[0])
    xp = array_namespace(rows)
    if np.ndim(exposure) == 0:
        exposure = np.full(rows.shape[0], float(exposure))
    times = np.asarray(to_numpy(check_column(rows, exposure, "exposure")), dtype=np.float64)
    if not np.all((times > 0) & (times < np.inf)):
        raise ValueError("exposure must hold positive numbers; drop rows without an exposure, or mend it")
    logs = xp.asarray(np.log(times), dtype=rows.dtype, device=device(rows))
    with_log = copy(model)  # it checks rows of one input more, which have no names
    with_log.n_features_in_, with_log.encoder_ = rows.shape[1] + 1, None
    with_log.encoded_feature_names_ = np.append(model.encoded_feature_names_, "log exposure")
    if hasattr(model, "feature_names_in_"):
        del with_log.feature_names_in_
    with_offset = replace(distribution, members=tuple(member.with_offset for member in distribution.members))
    return Predictive(with_log, with_offset, xp.concat([rows, logs[:, None]], axis=1))
