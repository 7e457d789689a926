"""Rows outside the range that a model was fitted to, where its predictions are extrapolations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skmoe.arrays.blocks import block_rows_for, sum_over_blocks
from skmoe.arrays.namespaces import Array, array_namespace, columns, to_device, to_numpy
from skmoe.inference.summary import feature_names
from skmoe.model.fitted import FittedMixture

__all__ = ["Outside", "rows_outside"]

MOST_NAMED = 5  # inputs that a sentence names


@dataclass(frozen=True)
class Outside:
    """Counts of rows with an input below its smallest or above its largest value in the fit, by input.

    Attributes
    ----------
    rows : int
        Rows that were checked.
    outside : int
        Rows with at least one input outside.
    by_input : dict of str to int
        Rows outside by input, for inputs that have any.
    """

    rows: int
    outside: int
    by_input: dict[str, int]

    def __add__(self, other: Outside) -> Outside:
        names = {**self.by_input, **other.by_input}
        counts = {name: self.by_input.get(name, 0) + other.by_input.get(name, 0) for name in names}
        return Outside(self.rows + other.rows, self.outside + other.outside, counts)

    def __str__(self) -> str:
        if not self.outside:
            return f"all of {self.rows} rows lie inside the fitted range"
        order = sorted(self.by_input, key=lambda name: -self.by_input[name])
        named = [f"{name} {self.by_input[name]}" for name in order[:MOST_NAMED]]
        more = len(order) - len(named)
        named += [f"{more} more input{'s' if more > 1 else ''}"] if more else []
        return f"{self.outside} of {self.rows} rows lie outside the fitted range ({', '.join(named)})"


def rows_outside(model: FittedMixture, X: Array) -> Outside:
    """Count the rows outside the fitted range.

    Parameters
    ----------
    model : fitted MoERegressor
    X : (n, d) array or streamed columns
        Rows as the model takes them.

    Returns
    -------
    Outside
    """
    inputs = model.record_.inputs
    low, high = np.array(inputs.low)[:, None], np.array(inputs.high)[:, None]

    def kernel(x: Array) -> tuple[Array, Array]:
        Z = columns(x)
        xp = array_namespace(Z)
        least, most = to_device(low, x), to_device(high, x)
        beyond = (least > Z) | (most < Z)
        return xp.sum(xp.astype(beyond, xp.int64), axis=1), xp.sum(xp.astype(xp.any(beyond, axis=0), xp.int64))

    counts, outside = sum_over_blocks(kernel, X, block_rows=block_rows_for(2 * X.shape[1]))
    by_input = dict(zip(feature_names(model), to_numpy(counts).tolist(), strict=True))
    return Outside(X.shape[0], int(outside), {name: count for name, count in by_input.items() if count})
