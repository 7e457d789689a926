"""Whole numbers that double precision would change: they are found before they are rounded, to be refused by name.

Above 2^53 doubles lie two or more apart, so that long identifiers lose their last digits. Whole numbers that are
doubles themselves, such as 2^60, are taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral
from typing import Any

import numpy as np

__all__ = ["EXACT", "Rounded", "rounded", "rounded_in"]

EXACT = 2**53
"""Up to here all whole numbers are doubles."""
KEPT = 2  # different examples: enough to see whether a column is constant


@dataclass(frozen=True)
class Rounded:
    """Count of whole numbers that double precision would change, and one or two different ones; two records add up."""

    count: int = 0
    examples: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return self.count > 0

    def __add__(self, other: Rounded) -> Rounded:
        return Rounded(self.count + other.count, _different([*self.examples, *other.examples]))

    @property
    def message(self) -> str:
        """Finding about a column that holds them."""
        return f"holds whole numbers that double precision would round, such as {self.examples[0]!s:.40}"


NONE = Rounded()


def rounded(values: np.ndarray) -> Rounded:
    """Count the integers, or Python objects, of an array that double precision would change.

    Parameters
    ----------
    values : array of any shape and type
        Values; floats and integers of fewer than 64 bits cost nothing.

    Returns
    -------
    Rounded
        Their count, with examples.
    """
    if values.dtype.kind == "O":
        found = [int(v) for v in values.ravel() if _is_changed(v)]
        return Rounded(len(found), _different(found)) if found else NONE
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or values.size == 0:
        return NONE
    if int(np.min(values)) >= -EXACT and int(np.max(values)) <= EXACT:
        return NONE
    large = values[values > EXACT]
    if values.dtype.kind == "i":
        large = np.concatenate([values[values < -EXACT], large])
    # a cast back to integers could overflow: a whole number is a double where the distance of doubles there divides it
    changed = large[large % np.spacing(np.abs(large.astype(np.float64))).astype(large.dtype) != 0]
    return Rounded(len(changed), _different(np.unique(changed)[:KEPT].tolist())) if len(changed) else NONE


def rounded_in(values: Any) -> Rounded:
    """Count the numbers of a pyarrow column that double precision would change; dates, floats and text are passed over.

    Parameters
    ----------
    values : pyarrow array
        The column.

    Returns
    -------
    Rounded
        Their count, with examples.
    """
    import pyarrow.compute as pc
    import pyarrow.types as types

    whole = types.is_int64(values.type) or types.is_uint64(values.type)
    if not whole and not types.is_decimal(values.type):
        return NONE
    present = values.drop_null() if values.null_count else values
    if whole:
        return rounded(present.to_numpy())
    extremes = pc.min_max(present).as_py().values() if len(present) else ()
    large = any(abs(extreme) > EXACT for extreme in extremes)
    return rounded(np.array(present.to_pylist(), dtype=object)) if large else NONE


def _is_changed(value: Any) -> bool:
    """Return whether a Python object is a whole number that is no double."""
    if isinstance(value, Decimal):
        if not value.is_finite() or value != value.to_integral_value():
            return False
    elif not isinstance(value, Integral):
        return False
    number = int(value)
    try:
        return not -EXACT <= number <= EXACT and int(float(number)) != number
    except OverflowError:  # beyond all doubles
        return True


def _different(values: list[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(values))[:KEPT]
