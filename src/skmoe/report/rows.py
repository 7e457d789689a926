"""The rows that a report is made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.inference import feature_names
from skmoe.plots.reading import check_model
from skmoe.rows import EncodedTable
from skmoe.rows.arrays import to_numpy
from skmoe.rows.blocks import take_rows
from skmoe.rows.inputs import rows_to_use

__all__ = ["MOST_ROWS", "Rows", "evenly_spaced"]

MOST_ROWS = 20_000
"""Rows that a report looks at; of a larger table so many are taken, evenly spaced, in one pass."""


@dataclass(frozen=True)
class Rows:
    """Rows as arrays, inputs (n, d) and outputs (n,) or None, and of how many they were taken (`total`).

    Outputs of a classifier are the numbers of their classes.
    """

    values: np.ndarray
    y: np.ndarray | None
    total: int
    X: EncodedTable  # the same inputs with their names, as a model takes them

    @classmethod
    def of(cls, model: Any, X: Any, y: Any) -> Rows:
        """Rows, after a check against the columns that the model was fitted to."""
        check_model(model)
        arrays = rows_to_use(model, X, None) if y is None else model._rows_with_outputs(X, y)
        total = int(arrays[0].shape[0])
        taken = take_rows(arrays, evenly_spaced(total, MOST_ROWS))
        values, outputs = (None if a is None else np.asarray(to_numpy(a), dtype=np.float64) for a in taken)
        assert values is not None
        return cls(values, outputs, total, EncodedTable(values, feature_names(model), model.encoder_))

    @property
    def n(self) -> int:
        """Number of rows looked at."""
        return len(self.values)

    @property
    def sampled(self) -> bool:
        """Whether these are not all rows."""
        return self.n < self.total


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """Indices of at most `most` of n rows, spread evenly over the table."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)
