"""Exact relations among columns of numbers: a linear or monotone function of a few, and columns that repeat others."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

__all__ = ["FEWEST_ROWS", "Linear", "function_of", "is_monotone", "linear_in", "repeated_pairs", "solved"]

FEWEST_ROWS = 20  # below which a relation may be chance
MOST_COLUMNS = 500  # above which linear functions of several inputs are not looked for
EXACT = 1e-6  # share of the variance of the output that a relation may leave: outputs are rounded
SAME = 1e-9  # the same for an input that repeats another
ROUNDING = 1e-9  # error, relative to the largest output, that is none
LEAST_SPREAD = 1e-12  # standard deviation, relative to the largest value, below which a column is constant
MOST_TERMS = 5  # of a linear relation that is worth telling
MOST_TRIED = 40  # inputs with a slope, above which no few of them are looked for
EVEN = 1.25  # largest gap over the smallest of an input of even steps: months differ by that
DIFFERENT = 10  # values of an input and of the output below which an order may be chance
FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "log": np.log,
    "exp": np.exp,
    "square": np.square,
    "square root": np.sqrt,
    "reciprocal": np.reciprocal,
}


class Linear(NamedTuple):
    """A linear relation: inputs, their slopes, the constant, and its largest error."""

    columns: list[int]
    slopes: np.ndarray
    constant: float
    error: float


def linear_in(X: np.ndarray, y: np.ndarray) -> Linear | None:
    """Find the few inputs of which the output is a linear function."""
    Z, able = _standardised(X)
    t, varies = _standardised(y[:, None])
    if not varies.size:
        return None
    t = t[:, 0]
    G, c = Z.T @ Z / len(Z), Z.T @ t / len(Z)
    if np.any(copies := 1 - c**2 < EXACT):
        return solved(X, y, [int(able[np.argmax(copies)])])
    if len(able) > MOST_COLUMNS or len(X) < max(FEWEST_ROWS, 2 * (len(able) + 1)):
        return None
    coef, left = _regression(G, c)
    if left > EXACT:
        return None
    columns = [int(j) for j in np.argsort(-np.abs(coef)) if abs(coef[j]) > EXACT]
    if len(columns) > MOST_TRIED:
        return None
    for j in reversed(columns.copy()):  # those of little weight go first
        fewer = [i for i in columns if i != j]
        if fewer and _regression(G[np.ix_(fewer, fewer)], c[fewer])[1] < EXACT:
            columns = fewer
    return solved(X, y, sorted(int(able[j]) for j in columns)) if len(columns) <= MOST_TERMS else None


def _regression(G: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, float]:
    """Return coefficients of standardised inputs, and the share of the output's variance that they leave."""
    coef = np.linalg.pinv(G, rcond=1e-12, hermitian=True) @ c
    return coef, float(1 - 2 * c @ coef + coef @ G @ coef)


def solved(X: np.ndarray, y: np.ndarray, columns: list[int]) -> Linear:
    """Return the relation in the units of the data, with slopes and a constant that are whole where they can be."""
    low = X[0, columns]
    D = np.column_stack([X[:, columns] - low, np.ones(len(X))])
    slopes = np.linalg.lstsq(D, y, rcond=None)[0]
    near, constant = np.round(slopes[:-1]), float(slopes[-1] - low @ slopes[:-1])
    rest = y - X[:, columns] @ near
    if np.all(near != 0) and np.std(rest) <= np.sqrt(EXACT) * np.std(y):
        constant, slopes = float(np.mean(rest)), np.append(near, 0.0)
        constant = 0.0 if abs(constant) <= np.sqrt(EXACT) * np.std(y) else constant
    rounding = ROUNDING * float(np.max(np.abs(y)))
    constant = constant if abs(constant) > rounding else 0.0
    error = float(np.max(np.abs(y - X[:, columns] @ slopes[:-1] - constant)))
    return Linear(columns, slopes[:-1], constant, error if error > rounding else 0.0)


def is_monotone(x: np.ndarray, y: np.ndarray) -> bool:
    """Return whether the output is monotone in an input; equal values of either may be rounded ones.

    Steps of few values, and an order in which half of the values are the same, do not count. What grows in even steps,
    or along them, such as years, is a trend, and counts only if it is one of `FUNCTIONS`.
    """
    few = slice(0, len(x), max(1, len(x) // 100))
    if not any(_rises(s * x[few], y[few]) and _rises(s * x, y) for s in (1, -1)):
        return False
    counts = [np.unique(v, return_counts=True) for v in (x, y)]
    different = sorted(len(values) for values, _ in counts)
    if different[0] < max(DIFFERENT, different[1] / 2) or any(2 * np.max(often) > len(x) for _, often in counts):
        return False
    gaps = [np.diff(values) for values, _ in counts if len(values) == len(x)]
    trend = any(np.max(steps) <= EVEN * np.min(steps) for steps in gaps)
    return not trend or bool(function_of(x, y))


def _rises(x: np.ndarray, y: np.ndarray) -> bool:
    return bool(np.all(np.diff(y[np.lexsort((y, x))]) >= 0))


def function_of(x: np.ndarray, y: np.ndarray) -> str:
    """Return the name of the function of an input in which the output is linear."""
    with np.errstate(all="ignore"):
        for name, function in FUNCTIONS.items():
            values = function(x)
            if np.all(np.isfinite(values)) and np.ptp(values) > 0 and 1 - np.corrcoef(values, y)[0, 1] ** 2 < EXACT:
                return name
    return ""


def repeated_pairs(X: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs of columns (i, j), i before j, of which j is a linear function of i, the first such column."""
    Z, able = _standardised(X)
    found: list[tuple[int, int]] = []
    same = 1 - np.abs(Z.T @ Z / max(len(Z), 1)) < SAME
    np.fill_diagonal(same, val=False)
    for b in np.flatnonzero(np.any(np.tril(same), axis=1)):
        a = int(np.argmax(same[b]))
        away = Z[:, b] - np.sign(Z[:, a] @ Z[:, b]) * Z[:, a]
        if np.max(np.abs(away)) <= np.sqrt(SAME):
            found.append((int(able[a]), int(able[b])))
    return found


def _standardised(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns that vary, with mean zero and variance one, and their indices."""
    largest = np.max(np.abs(X), axis=0, initial=0.0)
    Z = X / np.where(largest > 0, largest, 1.0)  # whose squares are numbers
    Z = Z - np.mean(Z, axis=0)
    scale = np.sqrt(np.mean(Z**2, axis=0))
    able = np.flatnonzero(scale > LEAST_SPREAD)
    return Z[:, able] / scale[able], able
