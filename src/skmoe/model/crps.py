r"""Continuous ranked probability score of predictive distributions, in the units of the output; lower is better.

For a distribution function F and an output y,

.. math:: \mathrm{CRPS}(F, y) = \int (F(z) - 1\{z \ge y\})^2 \, dz

It is the absolute error where F puts all its probability on one number. Mixtures of Gaussians have a closed form
(Grimit, Gneiting, Berrocal and Johnson, 2006), with :math:`A(m, s^2) = E|m + s Z|`:

.. math:: \sum_j w_j A(y - m_j, s_j^2) - \tfrac12 \sum_{ij} w_i w_j A(m_i - m_j, s_i^2 + s_j^2)

All other distributions are integrated numerically, by panels that are halved where two quadrature rules differ, or the
ends of the panel do not lie on the curve through the points inside. F is monotone, so a step inside a panel gives
different values on either side.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.interpolate import BarycentricInterpolator
from scipy.special import ndtr

__all__ = ["gaussian_mixture_crps", "integrated_crps"]

WORK = 2**22  # values of the largest temporary
PANELS = 4  # of equal length between the bounds, to start with
ROUNDS = 100  # of halving: more than a double has digits
EXACT = 1e-8  # difference of the two rules, relative to the whole integral, below which a panel is done
SUMMED = 64  # values of a discrete output in a panel from which on they are summed one by one
# Gauss-Kronrod rule of 15 points for [-1, 1], and the 7 of Gauss-Legendre among them
HALF = np.concatenate(
    [
        (0.9914553711208126, 0.9491079123427585, 0.8648644233597691, 0.7415311855993945),
        (0.5860872354676911, 0.4058451513773972, 0.2077849550078985, 0.0),
    ]
)
KRONROD = np.concatenate(
    [
        (0.0229353220105292, 0.0630920926299786, 0.1047900103222502, 0.1406532597155259),
        (0.1690047266392679, 0.1903505780647854, 0.2044329400752989, 0.2094821410847278),
    ]
)
GAUSS = np.array([0, 0.1294849661688697, 0, 0.2797053914892767, 0, 0.3818300505051189, 0, 0.4179591836734694])
POINTS = np.concatenate([-HALF, HALF[-2::-1]])
RULES = np.stack([np.concatenate([half, half[-2::-1]]) for half in (KRONROD, GAUSS)])  # (2, 15)
# weights by which values at the points give those at the ends of the panel, (2, 15)
ENDS = np.stack([BarycentricInterpolator(POINTS, np.eye(15))(end) for end in (-1.0, 1.0)])

Cdf = Callable[[np.ndarray, np.ndarray], np.ndarray]


def gaussian_mixture_crps(weights: np.ndarray, centers: np.ndarray, scales: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the CRPS of Gaussian mixtures by the closed form.

    Parameters
    ----------
    weights, centers, scales : (n, K) arrays
        Components of each row; weights add up to one.
    y : (n,) array
        Outputs.

    Returns
    -------
    (n,) array
        Scores.
    """
    found = np.sum(weights * _mean_size(y[:, None] - centers, scales), axis=1)
    size = max(1, WORK // centers.shape[1] ** 2)
    for start in range(0, len(y), size):
        w, m, s = (a[start : start + size] for a in (weights, centers, scales))
        between = _mean_size(m[:, :, None] - m[:, None, :], np.hypot(s[:, :, None], s[:, None, :]))
        found[start : start + size] -= 0.5 * np.einsum("ni,nij,nj->n", w, between, w)
    return found


def _mean_size(mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the mean absolute value of Gaussians."""
    z = mean / scale
    return mean * (2 * ndtr(z) - 1) + scale * np.sqrt(2 / np.pi) * np.exp(-0.5 * z * z)


def integrated_crps(
    cdf: Cdf, y: np.ndarray, low: np.ndarray, high: np.ndarray, *, discrete: bool = False, width: int = 1
) -> np.ndarray:
    """Return the CRPS by numerical integration between the bounds and to the output where that is outside.

    Parameters
    ----------
    cdf : callable
        Distribution function: takes indices (p,) of rows and outputs (p, m), returns probabilities (p, m).
    y : (n,) array
        Outputs.
    low, high : (n,) arrays
        Bounds outside which the distribution has next to no probability. Where they are infinite the score is.
    discrete : bool
        Whether the distribution is on whole numbers.
    width : int
        Numbers that `cdf` holds for each output, to bound memory.

    Returns
    -------
    (n,) array
        Scores.
    """
    start = np.floor(y) if discrete else y
    low, high = np.minimum(low, start), np.maximum(high, start)
    finite = np.isfinite(low) & np.isfinite(high)
    edges = low[finite, None] + (high - low)[finite, None] * np.linspace(0, 1, PANELS + 1)
    edges = np.sort(np.column_stack([np.round(edges) if discrete else edges, start[finite]]), axis=1)
    rows = np.repeat(np.nonzero(finite)[0], PANELS + 1)
    a, b = edges[:, :-1].ravel(), edges[:, 1:].ravel()
    n, done, pending = len(y), np.zeros(len(y)), np.zeros(len(y))
    for _ in range(ROUNDS):
        some = b > a
        rows, a, b = rows[some], a[some], b[some]
        if not len(rows):
            break
        value, error = _panels(cdf, rows, a, b, a >= start[rows], discrete, width)
        good = error <= EXACT * (done + np.bincount(rows, value, n))[rows]
        done += np.bincount(rows[good], value[good], n)
        rows, a, b = rows[~good], a[~good], b[~good]
        pending = np.bincount(rows, value[~good], n).astype(np.float64)
        middle = a + 0.5 * (b - a)
        middle = np.floor(middle) if discrete else middle
        rows, a, b = np.tile(rows, 2), np.concatenate([a, middle]), np.concatenate([middle, b])
    found = np.where(finite, done + pending, np.inf)
    between = y - start
    if np.any(between > 0):  # outputs between whole numbers, where the score is a line
        found += between * (2 * cdf(np.arange(len(y)), start[:, None])[:, 0] - 1)
    return found


def _panels(
    cdf: Cdf, rows: np.ndarray, a: np.ndarray, b: np.ndarray, above: np.ndarray, discrete: bool, width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the integrals over the panels from a to b, and the differences of two rules."""
    value, error = np.empty(len(rows)), np.zeros(len(rows))
    few = (b - a <= SUMMED) & discrete
    for where, points in ((np.nonzero(few)[0], SUMMED), (np.nonzero(~few)[0], 2 * len(POINTS) + 4)):
        size = max(1, WORK // (points * width))
        for begin in range(0, len(where), size):
            panels = where[begin : begin + size]
            r, left, length, top = rows[panels], a[panels, None], (b - a)[panels, None], above[panels, None]
            if points == SUMMED:
                steps = np.arange(int(np.max(length)))
                height = np.where(top, 1 - cdf(r, left + steps), cdf(r, left + steps)) ** 2
                value[panels] = np.sum(np.where(steps < length, height, 0), axis=1)
                continue
            z = np.column_stack([left, left + 0.5 * length * (1 + POINTS), left + length])
            level = _line(cdf, r, z) if discrete else cdf(r, z)
            height = np.where(top, 1 - level, level) ** 2
            both = 0.5 * length * (height[:, 1:-1] @ RULES.T)
            missed = np.sum(np.abs(height[:, [0, -1]] - height[:, 1:-1] @ ENDS.T), axis=1) * (1 - HALF[0])
            value[panels], error[panels] = both[:, 0], np.abs(both[:, 0] - both[:, 1]) + 0.5 * length[:, 0] * missed
    return value, error


def _line(cdf: Cdf, rows: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return the distribution function of whole numbers as lines through the middles of its steps."""
    below = np.floor(z - 0.5)
    share = z - 0.5 - below
    return (1 - share) * cdf(rows, below) + share * cdf(rows, below + 1)
