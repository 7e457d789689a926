"""Predictive distributions of the methods that have none of their own class: normal, and weighted outputs smoothed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from . import COVERAGES, Predicted

__all__ = ["BROAD", "WIDTHS", "Smooth", "best_smooth", "normal"]

WIDTHS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
BROAD = (0.01, 0.001, 0.05)  # the first while other things are chosen
BROAD_SPREAD = 3  # standard deviations of y: outputs beyond those seen are to be expected
SLIGHT = 1e-3  # least bandwidth, in standard deviations of y


def normal(mean: np.ndarray, scale: Any, y_new: np.ndarray, **notes: Any) -> Predicted:
    """Return predictions whose distribution is normal, of one scale or one for each row."""
    from scipy.stats import norm

    from skmoe.model.crps import gaussian_mixture_crps

    law, scales = norm(mean, scale), np.broadcast_to(scale, mean.shape)
    intervals = {level: np.column_stack(law.interval(level)) for level in COVERAGES}
    crps = gaussian_mixture_crps(np.ones((len(mean), 1)), mean[:, None], scales[:, None], y_new)
    return Predicted(mean, law.logpdf(y_new), intervals, crps, notes=notes)


class Smooth(NamedTuple):
    """Weighted centres under a Gaussian kernel, with a little of one broad Gaussian over all outputs fitted.

    Weights are (n, K), a line for each new row; centres are (n, K), or (K,) where all rows share them.
    """

    y: np.ndarray  # outputs fitted
    width: float
    is_local: bool  # the width is in standard deviations of the weighted centres, else of all outputs
    broad: float

    def bandwidth(self, weights: np.ndarray, centers: np.ndarray) -> np.ndarray:
        """Return the kernel's scale for each new row."""
        spread = np.full(len(weights), self.y.std())
        if self.is_local:
            mean = np.sum(weights * centers, axis=1)
            spread = np.sqrt(np.maximum(np.sum(weights * centers**2, axis=1) - mean**2, 0))
        # a kernel narrower than half a step would put spikes on the values of a rounded output
        least = max(SLIGHT * self.y.std(), np.diff(np.unique(self.y)).min() / 2)
        return np.maximum(self.width * spread, least)

    def log_density(self, weights: np.ndarray, centers: np.ndarray, y_new: np.ndarray) -> np.ndarray:
        """Return that of one output for each new row."""
        from scipy.stats import norm

        h = self.bandwidth(weights, centers)[:, None]
        kernel = np.exp(-0.5 * ((y_new[:, None] - centers) / h) ** 2) / (h * np.sqrt(2 * np.pi))
        broad = norm(self.y.mean(), BROAD_SPREAD * self.y.std()).pdf(y_new)
        return np.log((1 - self.broad) * np.sum(weights * kernel, axis=1) + self.broad * broad)

    def quantile(self, weights: np.ndarray, centers: np.ndarray, level: float) -> np.ndarray:
        """Bisect the distribution function of each row."""
        from scipy.special import ndtr

        h, (m, s) = self.bandwidth(weights, centers)[:, None], (self.y.mean(), self.y.std())
        low, high = np.full(len(weights), m - 50 * s), np.full(len(weights), m + 50 * s)
        for _ in range(40):
            middle = (low + high) / 2
            kernel = np.sum(weights * ndtr((middle[:, None] - centers) / h), axis=1)
            below = (1 - self.broad) * kernel + self.broad * ndtr((middle - m) / (BROAD_SPREAD * s)) < level
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2

    def crps(self, weights: np.ndarray, centers: np.ndarray, y_new: np.ndarray) -> np.ndarray:
        """Return the continuous ranked probability score of each row, that of a mixture of Gaussians."""
        from skmoe.model.crps import gaussian_mixture_crps

        found, scales = np.empty(len(y_new)), self.bandwidth(weights, centers)
        centers = np.broadcast_to(centers, weights.shape)
        for row, h in enumerate(scales):
            some = weights[row] > 0
            mixed = np.append((1 - self.broad) * weights[row, some], self.broad)
            means = np.append(centers[row, some], self.y.mean())
            spreads = np.append(np.full(some.sum(), h), BROAD_SPREAD * self.y.std())
            found[row] = gaussian_mixture_crps(mixed[None], means[None], spreads[None], y_new[row : row + 1])[0]
        return found

    def predicted(self, weights: np.ndarray, centers: np.ndarray, y_new: np.ndarray, **notes: Any) -> Predicted:
        """Return all that is judged; the prediction is the weighted mean of the centres."""
        intervals = {
            level: np.column_stack([self.quantile(weights, centers, (1 + side * level) / 2) for side in (-1, 1)])
            for level in COVERAGES
        }
        density, crps = self.log_density(weights, centers, y_new), self.crps(weights, centers, y_new)
        notes |= {"width": self.width, "local": self.is_local, "broad": self.broad}
        return Predicted(np.sum(weights * centers, axis=1), density, intervals, crps, notes=notes)


def best_smooth(y: np.ndarray, value: Callable[[Smooth], float]) -> Smooth:
    """Choose the kernel's width, then the share of the broad Gaussian, by the highest value."""
    smooth = max((Smooth(y, *how, BROAD[0]) for how in product(WIDTHS, (True, False))), key=value)
    return max((smooth._replace(broad=broad) for broad in BROAD), key=value)
