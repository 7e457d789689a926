"""The rows that a report is made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.arrays.blocks import take_rows
from skmoe.arrays.checks import check_column, refuse_weights, weight_scale
from skmoe.arrays.namespaces import to_numpy
from skmoe.arrays.streamed import Streamed
from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import feature_names
from skmoe.plots.reading import check_model
from skmoe.tables import EncodedTable
from skmoe.tables.inputs import rows_to_use

__all__ = ["MOST_ROWS", "Rows", "evenly_spaced"]

MOST_ROWS = 20_000
"""Most rows of a report; of a larger table so many are taken, evenly spaced, in one pass."""


@dataclass(frozen=True)
class Rows:
    """Rows as arrays, inputs (n, d), outputs and weights (n,) or None, and of how many they were taken (`total`).

    Outputs of a classifier are the numbers of their classes; outputs of several columns are (n, columns).
    """

    values: np.ndarray
    outputs: np.ndarray | None
    total: int
    X: EncodedTable  # the same inputs with their names, as a model takes them
    weight: np.ndarray | None = None

    @property
    def y(self) -> np.ndarray | None:
        """Outputs that can be drawn, those of one column, or None."""
        return None if self.outputs is None or self.outputs.ndim == 2 else self.outputs

    @classmethod
    def of(cls, model: MixtureOfExperts, X: Any, y: Any, weight: Any = None) -> Rows:
        """Read the rows that have weight, after a check against the columns that the model was fitted to."""
        check_model(model)
        inputs, y = rows_to_use(model, X, None) if y is None else model._rows_with_outputs(X, y)
        total = int(inputs.shape[0])
        some = evenly_spaced(total, MOST_ROWS)
        if isinstance(weight, Streamed):
            taken = take_rows((inputs, y, weight), some)
        else:  # an array, whatever the inputs are
            given = None if weight is None else check_column(np.empty((total, 0)), weight, "sample_weight")
            taken = (*take_rows((inputs, y), some), None if given is None else given[some])
        values, outputs, weights = (None if a is None else np.asarray(to_numpy(a), dtype=np.float64) for a in taken)
        assert values is not None
        if weights is not None:
            refuse_weights(weights)
            able = weights > 0
            values, outputs, weights = values[able], None if outputs is None else outputs[able], weights[able]
            weights, total = weights * weight_scale(weights), total - int(np.sum(~able))
        return cls(values, outputs, total, EncodedTable(values, feature_names(model), model.encoder_), weights)

    @property
    def n(self) -> int:
        """Number of rows used."""
        return len(self.values)

    @property
    def sampled(self) -> bool:
        """True where these are not all rows."""
        return self.n < self.total


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """Return the indices of at most `most` of n rows, evenly spaced over the table."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)
