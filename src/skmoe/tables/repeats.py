"""Columns of a table that repeat others exactly: one of the two is left out, so that the other has the whole effect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from skmoe.arrays.visible import listed
from skmoe.tables.columns import Column
from skmoe.tables.exact import FEWEST_ROWS, repeated_pairs

__all__ = ["find_repeats"]

FIRST_ROWS = 8000  # among which repeats are looked for, before they are checked in all rows
Repeats = tuple[tuple[Column, ...], list[str], list[str]]  # columns without repetitions, what was left out, notes
SAME = 1e-6  # difference, in standard deviations, that is rounding


@dataclass(frozen=True)
class _Part:
    """Inputs that can be left out alone: a column, a part of its dates (`of_date`), or its missing indicator."""

    column: int
    name: str
    inputs: slice
    of_date: str
    of_missing: bool

    @property
    def rank(self) -> int:
        """Of two that repeat each other the one of the lower rank stays."""
        return 2 if self.of_missing else int(bool(self.of_date))

    @property
    def several(self) -> bool:
        """True for categories with several inputs."""
        return self.inputs.stop - self.inputs.start > 1

    def values(self, X: np.ndarray) -> np.ndarray:
        """Return its numbers, or the numbers of its categories."""
        return X[:, self.inputs] @ np.arange(1.0, 1 + self.inputs.stop - self.inputs.start)


def find_repeats(columns: Sequence[Column], chunks: Iterator[np.ndarray]) -> Repeats:
    """Find columns, parts of dates and missing indicators that repeat others in every row, and leave them out.

    A number repeats another if it is a linear function of it, a column of categories another if they divide the rows
    alike.

    Parameters
    ----------
    columns : sequence of Column
    chunks : iterator of (n, d) arrays
        Inputs that the columns become; read to the end only where the first rows show repeats.

    Returns
    -------
    tuple of Column
        Columns without repetitions of others.
    list of str
        Names of what was left out.
    list of str
        Notes on it.
    """
    parts = sorted(_parts(columns), key=lambda part: part.rank)
    first: list[np.ndarray] = []
    while sum(map(len, first)) < FIRST_ROWS and (chunk := next(chunks, None)) is not None:
        first.append(chunk)
    if sum(map(len, first)) < FEWEST_ROWS:
        return tuple(columns), [], []
    X = np.concatenate(first)
    pairs = []
    for several in (False, True):
        alike = [part for part in parts if part.several is several]
        codes = [_in_order(part.values(X)) if several else part.values(X) for part in alike]
        found = repeated_pairs(np.column_stack(codes)) if len(alike) > 1 else []
        pairs += [_Pair.of(alike[i], alike[j], X) for i, j in found]
    for chunk in chunks if pairs else ():
        pairs = [pair for pair in pairs if pair.holds(chunk)]
    return _left_out(columns, pairs)


def _parts(columns: Sequence[Column]) -> list[_Part]:
    found, at = [], 0
    for i, column in enumerate(columns):
        for place, one in enumerate(column.inputs):
            inputs, at = slice(at, at + len(one.features)), at + len(one.features)
            of_date = column.parts[place] if place < len(column.parts) else ""
            found.append(
                _Part(i, one.name, inputs, of_date, column.missing_indicator and place == len(column.inputs) - 1)
            )
    return found


def _in_order(codes: np.ndarray) -> np.ndarray:
    """Number categories in the order in which they come."""
    _, where, back = np.unique(codes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(where))[back].astype(float)


@dataclass(frozen=True)
class _Pair:
    """A part that stays, one that repeats it, and by which values the second follows from the first."""

    stays: _Part
    goes: _Part
    known: tuple[np.ndarray, np.ndarray]
    tolerance: float

    @classmethod
    def of(cls, stays: _Part, goes: _Part, X: np.ndarray) -> _Pair:
        """Learn the pair from some rows: from all categories, or the smallest and the largest number."""
        a, b = stays.values(X), goes.values(X)
        _, where = np.unique(a, return_index=True)
        where = where if stays.several else where[[0, -1]]
        return cls(stays, goes, (a[where], b[where]), SAME * float(np.std(b)))

    def holds(self, X: np.ndarray) -> bool:
        """Return whether the pair holds in other rows; it does not for categories that were not there before."""
        a, b = self.stays.values(X), self.goes.values(X)
        x, y = self.known
        if self.stays.several:
            return bool(np.all(np.isin(a, x)) and np.array_equal(y[np.searchsorted(x, a)], b))
        return bool(np.all(np.abs(y[0] + (a - x[0]) * ((y[1] - y[0]) / (x[1] - x[0])) - b) <= self.tolerance))


def _left_out(columns: Sequence[Column], pairs: Sequence[_Pair]) -> Repeats:
    kept: dict[int, Column] = dict(enumerate(columns))
    gone: list[_Pair] = []
    for pair in pairs:
        goes, column = pair.goes, kept.get(pair.goes.column)
        if column is None:
            continue
        if goes.of_missing:
            kept[goes.column] = replace(column, missing_indicator=False)
        elif len(column.parts) > 1:
            kept[goes.column] = replace(column, parts=tuple(part for part in column.parts if part != goes.of_date))
        else:
            del kept[goes.column]
        gone.append(pair)
    named = listed([f"{pair.goes.name} ({pair.stays.name})" for pair in gone])
    notes = [f"left out, since in every row they repeat what stands in brackets: {named}"] if gone else []
    return tuple(kept.values()), [pair.goes.name for pair in gone], notes
