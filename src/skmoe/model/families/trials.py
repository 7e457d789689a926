r"""Proportions: s successes and f failures in one row, all of them by one expert.

.. math:: f = s\, \eta - (s + f) \log(1 + e^\eta) + \log \binom{s + f}{s}
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.families.binomial import BinomialFamily
from skmoe.model.families.links import log_one_plus_exp, logistic
from skmoe.model.family import Family, Law
from skmoe.model.special import log_gamma

__all__ = ["TrialsFamily"]


@dataclass(frozen=True)
class TrialsLaw(Law):
    """Successes and failures at a block of rows."""

    successes: Array
    failures: Array
    eta: Array

    @cached_property
    def _trials(self) -> Array:
        return self.successes + self.failures

    @cached_property
    def _probability(self) -> Array:
        return logistic(self.eta)

    @property
    def log_density(self) -> Array:
        """Log probability of so many successes."""
        log_binomial = log_gamma(self._trials + 1.0) - log_gamma(self.successes + 1.0) - log_gamma(self.failures + 1.0)
        return self.successes * self.eta - self._trials * log_one_plus_exp(self.eta) + log_binomial

    @cached_property
    def score(self) -> Array:
        """Successes less those expected."""
        return self.successes - self._trials * self._probability

    @cached_property
    def curvature(self) -> Array:
        """Variance of the successes."""
        return self._trials * self._probability * (1 - self._probability)


@dataclass(frozen=True)
class TrialsBase(Family):
    """Family of successes and failures, laid out parts first."""

    name = "binomial"
    parts = 2
    most_coef = 30.0

    def at(self, y: Array, eta: Array, scale: Array) -> TrialsLaw:
        """Return the `Law` at a block of rows."""
        return TrialsLaw(y[0, ...], y[1, ...], eta)

    def start_response(self, y: Array) -> Array:
        """Return log odds of the row, with half a success and half a failure added."""
        return array_namespace(y).log((y[0, ...] + 0.5) / (y[1, ...] + 0.5))


@dataclass(frozen=True)
class TrialsFamily(BinomialFamily):
    """Successes and failures, two columns; predictions are probabilities of success in one trial."""

    columns = 2
    support = "successes and failures: numbers of 0 or more, at least one of them positive,"

    @property
    def base(self) -> Family:
        """Family of both numbers."""
        return TrialsBase()

    @property
    def marginal(self) -> Family:
        """Family of one trial."""
        return BinomialFamily()

    def transform_response(self, y: Array) -> Array:
        """Return both numbers as parts, (b, 1, 2)."""
        xp = array_namespace(y)
        return xp.astype(y, xp.float64, copy=False)[:, None, :]

    def typical(self, y: Array) -> Array:
        """Return the proportion of successes."""
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        return y[:, 0] / (y[:, 0] + y[:, 1])

    def log_jacobian(self, y: Array) -> Array:
        """Return zeros: probabilities do not change."""
        return array_namespace(y).zeros_like(y[:, 0])

    def impossible(self, y: Array) -> Array:
        """Return which rows have negative numbers or no trials."""
        return (y[:, 0] < 0) | (y[:, 1] < 0) | ~(y[:, 0] + y[:, 1] > 0)
