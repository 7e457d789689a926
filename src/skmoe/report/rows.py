"""The rows that a report is made with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.plots.reading import rows as checked_rows
from skmoe.plots.reading import rows_and_outputs

__all__ = ["Rows", "evenly_spaced"]


@dataclass(frozen=True)
class Rows:
    """Rows as the caller gave them (`X`), and as arrays (`values` and `y`)."""

    X: Any
    values: np.ndarray
    y: np.ndarray | None

    @classmethod
    def of(cls, model: Any, X: Any, y: Any) -> Rows:
        """Rows, after a check against the columns that the model was fitted to."""
        if y is None:
            return cls(X, checked_rows(model, X), None)
        return cls(X, *rows_and_outputs(model, X, y))


def evenly_spaced(n: int, most: int) -> np.ndarray:
    """Indices of at most `most` of n rows, spread evenly over the table."""
    return np.linspace(0, n - 1, min(n, most)).astype(int)
