r"""Predictive distributions of a block of rows: mixtures of Gaussian and Student components, with corrected levels.

For each row, with components j of weight w, centre m, scale s and degrees of freedom nu,

.. math:: F(y) = \sum_j w_j\, T_{\nu_j}\big((y - m_j) / s_j\big)

and a `Calibration`, where there is one, maps F to the distribution that is reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from skmoe.model import regions, student
from skmoe.model.calibration import Calibration
from skmoe.model.components import LEAST_LOG, Components
from skmoe.model.crps import gaussian_mixture_crps
from skmoe.model.quantiles import LAST_LEVEL, NODES, Quantiles, choose_components

__all__ = ["Mixture"]

WORK = 2**22  # values of the largest temporary
MOST_NODES = 512  # of one row; memory is planned for so many
LEAST_OUTSIDE = float(np.log(1e-12))  # log probability that the smallest set of a calibrated distribution can leave out


@dataclass(frozen=True)
class Mixture(Components, Quantiles):
    """Predictive distributions of n rows, on the host.

    Outputs y are (n,), one for each row, or (n, m), several for each; results have their shape. A calibration corrects
    levels and scale; `mean` is that of the mixture with and without one.

    Parameters
    ----------
    weights, centers : (n, K) arrays
        Weights, which add up to one in each row, and centres of the components.
    scales : (n, K) or (K,) array
        Scales of the components.
    dof : (n, K) or (K,) array, optional
        Their degrees of freedom, infinite for a Gaussian; None where all are Gaussian.
    calibration : Calibration, optional
        Correction of levels.
    """

    calibration: Calibration | None = None

    def _small_blocks(self, lost: float) -> Iterator[tuple[slice, Mixture]]:
        """Yield rows and their distributions, so few that all components at all `nodes` of each row fit into memory.

        Components that hold a share of at most `lost` together are left out.
        """
        size = max(1, WORK // (MOST_NODES * self.centers.shape[1]))
        for start in range(0, len(self), size):
            rows = slice(start, start + size)
            yield rows, self.take(rows)._without_negligible(lost)

    def _without_negligible(self, lost: float) -> Mixture:
        order = np.argsort(-self.weights, axis=1)
        rest = 1 - np.cumsum(np.take_along_axis(self.weights, order, axis=1), axis=1)
        order = order[:, : 1 + int(np.max(np.sum(rest > lost, axis=1)))]
        weights, centers, scales = (
            np.take_along_axis(a, order, axis=1) for a in (self.weights, self.centers, self.scales)
        )
        dof = None if self.dof is None else np.take_along_axis(self.dof, order, axis=1)
        return Mixture(weights / np.sum(weights, axis=1, keepdims=True), centers, scales, dof, self.calibration)

    # -- density and probability --------------------------------------------------------------------------------------

    def logpdf(self, y: np.ndarray) -> np.ndarray:
        """Return the log density at y."""
        raw = self.raw_logpdf(y)
        return raw if self.calibration is None else raw + self.calibration.log_slope(self.normal_scores(y))

    def cdf(self, y: np.ndarray) -> np.ndarray:
        """Return the probability of an output of at most y: uniform over rows if the distribution is right (PIT)."""
        if self.calibration is not None:
            return self.calibration.levels(self.normal_scores(y))
        tail, upper = self.tail(y)
        return np.where(upper, 1 - tail, tail)

    def standard_scores(self, y: np.ndarray) -> np.ndarray:
        """Return scores of y, Student if the calibration is right, or Gaussian without one."""
        z = self.normal_scores(y)
        return z if self.calibration is None else self.calibration.standardised(z)

    def log_tails(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log of the probability below y and above y, finite for finite y."""
        s, dof = self.standard_scores(y), None if self.calibration is None else self.calibration.dof
        return student.log_cdf(s, dof), student.log_cdf(-s, dof)

    # -- moments ------------------------------------------------------------------------------------------------------

    def std(self) -> np.ndarray:
        """Return the root mean squared deviation from `mean`, (n,).

        Where a distribution is calibrated, or has Student components of 2 degrees of freedom or fewer, outputs beyond
        the quantiles of level 1e-6 on either side count as if they were at these quantiles, so that it is always
        finite.
        """
        if self.calibration is not None or (self.dof is not None and np.any(self.dof <= 2)):
            std = np.empty(len(self))
            for rows, block in self._small_blocks(1e-9):
                std[rows] = block._winsorised_std()
            return std
        variance = self.scales**2
        if self.dof is not None:
            variance = variance / (1 - 2 / self.dof)
        return np.sqrt(np.sum(self.weights * (variance + (self.centers - self.mean()[:, None]) ** 2), axis=1))

    def _winsorised_std(self) -> np.ndarray:
        mean = self.mean()
        levels = np.geomspace(0.05, LAST_LEVEL, 7)
        nodes = np.column_stack([self.nodes(levels), mean])
        low, high = (np.minimum(nodes[:, -3], mean), np.maximum(nodes[:, -2], mean))
        nodes = np.sort(np.clip(nodes, low[:, None], high[:, None]), axis=1)
        return np.sqrt(regions.squared_deviation(self, nodes, mean))

    # -- scores -------------------------------------------------------------------------------------------------------

    def crps(self, y: np.ndarray) -> np.ndarray:
        """Return the continuous ranked probability score at y, (n,): in closed form for plain Gaussian mixtures."""
        if self.calibration is None and self.dof is None:
            return gaussian_mixture_crps(self.weights, self.centers, self.scales, y)
        scores = np.empty(len(self))
        for rows, block in self._small_blocks(1e-9):
            scores[rows] = block.integrated_crps(y[rows], block.centers.shape[1])
        return scores

    # -- quantiles ----------------------------------------------------------------------------------------------------

    def central(self, score: float) -> np.ndarray:
        """Return outputs whose standard scores are -score and score, (n, 2)."""
        return np.stack([self._at_score(sign * np.full(len(self), score)) for sign in (-1.0, 1.0)], axis=1)

    def _at_tail(self, tail: Any, *, upper: Any) -> np.ndarray:
        """Return the output below which, or above which, the probability is `tail`."""
        score = student.quantile(tail, None if self.calibration is None else self.calibration.dof)
        return self._at_score(np.broadcast_to(np.where(upper, -score, score), len(self)))

    def _at_score(self, score: np.ndarray) -> np.ndarray:
        """Return the output of each row with a given standard score."""
        z = score if self.calibration is None else self.calibration.normal(score)
        return self.at_log_tail(log_ndtr(-np.abs(z)), np.where(z > 0, -1.0, 1.0))

    # -- smallest sets ------------------------------------------------------------------------------------------------

    def nodes(self, levels: Any) -> np.ndarray:
        """Return outputs between which the density is nearly monotone; last the bounds of the last level."""
        near = (self.centers[:, :, None] + self.scales[:, :, None] * NODES).reshape(len(self), -1)
        if near.shape[1] > MOST_NODES:  # many components overlap, and a subset of their nodes is enough
            chosen = np.linspace(0, near.shape[1] - 1, max(MOST_NODES - self.centers.shape[1], MOST_NODES // 2)).astype(
                np.intp
            )
            near = np.column_stack([np.sort(near, axis=1)[:, chosen], self.centers])
        return np.column_stack([near, *(self.bounds(level) for level in levels)])

    def sets(self, log_outside: float) -> list[np.ndarray]:
        """Return the smallest sets, as intervals (m, 2) in ascending order, by the log of the probability outside.

        Where levels are calibrated, sets that would leave less than 1e-12 out are the whole line: that far out the
        density has too few digits to find where they end.
        """
        if log_outside == -np.inf or (self.calibration is not None and log_outside < LEAST_OUTSIDE):
            return [np.array([[-np.inf, np.inf]]) for _ in range(len(self))]
        levels = np.exp(max(log_outside, LEAST_LOG)) * np.array([0.5, 0.1])
        found: list[np.ndarray] = []
        for _, block in self._small_blocks(1e-6 * float(levels[0])):
            found += regions.smallest_sets(block, block.nodes(levels), log_outside)
        return found

    def log_less_likely(self, y: np.ndarray) -> np.ndarray:
        """Return the log probability outside the smallest set that holds y, (n,)."""
        found = np.empty(len(self))
        for rows, block in self._small_blocks(1e-12):
            found[rows] = regions.log_less_likely(block, np.column_stack([block.nodes([0.05, 1e-3]), y[rows]]), y[rows])
        return found

    # -- sampling -----------------------------------------------------------------------------------------------------

    def sample(self, rng: np.random.Generator) -> np.ndarray:
        """Draw an output for each row, (n,)."""
        if self.calibration is not None:
            return self._at_score(student.draw(rng, np.full(len(self), self.calibration.dof)))
        n = len(self)
        rows, chosen = np.arange(n), choose_components(self.weights, rng)
        noise = rng.standard_normal(n) if self.dof is None else student.draw(rng, self.dof[rows, chosen])
        return self.centers[rows, chosen] + self.scales[rows, chosen] * noise
