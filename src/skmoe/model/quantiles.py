"""Quantiles, intervals and scores of the distributions of n rows, by the probability of a tail."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import ndtr

from skmoe.model.crps import integrated_crps

__all__ = ["LAST_LEVEL", "NODES", "Quantiles", "choose_components"]

LAST_LEVEL = 1e-6  # level from which on outputs count as if they were at the quantile, where tails may be heavy
NODES = np.array([-4.5, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4.5])
"""Points that resolve the shape of a component, in standard deviations."""


def choose_components(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a component of each row (n,) by its weights (n, K)."""
    chosen = (rng.random((len(weights), 1)) > np.cumsum(weights, axis=1)).sum(axis=1)
    return np.minimum(chosen, weights.shape[1] - 1)  # weights add up to one but for roundoff


class Quantiles:
    """Distributions of n rows; a subclass finds the outputs at a tail."""

    def __len__(self) -> int:
        raise NotImplementedError

    def _at_tail(self, tail: Any, *, upper: Any) -> np.ndarray:
        """Return the output below which, or above which, the probability is `tail`."""
        raise NotImplementedError

    def take(self, rows: Any) -> Self:
        """Return the distributions of some rows, by index, mask or slice."""
        raise NotImplementedError

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Return the log density at y."""
        raise NotImplementedError

    def cdf(self, y: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        raise NotImplementedError

    def normal_scores(self, y: np.ndarray) -> np.ndarray:
        """Return normal scores of y: standard Gaussian where the distributions are right."""
        raise NotImplementedError

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return the continuous ranked probability score at y, (n,)."""
        raise NotImplementedError

    def sets(self, log_outside: float) -> list[np.ndarray]:
        """Return the smallest sets, as intervals (m, 2) in ascending order, by the log of the probability outside."""
        raise NotImplementedError

    def standard_scores(self, y: np.ndarray) -> np.ndarray:
        """Return the scores of y that are standard where a calibration is right: normal scores where there is none."""
        return self.normal_scores(y)

    def pdf(self, y: np.ndarray) -> np.ndarray:
        """Return the density at y."""
        return np.exp(self.logpdf(y))

    def quantile(self, level: Any) -> np.ndarray:
        """Return the output that is not exceeded with probability `level`: (n,), or (n, m) for a list of m levels."""
        levels = np.asarray(level, dtype=np.float64)
        if levels.ndim > 1 or not np.all((levels >= 0) & (levels <= 1)):
            raise ValueError(f"levels must be between 0 and 1; got {level!r}")
        if levels.ndim == 0:
            return self._at_tail(np.minimum(levels, 1 - levels), upper=bool(levels > 0.5))
        columns = [self._at_tail(np.minimum(p, 1 - p), upper=bool(p > 0.5)) for p in levels]
        return np.stack(columns, axis=1) if columns else np.empty((len(self), 0))

    def interval(self, coverage: float) -> np.ndarray:
        """Return bounds between which an output falls with probability `coverage`, tails of equal weight, (n, 2)."""
        return self.bounds((1 - coverage) / 2)

    def bounds(self, tail: float) -> np.ndarray:
        """Return the lower and upper bounds with probability `tail` outside on either side, (n, 2)."""
        return np.stack([self._at_tail(tail, upper=False), self._at_tail(tail, upper=True)], axis=1)

    def central(self, score: float) -> np.ndarray:
        """Return outputs whose standard scores are -score and score, (n, 2)."""
        return self.bounds(float(ndtr(-score)))

    def region(self, coverage: float) -> list[np.ndarray]:
        """Return the smallest set of probability `coverage` for each row, as intervals (m, 2) in ascending order."""
        return self.sets(float(np.log1p(-coverage)))

    def integrated_crps(
        self, y: np.ndarray, width: int, lowest: float = -np.inf, highest: float = np.inf, *, discrete: bool = False
    ) -> np.ndarray:
        """Return the continuous ranked probability scores (n,) by integration, for outputs between two bounds."""
        possible = np.clip(y, lowest, highest)
        low, high = self.bounds(LAST_LEVEL).T
        found = integrated_crps(
            lambda rows, z: self.take(rows).cdf(z), possible, low, high, discrete=discrete, width=width
        )
        return found + np.abs(y - possible)
