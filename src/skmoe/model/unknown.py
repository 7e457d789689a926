"""Predictive laws of rows where a fit has no degrees of freedom left: their spread is unknown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skmoe.model.quantiles import Quantiles

__all__ = ["UnknownScale"]


@dataclass(frozen=True)
class UnknownScale(Quantiles):
    """Laws of n rows in the limit of no degrees of freedom: half of the probability is at either bound of the outputs.

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
        """The laws of some rows, by index, mask or slice."""
        return replace(self, centers=self.centers[rows])

    def mean(self) -> np.ndarray:
        """Mean by the fit, (n,)."""
        return self.centers

    def std(self) -> np.ndarray:
        """Infinite, (n,)."""
        return np.full(len(self), np.inf)

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Log density at y: that of no output is more than zero."""
        return np.full(np.shape(y), -np.inf)

    def cdf(self, y: np.ndarray) -> np.ndarray:
        """Probability of an output of at most y."""
        y = np.asarray(y)
        return np.where(y < self.lowest, 0.0, np.where(y < self.highest, 0.5, 1.0))

    def log_tails(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log of the probability below y and above y."""
        below = self.cdf(y)
        with np.errstate(divide="ignore"):
            return np.log(below), np.log(1 - below)

    def normal_scores(self, y: np.ndarray) -> np.ndarray:
        """Zero: no output is further out than another."""
        return np.zeros(np.shape(y))

    def standard_scores(self, y: np.ndarray) -> np.ndarray:
        """The same."""
        return self.normal_scores(y)

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Infinite, (n,)."""
        return np.full(np.shape(y), np.inf)

    def _at_tail(self, tail: Any, *, upper: Any) -> np.ndarray:
        return np.full(len(self), self.highest if upper else self.lowest)

    def central(self, score: float) -> np.ndarray:
        """All outputs, (n, 2)."""
        return np.tile([self.lowest, self.highest], (len(self), 1))

    def sets(self, log_outside: float) -> list[np.ndarray]:
        """All outputs of each row, as an interval (1, 2)."""
        return [np.array([[self.lowest, self.highest]]) for _ in range(len(self))]

    def region(self, coverage: float) -> list[np.ndarray]:
        """The same."""
        return self.sets(float(np.log1p(-coverage)))

    def log_less_likely(self, y: np.ndarray) -> np.ndarray:
        """Log probability of an output of lower density than y, (n,): zero, since no density is known."""
        return np.zeros(len(self))

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Refuse: there is no law to draw from."""
        raise ValueError(
            "outputs cannot be drawn: the fit has as many coefficients as rows, which leaves no degrees of freedom for "
            "the noise; fit fewer columns or more rows"
        )
