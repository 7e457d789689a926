"""Count the rows of each expert that support the effect of an input, and find effects with too few of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import Regime, feature_names, inputs_of
from skmoe.inference.diagnosis import rows_fitted
from skmoe.inference.formatting import short
from skmoe.inference.gate_change import two_values

__all__ = ["Columns", "Comparison", "Side", "Support", "rows_in_words", "support_of"]

FEWEST = 10.0  # rows of an expert with a value, below which what the value does is unknown there
EXACT = 1e-6  # relative error of the variance of two values, known from their mean


@dataclass(frozen=True)
class Side:
    """One side of a comparison: its name, and the sum of the expert's probabilities over its rows."""

    name: str
    rows: np.ndarray


@dataclass(frozen=True)
class Comparison:
    """A column that compares two values: text for the second rather than the first, their distance, and both sides."""

    text: str
    step: float
    first: Side
    second: Side

    def least(self, i: int) -> float:
        """Return the rows of expert i on the side that has fewer."""
        return float(min(self.first.rows[i], self.second.rows[i]))

    def of_rows(self, i: int) -> str:
        """Return the numbers of rows of expert i on both sides, as text."""
        return f"{self.second.rows[i]:,.0f} against {self.first.rows[i]:,.0f} rows"


@dataclass(frozen=True)
class Support:
    """Rows that support the effects of an expert.

    Attributes
    ----------
    rows : (k,) array
        Sum over the rows of the fit of the probability of each expert, given the output where outputs are known.
    comparisons : list of Comparison or None
        For each column what it compares, None for numbers, whose effects all rows of an expert carry.
    """

    rows: np.ndarray
    comparisons: list[Comparison | None]

    def known(self, i: int) -> np.ndarray:
        """Return which columns have enough rows of expert i on either side, (d,) of bool."""
        return np.array([one is None or one.least(i) >= FEWEST for one in self.comparisons])

    def unknown(self, i: int, columns: np.ndarray) -> list[str]:
        """Return values with too few rows of expert i, and their number, among columns (d,) of bool; each once."""
        sides = [
            side
            for one, asked in zip(self.comparisons, columns, strict=True)
            if one is not None and asked
            for side in (one.first, one.second)
            if side.rows[i] < FEWEST
        ]
        return list(dict.fromkeys(f"{side.name} ({rows_in_words(side.rows[i])})" for side in sides))


def rows_in_words(count: float) -> str:
    """Return a number of rows as text, such as "4 rows"; "none" for less than half a row."""
    n = round(float(count))
    return f"{n} row{'s' if n > 1 else ''}" if n else "none"


@dataclass(frozen=True)
class Columns:
    """Columns in the sentences on one expert."""

    names: list[str]
    support: Support
    expert: int

    @property
    def known(self) -> np.ndarray:
        """Columns with enough rows of the expert on either side."""
        return self.support.known(self.expert)

    def compared(self, j: int) -> tuple[float, str, str] | None:
        """Return, for a column that compares two values, their distance, text for the second, and the rows of both."""
        one = self.support.comparisons[j]
        return None if one is None else (one.step, one.text, one.of_rows(self.expert))


def support_of(
    model: MixtureOfExperts, X: np.ndarray | None, P: np.ndarray | None, regimes: Sequence[Regime]
) -> Support:
    """Count the rows that support each expert and each side of a comparison.

    Parameters
    ----------
    model : fitted MoERegressor or MoEClassifier
    X, P : (n, d) and (n, k) arrays, or None
        Rows and the probability of each expert there, given the output where it is known, times weights of the rows.
    regimes : sequence of Regime
        Those of the fit serve without rows.
    """
    total = rows_fitted(model)
    if X is not None and P is not None:
        P = total * P / np.sum(P)
        rows, above, two = np.sum(P, axis=0), *_counted(X, P)
    else:
        rows = total * np.asarray(model.shares_)
        above, two = _noted(model, rows, regimes)
    return Support(rows, _comparisons(model, rows, above, two))


Above = Callable[[int, float], np.ndarray]  # of a column and a cutoff: the rows of each expert above it, (k,)
Two = Callable[[int], tuple[float, float] | None]  # of a column: its two values, if it has no others


def _comparisons(model: MixtureOfExperts, rows: np.ndarray, above: Above, two: Two) -> list[Comparison | None]:
    """Compare the categories of each input, or the two values of a column."""
    found: list[Comparison | None] = [None] * len(feature_names(model))
    for one in inputs_of(model):
        if not one.levels:
            continue
        counts = [above(j, 0.5) for j in one.columns]
        first = Side(f"{one.name} {one.levels[0]}", rows - np.sum(counts, axis=0))
        for j, level, count in zip(one.columns, one.levels[1:], counts, strict=False):
            text = f"where {one.name} is {level} rather than {one.levels[0]}"
            found[j] = Comparison(text, 1.0, first, Side(f"{one.name} {level}", count))
    for j, name in enumerate(feature_names(model)):
        values = two(j) if found[j] is None else None
        if values is not None:
            low, high = map(short, values)
            count = above(j, (values[0] + values[1]) / 2)
            sides = Side(f"{name} {low}", rows - count), Side(f"{name} {high}", count)
            found[j] = Comparison(f"where {name} is {high} rather than {low}", values[1] - values[0], *sides)
    return found


def _counted(X: np.ndarray, P: np.ndarray) -> tuple[Above, Two]:
    """Count given rows."""
    return lambda j, cutoff: P.T @ (X[:, j] > cutoff), lambda j: two_values(X[:, j])


def _noted(model: MixtureOfExperts, rows: np.ndarray, regimes: Sequence[Regime]) -> tuple[Above, Two]:
    """Count by the means and standard deviations stored in a fit, which determine the rows of two values."""
    center, spread = (np.array([getattr(regime, name) for regime in regimes]) for name in ("center", "spread"))
    low, high = (np.asarray(ends) for ends in (model.record_.inputs.low, model.record_.inputs.high))

    def above(j: int, cutoff: float) -> np.ndarray:  # between the two values
        width = high[j] - low[j]
        return rows * (center[:, j] - low[j]) / width if width > 0 else 0.0 * rows

    def two(j: int) -> tuple[float, float] | None:
        away = spread[:, j] ** 2 - (center[:, j] - low[j]) * (high[j] - center[:, j])
        are_two = high[j] > low[j] and np.all(np.abs(away) <= EXACT * (high[j] - low[j]) ** 2)
        return (low[j], high[j]) if are_two else None

    return above, two
