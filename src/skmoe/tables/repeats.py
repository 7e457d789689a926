"""Columns of a table that repeat others exactly: one of the two is left out, so that the other has the whole effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
        pairs += [(alike[i], alike[j], _rule(alike[i], alike[j], X)) for i, j in found]
    for chunk in chunks if pairs else ():
        pairs = [pair for pair in pairs if pair[2](chunk)]
    return _left_out(columns, [(stays, goes) for stays, goes, _ in pairs])


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


def _rule(stays: _Part, goes: _Part, X: np.ndarray) -> Callable[[np.ndarray], bool]:
    """Learn from some rows by which values one part follows from another; return the test of it in other rows."""
    a, b = stays.values(X), goes.values(X)
    _, where = np.unique(a, return_index=True)
    if stays.several:  # of categories that were not there before it does not hold
        x, y = a[where], b[where]
        return lambda X: bool(
            np.all(np.isin(stays.values(X), x))
            and np.array_equal(y[np.searchsorted(x, stays.values(X))], goes.values(X))
        )
    low, high = where[[0, -1]]
    slope, tolerance = (b[high] - b[low]) / (a[high] - a[low]), SAME * float(np.std(b))
    return lambda X: bool(np.all(np.abs(b[low] + (stays.values(X) - a[low]) * slope - goes.values(X)) <= tolerance))


def _left_out(columns: Sequence[Column], pairs: Sequence[tuple[_Part, _Part]]) -> Repeats:
    kept: dict[int, Column] = dict(enumerate(columns))
    gone: list[tuple[_Part, _Part]] = []
    for stays, goes in pairs:
        column = kept.get(goes.column)
        if column is None:
            continue
        if goes.of_missing:
            kept[goes.column] = replace(column, missing_indicator=False)
        elif len(column.parts) > 1:
            kept[goes.column] = replace(column, parts=tuple(part for part in column.parts if part != goes.of_date))
        else:
            del kept[goes.column]
        gone.append((stays, goes))
    named = listed([f"{goes.name} ({stays.name})" for stays, goes in gone])
    notes = [f"left out, since in every row they repeat what stands in brackets: {named}"] if gone else []
    return tuple(kept.values()), [goes.name for _, goes in gone], notes
