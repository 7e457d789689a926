r"""Log probability, with derivatives, that Gaussian noise about a predictor lies between two bounds.

With :math:`a, b` the standardised bounds, :math:`D = \Phi(b) - \Phi(a)` and moments
:math:`t_j = (b^j \phi(b) - a^j \phi(a)) / D`,

.. math:: \partial_\eta \log D = -t_0 / \sigma, \quad -\partial_\eta^2 \log D = (t_1 + t_0^2) / \sigma^2, \quad
    \partial_\tau \log D = -t_1,

.. math:: -\partial_\tau^2 \log D = t_3 - t_1 + t_1^2, \quad
    -\partial_\eta \partial_\tau \log D = (t_2 + t_0 t_1 - t_0) / \sigma.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.special import HALF_LOG_2PI, log_normal_cdf

__all__ = ["Interval"]

FAR = 1e8  # largest standardised bound: its density is zero, also times any power of it


@dataclass(frozen=True)
class Interval:
    """Bounds (..., b), infinite where there is none, predictors and scales; the lower bound is below the upper one."""

    lower: Array
    upper: Array
    eta: Array
    scale: Array

    def _standardised(self, bound: Array) -> Array:
        return array_namespace(self.eta).clip((bound - self.eta) / self.scale, -FAR, FAR)

    @cached_property
    def _ends(self) -> tuple[Array, Array]:
        """Standardised bounds."""
        return self._standardised(self.lower), self._standardised(self.upper)

    @cached_property
    def log_probability(self) -> Array:
        """Log D, computed in the tail that has more digits."""
        xp = array_namespace(self.eta)
        a, b = self._ends
        mirrored = a + b > 0
        low, high = xp.where(mirrored, -b, a), xp.where(mirrored, -a, b)
        top, bottom = log_normal_cdf(high), log_normal_cdf(low)
        gap = xp.clip(bottom - top, None, -1e-300)
        return top + xp.log(-xp.expm1(gap))

    @cached_property
    def _densities(self) -> tuple[Array, Array]:
        """Densities at both ends over D."""
        xp = array_namespace(self.eta)
        return tuple(xp.exp(-0.5 * e * e - HALF_LOG_2PI - self.log_probability) for e in self._ends)

    def _weighted(self, a: Array, b: Array) -> Array:
        """Return a function of the upper bound times its density, less that of the lower one."""
        low, high = self._densities
        return b * high - a * low

    @cached_property
    def _t0(self) -> Array:
        low, high = self._densities
        return high - low

    @cached_property
    def _t1(self) -> Array:
        return self._weighted(*self._ends)

    @property
    def score(self) -> Array:
        """First derivative over the predictor."""
        return -self._t0 / self.scale

    @property
    def curvature(self) -> Array:
        """Negative second derivative over the predictor."""
        return (self._t1 + self._t0 * self._t0) / self.scale**2

    @property
    def scale_score(self) -> Array:
        """First derivative over the log scale."""
        return -self._t1

    @property
    def scale_curvature(self) -> Array:
        """Negative second derivative over the log scale."""
        a, b = self._ends
        return self._weighted(a * a * a, b * b * b) - self._t1 + self._t1 * self._t1

    @property
    def cross_curvature(self) -> Array:
        """Negative mixed derivative."""
        a, b = self._ends
        return (self._weighted(a * a, b * b) + self._t0 * self._t1 - self._t0) / self.scale
