"""Whether a family can give the outputs that a caller has, told before any long work."""

from __future__ import annotations

from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily
from skmoe.rows.arrays import Array, array_namespace
from skmoe.rows.blocks import sum_over_blocks

__all__ = ["check_outputs"]

BLOCK_ROWS = 2**16


def check_outputs(family: Family, y: Array, weight: Array | None) -> None:
    """Refuse outputs that the family cannot give; missing values and infinities are refused elsewhere."""
    if isinstance(family, GaussianFamily):
        return

    def kernel(y: Array, weight: Array | None) -> tuple[Array, ...]:
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        wrong = family.impossible(y)
        if y.ndim == 1:
            wrong = wrong & xp.isfinite(y)
        if weight is not None:
            wrong = wrong & (weight > 0)
        first = y if y.ndim == 1 else y[:, 0]
        found = xp.where(wrong & xp.isfinite(first), first, xp.zeros_like(first))
        return xp.sum(xp.astype(wrong, xp.float64)), _Extreme(float(xp.min(found)), float(xp.max(found)))

    wrong, extreme = sum_over_blocks(kernel, y, weight, block_rows=BLOCK_ROWS)
    if float(wrong):
        example = extreme.low if extreme.low < 0 else extreme.high
        raise ValueError(
            f"family={family.name!r} takes {family.support} as y; {int(wrong)} of {y.shape[0]} values are not"
            f"{'' if family.columns > 1 else f', such as {example:g}'}: choose another family, or drop those rows"
        )


class _Extreme:
    """Smallest and largest of some numbers; the sum of two is that of both."""

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high = low, high

    def __add__(self, other: _Extreme) -> _Extreme:
        return _Extreme(min(self.low, other.low), max(self.high, other.high))
