"""Counts: Poisson distributions whose log mean is the predictor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.family import Family, Law
from skmoe.model.special import bounded, exponential, log_gamma

__all__ = ["PoissonFamily", "not_counts"]


def not_counts(y: Array) -> Array:
    """Return which outputs are not whole numbers of zero or more."""
    xp = array_namespace(y)
    return (y < 0) | (y != xp.floor(y))


@dataclass(frozen=True)
class PoissonLaw(Law):
    """Counts of mean exp(eta) at a block of rows."""

    y: Array
    eta: Array

    @cached_property
    def _mean(self) -> Array:
        return array_namespace(self.eta).exp(self.eta)

    @property
    def log_density(self) -> Array:
        """Log probability of the counts."""
        out = self.y * self.eta
        out -= self._mean
        out -= log_gamma(self.y + 1.0)
        return out

    @cached_property
    def score(self) -> Array:
        """Count less mean."""
        return self.y - self._mean

    @property
    def curvature(self) -> Array:
        """The mean."""
        return self._mean


@dataclass(frozen=True)
class PoissonFamily(Family):
    """Counts whose variance is their mean exp(eta)."""

    name = "poisson"
    log_link = True
    discrete = True
    lowest = 0.0
    support = "counts: whole numbers of 0 or more"
    ratio = "rate ratio"

    def at(self, y: Array, eta: Array, scale: Array) -> Law:
        """Return the `Law` at a block of rows."""
        return PoissonLaw(y, bounded(eta))

    def start_response(self, y: Array) -> Array:
        """Return logs of the counts, with half a count added so that they are finite."""
        return array_namespace(y).log(y + 0.5)

    def impossible(self, y: Array) -> Array:
        """Return which outputs are no counts."""
        return not_counts(y)

    def mean(self, eta: Array, scale: Array) -> Array:
        """Return the rate."""
        return exponential(eta)

    def variance(self, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the rate."""
        return np.asarray(exponential(eta))

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the probability of a count of at most y."""
        return np.where(y < 0, 0.0, special.pdtr(np.maximum(np.floor(y), 0.0), exponential(eta)))

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw counts."""
        return np.asarray(rng.poisson(exponential(eta)), dtype=np.float64)
