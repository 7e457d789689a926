"""Experts with Gaussian noise about an activation of their predictor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.activations import Activation, get_activation
from skmoe.model.family import Family, Law
from skmoe.model.special import HALF_LOG_2PI

__all__ = ["GaussianFamily", "NoiseFamily", "as_family"]


class NoiseFamily(Family):
    """Noise of a learned scale about a location, whose scale is updated from (weighted) squared residuals."""

    has_scale = True

    def step_scale(self, scale: np.ndarray) -> np.ndarray:
        """Return the squared scale, which cancels in the M-step."""
        return scale**2

    def statistic_after(
        self, statistic: np.ndarray, steps: np.ndarray, gradient: np.ndarray, gram: np.ndarray
    ) -> np.ndarray:
        """Return squared residuals after linear experts moved, without another pass over the rows."""
        quadratic = np.sum((gram @ steps[..., None])[..., 0] * steps, axis=-1)
        return statistic - 2 * np.sum(steps * gradient, axis=-1) + quadratic

    def updated_scales(
        self,
        statistic: np.ndarray,
        share: np.ndarray,
        dof: float | np.ndarray,
        y_std: float,
        floor: float,
    ) -> np.ndarray:
        r"""Return root mean square residuals, shrunk towards the standard deviation of the outputs.

        With :math:`v` the variance over that of the outputs, :math:`S` the statistic in the same units, :math:`N` the
        share and :math:`\nu` the degrees of freedom, :math:`S / v - N - \nu (v - 1) / (v + 1)` is zero.
        """
        left = np.maximum(statistic, floor**2 * share) / y_std**2
        a, b = share + dof, left - share + dof
        root = np.sqrt(b * b + 4 * a * left)
        # the positive one of two roots, by the form that does not cancel
        ratio = np.where(b > 0, b + root, 4 * a * left / np.where(b > 0, 1.0, root - b)) / (2 * a)
        return np.maximum(y_std * np.sqrt(ratio), floor)

    def scale_slope(self, statistic: np.ndarray, share: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return squared standardised residuals less responsibilities."""
        return statistic / scale**2 - share


@dataclass(frozen=True)
class GaussianLaw(Law):
    """Gaussian noise about g(eta) at a block of rows."""

    g: Activation
    eta: Array
    residual: Array  # y - g(eta)
    scale: Array

    @cached_property
    def _slope(self) -> Array:
        return self.g.prime(self.eta)

    @cached_property
    def scaled(self) -> Array:
        """Residual over scale."""
        return self.residual / self.scale

    @cached_property
    def _squares(self) -> Array:
        return self.residual * self.residual

    @property
    def log_density(self) -> Array:
        """Log density, less its constant."""
        out = self._squares * (-0.5 / self.scale**2)
        out -= array_namespace(out).log(self.scale)
        return out

    @cached_property
    def score(self) -> Array:
        """Residual times slope over variance."""
        alpha = self.scaled / self.scale
        return alpha if self.g.linear else alpha * self._slope

    @property
    def curvature(self) -> Array:
        """Squared slope less residual times second derivative, over variance."""
        weight = 1 / self.scale**2
        if self.g.linear:
            return weight
        return weight * (self._slope**2 - self.residual * self.g.second(self.eta))

    @cached_property
    def scale_score(self) -> Array:
        """Squared standardised residual less one."""
        return self.scaled**2 - 1

    @property
    def scale_curvature(self) -> Array:
        """Twice the squared standardised residual."""
        return 2 * self.scaled**2

    @property
    def cross_curvature(self) -> Array:
        """Twice the score."""
        return 2 * self.score

    @property
    def step_score(self) -> Array:
        """Residual times slope; the variance cancels in the M-step."""
        return self.residual if self.g.linear else self.residual * self._slope

    @property
    def step_weight(self) -> Array | None:
        """Squared slope, as in Gauss-Newton."""
        return None if self.g.linear else self._slope**2

    @property
    def scale_statistic(self) -> Array:
        """Squared residual."""
        return self._squares


@dataclass(frozen=True)
class GaussianFamily(NoiseFamily):
    """Gaussian noise about g(eta), for any activation g.

    Parameters
    ----------
    g : Activation
    """

    g: Activation
    log_base: float = -HALF_LOG_2PI

    @classmethod
    def linear(cls) -> GaussianFamily:
        """Return Gaussian noise about the predictor itself."""
        return cls(get_activation("linear"))

    name = "gaussian"
    noise_dof = float("inf")

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        """Return whether the activation has no kinks."""
        return not self.g.kinks

    @property
    def location_scale(self) -> bool:  # type: ignore[override]
        """Return whether experts are linear."""
        return self.g.linear

    @property
    def least_squares(self) -> bool:  # type: ignore[override]
        """Return whether experts are linear."""
        return self.g.linear

    def at(self, y: Array, eta: Array, scale: Array) -> GaussianLaw:
        """Return the `Law` at a block of rows."""
        return GaussianLaw(self.g, eta, y - self.g(eta), scale)

    def mean(self, eta: Array, scale: Array) -> Array:
        """Return the mean of the output."""
        return self.g(eta)

    def variance(self, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the variance of the noise."""
        return np.broadcast_to(scale**2, np.broadcast_shapes(np.shape(eta), np.shape(scale)))

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        return ndtr((y - self.g(eta)) / scale)

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw outputs."""
        return self.g(eta) + scale * rng.standard_normal(np.shape(eta))

    def statistic_after(
        self, statistic: np.ndarray, steps: np.ndarray, gradient: np.ndarray, gram: np.ndarray
    ) -> np.ndarray:
        """Return squared residuals after the step, for linear experts; those of others are left to the next pass."""
        return super().statistic_after(statistic, steps, gradient, gram) if self.g.linear else statistic

    def _line(self) -> tuple[float, float]:
        """Return slope and intercept of the line through g(-1) and g(1), a start with the right signs."""
        low, high = np.asarray(self.g(np.array([-1.0, 1.0])))
        return float((high - low) / 2) or 1.0, float((high + low) / 2)

    def start_response(self, y: Array) -> Array:
        """Return outputs mapped through the inverse of a line near g."""
        slope, intercept = self._line()
        return (y - intercept) / slope

    def start_scale(self, residual: np.ndarray) -> np.ndarray:
        """Return residual scales mapped through the same line."""
        return abs(self._line()[0]) * residual


def as_family(value: Any) -> Family:
    """Return a family as given, or Gaussian noise about an activation given by name, callable or `Activation`."""
    return value if isinstance(value, Family) else GaussianFamily(get_activation(value))
