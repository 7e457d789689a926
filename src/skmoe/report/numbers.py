"""Numbers of the report: how well the model predicts beside least squares, and the gate along each input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from sklearn.linear_model import LinearRegression

from skmoe.inference import feature_names
from skmoe.model.predictive import cdf, interval
from skmoe.plots.reading import rows as rows_of
from skmoe.plots.reading import rows_and_outputs

__all__ = ["GateCurve", "Quality", "Rows", "gate_curves", "qualities"]

WIDTH_ROWS = 2000  # rows from which the width of intervals is taken
CURVE_ROWS = 300  # rows over which the gate is averaged along an input
GRID = 101  # points of a gate curve
BINS = 30  # of the histogram below it
MOST_CURVES = 20  # inputs that the gate's picture offers


@dataclass(frozen=True)
class Rows:
    """Rows as the caller gave them (`X`), and as arrays."""

    X: Any
    values: np.ndarray
    y: np.ndarray | None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any) -> Rows:
        """Rows checked against the columns that the model knows."""
        if y is None:
            return cls(X, rows_of(model, X), None)
        return cls(X, *rows_and_outputs(model, X, y))


def _evenly(n: int, most: int) -> np.ndarray:
    """Indices of at most so many of n rows, spread over the table."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)


# -- predictions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Quality:
    """How well a model predicts some rows."""

    model: str
    rows: str
    n: int
    r2: float
    rmse: float
    inside_half: float  # part of the outputs inside 50% intervals
    inside_most: float  # inside 90% intervals
    width: float  # median width of 90% intervals


def qualities(model: Any, rows: Rows, test: Rows | None) -> list[Quality]:
    """Mixture and least squares on the given rows, from which the latter learns, and on held-out ones if there are."""
    line = LinearRegression().fit(rows.values, rows.y)
    left = rows.y - line.predict(rows.values)
    freedom = max(len(left) - rows.values.shape[1] - 1, 1)
    scale = max(float(np.sqrt(np.sum(left**2) / freedom)), np.finfo(float).tiny)
    found = []
    for name, part in (("given", rows), ("held-out", test)):
        if part is not None and part.y is not None:
            found += [
                _of_mixture(model, part.values, part.y, name),
                _of_line(line, scale, part.values, part.y, name),
            ]
    return found


def _of_mixture(model: Any, X: np.ndarray, y: np.ndarray, name: str) -> Quality:
    below = cdf(model.parameters_, X, y)
    low, high = interval(model.parameters_, 0.9, X[_evenly(len(y), WIDTH_ROWS)]).T
    predicted = model.parameters_.predict(X)
    return _quality("mixture of experts", name, y, predicted, below, float(np.median(high - low)))


def _of_line(line: Any, scale: float, X: np.ndarray, y: np.ndarray, name: str) -> Quality:
    predicted = line.predict(X)
    return _quality("least squares", name, y, predicted, ndtr((y - predicted) / scale), 2 * scale * float(ndtri(0.95)))


def _quality(model: str, name: str, y: np.ndarray, predicted: np.ndarray, below: np.ndarray, width: float) -> Quality:
    """`below` is the predictive probability of outputs below y: within c / 2 of one half inside an interval of c."""
    squares = np.mean((y - predicted) ** 2)
    total = np.mean((y - np.mean(y)) ** 2)
    r2 = float(1 - squares / total) if total > 0 else float("nan")
    half, most = (float(np.mean(np.abs(below - 0.5) <= coverage / 2)) for coverage in (0.5, 0.9))
    return Quality(model, name, len(y), r2, float(np.sqrt(squares)), half, most, width)


# -- the gate along one input -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GateCurve:
    """Probability of each expert as one input moves, averaged over rows that keep their other inputs."""

    column: int
    name: str
    grid: np.ndarray  # (GRID,), evenly spaced
    curves: np.ndarray  # (k, GRID)
    histogram: np.ndarray  # (BINS,), tallest one 1
    two_valued: bool


def gate_curves(model: Any, X: np.ndarray) -> list[GateCurve]:
    """Curves for the inputs that move the gate most, most influential first."""
    W = model.gate_coef_
    influence = (np.max(W, axis=0) - np.min(W, axis=0)) * np.std(X, axis=0)
    order = [int(j) for j in np.argsort(-influence, kind="stable")[:MOST_CURVES] if influence[j] > 0]
    names = feature_names(model)
    return [_curve(model, X, j, names[j]) for j in order]


def _curve(model: Any, X: np.ndarray, j: int, name: str) -> GateCurve:
    low, high = np.quantile(X[:, j], (0.01, 0.99))  # far-out rows would squeeze the picture
    two_valued = len(np.unique(X[:, j])) == 2
    if two_valued or not high > low:
        low, high = np.min(X[:, j]), np.max(X[:, j])
    grid = np.linspace(low, high, GRID)
    table = np.repeat(X[_evenly(len(X), CURVE_ROWS)], GRID, axis=0)
    table[:, j] = np.tile(grid, len(table) // GRID)
    P = np.reshape(model.parameters_.gate_proba(table), (-1, GRID, model.n_experts_))
    counts = np.histogram(X[:, j], bins=BINS, range=(low, high))[0]
    return GateCurve(j, name, grid, np.mean(P, axis=0).T, counts / max(np.max(counts), 1), two_valued)
