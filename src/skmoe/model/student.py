r"""Standard Student t and Gaussian distributions, elementwise: density, probabilities and quantiles.

Degrees of freedom are arrays that broadcast against the arguments, with infinity for a Gaussian, or None where all are
Gaussian, which is faster. Both are symmetric: the upper tail at s is the probability below -s.
"""

from __future__ import annotations

from math import lgamma, log
from typing import Any

import numpy as np
from scipy.special import digamma, gammaln, log_ndtr, ndtr, ndtri, stdtr, stdtrit

from skmoe.model.special import HALF_LOG_2PI

__all__ = ["cdf", "draw", "log_cdf", "log_density", "log_density_and_slopes", "quantile"]

SERIES = 0.01  # reciprocal degrees of freedom below which differences of log gamma would lose digits
UNDERFLOW = 1e-290
TINY = 1e-100  # reciprocal degrees of freedom that are none
SMALL = 1e-3  # products of them and squares below which a series has more digits than a difference
LEAST_LEVEL = 1e-190  # SciPy finds no Student quantiles of lower levels
FARTHEST = 1e150  # whose square is still a double


def log_normaliser(u: Any) -> np.ndarray:
    """Return the log density at zero for reciprocal degrees of freedom u, to machine precision from 0 on."""
    u = np.asarray(u, dtype=np.float64)
    v = 1 / np.maximum(u, SERIES)
    exact = gammaln((v + 1) / 2) - gammaln(v / 2) - 0.5 * np.log(v / 2)
    return np.where(u < SERIES, -u / 4 + u**3 / 24 - u**5 / 20, exact) - HALF_LOG_2PI


def _log_ratio(w: np.ndarray) -> np.ndarray:
    """Return the function log(1 + w) / w, and its limit 1."""
    safe = np.maximum(w, 1e-12)
    return np.where(w > 1e-12, np.log1p(safe) / safe, 1.0)


def log_density(s: np.ndarray, dof: Any = None) -> np.ndarray:
    """Return the log density at s."""
    if dof is None:
        return -0.5 * s * s - HALF_LOG_2PI
    squares = np.clip(s, -FARTHEST, FARTHEST) ** 2
    u = 1 / np.asarray(dof, dtype=np.float64)
    return log_normaliser(u) - 0.5 * (1 + u) * squares * _log_ratio(u * squares)


def log_density_and_slopes(s: np.ndarray, u: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the log density at s, and its derivatives over s and over the reciprocal degrees of freedom u."""
    squares = s * s
    w = u * squares
    logs, below = np.log1p(w), 1 / (1 + w)
    ratio = logs / u if u > TINY else squares  # of s^2 log(1 + w) / w
    # s^4 times the derivative of log(1 + w) / w, whose terms cancel where w is small
    series = -0.5 + w * (2 / 3 + w * (-3 / 4 + w * (4 / 5)))
    exact = (w * below - logs) / np.maximum(w, SMALL) ** 2
    derivative = squares * squares * np.where(w < SMALL, series, exact)
    constant, slope = _normaliser(float(u))
    return constant - 0.5 * (1 + u) * ratio, -(1 + u) * s * below, slope - 0.5 * (ratio + (1 + u) * derivative)


def _normaliser(u: float) -> tuple[float, float]:
    """Return the number `log_normaliser` of one u, and its derivative."""
    if u < SERIES:
        return -u / 4 + u**3 / 24 - u**5 / 20 - HALF_LOG_2PI, -0.25 + u**2 / 8 - u**4 / 4
    v = 1 / u
    value = lgamma((v + 1) / 2) - lgamma(v / 2) - 0.5 * log(v / 2) - HALF_LOG_2PI
    return value, -0.5 * v**2 * float(digamma((v + 1) / 2) - digamma(v / 2) - 1 / v)


def _either(gaussian: Any, student: Any, x: Any, dof: Any) -> np.ndarray:
    infinite = np.isinf(dof)
    if np.all(infinite):
        return np.broadcast_to(gaussian(x), np.broadcast_shapes(np.shape(x), np.shape(dof)))
    found = student(np.where(infinite, 1.0, dof), x)
    return np.where(infinite, gaussian(x), found) if np.any(infinite) else found


def cdf(s: np.ndarray, dof: Any = None) -> np.ndarray:
    """Return the probability of a value of at most s, to relative precision in the lower tail."""
    return ndtr(s) if dof is None else _either(ndtr, stdtr, s, dof)


def log_cdf(s: np.ndarray, dof: Any = None) -> np.ndarray:
    """Return the log of `cdf`, finite for any finite s."""
    if dof is None or np.all(np.isinf(dof)):
        return log_ndtr(s)
    infinite = np.isinf(dof)
    v = np.where(infinite, 1.0, dof)
    tail = stdtr(v, s)
    # beyond what a double holds: density over its log slope h, corrected by h' / h^2, exact for a power law
    far = np.clip(s, -FARTHEST, -1.0)
    h = (v + 1) * -far / (v + far**2)
    correction = (v - far**2) / ((v + 1) * far**2)
    beyond = log_density(far, v) - np.log(h) - np.log1p(correction)
    return np.where(infinite, log_ndtr(s), np.where(tail > UNDERFLOW, np.log(np.maximum(tail, UNDERFLOW)), beyond))


def quantile(level: Any, dof: Any = None) -> np.ndarray:
    """Return the value that is not exceeded with probability `level`; infinite at 0 and 1."""
    value = ndtri(level)
    if dof is None:
        return value
    found = _either(ndtri, stdtrit, np.clip(level, LEAST_LEVEL, 1 - 1e-16), dof)
    return np.where(np.isinf(value), value, found)


def draw(rng: np.random.Generator, dof: np.ndarray) -> np.ndarray:
    """Draw a value for each number of degrees of freedom."""
    finite = np.isfinite(dof)
    noise = np.asarray(rng.standard_normal(len(dof)))
    noise[finite] /= np.sqrt(rng.chisquare(dof[finite]) / dof[finite])
    return noise
