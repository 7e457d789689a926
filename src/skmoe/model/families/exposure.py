r"""Experts of counts over an exposure, such as time at risk: it multiplies an expert's rate.

With exposure t the mean of a count is :math:`t e^\eta`, the distribution otherwise that of the family without exposure
at the predictor :math:`\eta + \log t`. A row is fitted by its count and the log of its exposure.
"""

from __future__ import annotations

from dataclasses import dataclass

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.families.negative_binomial import NegativeBinomialFamily
from skmoe.model.families.poisson import PoissonFamily, not_counts
from skmoe.model.family import Family, Law

__all__ = ["NegativeBinomialExposureFamily", "PoissonExposureFamily"]


class _CountsAndLogs(Family):
    """Mixin for counts and logs of exposures, laid out parts first; listed before the family of counts in a class."""

    parts = 2

    def at(self, y: Array, eta: Array, scale: Array) -> Law:
        """Return the `Law` at a block of rows."""
        return super().at(y[0, ...], eta + y[1, ...], scale)

    def start_response(self, y: Array) -> Array:
        """Return logs of the rates, with half a count added so that they are finite."""
        return super().start_response(y[0, ...]) - y[1, ...]


@dataclass(frozen=True)
class _PoissonBase(_CountsAndLogs, PoissonFamily):
    """Poisson counts over an exposure."""


@dataclass(frozen=True)
class _NegativeBinomialBase(_CountsAndLogs, NegativeBinomialFamily):
    """Negative binomial counts over an exposure."""


class _WithExposure(Family):
    """Mixin for counts and exposures as two columns of y."""

    columns = 2
    support = "counts, whole numbers of 0 or more, and positive exposures"

    def transform_response(self, y: Array) -> Array:
        """Return count and log of the exposure as parts, (b, 1, 2)."""
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        return xp.stack([y[:, 0], xp.log(y[:, 1])], axis=1)[:, None, :]

    def typical(self, y: Array) -> Array:
        """Return the count for an exposure of one."""
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        return y[:, 0] / y[:, 1]

    def impossible(self, y: Array) -> Array:
        """Return which rows lack a count or an exposure."""
        return not_counts(y[:, 0]) | ~((y[:, 1] > 0) & (y[:, 1] < float("inf")))


@dataclass(frozen=True)
class PoissonExposureFamily(_WithExposure, PoissonFamily):
    """Counts of mean exposure times exp(eta), two columns; predictions are for an exposure of one."""

    base = _PoissonBase()
    marginal = PoissonFamily()


@dataclass(frozen=True)
class NegativeBinomialExposureFamily(_WithExposure, NegativeBinomialFamily):
    """Counts of mean exposure times exp(eta), overdispersed, two columns.

    The rate of a row varies by the scale, whatever the exposure. Predictions are for an exposure of one.
    """

    base = _NegativeBinomialBase()
    marginal = NegativeBinomialFamily()
