r"""Overdispersed counts: negative binomial distributions whose log mean is the predictor.

A count is Poisson about a rate that is itself gamma: :math:`\mu u` with :math:`u` of mean one, shape
:math:`a = \sigma^{-2}` and so coefficient of variation :math:`\sigma`. The variance is :math:`\mu + \sigma^2 \mu^2`.
Given the count, u has mean :math:`(a + y) / (a + \mu)` and :math:`E \log u = \psi(a + y) - \log(a + \mu)`: scales are
updated as those of a gamma distribution of u, which is EM for the rates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.families.gamma import RelativeScaleFamily, bounded_scale
from skmoe.model.families.poisson import PoissonFamily
from skmoe.model.family import Law
from skmoe.model.special import bounded, digamma, exponential, log_gamma, trigamma

__all__ = ["NegativeBinomialFamily"]


@dataclass(frozen=True)
class NegativeBinomialLaw(Law):
    """Counts of mean exp(eta) at a block of rows."""

    y: Array
    eta: Array
    scale: Array

    @cached_property
    def _shape(self) -> Array:
        return 1.0 / self.scale**2

    @cached_property
    def _mean(self) -> Array:
        return array_namespace(self.eta).exp(self.eta)

    @cached_property
    def _log_excess(self) -> Array:
        """Log of 1 + mean / shape."""
        return array_namespace(self.eta).log1p(self._mean * self.scale**2)

    @cached_property
    def _dispersion(self) -> Array:
        """Variance over mean."""
        return 1.0 + self._mean * self.scale**2

    @cached_property
    def _total(self) -> Array:
        """Shape and count."""
        return self._shape + self.y

    def _of_total(self, function: Callable[[Array], Array]) -> Array:
        """Evaluate a function of shape and count, once for each different count where they are in host memory."""
        if not isinstance(self.y, np.ndarray) or self.y.ndim > 1:
            return function(self._total)
        counts, place = np.unique(self.y, return_inverse=True)
        return np.take(function(self._shape + counts), place, axis=-1)

    @property
    def log_density(self) -> Array:
        """Log probability of the counts."""
        a, y, xp = self._shape, self.y, array_namespace(self.eta)
        out = self._of_total(log_gamma)
        out -= log_gamma(y + 1.0)
        out -= log_gamma(a)
        out += y * (self.eta - xp.log(a))
        out -= self._total * self._log_excess
        return out

    @cached_property
    def score(self) -> Array:
        """Residual over variance, times mean."""
        return (self.y - self._mean) / self._dispersion

    @property
    def curvature(self) -> Array:
        """Negative second derivative over the predictor."""
        return self._mean * (1.0 + self.y * self.scale**2) / self._dispersion**2

    @cached_property
    def _shape_score(self) -> Array:
        """Derivative over the shape."""
        a = self._shape
        return self._of_total(digamma) - digamma(a) - self._log_excess - (self.y - self._mean) / (a + self._mean)

    @cached_property
    def scale_score(self) -> Array:
        """Derivative over the log scale."""
        return -2 * self._shape * self._shape_score

    @property
    def scale_curvature(self) -> Array:
        """Negative second derivative over the log scale."""
        a, y, total = self._shape, self.y, self._shape + self._mean
        second = self._of_total(trigamma) - trigamma(a) + 1 / a - 1 / total + (y - self._mean) / total**2
        return 2 * self.scale_score - 4 * a**2 * second

    @property
    def cross_curvature(self) -> Array:
        """Negative mixed derivative."""
        return 2 * self._shape * self._mean * (self.y - self._mean) / (self._shape + self._mean) ** 2

    @property
    def step_weight(self) -> Array | None:
        """The expected curvature."""
        return self._mean / self._dispersion

    @property
    def scale_statistic(self) -> Array:
        """Expected u - log u - 1 of the rate, given the count."""
        log_a = array_namespace(self.eta).log(self._shape)
        return (
            self._total / (self._shape * self._dispersion) - self._of_total(digamma) + self._log_excess + (log_a - 1.0)
        )


@dataclass(frozen=True)
class NegativeBinomialFamily(RelativeScaleFamily, PoissonFamily):
    """Counts of mean exp(eta) and variance mean + (scale * mean)^2; Poisson where the scale vanishes."""

    name = "negative-binomial"
    least_scale = 1e-2
    may_end_at_least_scale = True

    def at(self, y: Array, eta: Array, scale: Array) -> Law:
        """Return the `Law` at a block of rows."""
        return NegativeBinomialLaw(y, bounded(eta), bounded_scale(scale))

    def start_scale(self, residual: np.ndarray) -> np.ndarray:
        """Return standard deviations of the logs, reduced by an allowance for Poisson noise."""
        return np.clip(0.7 * residual, 0.1, 2.0)

    def variance(self, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the variance of the count."""
        mean = np.asarray(exponential(eta))
        return mean + (scale * mean) ** 2

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the probability of a count of at most y."""
        a = 1.0 / np.asarray(scale, dtype=np.float64) ** 2
        found = special.betainc(a, np.maximum(np.floor(y), 0.0) + 1.0, a / (a + exponential(eta)))
        return np.where(y < 0, 0.0, found)

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw counts."""
        a = 1.0 / np.asarray(scale, dtype=np.float64) ** 2
        return rng.poisson(exponential(eta) * rng.gamma(a, 1 / a, size=np.shape(eta))).astype(np.float64)
