"""Predictive distributions of a fit that has no degrees of freedom left: their scale is unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skmoe.model.quantiles import Quantiles

__all__ = ["UnknownScale"]


@dataclass(frozen=True)
class UnknownScale(Quantiles):
    """Distributions of n rows without degrees of freedom: half of the probability is at either bound of the outputs.

    Outputs y are (n,), or (n, m) for several for each row.

    Parameters
    ----------
    centers : (n,) array
        Means by the fit.
    lowest, highest : float
        Bounds of the outputs.
    """

    centers: np.ndarray
    lowest: float
    highest: float

    def __len__(self) -> int:
        return len(self.centers)

    def take(self, rows: Any) -> UnknownScale:
        """Return the distributions of some rows, by index, mask or slice."""
        return replace(self, centers=self.centers[rows])

    def mean(self) -> np.ndarray:
        """Return the mean by the fit, (n,)."""
        return self.centers

    def std(self) -> np.ndarray:
        """Return infinity for each row, (n,)."""
        return np.full(len(self), np.inf)

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Return minus infinity, the log density of every output."""
        return np.full(np.shape(y), -np.inf)

    def cdf(self, y: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        y = np.asarray(y)
        return np.where(y < self.lowest, 0.0, np.where(y < self.highest, 0.5, 1.0))

    def normal_scores(self, y: np.ndarray) -> np.ndarray:
        """Return zeros: no output is further out than another."""
        return np.zeros(np.shape(y))

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return infinity for each row, (n,)."""
        return np.full(np.shape(y), np.inf)

    def _at_tail(self, tail: Any, *, upper: Any) -> np.ndarray:
        return np.full(len(self), self.highest if upper else self.lowest)

    def sets(self, log_outside: float) -> list[np.ndarray]:
        """Return all outputs of each row, as an interval (1, 2)."""
        return [np.array([[self.lowest, self.highest]]) for _ in range(len(self))]

    def log_less_likely(self, y: np.ndarray) -> np.ndarray:
        """Return the log probability of an output of lower density than y, (n,): zero, since no density is known."""
        return np.zeros(len(self))

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Refuse, since there is no distribution to draw from."""
        raise ValueError(
            "outputs cannot be drawn: the fit has as many coefficients as rows, which leaves no degrees of freedom for "
            "the noise; fit fewer columns or more rows"
        )
