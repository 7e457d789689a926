r"""Experts of counts over an exposure, such as time at risk: it multiplies an expert's rate.

With exposure t the mean of a count is :math:`t e^\eta`, the law otherwise that of the family without exposure at the
predictor :math:`\eta + \log t`. A row is fitted by its count and the log of its exposure.
"""

from __future__ import annotations

from dataclasses import dataclass

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.families.negative_binomial import NegativeBinomialFamily
from skmoe.model.families.poisson import PoissonFamily, not_counts
from skmoe.model.family import Family, Law

__all__ = ["NegativeBinomialExposureFamily", "PoissonExposureFamily"]


class _CountsAndLogs(Family):
    """The law of counts and logs of exposures, laid out parts first; before the law of counts alone in a class."""

    parts = 2

    def at(self, y: Array, eta: Array, scale: Array) -> Law:
        """The law at a block of rows."""
        return super().at(y[0, ...], eta + y[1, ...], scale)

    def start_response(self, y: Array) -> Array:
        """Logs of the rates, half a count more so that all have one."""
        return super().start_response(y[0, ...]) - y[1, ...]


@dataclass(frozen=True)
class _PoissonBase(_CountsAndLogs, PoissonFamily):
    """Poisson counts over an exposure."""


@dataclass(frozen=True)
class _NegativeBinomialBase(_CountsAndLogs, NegativeBinomialFamily):
    """Negative binomial counts over an exposure."""


class _WithExposure(Family):
    """Counts and exposures as a caller gives them: two columns of y."""

    columns = 2
    support = "counts, whole numbers of 0 or more, and positive exposures"

    def transform_response(self, y: Array) -> Array:
        """Count and log of the exposure as one table of parts, (b, 1, 2)."""
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        return xp.stack([y[:, 0], xp.log(y[:, 1])], axis=1)[:, None, :]

    def typical(self, y: Array) -> Array:
        """Count for an exposure of one."""
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        return y[:, 0] / y[:, 1]

    def log_jacobian(self, y: Array) -> Array:
        """Nothing: probabilities of counts stay what they are."""
        return array_namespace(y).zeros_like(y[:, 0])

    def impossible(self, y: Array) -> Array:
        """Rows without a count or an exposure."""
        return not_counts(y[:, 0]) | ~((y[:, 1] > 0) & (y[:, 1] < float("inf")))


@dataclass(frozen=True)
class PoissonExposureFamily(_WithExposure, PoissonFamily):
    """Counts of mean exposure times exp(eta), two columns; what is predicted is the count for an exposure of one."""

    @property
    def base(self) -> Family:
        """The law of counts and logs of exposures."""
        return _PoissonBase()

    @property
    def marginal(self) -> Family:
        """Counts for an exposure of one."""
        return PoissonFamily()


@dataclass(frozen=True)
class NegativeBinomialExposureFamily(_WithExposure, NegativeBinomialFamily):
    """Counts of mean exposure times exp(eta), with more spread than Poisson's, two columns.

    The rate of a row varies by the scale, whatever the exposure. What is predicted is the count for an exposure of one.
    """

    @property
    def base(self) -> Family:
        """The law of counts and logs of exposures."""
        return _NegativeBinomialBase()

    @property
    def marginal(self) -> Family:
        """Counts for an exposure of one."""
        return NegativeBinomialFamily()
