"""The gate along one input at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import gate_changes, inputs_of
from skmoe.plots.reading import along
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
    name : str
        The input.
    grid : (g,) array
        Evenly spaced values of the input, or places of its categories.
    curves : (k, g) array
        Probability of each expert at these.
    histogram : (bins,) array
        Rows by value of the input, relative to the fullest bin.
    labels : tuple of str
        Names of the places where the input is text or has two values; else empty.
    rows : int
        How many rows the probabilities are averaged over.
    """

    name: str
    grid: np.ndarray
    curves: np.ndarray
    histogram: np.ndarray
    labels: tuple[str, ...]
    rows: int


def gate_curves(model: MixtureOfExperts, X: np.ndarray) -> tuple[GateCurve, ...]:
    """Return curves for the inputs that change the gate most, most influential first."""
    inputs = inputs_of(model)
    influence = np.sum(gate_changes(model.parameters_, X, np.ones(len(X)), inputs).change, axis=1)
    order = [int(j) for j in np.argsort(-influence, kind="stable")[:MOST_INPUTS] if influence[j] > 0]
    return tuple(_curve(model, X, inputs[j].name) for j in order)


def _curve(model: MixtureOfExperts, X: np.ndarray, name: str) -> GateCurve:
    axis = along(model, X, name, GRID)
    if axis.discrete:
        counts = np.sum(axis.place(X)[:, None] == axis.places, axis=0)
    else:
        low, high = np.quantile(axis.place(X), (0.01, 0.99))  # outliers would compress the picture
        axis = axis.at(np.linspace(low, high, GRID)) if high > low else axis
        limits = (axis.places[0], axis.places[-1])
        counts = np.histogram(axis.place(X), bins=BINS, range=limits)[0]
    some = X[evenly_spaced(len(X), AVERAGED_ROWS)]
    table = np.concatenate([axis.rows(row) for row in some])
    P = np.reshape(model.parameters_.gate_proba(table), (-1, len(axis.places), model.n_experts_))
    return GateCurve(name, axis.places, np.mean(P, axis=0).T, counts / max(np.max(counts), 1), axis.labels, len(some))
