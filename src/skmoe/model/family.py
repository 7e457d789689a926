r"""What an expert's law is: one object that every kernel asks.

A `Family` says how outputs follow the linear predictor :math:`\eta = a^\top x + b` of an expert and its scale. At a
block of rows it gives a `Law`, which has the log density and its derivatives, so that kernels contain nothing of a
particular law. With :math:`\tau` the log of the scale, f the log density of an expert:

==================  ======================================================
``score``           :math:`\partial f / \partial \eta`
``curvature``       :math:`-\partial^2 f / \partial \eta^2`
``scale_score``     :math:`\partial f / \partial \tau`
``scale_curvature`` :math:`-\partial^2 f / \partial \tau^2`
``cross_curvature`` :math:`-\partial^2 f / \partial \eta\, \partial \tau`
==================  ======================================================

Shapes broadcast: predictors are (..., k, b), scales (..., k, 1), outputs (b,).
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from skmoe.rows.arrays import Array

__all__ = ["Family", "Law"]


class Law(Protocol):
    """The law of each expert at the rows of a block; see the module for the names of derivatives."""

    @property
    def log_density(self) -> Array:
        """Log density of the outputs, less what is the same for all experts (`Family.log_base`)."""

    @property
    def score(self) -> Array:
        """First derivative over the predictor."""

    @property
    def curvature(self) -> Array:
        """Negative second derivative over the predictor."""

    @property
    def scale_score(self) -> Array:
        """First derivative over the log scale."""

    @property
    def scale_curvature(self) -> Array:
        """Negative second derivative over the log scale."""

    @property
    def cross_curvature(self) -> Array:
        """Negative mixed derivative."""

    @property
    def step_score(self) -> Array:
        """Right side of the M-step's least squares, before responsibilities."""

    @property
    def step_weight(self) -> Array | None:
        """Weights of the M-step's Gram matrix, before responsibilities; None stands for ones."""

    @property
    def scale_statistic(self) -> Array:
        """What is summed, weighted by responsibilities, to update the scale."""


class Family(Protocol):
    """How outputs follow the linear predictor of an expert."""

    @property
    def name(self) -> str:
        """Name, as in the estimator's settings."""

    @property
    def log_base(self) -> float:
        """Part of the log density that is the same for all experts."""

    @property
    def smooth(self) -> bool:
        """Whether the log density has two derivatives everywhere, so that a gradient can vanish."""

    @property
    def location_scale(self) -> bool:
        """Whether outputs may be shifted and scaled, with predictor and scale."""

    def at(self, y: Array, eta: Array, scale: Array) -> Law:
        """The law at a block of rows."""

    def mean(self, eta: Array) -> Array:
        """Mean of the output."""

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Probability of an output of at most y, on the host."""

    def pdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Density, on the host."""

    def quantile(self, level: float, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Output that is exceeded with probability 1 - level, on the host."""

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw an output for each predictor, on the host."""

    def step_scale(self, scale: np.ndarray) -> np.ndarray:
        """What `Law.score` is multiplied by in `Law.step_score`."""

    def statistic_after(
        self, statistic: np.ndarray, steps: np.ndarray, gradient: np.ndarray, gram: np.ndarray
    ) -> np.ndarray:
        """Sums (..., k) of `Law.scale_statistic` after experts moved by `steps`, where that is known exactly."""

    def updated_scales(
        self, statistic: np.ndarray, share: np.ndarray, ridge: float | np.ndarray, floor: float
    ) -> np.ndarray:
        """Scales (..., k) of experts that hold `share` of the rows, from their summed statistics.

        A `ridge` per row draws the logs of the scales to their mean; none is below `floor`.
        """

    def scale_slope(self, statistic: np.ndarray, share: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Sums of `Law.scale_score` from those of the statistic and of the responsibilities."""

    def start_response(self, y: Array) -> Array:
        """Rough predictors from outputs, for a first fit by least squares."""

    def start_scale(self, residual: np.ndarray) -> np.ndarray:
        """Scales from the residual scales of that first fit."""
