r"""Predictive distributions of a block of rows for experts of any family: counts, positive outputs, 0 and 1.

For each row, with components j of weight w and density f,

.. math:: p(y) = \sum_j w_j f(y \mid \eta_j, \sigma_j).

Distributions of whole numbers have probabilities in place of densities, intervals whose bounds are outputs, and
smallest sets that are made of outputs: they hold at least the probability wanted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtri

from skmoe.model import regions
from skmoe.model.family import Family
from skmoe.model.quantiles import NODES, Quantiles, choose_components

__all__ = ["FamilyMixture"]

OUTWARDS = 1100  # doublings of a bracket, to the end of the doubles
HALVINGS = 300
TINY = 1e-300
NEGLIGIBLE = 1e-12  # probability of counts that are left out of sets on either side
SCORE = 8.2  # normal scores are held within, where the digits of a probability near one end
MOST_OUTPUTS = 2**22  # of one row, to find a smallest set of whole numbers among


@dataclass(frozen=True)
class FamilyMixture(Quantiles):
    """Predictive distributions of n rows, on the host; outputs y are (n,), or (n, m) for several for each row.

    Parameters
    ----------
    family : Family
        Family of the components.
    weights, eta : (n, K) arrays
        Weights, which add up to one in each row, and predictors of the components.
    scales : (n, K) or (K,) array
    """

    family: Family
    weights: np.ndarray
    eta: np.ndarray
    scales: np.ndarray

    def __post_init__(self) -> None:
        object.__setattr__(self, "scales", np.broadcast_to(self.scales, np.shape(self.eta)))

    def __len__(self) -> int:
        return len(self.eta)

    def take(self, rows: Any) -> FamilyMixture:
        """Return the distributions of some rows, by index, mask or slice."""
        return replace(self, weights=self.weights[rows], eta=self.eta[rows], scales=self.scales[rows])

    def _broadcast(self, y: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return outputs, weights, predictors and scales along a last axis of components."""
        arrays = (self.weights, self.eta, self.scales)
        return y[..., None], *(a[:, None, :] if y.ndim == 2 else a for a in arrays)

    # -- density and probability --------------------------------------------------------------------------------------

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Return the log density, or probability, at y."""
        y = np.asarray(y, dtype=np.float64)
        outside = np.asarray(self.family.impossible(y))
        t, weights, eta, scales = self._broadcast(np.where(outside, 1.0, y))  # a possible output of every family
        terms = self.family.at(t, eta, scales).log_density + self.family.log_base
        return np.where(outside, -np.inf, logsumexp(terms, axis=-1, b=weights))

    def cdf(self, y: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y."""
        t, weights, eta, scales = self._broadcast(np.asarray(y, dtype=np.float64))
        return np.clip(np.sum(weights * self.family.cdf(t, eta, scales), axis=-1), 0.0, 1.0)

    def log_tails(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log of the probability below y and above y."""
        below = self.cdf(y)
        return np.log(np.maximum(below, TINY)), np.log(np.maximum(1 - below, TINY))

    def normal_scores(self, y: np.ndarray) -> np.ndarray:
        """Return normal scores of y; those of whole numbers are at half their probability."""
        level = self.cdf(y)
        if self.family.discrete:
            level = level - 0.5 * self.pdf(y)
        return np.clip(ndtri(np.clip(level, 0.0, 1.0)), -SCORE, SCORE)

    # -- moments and quantiles ----------------------------------------------------------------------------------------

    def mean(self) -> np.ndarray:
        """Return the mean of the mixture, (n,)."""
        return np.sum(self.weights * self.family.mean(self.eta, self.scales), axis=1)

    def std(self) -> np.ndarray:
        """Return the standard deviation of the mixture, (n,)."""
        means = self.family.mean(self.eta, self.scales)
        about = (means - self.mean()[:, None]) ** 2
        return np.sqrt(np.sum(self.weights * (self.family.variance(self.eta, self.scales) + about), axis=1))

    def _at_tail(self, tail: Any, *, upper: Any) -> np.ndarray:
        """Return the least output at which the probability of at most that is `tail`, or one less it, (n,)."""
        level = np.broadcast_to(np.where(upper, 1.0 - np.asarray(tail), tail), len(self)).astype(np.float64)
        family, discrete = self.family, self.family.discrete
        q = np.where(level <= 0, family.lowest, family.highest)
        rows = np.nonzero((level > 0) & (level < 1))[0]
        inside, level = self.take(rows), level[rows]
        low, high = inside._bracket(level)
        for _ in range(HALVINGS):
            middle = np.floor(0.5 * (low + high)) if discrete else 0.5 * (low + high)
            enough = inside.cdf(middle) >= level
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
            width = 1.0 if discrete else 1e-14 * (np.abs(low) + np.abs(high))
            if np.all(high - low <= width):
                break
        q[rows] = high
        return q

    def _bracket(self, level: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return outputs whose probabilities are below, and at least, the given ones."""
        family, mean, step = self.family, self.mean(), self.std() + float(self.family.discrete)
        step = np.where(np.isfinite(step) & (step > 0), step, 1.0)
        ends = []
        for sign, bound in ((-1.0, family.lowest - float(family.discrete)), (1.0, family.highest)):
            end, far = mean, step
            for _ in range(OUTWARDS):
                short = (self.cdf(end) >= level) if sign < 0 else (self.cdf(end) < level)
                short &= end != bound
                if not np.any(short):
                    break
                moved = mean + sign * far
                moved = np.maximum(moved, bound) if sign < 0 else np.minimum(moved, bound)
                end, far = np.where(short, moved, end), 2 * far
            ends.append(end)
        low, high = ends
        return (np.floor(low), np.ceil(high)) if family.discrete else (low, high)

    # -- scores -------------------------------------------------------------------------------------------------------

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return the continuous ranked probability score at y, (n,)."""
        family = self.family
        return self.integrated_crps(y, self.eta.shape[1], family.lowest, family.highest, discrete=family.discrete)

    # -- smallest sets ------------------------------------------------------------------------------------------------

    def _nodes(self) -> np.ndarray:
        """Return the outputs between which the density changes little, or in one direction."""
        mean = np.asarray(self.family.mean(self.eta, self.scales))[:, :, None]
        deviation = np.sqrt(self.family.variance(self.eta, self.scales))[:, :, None]
        if self.family.lowest == 0:  # positive outputs: even steps of their logs
            around = mean * np.exp(np.sqrt(np.log1p((deviation / mean) ** 2)) * NODES)
        else:
            around = mean + deviation * NODES
        return around.reshape(len(self), -1)

    def sets(self, log_outside: float) -> list[np.ndarray]:
        """Return the smallest sets, as intervals (m, 2) in ascending order, by the log of the probability outside."""
        if log_outside == -np.inf:
            return [np.array([[self.family.lowest, self.family.highest]]) for _ in range(len(self))]
        if not self.family.discrete:
            return regions.smallest_sets(self, self._nodes(), log_outside)
        return [self._set_of_numbers(i, float(np.exp(log_outside))) for i in range(len(self))]

    def _numbers(self, row: int, outside: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the outputs of a row that have all but a negligible probability, and their probabilities."""
        one = self.take(slice(row, row + 1))
        low, high = one.bounds(NEGLIGIBLE * outside)[0]
        if not high - low < MOST_OUTPUTS:
            raise ValueError(
                f"a smallest set of whole numbers between {low:g} and {high:g} cannot be computed; use interval instead"
            )
        numbers = np.arange(low, high + 1)
        return numbers, one.pdf(numbers[None, :])[0]

    def _set_of_numbers(self, row: int, outside: float) -> np.ndarray:
        numbers, probability = self._numbers(row, outside)
        order = np.argsort(-probability, kind="stable")
        enough = int(np.searchsorted(np.cumsum(probability[order]), 1 - outside)) + 1
        chosen = np.sort(numbers[order[:enough]])
        breaks = np.nonzero(np.diff(chosen) > 1)[0]
        return np.column_stack([chosen[np.append(0, breaks + 1)], chosen[np.append(breaks, len(chosen) - 1)]])

    def log_less_likely(self, y: np.ndarray) -> np.ndarray:
        """Return the log probability of an output of lower density than y, (n,)."""
        if not self.family.discrete:
            return regions.log_less_likely(self, np.column_stack([self._nodes(), y]), y)
        found, at_y = np.empty(len(self)), self.pdf(y)
        for i in range(len(self)):
            _, probability = self._numbers(i, 1.0)
            found[i] = 1 - np.sum(probability[probability >= at_y[i] * (1 - 1e-12)])
        return np.log(np.maximum(found, TINY))

    # -- sampling -----------------------------------------------------------------------------------------------------

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Draw an output for each row, (n,)."""
        rows, chosen = np.arange(len(self)), choose_components(self.weights, rng)
        return self.family.sample(self.eta[rows, chosen], self.scales[rows, chosen], rng)
