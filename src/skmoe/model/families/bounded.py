"""Gaussian experts of outputs that are censored or truncated by bounds.

A censored output is known to lie between a lower and an upper bound; where both are equal it is known. A truncated
output is known, but rows with outputs outside their bounds are not in the table. Experts predict the output itself, as
if it were observed in every row (`Family.marginal`). Bounds may be infinite.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from numbers import Real

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.families.interval import Interval
from skmoe.model.families.lognormal import LognormalFamily
from skmoe.model.family import Family, Law
from skmoe.model.gaussian import GaussianFamily, NoiseFamily
from skmoe.model.special import HALF_LOG_2PI

__all__ = ["CensoredFamily", "TruncatedFamily"]

LINEAR = GaussianFamily.linear()


@dataclass(frozen=True)
class BoundedLaw(Law):
    """Outputs with bounds at a block of rows, and EM for the Gaussian output behind a censored one.

    A censored output has the density of a known one or the probability of an interval, by `is_known`; where that is
    None, outputs are truncated, with the density of a known one given the interval.
    """

    known: Law
    interval: Interval
    scale: Array
    is_known: Array | None = None

    def _joined(self, known: Array, interval: Array) -> Array:
        if self.is_known is None:
            return known - interval
        xp = array_namespace(interval)
        return xp.where(*xp.broadcast_arrays(self.is_known, known, interval))

    @property
    def log_density(self) -> Array:
        """Log density of the outputs, or log probability of their bounds."""
        return self._joined(self.known.log_density - HALF_LOG_2PI, self.interval.log_probability)

    @cached_property
    def score(self) -> Array:
        """First derivative over the predictor."""
        return self._joined(self.known.score, self.interval.score)

    @property
    def curvature(self) -> Array:
        """Negative second derivative over the predictor."""
        return self._joined(self.known.curvature, self.interval.curvature)

    @cached_property
    def scale_score(self) -> Array:
        """First derivative over the log scale."""
        return self._joined(self.known.scale_score, self.interval.scale_score)

    @property
    def scale_curvature(self) -> Array:
        """Negative second derivative over the log scale."""
        return self._joined(self.known.scale_curvature, self.interval.scale_curvature)

    @property
    def cross_curvature(self) -> Array:
        """Negative mixed derivative."""
        return self._joined(self.known.cross_curvature, self.interval.cross_curvature)

    @property
    def step_score(self) -> Array:
        """Expected residual of the output; the variance cancels in the M-step."""
        return self.score * self.scale**2

    @property
    def step_weight(self) -> Array | None:
        """Ones: no curvature exceeds that of an output that is known."""
        return None

    @property
    def scale_statistic(self) -> Array:
        """Expected squared residual."""
        return self.scale**2 * (1 + self.scale_score)


@dataclass(frozen=True)
class BoundedBase(NoiseFamily):
    """Family of outputs in parts, laid out parts first: two bounds, or an output and two bounds."""

    truncated: bool

    name = "bounded"
    location_scale = True

    @property
    def parts(self) -> int:  # type: ignore[override]
        """Numbers of an output."""
        return 3 if self.truncated else 2

    def at(self, y: Array, eta: Array, scale: Array) -> BoundedLaw:
        """Return the `Law` at a block of rows."""
        if self.truncated:
            return BoundedLaw(LINEAR.at(y[0, ...], eta, scale), Interval(y[1, ...], y[2, ...], eta, scale), scale)
        xp, lower, upper = array_namespace(eta), y[0, ...], y[1, ...]
        is_known, none = lower == upper, xp.full_like(lower, np.inf)
        # others are at the predictor of the known ones' law, and known ones without bounds
        known = LINEAR.at(xp.where(*xp.broadcast_arrays(is_known, lower, eta)), eta, scale)
        interval = Interval(xp.where(is_known, -none, lower), xp.where(is_known, none, upper), eta, scale)
        return BoundedLaw(known, interval, scale, is_known)

    def start_response(self, y: Array) -> Array:
        """Return the output, or the middle of its bounds, or its only finite bound."""
        return y[0, ...] if self.truncated else _middle(y[0, ...], y[1, ...])

    def start_scale(self, residual: np.ndarray) -> np.ndarray:
        """Return residual scales."""
        return residual


def _middle(lower: Array, upper: Array) -> Array:
    xp = array_namespace(lower)
    low, high = xp.isfinite(lower), xp.isfinite(upper)
    lower = xp.where(low, lower, xp.where(high, upper, xp.zeros_like(lower)))
    return 0.5 * (lower + xp.where(high, upper, lower))


@dataclass(frozen=True)
class _BoundedFamily(Family):
    """Censored or truncated Gaussian or lognormal outputs, as columns of y.

    Parameters
    ----------
    lognormal : bool
        Whether the logs of outputs are Gaussian, instead of outputs themselves.
    """

    lognormal: bool = False

    has_scale = True

    @property
    def marginal(self) -> Family:
        """Family of an output that is known in every row."""
        return LognormalFamily() if self.lognormal else LINEAR

    @property
    def ratio(self) -> str:  # type: ignore[override]
        """Name of the exponential of a coefficient."""
        return self.marginal.ratio

    def transform_response(self, y: Array) -> Array:
        """Return columns (b, parts) as (b, 1, parts), in logs for lognormal outputs."""
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        if self.lognormal:
            y = xp.where(y > 0, xp.log(xp.where(y > 0, y, xp.ones_like(y))), xp.full_like(y, -np.inf))
        return y[:, None, :]

    def typical(self, y: Array) -> Array:
        """Return transformed responses, or the middle of their bounds."""
        parts = self.transform_response(y)[:, 0, :]
        return self.base.start_response(array_namespace(y).permute_dims(parts, (1, 0)))

    def mean(self, eta: Array, scale: Array) -> Array:
        """Return the mean of the output."""
        return self.marginal.mean(eta, scale)

    def variance(self, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the variance of the output."""
        return self.marginal.variance(eta, scale)

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        return self.marginal.cdf(y, eta, scale)

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw outputs without bounds."""
        return self.marginal.sample(eta, scale, rng)


@dataclass(frozen=True)
class CensoredFamily(_BoundedFamily):
    """Outputs known to lie between bounds: two columns, lower and upper; equal where the output is known.

    Parameters
    ----------
    lognormal : bool
        Whether the logs of outputs are Gaussian, instead of outputs themselves.
    """

    columns = 2
    base = BoundedBase(truncated=False)

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the family."""
        return "censored-lognormal" if self.lognormal else "censored-gaussian"

    @property
    def support(self) -> str:  # type: ignore[override]
        """Description of possible outputs."""
        least = ", none of them negative" if self.lognormal else ""
        return f"a lower and an upper bound, the lower not above the upper and one of them finite{least},"

    def log_jacobian(self, y: Array) -> Array:
        """Return the log of one over known outputs; probabilities of bounds need none."""
        xp = array_namespace(y)
        known = (y[:, 0] == y[:, 1]) & self.lognormal
        return -xp.log(xp.where(known, y[:, 0], xp.ones_like(y[:, 0])))

    def known(self, y: Array) -> Array:
        """Return 1 where both bounds are the same, else 0."""
        xp = array_namespace(y)
        return xp.astype(y[:, 0] == y[:, 1], xp.float64)

    def impossible(self, y: Array) -> Array:
        """Return which rows have bounds in the wrong order, or none that is finite."""
        xp = array_namespace(y)
        low, high = y[:, 0], y[:, 1]
        wrong = ~(low <= high) | ~(xp.isfinite(low) | xp.isfinite(high)) | ((low == high) & ~xp.isfinite(low))
        return wrong | (low < 0) | ~(high > 0) if self.lognormal else wrong


@dataclass(frozen=True)
class TruncatedFamily(_BoundedFamily):
    """Outputs of rows that are kept only if the output lies between bounds.

    Parameters
    ----------
    lognormal : bool
        Whether the logs of outputs are Gaussian, instead of outputs themselves.
    lower, upper : float, optional
        Bounds of all rows. Without any, y has three columns: output, lower bound and upper bound.
    """

    lower: float | None = None
    upper: float | None = None

    base = BoundedBase(truncated=True)

    def __post_init__(self) -> None:
        given = [bound for bound in (self.lower, self.upper) if bound is not None]
        if not all(isinstance(bound, Real) and not math.isnan(bound) for bound in given):
            raise ValueError(f"bounds must be numbers or None; got lower={self.lower!r}, upper={self.upper!r}")
        low, high = -math.inf if self.lower is None else self.lower, math.inf if self.upper is None else self.upper
        if not low < high:
            raise ValueError(f"the lower bound must be below the upper one; got lower={low}, upper={high}")

    @property
    def columns(self) -> int:  # type: ignore[override]
        """Columns of y."""
        return 3 if self.lower is None and self.upper is None else 1

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the family."""
        return "truncated-lognormal" if self.lognormal else "truncated-gaussian"

    @property
    def support(self) -> str:  # type: ignore[override]
        """Description of possible outputs."""
        positive = "positive " if self.lognormal else ""
        return f"{positive}outputs between the lower and the upper bound of their rows"

    def _in_columns(self, y: Array) -> Array:
        """Return the output, lower and upper bound of each row, (b, 3)."""
        if self.columns == 3:
            return y
        xp = array_namespace(y)
        ones = xp.ones_like(xp.astype(y, xp.float64, copy=False))
        low, high = -np.inf if self.lower is None else self.lower, np.inf if self.upper is None else self.upper
        return xp.stack([xp.astype(y, xp.float64, copy=False), low * ones, high * ones], axis=1)

    def transform_response(self, y: Array) -> Array:
        """Return output and bounds as parts, (b, 1, 3)."""
        return super().transform_response(self._in_columns(y))

    def log_jacobian(self, y: Array) -> Array:
        """Return the log of one over the outputs, for lognormal ones."""
        t = self._in_columns(y)[:, 0]
        xp = array_namespace(t)
        return -xp.log(t) if self.lognormal else xp.zeros_like(t)

    def impossible(self, y: Array) -> Array:
        """Return which rows have an output outside its bounds."""
        t = self._in_columns(y)
        y, low, high = t[:, 0], t[:, 1], t[:, 2]
        wrong = ~(low < high) | ~(y >= low) | ~(y <= high)
        return wrong | ~(y > 0) if self.lognormal else wrong
