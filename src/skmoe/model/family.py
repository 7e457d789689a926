r"""The distribution of an expert's output: one object that every kernel uses.

A `Family` describes how outputs depend on the linear predictor :math:`\eta = a^\top x + b` of an expert and its scale.
At a block of rows it gives a `Law`, which has the log density and its derivatives, so that kernels contain nothing
specific to a family. It has the defaults of a distribution without a scale, so that one needs little more than its
density, two derivatives and its mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.namespaces import Array
from skmoe.model.law import Law
from skmoe.model.response import Response

__all__ = ["Family", "Law"]


class Family(Response):
    """The distribution of an output given the linear predictor of an expert.

    A subclass has at least `name`, `at`, `mean` and, for predictive distributions, `variance`, `cdf` and `sample`.

    Attributes
    ----------
    name : str
        Its name in the estimator's settings.
    log_base : float
        Part of the log density that is the same for all experts.
    smooth : bool
        Whether the log density has two derivatives everywhere, so that a gradient can vanish.
    location_scale : bool
        Whether outputs may be shifted and scaled, with predictor and scale.
    has_scale : bool
        Whether a scale is to be learned beside the predictor.
    least_scale : float
        Least scale of a family that is not a location-scale one.
    may_end_at_least_scale : bool
        Whether the least scale is not degenerate, as for negative binomial distributions, which it makes Poisson.
    few_values : bool
        Whether outputs have few values, so that each carries little information and a search needs more rows.
    most_coef : float
        Size of a coefficient, on the standardised scale, from which on a fit is degenerate: the likelihood of outputs
        that a line separates rises for ever.
    most_scale_ratio : float
        Ratio of the largest scale of an expert to the smallest from which on a fit is degenerate: an expert of outputs
        far from all others, where each expert can have some of its own.
    least_squares : bool
        Whether one expert is fitted exactly by least squares.
    log_link : bool
        Whether the predictor is the log of the mean: a line extrapolated beyond an expert's rows then leads to any
        mean.
    noise_dof : float, array or None
        Where outputs are a centre plus noise, its degrees of freedom, infinite for Gaussian noise; one number, or one
        for each expert.
    predictors : int
        Predictors of an expert, m; see `skmoe.model.channels` for the shapes where there are several.
    ratio : str
        Name of the exponential of a coefficient, such as odds ratio; empty where it has none.
    scale_name : str
        Name of the scale in tables.
    """

    name: str
    log_base: float = 0.0
    smooth: bool = True
    location_scale: bool = False
    has_scale: bool = False
    least_scale: float = 1e-3
    may_end_at_least_scale: bool = False
    few_values: bool = False
    most_coef: float = np.inf
    most_scale_ratio: float = np.inf
    least_squares: bool = False
    log_link: bool = False
    noise_dof: Any = None
    predictors: int = 1
    ratio: str = ""
    scale_name: str = "sigma"

    @property
    def base(self) -> Family:
        """Family of the transformed response, which is fitted. The family itself by default."""
        return self

    @property
    def marginal(self) -> Family:
        """Family of a response without bounds or exposure, which is predicted. The family itself by default."""
        return self

    def at(self, y: Array, eta: Array, scale: Array) -> Law:
        """Return the `Law` at a block of rows.

        Parameters
        ----------
        y : array
            Outputs, (b,).
        eta : array
            Predictors, (..., k, b).
        scale : array
            Scales, (..., k, 1).

        Returns
        -------
        Law
            The log density and its derivatives.
        """
        raise NotImplementedError

    def step_scale(self, scale: np.ndarray) -> np.ndarray:
        """Return the factor of `Law.score` in `Law.step_score`.

        Parameters
        ----------
        scale : array
            Scales, (..., k, 1).

        Returns
        -------
        array
            Factors, in the shape of `scale`.
        """
        return np.ones_like(scale)

    def statistic_after(
        self, statistic: np.ndarray, steps: np.ndarray, gradient: np.ndarray, gram: np.ndarray
    ) -> np.ndarray:
        """Return sums (..., k) of `Law.scale_statistic` after experts moved by `steps`, where it is known.

        Parameters
        ----------
        statistic : array
            Sums over rows of `Law.scale_statistic`, (..., k).
        steps : array
            Steps of the experts, (..., k, D).
        gradient : array
            Right sides of their least squares, (..., k, D).
        gram : array
            Gram matrices, (..., k, D, D).

        Returns
        -------
        array
            Sums in the shape of `statistic`.
        """
        return statistic

    def updated_scales(
        self,
        statistic: np.ndarray,
        share: np.ndarray,
        dof: float | np.ndarray,
        y_std: float,
        floor: float,
    ) -> np.ndarray:
        """Return scales (..., k) of experts that hold `share` of the rows, from their summed statistics.

        A prior (`skmoe.likelihood.penalty`) shrinks each towards the standard deviation of the outputs.

        Parameters
        ----------
        statistic : array
            Sums over rows of `Law.scale_statistic`, (..., k).
        share : array
            Sums of responsibilities, (..., k).
        dof : float or array
            Degrees of freedom of the prior, per row; zero for none.
        y_std : float
            Standard deviation of the outputs, or 1 for families on a relative scale.
        floor : float
            Least scale.

        Returns
        -------
        array
            Scales in the shape of `statistic`.
        """
        return np.ones_like(statistic)

    def scale_slope(self, statistic: np.ndarray, share: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Return the sums of `Law.scale_score` from those of the statistic and of the responsibilities.

        Parameters
        ----------
        statistic : array
            Sums over rows of `Law.scale_statistic`, (..., k).
        share : array
            Sums of responsibilities, (..., k).
        scale : array
            Scales, (..., k, 1).

        Returns
        -------
        array
            Slopes in the shape of `statistic`.
        """
        return np.zeros_like(statistic)

    def start_response(self, y: Array) -> Array:
        """Return approximate predictors from outputs, for a first fit by least squares.

        Parameters
        ----------
        y : array
            Outputs, (b,).

        Returns
        -------
        array
            Predictors, (b,).
        """
        return y

    def start_scale(self, residual: np.ndarray) -> np.ndarray:
        """Return the scales from the residual scales of that first fit.

        Parameters
        ----------
        residual : array
            Residual scales of the first fit, (..., k).

        Returns
        -------
        array
            Scales in the shape of `residual`.
        """
        return np.ones_like(residual)

    def for_experts(self, experts: np.ndarray) -> Family:
        """Return the family of the given experts, in that order; itself unless it has parameters for each expert.

        Parameters
        ----------
        experts : (m,) array of int
            Indices of experts, with repetitions.

        Returns
        -------
        Family
            The family of these.
        """
        return self

    @property
    def any_experts(self) -> Family:
        """Family for any number of experts: itself unless it has parameters for each expert."""
        return self
