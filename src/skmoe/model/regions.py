r"""Smallest sets of a given probability, and integrals, of densities with several humps.

A density of each row is looked at on nodes that are close where it changes. Its maxima and minima are found between
them, so that it is monotone from node to node; the set where it exceeds a threshold then ends where it crosses the
threshold between two nodes, and the threshold is moved until the set has the probability asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

__all__ = ["less_likely", "smallest_sets", "squared_deviation"]

GOLDEN = (np.sqrt(5) - 1) / 2
GOLDEN_STEPS = 36  # a bracket of two cells shrinks to 3e-8 of itself, its height error to the square of that
ROOT_STEPS = 100
GAUSS = ((-np.sqrt(0.6), 5 / 18), (0.0, 8 / 18), (np.sqrt(0.6), 5 / 18))  # Gauss-Legendre, for an interval of length 1


class Laws(Protocol):
    """Laws of n rows, by index; outputs are (n,) or (n, m)."""

    def __len__(self) -> int: ...

    def take(self, rows: np.ndarray) -> Laws:
        """The laws of some rows."""

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Log density."""

    def tails(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Probability below and above."""


Function = Callable[[np.ndarray], np.ndarray]


def _root(function: Function, a: np.ndarray, b: np.ndarray, fa: np.ndarray, fb: np.ndarray) -> np.ndarray:
    """Zeros of a function between a and b, where its signs differ: false position that halves every third step."""
    x = a
    for step in range(ROOT_STEPS):
        with np.errstate(invalid="ignore", divide="ignore"):
            x = np.where((step % 3 == 2) | ~np.isfinite(fa * fb), 0.5 * (a + b), b - fb * (b - a) / (fb - fa))
        x = np.where(np.isfinite(x), x, 0.5 * (a + b))
        fx = function(x)
        # the end that stays counts half, so that it does not stay for ever (Illinois)
        same = np.sign(fx) == np.sign(fb)
        a, fa = np.where(same, a, b), np.where(same, 0.5 * fa, fb)
        b, fb = x, fx
        if np.all((np.abs(fx) < 1e-12) | (np.abs(b - a) <= 1e-14 * (np.abs(a) + np.abs(b)))):
            break
    return x


def _extremes(laws: Laws, nodes: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nodes, with those at a maximum or minimum of the density moved to where exactly it is, and log densities."""
    left, middle, right = heights[:, :-2], heights[:, 1:-1], heights[:, 2:]
    peak, valley = (middle >= left) & (middle >= right), (middle <= left) & (middle <= right)
    row, cell = np.nonzero(peak | valley)
    if not len(row):
        return nodes, heights
    sign = np.where(peak[row, cell], 1.0, -1.0)
    part = laws.take(row)
    low, high = nodes[row, cell], nodes[row, cell + 2]
    x1, x2 = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    f1, f2 = sign * part.logpdf(x1), sign * part.logpdf(x2)
    for _ in range(GOLDEN_STEPS):
        first = f1 >= f2
        low, high = np.where(first, low, x1), np.where(first, x2, high)
        new = np.where(first, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        value = sign * part.logpdf(new)
        x1, f1, x2, f2 = (
            np.where(first, new, x2),
            np.where(first, value, f2),
            np.where(first, x1, new),
            np.where(first, f1, value),
        )
    better = np.maximum(f1, f2) > sign * middle[row, cell]
    nodes, heights = nodes.copy(), heights.copy()
    nodes[row[better], cell[better] + 1] = np.where(f1 >= f2, x1, x2)[better]
    heights[row[better], cell[better] + 1] = (sign * np.maximum(f1, f2))[better]
    order = np.argsort(nodes, axis=1)
    return np.take_along_axis(nodes, order, axis=1), np.take_along_axis(heights, order, axis=1)


def _reaching(
    laws: Laws, nodes: np.ndarray, heights: np.ndarray, threshold: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes with more of them on either side, until the density at the ends is below a log threshold."""
    step = nodes[:, -1] - nodes[:, 0]
    step = np.where(step > 0, step, 1.0)
    while np.any(heights[:, 0] >= threshold) or np.any(heights[:, -1] >= threshold):
        low, high = nodes[:, 0] - step, nodes[:, -1] + step
        nodes = np.column_stack([low, nodes, high])
        heights = np.column_stack([laws.logpdf(low), heights, laws.logpdf(high)])
        step = 2 * step
    return nodes, heights


def _edges(
    laws: Laws, nodes: np.ndarray, heights: np.ndarray, threshold: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where log densities cross their thresholds: rows, outputs, and whether they rise; sorted by row and output."""
    above = heights > threshold[:, None]
    row, cell = np.nonzero(above[:, 1:] != above[:, :-1])
    rising = above[row, cell + 1]
    part, level = laws.take(row), threshold[row]
    fa, fb = heights[row, cell] - level, heights[row, cell + 1] - level
    return row, _root(lambda y: part.logpdf(y) - level, nodes[row, cell], nodes[row, cell + 1], fa, fb), rising


def _outside(laws: Laws, row: np.ndarray, edge: np.ndarray, rising: np.ndarray) -> np.ndarray:
    """Probability outside the sets between rising and falling edges, to relative precision where it is in the tails."""
    below, above = laws.take(row).tails(edge)
    lower = below < above
    sign = np.where(rising, 1.0, -1.0)
    small = np.bincount(row, np.where(lower, sign * below, -sign * above), minlength=len(laws))
    # edges above the median: probability one less the upper tail; the ones cancel where the median is inside the set
    ones = 1 + np.bincount(row, np.where(lower, 0.0, sign), minlength=len(laws))
    return small + ones


def smallest_sets(laws: Laws, nodes: np.ndarray, outside: float) -> list[np.ndarray]:
    """Intervals (m, 2), in ascending order, that leave the probability `outside` out and are shortest in all.

    Parameters
    ----------
    laws : laws of n rows
    nodes : (n, G) array
        Outputs among which the humps of the densities show, in any order.
    outside : float in (0, 1)
    """
    nodes = np.sort(nodes, axis=1)
    nodes, heights = _extremes(laws, nodes, laws.logpdf(nodes))
    high = np.max(heights, axis=1)
    low = np.minimum(heights[:, 0], heights[:, -1])

    def excess(threshold: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            found = _outside(laws, *_edges(laws, nodes, heights, threshold))
            return np.log(np.maximum(found, 1e-300) / outside)

    nodes, heights = _reaching(laws, nodes, heights, low)
    step = 1.0
    while np.any(short := excess(low) > 0):
        low, step = np.where(short, low - step, low), 2 * step
        nodes, heights = _reaching(laws, nodes, heights, low)
    threshold = _root(excess, low, high, excess(low), np.full(len(laws), -np.log(outside)))
    row, edge, _ = _edges(laws, nodes, heights, threshold)
    ends = np.cumsum(np.bincount(row, minlength=len(laws)))
    return [part.reshape(-1, 2) for part in np.split(edge, ends[:-1])]


def less_likely(laws: Laws, nodes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Probability of outputs of lower density than at y, (n,); see `smallest_sets` for the nodes."""
    nodes = np.sort(nodes, axis=1)
    nodes, heights = _extremes(laws, nodes, laws.logpdf(nodes))
    threshold = laws.logpdf(y)
    nodes, heights = _reaching(laws, nodes, heights, threshold)
    return np.clip(_outside(laws, *_edges(laws, nodes, heights, threshold)), 0, 1)


def squared_deviation(laws: Laws, nodes: np.ndarray, center: np.ndarray) -> np.ndarray:
    r"""Mean squared deviation from `center`, outputs beyond the first and last node counted as if they were there.

    .. math:: 2 \int_{m}^{b} (y - m)\, P(Y > y)\, dy + 2 \int_{a}^{m} (m - y)\, P(Y < y)\, dy

    by Gauss-Legendre quadrature between sorted nodes, one of which is the centre.
    """
    middle, width = 0.5 * (nodes[:, 1:] + nodes[:, :-1]), nodes[:, 1:] - nodes[:, :-1]
    total = np.zeros(len(laws))
    for node, weight in GAUSS:
        y = middle + 0.5 * node * width
        below, above = laws.tails(y)
        deviation = y - center[:, None]
        total += 2 * weight * np.sum(width * np.abs(deviation) * np.where(deviation > 0, above, below), axis=1)
    return total
