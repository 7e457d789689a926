r"""Positive outputs with gamma distributions whose log mean is the predictor.

The scale :math:`\sigma` is the coefficient of variation, so that the shape is :math:`a = \sigma^{-2}`, and with
:math:`u = y / \mu`

.. math:: f = a \log a - \log\Gamma(a) + a (\log u - u) - \log y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.family import Family, Law
from skmoe.model.special import digamma, exponential, log_gamma, trigamma

__all__ = ["GammaFamily", "RelativeScaleFamily", "bounded_scale"]

MOST = 1e3  # scale; no output varies a thousand times as much as its mean
NEAR = 0.1  # error of the start of the log of a scale, at most
STEPS = 8  # of Newton, from a start with an error of a percent


def bounded_scale(scale: Array) -> Array:
    """Return scales of at most a thousand."""
    return array_namespace(scale).clip(scale, None, MOST)


class RelativeScaleFamily(Family):
    """Family whose scale is the coefficient of variation of a gamma distribution, of shape scale^-2."""

    has_scale = True
    scale_name = "variation"

    def scale_slope(self, statistic: np.ndarray, share: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the derivative over the log scale, from sums of u - log u - 1 and of responsibilities."""
        a = 1.0 / np.asarray(scale, dtype=np.float64) ** 2
        return -2 * a * (share * (np.log(a) - special.digamma(a)) - statistic)

    def updated_scales(
        self,
        statistic: np.ndarray,
        share: np.ndarray,
        dof: float | np.ndarray,
        y_std: float,
        floor: float,
    ) -> np.ndarray:
        """Return scales at which `scale_slope` equals the slope of a prior of `dof`, which shrinks them to `y_std`."""
        s = np.maximum(statistic / share, floor**2 / 2)
        a = (3 - s + np.sqrt((s - 3) ** 2 + 24 * s)) / (12 * s)
        logs = -0.5 * np.log(a)
        # between the maximum without prior, with a margin for the error of its start, and `y_std`
        goal = np.log(y_std) if np.any(dof) else logs
        low, high = np.minimum(logs - NEAR, goal), np.maximum(logs + NEAR, goal)
        for _ in range(STEPS):  # Newton on each log scale, halving the bracket where it leaves it
            a = np.exp(-2 * logs)
            prior = np.tanh(logs - np.log(y_std))
            likelihood = -2 * a * share * (np.log(a) - special.digamma(a) - s)
            slope = likelihood - dof * prior
            most = np.minimum(a, 1e4)  # for larger ones the difference is lost in rounding, and the curvature is 2
            curvature = np.where(a > 1e4, 2.0, 4 * a * (most * special.polygamma(1, most) - 1))
            low, high = np.where(slope > 0, logs, low), np.where(slope < 0, logs, high)
            information = share * curvature + 2 * likelihood + dof * (1 - prior**2)
            ahead = logs + slope / np.where(information > 0, information, np.inf)
            logs = np.where((information > 0) & (ahead >= low) & (ahead <= high), ahead, 0.5 * (low + high))
        return np.maximum(np.exp(logs), floor)


@dataclass(frozen=True)
class GammaLaw(Law):
    """Gamma distributions of mean exp(eta) at a block of rows."""

    y: Array
    eta: Array
    scale: Array

    @cached_property
    def _shape(self) -> Array:
        return 1.0 / self.scale**2

    @cached_property
    def _ratio(self) -> Array:
        return exponential(self._log_ratio)

    @cached_property
    def _log_ratio(self) -> Array:
        return array_namespace(self.y).log(self.y) - self.eta

    @property
    def log_density(self) -> Array:
        """Log density."""
        a, xp = self._shape, array_namespace(self.eta)
        out = self._log_ratio - self._ratio
        out *= a
        out += a * xp.log(a) - log_gamma(a)
        out -= xp.log(self.y)
        return out

    @cached_property
    def score(self) -> Array:
        """Shape times relative residual."""
        return self._shape * self.step_score

    @property
    def curvature(self) -> Array:
        """Shape times output over mean."""
        return self._shape * self._ratio

    @cached_property
    def scale_score(self) -> Array:
        """Derivative over the log scale."""
        a, xp = self._shape, array_namespace(self.eta)
        return -2 * a * (xp.log(a) - digamma(a) - self.scale_statistic)

    @property
    def scale_curvature(self) -> Array:
        """Negative second derivative over the log scale."""
        a = self._shape
        return 2 * self.scale_score - 4 * a * (1 - a * trigamma(a))

    @property
    def cross_curvature(self) -> Array:
        """Twice the score."""
        return 2 * self.score

    @cached_property
    def step_score(self) -> Array:
        """Relative residual; the shape cancels in the M-step."""
        return self._ratio - 1.0

    @property
    def step_weight(self) -> Array | None:
        """Ones: the expected curvature over the shape."""
        return None

    @cached_property
    def scale_statistic(self) -> Array:
        """Output over mean, less its log, less one."""
        return self._ratio - self._log_ratio - 1.0


@dataclass(frozen=True)
class GammaFamily(RelativeScaleFamily):
    """Positive outputs of mean exp(eta) whose standard deviation is the scale times the mean."""

    name = "gamma"
    log_link = True
    lowest = 0.0
    support = "positive numbers"
    ratio = "mean ratio"

    def at(self, y: Array, eta: Array, scale: Array) -> GammaLaw:
        """Return the `Law` at a block of rows."""
        return GammaLaw(y, eta, bounded_scale(scale))

    def step_scale(self, scale: np.ndarray) -> np.ndarray:
        """Return one over the shape, which cancels in the M-step."""
        return scale**2

    def start_response(self, y: Array) -> Array:
        """Return the logs of the outputs."""
        return array_namespace(y).log(y)

    def start_scale(self, residual: np.ndarray) -> np.ndarray:
        """Return standard deviations of the logs, which are about coefficients of variation."""
        return np.clip(residual, 0.05, 2.0)

    def impossible(self, y: Array) -> Array:
        """Return which outputs are zero or less."""
        return ~(y > 0)

    def mean(self, eta: Array, scale: Array) -> Array:
        """Return the mean of the output."""
        return array_namespace(eta).exp(eta)

    def variance(self, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the variance of the output."""
        return (scale * np.exp(eta)) ** 2

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        a = 1.0 / np.asarray(scale, dtype=np.float64) ** 2
        return special.gammainc(a, a * np.maximum(y, 0.0) * np.exp(-eta))

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw outputs."""
        a = 1.0 / np.asarray(scale, dtype=np.float64) ** 2
        return rng.gamma(a, np.exp(eta) / a)
