"""Positive outputs whose logs are Gaussian about the predictor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily

__all__ = ["LognormalFamily"]

LINEAR = GaussianFamily.linear()


@dataclass(frozen=True)
class LognormalFamily(Family):
    """Positive outputs; log y, which is the transformed response, is Gaussian about eta."""

    name = "lognormal"
    has_scale = True
    lowest = 0.0
    support = "positive numbers"
    ratio = "mean ratio"
    base = LINEAR

    def transform_response(self, y: Array) -> Array:
        """Return the logs of the outputs."""
        xp = array_namespace(y)
        return xp.log(xp.astype(y, xp.float64, copy=False))

    def log_jacobian(self, y: Array) -> Array:
        """Return the log of one over the output."""
        return -self.transform_response(y)

    def impossible(self, y: Array) -> Array:
        """Return which outputs are zero or less."""
        return ~(y > 0)

    def mean(self, eta: Array, scale: Array) -> Array:
        """Return the mean of the output, above its median exp(eta)."""
        return array_namespace(eta).exp(eta + 0.5 * scale**2)

    def variance(self, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the variance of the output."""
        return np.expm1(scale**2) * np.exp(2 * eta + scale**2)

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        return np.where(y > 0, ndtr((np.log(np.where(y > 0, y, 1.0)) - eta) / scale), 0.0)

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw outputs."""
        return np.exp(eta + scale * rng.standard_normal(np.shape(eta)))
