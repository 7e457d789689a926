r"""Smallest sets of a given probability, and integrals, of densities with several modes.

The density of each row is evaluated on nodes that are close where it changes. Its maxima and minima are found between
them, so that it is monotone from node to node; the set where it exceeds a threshold then ends where it crosses the
threshold between two nodes, and the threshold is moved until the set has the probability wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

__all__ = ["log_less_likely", "smallest_sets", "squared_deviation"]

GOLDEN = (np.sqrt(5) - 1) / 2
GOLDEN_STEPS = 36  # a bracket of two cells shrinks to 3e-8 of itself, its height error to the square of that
ROOT_STEPS = 100
COARSE_STEPS = 40
OUTWARDS = 200  # doublings of the range of nodes
FARTHEST = 1e100  # largest node, beyond which the density is zero
GROWING_STEPS = 10  # to 7000 in the log of the density
FIRST_STEP = 0.02  # about the error of the coarse threshold
EXACT = 1e-11  # to which roots are found: logs of densities and of probabilities
RESOLVED = float(np.log(1e-13))  # least log probability of a gap that is found as a difference
TINY = 1e-300
LEAST_HEIGHT = -700.0  # relative to the highest, in the log of a density: the rest counts as zero
WRONG = 1e-7  # relative error of the probability outside a set from which on cells are divided
REFINEMENTS = 5  # rounds in which cells are divided where the density is not monotone inside
DIVISIONS = 16
GAUSS = ((-np.sqrt(0.6), 5 / 18), (0.0, 8 / 18), (np.sqrt(0.6), 5 / 18))  # Gauss-Legendre, for an interval of length 1


class Distributions(Protocol):
    """Distributions of n rows, by index; outputs are (n,) or (n, m)."""

    def __len__(self) -> int: ...

    def take(self, rows: np.ndarray) -> Distributions:
        """Return the distributions of some rows."""

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Return the log density."""

    def log_tails(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log probability below and above."""


Function = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _root(function: Function, a: np.ndarray, b: np.ndarray, fa: np.ndarray, fb: np.ndarray) -> np.ndarray:
    """Zeros between a and b, where signs differ: false position that halves the bracket every third step.

    `function` takes points and their indices; what has converged is left out of later steps.
    """
    x, index = np.where(fb == 0, b, a), np.nonzero((fa != 0) & (fb != 0))[0]
    a, b, fa, fb = a[index], b[index], fa[index], fb[index]
    for step in range(ROOT_STEPS):
        if not len(index):
            break
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            new = b - fb * (b - a) / (fb - fa)
        inside = (new > np.minimum(a, b)) & (new < np.maximum(a, b)) & (step % 3 != 2)
        new = np.where(inside, new, 0.5 * (a + b))
        value = function(new, index)
        # the value at the end that is kept is halved, so that it is replaced in time (Illinois)
        same = np.sign(value) == np.sign(fb)
        a, fa = np.where(same, a, b), np.where(same, 0.5 * fa, fb)
        b, fb = new, value
        x[index] = new
        active = (np.abs(value) > EXACT) & (np.abs(b - a) > 1e-14 * (np.abs(a) + np.abs(b)))
        index, a, b, fa, fb = (v[active] for v in (index, a, b, fa, fb))
    return x


def _extremes(distributions: Distributions, nodes: np.ndarray, heights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Move nodes at a maximum or minimum of the density to its exact position; return nodes and log densities."""
    left, middle, right = heights[:, :-2], heights[:, 1:-1], heights[:, 2:]
    peak, valley = (middle >= left) & (middle >= right), (middle <= left) & (middle <= right)
    row, cell = np.nonzero(peak | valley)
    if not len(row):
        return nodes, heights
    sign = np.where(peak[row, cell], 1.0, -1.0)
    turning = distributions.take(row)
    low, high = nodes[row, cell], nodes[row, cell + 2]
    x1, x2 = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    f1, f2 = sign * turning.logpdf(x1), sign * turning.logpdf(x2)
    for _ in range(GOLDEN_STEPS):
        first = f1 >= f2
        low, high = np.where(first, low, x1), np.where(first, x2, high)
        new = np.where(first, high - GOLDEN * (high - low), low + GOLDEN * (high - low))
        value = sign * turning.logpdf(new)
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


@dataclass(frozen=True)
class Profile:
    """Log densities of n distributions at sorted nodes (n, G), assumed to be monotone between them."""

    distributions: Distributions
    nodes: np.ndarray
    heights: np.ndarray

    @classmethod
    def of(cls, distributions: Distributions, nodes: np.ndarray) -> Profile:
        """Return the profile at nodes given in any order, and at the maxima and minima between them."""
        nodes = np.sort(nodes, axis=1)
        return cls(distributions, *_extremes(distributions, nodes, distributions.logpdf(nodes)))

    def take(self, rows: np.ndarray) -> Profile:
        """Return the profile of some rows."""
        return Profile(self.distributions.take(rows), self.nodes[rows], self.heights[rows])

    def extended(self, threshold: np.ndarray) -> Profile:
        """Add nodes on either side until the density at the ends is below a log threshold."""
        nodes, heights = self.nodes, self.heights.copy()
        step = nodes[:, -1] - nodes[:, 0]
        step = np.where(step > 0, step, 1.0)
        for _ in range(OUTWARDS):
            if not np.any(np.maximum(heights[:, 0], heights[:, -1]) >= threshold):
                break
            low, high = np.maximum(nodes[:, 0] - step, -FARTHEST), np.minimum(nodes[:, -1] + step, FARTHEST)
            nodes = np.column_stack([low, nodes, high])
            heights = np.column_stack([self.distributions.logpdf(low), heights, self.distributions.logpdf(high)])
            step = 2 * step
        heights[:, [0, -1]] = np.where(heights[:, [0, -1]] < threshold[:, None], heights[:, [0, -1]], -np.inf)
        return Profile(self.distributions, nodes, heights)

    def crossings(self, threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows and cells in which log densities cross their thresholds, and whether they rise; sorted."""
        above = self.heights > threshold[:, None]
        row, cell = np.nonzero(above[:, 1:] != above[:, :-1])
        return row, cell, above[row, cell + 1]

    def edges(self, threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows and outputs at which log densities cross their thresholds, and whether they rise; sorted."""
        row, cell, rising = self.crossings(threshold)
        level = threshold[row]
        fa, fb = self.heights[row, cell] - level, self.heights[row, cell + 1] - level

        def excess(y: np.ndarray, index: np.ndarray) -> np.ndarray:
            return self.distributions.take(row[index]).logpdf(y) - level[index]

        return row, _root(excess, self.nodes[row, cell], self.nodes[row, cell + 1], fa, fb), rising

    def log_outside(self, threshold: np.ndarray) -> np.ndarray:
        """Return the log probability of densities below a log threshold: both tails and the gaps between modes."""
        row, edge, rising = self.edges(threshold)
        below, above = self.distributions.take(row).log_tails(edge)
        total = np.full(len(self.distributions), -np.inf)
        if not len(row):
            return np.zeros_like(total)
        other = row[1:] != row[:-1]
        first, last = np.append(True, other), np.append(other, True)
        total[row[first]] = np.logaddexp(below[first], above[last])
        gap = np.nonzero(~other & rising[1:])[0]
        with np.errstate(divide="ignore"):
            # in the lower half a difference of lower tails, in the upper half one of upper tails
            a, b = (
                np.where(below[gap + 1] < np.log(0.5), *pair)
                for pair in ((below[gap], above[gap + 1]), (below[gap + 1], above[gap]))
            )
            mass = np.log(np.maximum(np.exp(b) - np.exp(a), 0))
        # a difference that is lost in rounding is at most the threshold times the length
        most = np.minimum(threshold[row[gap]] + np.log(np.maximum(edge[gap + 1] - edge[gap], TINY)), RESOLVED)
        np.logaddexp.at(total, row[gap], np.where(mass > RESOLVED, mass, most))
        total[np.bincount(row, minlength=len(total)) == 0] = 0.0
        return np.minimum(total, 0.0)

    def divided(self, threshold: np.ndarray) -> np.ndarray:
        """Return nodes, with more of them in the cells where thresholds are crossed."""
        row, cell, _ = self.crossings(threshold)
        share = np.arange(1, DIVISIONS) / DIVISIONS
        low, high = self.nodes[row, cell], self.nodes[row, cell + 1]
        more = low[:, None] + share * (high - low)[:, None]
        number = np.bincount(row, minlength=len(self.distributions))
        place = np.arange(len(row)) - np.repeat(np.cumsum(number) - number, number)
        # the first node again where there are fewer
        added = np.repeat(self.nodes[:, :1], np.max(number) * len(share), axis=1)
        for j in range(len(share)):
            added[row, place * len(share) + j] = more[:, j]
        return np.column_stack([self.nodes, added])


def _coarse_threshold(nodes: np.ndarray, heights: np.ndarray, log_outside: float) -> np.ndarray:
    """Return the threshold for a density whose log is linear between nodes, by halving."""
    width = np.diff(nodes, axis=1)
    heights = np.maximum(heights, np.max(heights, axis=1, keepdims=True) + LEAST_HEIGHT)
    low, high = np.min(heights, axis=1), np.max(heights, axis=1)
    top, bottom = np.maximum(heights[:, 1:], heights[:, :-1]), np.minimum(heights[:, 1:], heights[:, :-1])
    per = width / np.maximum(top - bottom, 1e-9)
    peak = high[:, None]
    ends = np.exp(top - peak), np.exp(bottom - peak)
    total = np.sum(per * (ends[0] - ends[1]), axis=1)
    for _ in range(COARSE_STEPS):
        c = 0.5 * (low + high)
        # probability below the threshold, as a share of all
        outside = np.sum(per * (np.minimum(ends[0], np.exp(c[:, None] - peak)) - ends[1]).clip(0), axis=1) / total
        more = outside > np.exp(log_outside)
        low, high = np.where(more, low, c), np.where(more, c, high)
    return 0.5 * (low + high)


def _threshold(profile: Profile, log_outside: float) -> tuple[Profile, np.ndarray]:
    """Return the log density that a given probability lies below, and the profile with nodes that reach as far."""
    peak = np.max(profile.heights, axis=1)
    start = _coarse_threshold(profile.nodes, profile.heights, log_outside)

    def excess(threshold: np.ndarray, index: np.ndarray) -> np.ndarray:
        return profile.take(index).log_outside(threshold) - log_outside

    # from the coarse threshold in growing steps, until one set is too large and one too small
    ends = []
    for sign in (-1.0, 1.0):
        end, value, step = start + sign * FIRST_STEP, np.empty(len(start)), FIRST_STEP
        short = np.arange(len(start))
        for _ in range(GROWING_STEPS):
            if not len(short):
                break
            end[short] = np.minimum(end[short], peak[short])
            profile = profile.extended(end)
            value[short] = excess(end[short], short)
            short = short[(sign * value[short] < 0) & (end[short] < peak[short])]
            step = 4 * step
            end[short] += sign * step
        ends.append((end, value))
    (low, below), (high, above) = ends
    return profile, _root(excess, low, high, below, above)


def smallest_sets(
    distributions: Distributions, nodes: np.ndarray, log_outside: float, rounds: int = REFINEMENTS
) -> list[np.ndarray]:
    """Return intervals (m, 2), in ascending order, that leave a given probability out and are shortest in all.

    Parameters
    ----------
    distributions : distributions of n rows
    nodes : (n, G) array
        Outputs that resolve the modes of the densities, in any order.
    log_outside : float
        Log of the probability to be left out.
    rounds : int
        Times that cells may be divided where a density has a maximum and a minimum between nodes.
    """
    profile, threshold = _threshold(Profile.of(distributions, nodes), log_outside)
    row, edge, _ = profile.edges(threshold)
    ends = np.cumsum(np.bincount(row, minlength=len(distributions)))
    found = [bounds.reshape(-1, 2) for bounds in np.split(edge, ends[:-1])]
    wrong = np.nonzero(np.abs(profile.log_outside(threshold) - log_outside) > WRONG)[0]
    if rounds and len(wrong):
        closer = profile.take(wrong).divided(threshold[wrong])
        for i, refined in zip(
            wrong, smallest_sets(distributions.take(wrong), closer, log_outside, rounds - 1), strict=True
        ):
            found[i] = refined
    return found


def log_less_likely(distributions: Distributions, nodes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the log probability of outputs of lower density than at y, (n,); see `smallest_sets` for the nodes."""
    threshold = distributions.logpdf(y)
    return Profile.of(distributions, nodes).extended(threshold).log_outside(threshold)


def squared_deviation(distributions: Distributions, nodes: np.ndarray, center: np.ndarray) -> np.ndarray:
    r"""Return the mean squared deviation from `center`, outputs clipped to the first and last node.

    .. math:: 2 \int_{m}^{b} (y - m)\, P(Y > y)\, dy + 2 \int_{a}^{m} (m - y)\, P(Y < y)\, dy

    by Gauss-Legendre quadrature between sorted nodes, one of which is the centre.
    """
    middle, width = 0.5 * (nodes[:, 1:] + nodes[:, :-1]), nodes[:, 1:] - nodes[:, :-1]
    total = np.zeros(len(distributions))
    for node, weight in GAUSS:
        y = middle + 0.5 * node * width
        below, above = distributions.log_tails(y)
        deviation = y - center[:, None]
        total += 2 * weight * np.sum(width * np.abs(deviation) * np.exp(np.where(deviation > 0, above, below)), axis=1)
    return total
