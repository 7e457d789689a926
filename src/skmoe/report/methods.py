"""The mixture and the methods of scikit-learn that it is compared with, for numbers, counts over exposures and classes.

A `Fit` takes rows and gives a function that evaluates the fitted method on others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skmoe.arrays.threads import one_blas_thread, one_openmp_thread
from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import feature_names
from skmoe.inference.class_confidence import outcome_names, outcome_proba
from skmoe.model.families import NegativeBinomialExposureFamily, PoissonExposureFamily
from skmoe.report.evaluated import Evaluate, EvaluatedClasses, EvaluatedNumbers, Fit
from skmoe.tables import EncodedTable

__all__ = [
    "OF_COUNTS",
    "OF_COUNTS_OVER_EXPOSURE",
    "OF_NUMBERS",
    "Methods",
    "TooFewRowsError",
    "can_be_evaluated",
    "has_exposure",
    "methods_for",
    "methods_of",
    "of_classes",
]

ITERATIONS = 1000  # of logistic regression
MIXTURE = "mixture of experts"


class TooFewRowsError(ValueError):
    """Some of the rows are too few for the model."""


@dataclass(frozen=True)
class Methods:
    """Methods to compare: evaluation of the mixture, baselines, the simplest first, and the split of rows into folds.

    `folds` takes outputs, the number of folds and a seed.
    """

    mixture: Callable[[Any, np.ndarray, np.ndarray], Any]
    baselines: tuple[Fit, ...]
    folds: Callable[[np.ndarray, int, int], Iterator[tuple[np.ndarray, np.ndarray]]]


def methods_for(n_classes: int, *, counts: bool, exposure: bool) -> Methods:
    """Return the methods to compare where outputs are classes, if there are any, counts, with exposures, or numbers."""
    if n_classes:
        return of_classes(n_classes)
    return OF_COUNTS_OVER_EXPOSURE if exposure else OF_COUNTS if counts else OF_NUMBERS


def methods_of(model: MixtureOfExperts) -> Methods:
    """Return the methods to compare with a fitted model."""
    counts, exposure = model.parameters_.family.discrete, has_exposure(model)
    return methods_for(len(outcome_names(model)), counts=counts, exposure=exposure)


def has_exposure(model: MixtureOfExperts) -> bool:
    """Return whether outputs of a model are counts and exposures."""
    return isinstance(model.parameters_.family, PoissonExposureFamily | NegativeBinomialExposureFamily)


def can_be_evaluated(model: MixtureOfExperts) -> bool:
    """Return whether predictions can be compared with outputs: those of one column, and counts over exposures."""
    return model.parameters_.family.columns == 1 or has_exposure(model)


def _on_one_thread(fit: Fit) -> Fit:
    """Decorate a fit so that it and its predictions run on one thread.

    Boosting by histograms waits for its OpenMP threads at every node of a tree. On a busy machine a fit of a tenth of a
    second then takes up to a minute; on one thread it never waits.
    """

    @wraps(fit)
    def fitted(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
        with one_blas_thread, one_openmp_thread():
            evaluate = fit(X, y, weight)

        def evaluated(X: np.ndarray, y: np.ndarray) -> Any:
            with one_blas_thread, one_openmp_thread():
                return evaluate(X, y)

        return evaluated

    return fitted


# -- numbers ----------------------------------------------------------------------------------------------------------


def _mixture_of_numbers(model: MixtureOfExperts, X: np.ndarray, y: np.ndarray) -> EvaluatedNumbers:
    """Evaluate a model; counts over exposures have these in the second column of y."""
    y, exposure = (y[:, 0], y[:, 1]) if y.ndim == 2 else (y, None)
    predictive = model.predictive(EncodedTable(X, feature_names(model), model.encoder_), exposure=exposure)
    pit = predictive.cdf(y)
    if model.parameters_.family.discrete:  # randomised within the probability of each output, PIT values are uniform
        below = predictive.cdf(y - 1)
        pit = below + np.random.default_rng(0).random(len(y)) * (pit - below)
    return EvaluatedNumbers(MIXTURE, y, predictive.mean(), pit, predictive.interval(0.9), predictive.logpdf(y))


@_on_one_thread
def _least_squares(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
    """Fit least squares, with the normal distribution of its residuals."""
    line = LinearRegression().fit(X, y, sample_weight=weight)
    counts = np.ones(len(y)) if weight is None else weight
    freedom = max(float(np.sum(counts)) - X.shape[1] - 1, 1)
    scale = max(float(np.sqrt(np.sum(counts * (y - line.predict(X)) ** 2) / freedom)), np.finfo(float).tiny)

    def evaluate(X: np.ndarray, y: np.ndarray) -> EvaluatedNumbers:
        predicted = line.predict(X)
        bounds = predicted[:, None] + scale * ndtri(np.array([0.05, 0.95]))
        z = (y - predicted) / scale
        return EvaluatedNumbers("least squares", y, predicted, ndtr(z), bounds, norm.logpdf(z) - np.log(scale))

    return evaluate


@_on_one_thread
def _boosting(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
    """Fit gradient boosting of trees with scikit-learn's defaults; it has no intervals."""
    trees = HistGradientBoostingRegressor(random_state=0).fit(X, y, sample_weight=weight)
    return lambda X, y: EvaluatedNumbers.of_means("gradient boosting", y, trees.predict(X))


def _of_counts(fit: Fit, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
    """Fit a baseline to counts: its normal density beside the probability of a count would say nothing."""
    evaluate = fit(X, y, weight)

    def without_densities(X: np.ndarray, y: np.ndarray) -> EvaluatedNumbers:
        return replace(evaluate(X, y), log_densities=np.full(len(y), np.nan))

    return without_densities


def _of_rates(fit: Fit, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
    """Fit a baseline to rates, weighted by exposure, and evaluate it by counts; it has no distribution of counts."""
    evaluate = fit(X, y[:, 0] / y[:, 1], y[:, 1] if weight is None else weight * y[:, 1])

    def evaluate_counts(X: np.ndarray, y: np.ndarray) -> EvaluatedNumbers:
        rates = evaluate(X, y[:, 0] / y[:, 1])
        return EvaluatedNumbers.of_means(rates.method, y[:, 0], rates.predicted * y[:, 1])

    return evaluate_counts


def _split(y: np.ndarray, folds: int, seed: int, *, classes: bool = False) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Split rows into folds, alike for every method, with the same shares of classes where each has enough rows."""
    even = classes and np.min(np.unique(y, return_counts=True)[1]) >= folds
    kind = StratifiedKFold if even else KFold
    return kind(folds, shuffle=True, random_state=seed).split(y[:, None], y)


OF_NUMBERS = Methods(_mixture_of_numbers, (_least_squares, _boosting), _split)
OF_COUNTS = replace(OF_NUMBERS, baselines=tuple(partial(_of_counts, fit) for fit in OF_NUMBERS.baselines))
OF_COUNTS_OVER_EXPOSURE = replace(OF_NUMBERS, baselines=tuple(partial(_of_rates, fit) for fit in OF_NUMBERS.baselines))


# -- classes ----------------------------------------------------------------------------------------------------------


def of_classes(n_classes: int) -> Methods:
    """Return the methods to compare where outputs are classes 0, 1, ..., n_classes - 1."""
    baselines = (
        ("logistic regression", lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=ITERATIONS))),
        ("gradient boosting", lambda: HistGradientBoostingClassifier(random_state=0)),
    )
    fits = tuple(_on_one_thread(partial(_fitted, name, make, n_classes)) for name, make in baselines)
    return Methods(partial(_mixture_of_classes, n_classes), fits, partial(_split, classes=True))


def _fitted(
    method: str, make: Any, n_classes: int, X: np.ndarray, y: np.ndarray, weight: np.ndarray | None
) -> Evaluate:
    """Fit a baseline with scikit-learn's defaults."""
    if len(np.unique(y)) < 2:
        raise TooFewRowsError("it holds one class only")
    model = make()
    name = f"{model.steps[-1][0]}__sample_weight" if hasattr(model, "steps") else "sample_weight"
    model.fit(X, y, **{name: weight})
    return lambda X, y: EvaluatedClasses(method, y, _of_all(n_classes, model, model.predict_proba(X)))


def _mixture_of_classes(n_classes: int, model: MixtureOfExperts, X: np.ndarray, y: np.ndarray) -> EvaluatedClasses:
    return EvaluatedClasses(MIXTURE, y, _of_all(n_classes, model, outcome_proba(model, X)))


def _of_all(n_classes: int, model: MixtureOfExperts, P: np.ndarray) -> np.ndarray:
    """Return probabilities of all classes; one that was not among the rows of a fit has probability 0."""
    if P.shape[1] == n_classes:
        return P
    full = np.zeros((len(P), n_classes))
    full[:, model.classes_.astype(int)] = P
    return full
