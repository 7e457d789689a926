"""One pass over a table: how many rows, whether all can be used, range, means and covariance of inputs and output."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skmoe.arrays.blocks import block_rows_for, evenly_spaced_rows, sum_over_blocks
from skmoe.arrays.checks import refuse_weight_counts
from skmoe.arrays.namespaces import Array, array_namespace, design, to_device, to_numpy
from skmoe.arrays.sizes import (
    Span,
    check_far_output,
    check_sizes,
    check_without_intercept,
    far_columns,
    flat_columns,
)

__all__ = ["TableMoments", "table_moments"]

SEARCHED_ROWS = 4096  # rows searched for one with weight, where the first has none


@dataclass(frozen=True)
class TableMoments:
    """Moments and ranges of a table, from one pass over it."""

    rows: int  # with weight
    total: float  # weight of all rows
    mean: np.ndarray  # (d,), of the inputs, less `origin`
    covariance: np.ndarray  # (d, d), of the inputs
    y_mean: float
    y_std: float
    cross: np.ndarray  # (d,), covariance of the inputs with the output
    low: np.ndarray  # (d,), smallest value of each input among rows with weight
    high: np.ndarray  # (d,), largest
    origin: np.ndarray | None = None  # (d,), origin of columns far from zero; None where there are none

    @property
    def flat(self) -> np.ndarray:
        """Mask of the columns that are constant but for rounding, (d,)."""
        return flat_columns(Span(self.low, self.high))

    def from_zero(self, names: Sequence[str] | None, model: str) -> TableMoments:
        """Return the moments for a model without intercepts, with all origins at zero."""
        if self.origin is None:
            return self
        check_without_intercept(Span(self.low, self.high), self.origin, names, model)
        return replace(self, mean=self.mean + self.origin, origin=None)

    @property
    def y_second(self) -> float:
        """Root mean square of the outputs."""
        return float(np.hypot(self.y_std, self.y_mean))


def table_moments(
    X: Array,
    y: Array | None = None,
    weight: Array | None = None,
    names: Sequence[str] | None = None,
    transform_response: Callable[[Array], Array] | None = None,
    *,
    weight_scale: float = 1.0,
) -> TableMoments:
    """Take the moments of inputs and output, and refuse rows that cannot be used.

    Parameters
    ----------
    X : (n, d) array or streamed columns
    y, weight : (n,) arrays or streamed columns, optional
    names : sequence of str, optional
        Names of the inputs, for messages.
    transform_response : callable, optional
        A function of the outputs to take the moments of in their place.
    weight_scale : float
        Factor of the weights.
    """
    one, d = (
        _one_row(X, y, weight, transform_response),
        X.shape[1],
    )  # sums about a row of the data lose no digits to a far origin

    def kernel(x: Array, t: Array | None, w: Array | None) -> tuple[Array, ...]:
        Z = design(x, True)
        xp = array_namespace(Z)
        if t is not None:
            t = t if transform_response is None else transform_response(t)
            Z = xp.concat([Z, xp.astype(t, xp.float64, copy=False)[None, :]], axis=0)
        bad = xp.sum(xp.astype(~xp.isfinite(Z), xp.float64), axis=1)
        w = None if w is None else xp.astype(w, xp.float64, copy=False) * weight_scale
        inside = Z if w is None else xp.where(w > 0, Z, to_device(one, x)[:, None])
        span = Span(xp.min(inside, axis=1), xp.max(inside, axis=1))
        with np.errstate(invalid="ignore", over="ignore"):  # infinities and sizes are refused below
            Z = Z - to_device(one, x)[:, None]
            S = (Z if w is None else Z * w) @ Z.T
        varies = xp.astype(Z[-1, :] != 0, xp.float64)
        if w is None:
            return bad, xp.sum(varies), S, float(x.shape[0]), 0.0, 0.0, span
        varies = xp.sum(varies * xp.astype(w > 0, xp.float64))
        counts = (xp.sum(xp.astype(which, xp.float64)) for which in (w > 0, w < 0, ~xp.isfinite(w)))
        return bad, varies, S, *counts, span

    sums = sum_over_blocks(kernel, X, y, weight, block_rows=block_rows_for(2 * d))
    bad, S = to_numpy(sums[0]), to_numpy(sums[2])
    varies, rows, negative, unknown = (int(sums[i]) for i in (1, 3, 4, 5))
    _refuse_bad(bad, d, names)
    refuse_weight_counts(rows, negative, unknown)
    low, high = to_numpy(sums[6].low), to_numpy(sums[6].high)
    span = Span(low[:d], high[:d])
    if y is not None and not varies:
        raise ValueError(f"y is constant ({float(one[-1]):g} in every row); there is nothing to learn from it")
    check_sizes(span, None if y is None else Span(low[-1:], high[-1:]), names)
    total = float(S[d, d])
    shift = S[:, d] / total
    central = S / total - np.outer(shift, shift)
    y_mean, y_std, cross = 0.0, 0.0, np.zeros(d)
    if y is not None:
        cross = central[:d, -1]
        y_mean, y_std = float(one[-1] + shift[-1]), float(np.sqrt(np.maximum(central[-1, -1], 0.0)))
        check_far_output(y_mean, y_std)
    far = far_columns(span, np.sqrt(np.maximum(np.diag(central)[:d], 0.0)))
    mean = np.where(far, 0.0, one[:d]) + shift[:d]
    origin = np.where(far, one[:d], 0.0) if np.any(far) else None
    return TableMoments(rows, total, mean, central[:d, :d], y_mean, y_std, cross, span.low, span.high, origin)


def _one_row(
    X: Array, y: Array | None, weight: Array | None, transform_response: Callable[[Array], Array] | None = None
) -> np.ndarray:
    """Return a row with weight: its inputs, a zero, and its output if there are any."""
    for most in (1, SEARCHED_ROWS):
        x, t, w = evenly_spaced_rows((X, y, weight), most)
        able = np.flatnonzero(np.ones(1) if w is None else to_numpy(w) > 0)
        if able.size:
            break
    first = able[0] if able.size else 0
    t = t if t is None or transform_response is None else transform_response(t)
    inputs = np.asarray(to_numpy(x)[first], dtype=np.float64)
    return np.append(inputs, [0.0] if t is None else [0.0, float(to_numpy(t)[first])])


def _refuse_bad(bad: np.ndarray, d: int, names: Sequence[str] | None) -> None:
    """Refuse missing values and infinities, by their columns."""
    columns = np.flatnonzero(bad[:d])
    if columns.size:
        which = [str(names[i]) if names is not None else i for i in columns.tolist()]
        count = int(np.sum(bad[:d]))
        raise ValueError(
            f"X contains NaN, missing values or infinity in columns {which} ({count} such values found); drop or "
            "impute those rows"
        )
    if np.any(bad[d:]):
        raise ValueError(f"y contains NaN, missing values or infinity ({int(np.sum(bad[d:]))} found); drop those rows")
