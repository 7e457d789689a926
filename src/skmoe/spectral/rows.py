"""Rows that moments are averages over, and samples of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.arrays.blocks import block_rows_for, in_memory, sum_over_blocks, take_rows
from skmoe.arrays.namespaces import Array, array_namespace, to_numpy

__all__ = ["Rows", "pick_rows", "some_rows"]


def pick_rows(n: int, most: int, rng: np.random.Generator) -> np.ndarray | None:
    """Return sorted random rows, at most `most` of them; None stands for all."""
    return None if n <= most else np.sort(rng.choice(n, size=int(most), replace=False))


def some_rows(arrays: tuple[Any, ...], most: int, rng: np.random.Generator) -> tuple[Any, ...]:
    """Return random rows of arrays, at most `most` of them, on the host; the first array is not None."""
    index = pick_rows(arrays[0].shape[0], most, rng)
    found = in_memory(*arrays) if index is None else take_rows(arrays, index)
    return tuple(None if a is None else to_numpy(a) for a in found)


@dataclass(frozen=True)
class Rows:
    """Inputs (n, d), outputs (n,) and row weights (n,) if any, with the weight of all rows together."""

    X: Array
    y: Array
    weight: Array | None = None
    total: float = 0.0

    @classmethod
    def of(cls, X: Array, y: Array, weight: Array | None = None) -> Rows:
        """Return rows with their total weight."""
        if weight is None:
            return cls(X, y, None, float(X.shape[0]))
        total = sum_over_blocks(lambda w: (array_namespace(w).sum(w),), weight, block_rows=block_rows_for(1))[0]
        return cls(X, y, weight, float(total))

    @property
    def arrays(self) -> tuple[Array, Array, Array | None]:
        """Arrays that kernels get blocks of."""
        return self.X, self.y, self.weight

    def sampled(self, most: float, rng: np.random.Generator) -> Rows:
        """Sample at most so many rows."""
        rows = pick_rows(self.X.shape[0], int(most), rng)
        return self if rows is None else Rows.of(*take_rows(self.arrays, rows))
