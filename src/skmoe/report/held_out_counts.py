"""Compare predicted counts over exposures with those of least squares and boosting, on rows held out."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import feature_names
from skmoe.model.families import NegativeBinomialExposureFamily, PoissonExposureFamily
from skmoe.report.evaluated import Evaluate, EvaluatedNumbers, Fit
from skmoe.report.held_out import OF_NUMBERS, Methods
from skmoe.tables import EncodedTable

__all__ = ["OF_COUNTS_OVER_EXPOSURE", "can_be_evaluated", "has_exposure"]


def has_exposure(model: MixtureOfExperts) -> bool:
    """Return whether outputs of a model are counts and exposures."""
    return isinstance(model.parameters_.family, PoissonExposureFamily | NegativeBinomialExposureFamily)


def can_be_evaluated(model: MixtureOfExperts) -> bool:
    """Return whether predictions can be compared with outputs: those of one column, and counts over exposures."""
    return model.parameters_.family.columns == 1 or has_exposure(model)


def _of_mixture(model: MixtureOfExperts, X: np.ndarray, y: np.ndarray) -> EvaluatedNumbers:
    """Evaluate counts over the exposures in the second column of y; PIT values are random within each count."""
    counts, distribution = y[:, 0], model.predictive(_named(model, X), exposure=y[:, 1])
    above = distribution.cdf(counts)
    below = distribution.cdf(counts - 1)
    pit = below + np.random.default_rng(0).random(len(counts)) * (above - below)
    return EvaluatedNumbers(
        "mixture of experts", counts, distribution.mean(), pit, distribution.interval(0.9), distribution.logpdf(counts)
    )


def _named(model: MixtureOfExperts, X: np.ndarray) -> EncodedTable:
    """Return inputs with the names that the model knows."""
    return EncodedTable(X, feature_names(model), model.encoder_)


def _of_rates(fit: Fit, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
    """Fit a baseline to rates, weighted by exposure, and evaluate it by counts; it has no distribution of counts."""
    evaluate = fit(X, y[:, 0] / y[:, 1], y[:, 1] if weight is None else weight * y[:, 1])

    def evaluate_counts(X: np.ndarray, y: np.ndarray) -> EvaluatedNumbers:
        rates = evaluate(X, y[:, 0] / y[:, 1])
        unknown = np.full((len(y), 2), np.nan)
        found = replace(rates, y=y[:, 0], predicted=rates.predicted * y[:, 1])
        return replace(found, pit=unknown[:, 0], bounds=unknown, log_densities=unknown[:, 0])

    return evaluate_counts


OF_COUNTS_OVER_EXPOSURE = Methods(
    _of_mixture, tuple(partial(_of_rates, fit) for fit in OF_NUMBERS.baselines), OF_NUMBERS.folds
)
