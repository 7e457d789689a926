"""Binary outputs, 0 and 1, whose log odds are the predictor."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.family import Family, Law
from skmoe.model.special import log_one_plus_exp, logistic

__all__ = ["BinomialFamily", "BinomialLaw"]


@dataclass(frozen=True)
class BinomialLaw(Law):
    """Outputs 0 and 1 at a block of rows, or successes in several trials."""

    y: Array
    eta: Array
    trials: Any = 1.0

    @cached_property
    def _probability(self) -> Array:
        return logistic(self.eta)

    @property
    def log_density(self) -> Array:
        """Log probability of the outputs, in their order where there are several trials."""
        return self.y * self.eta - self.trials * log_one_plus_exp(self.eta)

    @cached_property
    def score(self) -> Array:
        """Output less its mean."""
        return self.y - self.trials * self._probability

    @cached_property
    def curvature(self) -> Array:
        """Variance of the output."""
        return self.trials * self._probability * (1 - self._probability)


@dataclass(frozen=True)
class BinomialFamily(Family):
    """Outputs 0 and 1; the log odds of a 1 are eta."""

    name = "binomial"
    discrete = True
    lowest = 0.0
    highest = 1.0
    support = "0 and 1"
    ratio = "odds ratio"
    most_coef = 30.0
    few_values = True

    def at(self, y: Array, eta: Array, scale: Array) -> BinomialLaw:
        """Return the `Law` at a block of rows."""
        return BinomialLaw(y, eta)

    def start_response(self, y: Array) -> Array:
        """Return the first step of iterated least squares from even odds."""
        return 4 * (y - 0.5)

    def impossible(self, y: Array) -> Array:
        """Return which outputs are neither 0 nor 1."""
        return (y != 0) & (y != 1)

    def mean(self, eta: Array, scale: Array) -> Array:
        """Return the probability of a 1."""
        return logistic(eta)

    def probabilities(self, eta: Array) -> Array:
        """Return the probabilities of 0 and of 1, (..., 2, b), from predictors (..., b)."""
        return array_namespace(eta).stack([logistic(-eta), logistic(eta)], axis=-2)

    def variance(self, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the variance of the output."""
        p = np.asarray(logistic(eta))
        return p * (1 - p)

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        return np.where(y < 0, 0.0, np.where(y < 1, np.asarray(logistic(-eta)), 1.0))

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw outputs."""
        return (rng.random(np.shape(eta)) < logistic(eta)).astype(np.float64)
