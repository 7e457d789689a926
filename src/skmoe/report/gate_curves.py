"""The gate along one input at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.inference import Input, feature_names, gate_changes
from skmoe.report.rows import evenly_spaced

__all__ = ["GateCurve", "gate_curves"]

AVERAGED_ROWS = 300  # rows over which the gate is averaged along an input
GRID = 101  # points of a curve
BINS = 30  # of the histogram of the input
MOST_INPUTS = 20  # inputs that the picture of the gate offers


@dataclass(frozen=True)
class GateCurve:
    """Probability of each expert along one input, averaged over rows that keep their other inputs.

    Attributes
    ----------
    column : int
    name : str
        The input.
    grid : (GRID,) array
        Evenly spaced values of the input.
    curves : (k, GRID) array
        Probability of each expert there.
    histogram : (BINS,) array
        Rows by value of the input, relative to the fullest bin.
    two_valued : bool
        Whether the input has two values only.
    """

    column: int
    name: str
    grid: np.ndarray
    curves: np.ndarray
    histogram: np.ndarray
    two_valued: bool


def gate_curves(model: Any, X: np.ndarray) -> tuple[GateCurve, ...]:
    """Curves for the inputs that change the gate most, most influential first."""
    names = feature_names(model)
    columns = [Input(name, (j,)) for j, name in enumerate(names)]
    influence = np.sum(gate_changes(model.parameters_, X, np.ones(len(X)), columns).change, axis=1)
    order = [int(j) for j in np.argsort(-influence, kind="stable")[:MOST_INPUTS] if influence[j] > 0]
    return tuple(_curve(model, X, j, names[j]) for j in order)


def _curve(model: Any, X: np.ndarray, j: int, name: str) -> GateCurve:
    low, high = np.quantile(X[:, j], (0.01, 0.99))  # outliers would compress the picture
    two_valued = len(np.unique(X[:, j])) == 2
    if two_valued or not high > low:
        low, high = np.min(X[:, j]), np.max(X[:, j])
    grid = np.linspace(low, high, GRID)
    table = np.repeat(X[evenly_spaced(len(X), AVERAGED_ROWS)], GRID, axis=0)
    table[:, j] = np.tile(grid, len(table) // GRID)
    P = np.reshape(model.parameters_.gate_proba(table), (-1, GRID, model.n_experts_))
    counts = np.histogram(X[:, j], bins=BINS, range=(low, high))[0]
    return GateCurve(j, name, grid, np.mean(P, axis=0).T, counts / max(np.max(counts), 1), two_valued)
