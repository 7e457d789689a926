"""The methods of scikit-learn that a mixture is compared with, fitted on one thread."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from skmoe.arrays.threads import one_blas_thread, one_openmp_thread
from skmoe.report.evaluated import Evaluate, EvaluatedNumbers, Fit

__all__ = ["boosting", "least_squares", "on_one_thread"]


def on_one_thread(fit: Fit) -> Fit:
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


@on_one_thread
def least_squares(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
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


@on_one_thread
def boosting(X: np.ndarray, y: np.ndarray, weight: np.ndarray | None) -> Evaluate:
    """Fit gradient boosting of trees with scikit-learn's defaults; it has no intervals."""
    trees = HistGradientBoostingRegressor(random_state=0).fit(X, y, sample_weight=weight)

    def evaluate(X: np.ndarray, y: np.ndarray) -> EvaluatedNumbers:
        unknown = np.full((len(y), 2), np.nan)
        return EvaluatedNumbers("gradient boosting", y, trees.predict(X), unknown[:, 0], unknown, unknown[:, 0])

    return evaluate
