"""Counts over exposures predicted for rows that a model was not fitted to, beside least squares and boosting."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from skmoe.inference import feature_names
from skmoe.model.families import NegativeBinomialExposureFamily, PoissonExposureFamily
from skmoe.report.held_out import OF_NUMBERS, Methods
from skmoe.report.judged import Fit, Judge, Judged
from skmoe.tables import EncodedTable

__all__ = ["OF_COUNTS_OVER_EXPOSURE", "can_be_judged", "has_exposure"]


def has_exposure(model: Any) -> bool:
    """Whether outputs of a model are counts and exposures."""
    return isinstance(model.parameters_.family, PoissonExposureFamily | NegativeBinomialExposureFamily)


def can_be_judged(model: Any) -> bool:
    """Whether predictions can be compared with outputs: those of one column, and counts over exposures."""
    return model.parameters_.family.columns == 1 or has_exposure(model)


def _of_mixture(model: Any, X: np.ndarray, y: np.ndarray) -> Judged:
    """Counts over the exposures in the second column of y; levels are at a random place within each count."""
    counts, law = y[:, 0], model.predictive(_named(model, X), exposure=y[:, 1])
    above = law.cdf(counts)
    below = law.cdf(counts - 1)
    pit = below + np.random.default_rng(0).random(len(counts)) * (above - below)
    return Judged("mixture of experts", counts, law.mean(), pit, law.interval(0.9), law.logpdf(counts))


def _named(model: Any, X: np.ndarray) -> EncodedTable:
    """Inputs as the model takes them, with the names that it knows."""
    return EncodedTable(X, feature_names(model), model.encoder_)


def _of_rates(fit: Fit, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Judge:
    """A rival fitted to rates, weighted by exposure, and judged by counts; it has no law of counts."""
    judge = fit(X, y[:, 0] / y[:, 1], y[:, 1] if weight is None else weight * y[:, 1])

    def judge_counts(X: np.ndarray, y: np.ndarray) -> Judged:
        rates = judge(X, y[:, 0] / y[:, 1])
        unknown = np.full((len(y), 2), np.nan)
        found = replace(rates, y=y[:, 0], predicted=rates.predicted * y[:, 1])
        return replace(found, pit=unknown[:, 0], bounds=unknown, log_densities=unknown[:, 0])

    return judge_counts


OF_COUNTS_OVER_EXPOSURE = Methods(
    _of_mixture, tuple(partial(_of_rates, fit) for fit in OF_NUMBERS.rivals), OF_NUMBERS.folds
)
