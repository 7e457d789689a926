"""How well the model predicts, compared with least squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.linear_model import LinearRegression

from skmoe.report.rows import Rows, evenly_spaced

__all__ = ["Quality", "qualities"]

WIDTH_ROWS = 2000  # rows from which the width of intervals is taken


@dataclass(frozen=True)
class Quality:
    """How well a model predicts some rows.

    Attributes
    ----------
    model, rows : str
        What predicts ("mixture of experts" or "least squares"), and which rows ("given" or "held-out").
    n : int
        Number of rows.
    r2, rmse : float
        R² and root mean squared error.
    inside_half, inside_most : float
        Share of the outputs inside 50% and 90% prediction intervals.
    width : float
        Median width of 90% intervals.
    """

    model: str
    rows: str
    n: int
    r2: float
    rmse: float
    inside_half: float
    inside_most: float
    width: float


def qualities(model: Any, rows: Rows, test: Rows | None) -> tuple[Quality, ...]:
    """Mixture and least squares on the given rows, then on held-out rows if there are any.

    Least squares is fitted to the given rows.
    """
    line = LinearRegression().fit(rows.values, rows.y)
    residuals = rows.y - line.predict(rows.values)
    freedom = max(len(residuals) - rows.values.shape[1] - 1, 1)
    scale = max(float(np.sqrt(np.sum(residuals**2) / freedom)), np.finfo(float).tiny)
    found = []
    for name, some in (("given", rows), ("held-out", test)):
        if some is not None and some.y is not None:
            found += [
                _of_mixture(model, some.values, some.y, name),
                _of_least_squares(line, scale, some.values, some.y, name),
            ]
    return tuple(found)


def _of_mixture(model: Any, X: np.ndarray, y: np.ndarray, name: str) -> Quality:
    law = model._law()
    low, high = law.interval(X[evenly_spaced(len(y), WIDTH_ROWS)], 0.9).T
    return _quality("mixture of experts", name, y, law.mean(X), law.cdf(X, y), float(np.median(high - low)))


def _of_least_squares(line: Any, scale: float, X: np.ndarray, y: np.ndarray, name: str) -> Quality:
    predicted = line.predict(X)
    pit = ndtr((y - predicted) / scale)
    return _quality("least squares", name, y, predicted, pit, 2 * scale * float(ndtri(0.95)))


def _quality(model: str, name: str, y: np.ndarray, predicted: np.ndarray, pit: np.ndarray, width: float) -> Quality:
    """`pit` is the predictive distribution function at y: within c / 2 of one half inside an interval of coverage c."""
    squares = np.mean((y - predicted) ** 2)
    total = np.mean((y - np.mean(y)) ** 2)
    r2 = float(1 - squares / total) if total > 0 else float("nan")
    half, most = (float(np.mean(np.abs(pit - 0.5) <= coverage / 2)) for coverage in (0.5, 0.9))
    return Quality(model, name, len(y), r2, float(np.sqrt(squares)), half, most, width)
