"""Predictive distributions of positive outputs whose logs have a `Mixture` as distribution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.model import regions
from skmoe.model.components import LEAST_LOG
from skmoe.model.mixture import Mixture
from skmoe.model.quantiles import Quantiles

__all__ = ["Exponentiated"]

MOST_CUT = 1e-3  # level up to which outputs near zero are cut off
LOWER = 10.0 ** -np.arange(7)  # levels, relative to that, of quantiles among which the cut is chosen


def _logs(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the logs of outputs, zero for those that are impossible, and which are possible."""
    y = np.asarray(y, dtype=np.float64)
    return np.log(np.where(y > 0, y, 1.0)), y > 0


@dataclass(frozen=True)
class _InLogs:
    """Densities of outputs as functions of their logs, zero below `least` (n,).

    Where logs have the tails of a Student distribution, the density of outputs falls towards zero and then rises
    without bound, with next to no probability there: `least` is about where it begins to rise, else minus infinity.
    """

    log: Mixture
    least: np.ndarray
    low: np.ndarray  # (n, m), logs between which the density near zero is monotone

    @classmethod
    def of(cls, log: Mixture, level: float) -> _InLogs:
        """Return them, cut where they are least among quantiles of levels up to the one given."""
        low = np.stack([log._at_tail(level * share, upper=False) for share in LOWER], axis=1)
        least = np.argmin(log.logpdf(low) - low, axis=1)
        falling = least == len(LOWER) - 1  # as far as the last quantile
        return cls(log, np.where(falling, -np.inf, low[np.arange(len(log)), least]), low)

    def __len__(self) -> int:
        return len(self.log)

    def take(self, rows: np.ndarray) -> _InLogs:
        return _InLogs(self.log.take(rows), self.least[rows], self.low[rows])

    def nodes(self, *others: np.ndarray) -> np.ndarray:
        """Return logs (n, m) between which the density is monotone, with others."""
        return np.maximum(np.column_stack([*others, self.low]), self.least[:, None])

    def logpdf(self, z: np.ndarray) -> np.ndarray:
        below = z < (self.least if z.ndim == 1 else self.least[:, None])
        return np.where(below, -np.inf, self.log.logpdf(z) - z)

    def log_tails(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.log.log_tails(z)


@dataclass(frozen=True)
class Exponentiated(Quantiles):
    """Distributions of n rows: those of exp(z) where z has the distributions `log`."""

    log: Mixture

    def __len__(self) -> int:
        return len(self.log)

    def take(self, rows: Any) -> Exponentiated:
        """Return the distributions of some rows, by index, mask or slice."""
        return Exponentiated(self.log.take(rows))

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Return the log density at y."""
        z, possible = _logs(y)
        return np.where(possible, self.log.logpdf(z) - z, -np.inf)

    def cdf(self, y: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        z, possible = _logs(y)
        return np.where(possible, self.log.cdf(z), 0.0)

    def normal_scores(self, y: np.ndarray) -> np.ndarray:
        """Return normal scores of y, which must be positive."""
        return self.log.normal_scores(np.log(y))

    def standard_scores(self, y: np.ndarray) -> np.ndarray:
        """Return the scores of y that have the calibration's standard distribution where it is right."""
        return self.log.standard_scores(np.log(y))

    def mean(self) -> np.ndarray:
        """Return the mean of the mixture, components taken as Gaussian in the logs, (n,)."""
        return np.sum(self.log.weights * np.exp(self.log.centers + 0.5 * self.log.scales**2), axis=1)

    def std(self) -> np.ndarray:
        """Return the standard deviation of the mixture, components taken as Gaussian in the logs, (n,)."""
        squares = np.sum(self.log.weights * np.exp(2 * self.log.centers + 2 * self.log.scales**2), axis=1)
        return np.sqrt(np.maximum(squares - self.mean() ** 2, 0.0))

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return the continuous ranked probability score at y, (n,), components taken as Gaussian in the logs."""
        log = self.log
        plain = Exponentiated(Mixture(log.weights, log.centers, log.scales))
        return plain.integrated_crps(y, log.centers.shape[1], 0.0)

    def _at_tail(self, tail: Any, *, upper: Any) -> np.ndarray:
        return np.exp(self.log._at_tail(tail, upper=upper))

    def central(self, score: float) -> np.ndarray:
        """Return outputs whose standard scores are -score and score, (n, 2)."""
        return np.exp(self.log.central(score))

    def sets(self, log_outside: float) -> list[np.ndarray]:
        """Return the smallest sets, as intervals (m, 2) in ascending order, by the log of the probability outside."""
        if log_outside == -np.inf:
            return [np.array([[0.0, np.inf]]) for _ in range(len(self))]
        levels = np.exp(max(log_outside, LEAST_LOG)) * np.array([0.5, 0.1])
        densities = _InLogs.of(self.log, min(MOST_CUT, levels[-1]))
        found = regions.smallest_sets(densities, densities.nodes(self.log.nodes(levels)), log_outside)
        return [np.exp(bounds) for bounds in found]

    def log_less_likely(self, y: np.ndarray) -> np.ndarray:
        """Return the log probability of an output of lower density than y, (n,)."""
        z = np.log(y)
        densities = _InLogs.of(self.log, MOST_CUT)
        inside = np.maximum(z, densities.least)
        nodes = densities.nodes(self.log.nodes([0.05, 1e-3]), inside)
        found = regions.log_less_likely(densities, nodes, inside)
        return np.where(z < densities.least, self.log.log_tails(z)[0], found)

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Draw an output for each row, (n,)."""
        return np.exp(self.log.sample(rng))
