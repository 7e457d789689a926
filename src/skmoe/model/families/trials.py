r"""Proportions: s successes and f failures in one row, all of them by one expert.

.. math:: f = s\, \eta - (s + f) \log(1 + e^\eta) + \log \binom{s + f}{s}
"""

from __future__ import annotations

from dataclasses import dataclass

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.families.binomial import BinomialFamily, BinomialLaw
from skmoe.model.family import Family
from skmoe.model.special import log_gamma

__all__ = ["TrialsFamily"]


@dataclass(frozen=True)
class TrialsLaw(BinomialLaw):
    """Successes and failures at a block of rows, in any order."""

    failures: Array = 0.0

    @property
    def log_density(self) -> Array:
        """Log probability of so many successes."""
        orders = log_gamma(self.trials + 1.0) - log_gamma(self.y + 1.0) - log_gamma(self.failures + 1.0)
        return super().log_density + orders


@dataclass(frozen=True)
class TrialsBase(Family):
    """Family of successes and failures, laid out parts first."""

    name = "binomial"
    parts = 2
    most_coef = 30.0

    def at(self, y: Array, eta: Array, scale: Array) -> TrialsLaw:
        """Return the `Law` at a block of rows."""
        return TrialsLaw(y[0, ...], eta, y[0, ...] + y[1, ...], y[1, ...])

    def start_response(self, y: Array) -> Array:
        """Return log odds of the row, with half a success and half a failure added."""
        return array_namespace(y).log((y[0, ...] + 0.5) / (y[1, ...] + 0.5))


@dataclass(frozen=True)
class TrialsFamily(BinomialFamily):
    """Successes and failures, two columns; predictions are probabilities of success in one trial."""

    columns = 2
    support = "successes and failures: numbers of 0 or more, at least one of them positive,"

    base = TrialsBase()
    marginal = BinomialFamily()

    def transform_response(self, y: Array) -> Array:
        """Return both numbers as parts, (b, 1, 2)."""
        xp = array_namespace(y)
        return xp.astype(y, xp.float64, copy=False)[:, None, :]

    def typical(self, y: Array) -> Array:
        """Return the proportion of successes."""
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        return y[:, 0] / (y[:, 0] + y[:, 1])

    def impossible(self, y: Array) -> Array:
        """Return which rows have negative numbers or no trials."""
        return (y[:, 0] < 0) | (y[:, 1] < 0) | ~(y[:, 0] + y[:, 1] > 0)
