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

`Law` and `Family` hold what a law without a scale does, so that a law needs little more than its density, two
derivatives and its mean. An EM step moves an expert by one guarded Newton step: Gram matrices weighted by
``step_weight``, right sides by ``step_score``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace

__all__ = ["Family", "Law"]


class Law:
    """The law of each expert at the rows of a block; see the module for the names of derivatives.

    A subclass has at least `log_density`, `score` and `curvature`.
    """

    @property
    def log_density(self) -> Array:
        """Log density of the outputs, less what is the same for all experts (`Family.log_base`); a new array."""
        raise NotImplementedError

    @property
    def score(self) -> Array:
        """First derivative over the predictor."""
        raise NotImplementedError

    @property
    def curvature(self) -> Array:
        """Negative second derivative over the predictor."""
        raise NotImplementedError

    @property
    def scale_score(self) -> Array:
        """First derivative over the log scale."""
        return array_namespace(self.score).zeros_like(self.score)

    @property
    def scale_curvature(self) -> Array:
        """Negative second derivative over the log scale."""
        return array_namespace(self.score).zeros_like(self.score)

    @property
    def cross_curvature(self) -> Array:
        """Negative mixed derivative."""
        return array_namespace(self.score).zeros_like(self.score)

    @property
    def step_score(self) -> Array:
        """Right side of the M-step's least squares, before responsibilities."""
        return self.score

    @property
    def step_weight(self) -> Array | None:
        """Weights of the M-step's Gram matrix, before responsibilities, not negative; None stands for ones."""
        return self.curvature

    @property
    def scale_statistic(self) -> Array:
        """What is summed, weighted by responsibilities, to update the scale."""
        return array_namespace(self.score).zeros_like(self.score)


class Family:
    """How outputs follow the linear predictor of an expert.

    A subclass has at least `name`, `at`, `mean` and, for predictive distributions, `variance`, `cdf` and `sample`.

    Attributes
    ----------
    name : str
        As in the estimator's settings.
    log_base : float
        Part of the log density that is the same for all experts.
    smooth : bool
        Whether the log density has two derivatives everywhere, so that a gradient can vanish.
    location_scale : bool
        Whether outputs may be shifted and scaled, with predictor and scale.
    has_scale : bool
        Whether a scale is to be learned beside the predictor.
    least_scale : float
        Least scale of a law that is not a location-scale one.
    may_end_at_least_scale : bool
        Whether the least scale is a law like any other, as Poisson is among negative binomial ones.
    few_values : bool
        Whether outputs have few values, so that each tells little and a search needs more rows.
    most_coef : float
        Size of a coefficient, on the standardised scale, from which on a fit is degenerate: the likelihood of outputs
        that a line separates rises for ever.
    most_scale_ratio : float
        Ratio of the largest scale of an expert to the smallest from which on a fit is degenerate: an expert of outputs
        far from all others, where each expert can bear some by itself.
    least_squares : bool
        Whether one expert is fitted exactly by least squares.
    log_link : bool
        Whether the predictor is the log of the mean: a line continued beyond an expert's rows then leads to any mean.
    noise_dof : float, array or None
        Where outputs are a centre plus noise, its degrees of freedom, infinite for Gaussian noise; one number, or one
        for each expert.
    predictors : int
        Predictors of an expert, m; see `skmoe.model.channels` for the shapes where there are several.
    columns : int
        Columns of y that an output is given by.
    parts : int
        Numbers that an output is fitted by: laws take them along a first axis where there are several.
    discrete : bool
        Whether outputs are whole numbers.
    lowest, highest : float
        Range of the outputs.
    support : str
        What outputs can be, in words.
    ratio : str
        What the exponential of a coefficient is, in words; empty where it is nothing in particular.
    scale_name : str
        What the scale is called in tables.
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
    columns: int = 1
    parts: int = 1
    discrete: bool = False
    lowest: float = -np.inf
    highest: float = np.inf
    support: str = "numbers"
    ratio: str = ""
    scale_name: str = "sigma"

    # -- what kernels ask ---------------------------------------------------------------------------------------------

    def at(self, y: Array, eta: Array, scale: Array) -> Law:
        """The law at a block of rows.

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
        """What `Law.score` is multiplied by in `Law.step_score`.

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
        """Sums (..., k) of `Law.scale_statistic` after experts moved by `steps`, where that is known exactly.

        Parameters
        ----------
        statistic : array
            Sums over rows of `Law.scale_statistic`, (..., k).
        steps : array
            How far experts moved, (..., k, D).
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
        spread: float,
        floor: float,
    ) -> np.ndarray:
        """Scales (..., k) of experts that hold `share` of the rows, from their summed statistics.

        A prior (`skmoe.likelihood.penalty`) draws each to the spread of the outputs; none is below `floor`.

        Parameters
        ----------
        statistic : array
            Sums over rows of `Law.scale_statistic`, (..., k).
        share : array
            Sums of responsibilities, (..., k).
        dof : float or array
            Degrees of freedom of the prior, per row; zero for none.
        spread : float
            Spread of the outputs, or what stands for it.
        floor : float
            Least scale.

        Returns
        -------
        array
            Scales in the shape of `statistic`.
        """
        return np.ones_like(statistic)

    def scale_slope(self, statistic: np.ndarray, share: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Sums of `Law.scale_score` from those of the statistic and of the responsibilities.

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
        """Rough predictors from outputs, for a first fit by least squares.

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
        """Scales from the residual scales of that first fit.

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
        """The law of the given experts, in that order; the family itself unless it has numbers for each expert.

        Parameters
        ----------
        experts : (m,) array of int
            Which experts, each as often as wanted.

        Returns
        -------
        Family
            The law of these.
        """
        return self

    @property
    def any_experts(self) -> Family:
        """The law for any number of experts: the family itself unless it has numbers for each expert."""
        return self

    # -- outputs as the caller has them -------------------------------------------------------------------------------

    @property
    def base(self) -> Family:
        """The law of what `working` makes of an output: what is fitted. The family itself, as a rule."""
        return self

    @property
    def marginal(self) -> Family:
        """The law of an output that is seen as it is: what is predicted. The family itself, as a rule."""
        return self

    def transform_response(self, y: Array) -> Array:
        """Outputs as `inner` takes them.

        Parameters
        ----------
        y : array
            Outputs, (b,).

        Returns
        -------
        array
            What is fitted.
        """
        return y

    def typical(self, y: Array) -> Array:
        """One number for each output, on the scale of `working`, to centre and scale by, (b,).

        Parameters
        ----------
        y : array
            Outputs, (b,).

        Returns
        -------
        array
            Numbers, (b,).
        """
        return self.transform_response(y)

    def log_jacobian(self, y: Array) -> Array:
        """Log of the derivative of `working` at outputs, (b,).

        Parameters
        ----------
        y : array
            Outputs, (b,).

        Returns
        -------
        array
            Logs, (b,).
        """
        return array_namespace(y).zeros_like(y)

    def known(self, y: Array) -> Array:
        """Whether each output is known, so that it has a density: 1, or 0 for one that has a probability, (b,).

        Parameters
        ----------
        y : array
            Outputs, (b,).

        Returns
        -------
        array
            Ones and zeros, (b,).
        """
        xp = array_namespace(y)
        return xp.ones_like(xp.astype(y if y.ndim == 1 else y[:, 0], xp.float64, copy=False))

    def impossible(self, y: Array) -> Array:
        """Which outputs (b,) the law cannot give.

        Parameters
        ----------
        y : array
            Outputs, (b,).

        Returns
        -------
        array
            Booleans, (b,).
        """
        return array_namespace(y).zeros_like(y) > 0

    # -- its distribution ---------------------------------------------------------------------------------------------

    def mean(self, eta: Array, scale: Array) -> Array:
        """Mean of the output.

        Parameters
        ----------
        eta : array
            Predictors, (..., k, b).
        scale : array
            Scales, (..., k, 1).

        Returns
        -------
        array
            Means.
        """
        raise NotImplementedError

    def variance(self, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Variance of the output, on the host.

        Parameters
        ----------
        eta : array
            Predictors, (..., k, b).
        scale : array
            Scales, (..., k, 1).

        Returns
        -------
        array
            Variances.
        """
        raise NotImplementedError

    def cdf(self, y: np.ndarray, eta: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Probability of an output of at most y, on the host.

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
        array
            Probabilities.
        """
        raise NotImplementedError

    def sample(self, eta: np.ndarray, scale: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw an output for each predictor, on the host.

        Parameters
        ----------
        eta : array
            Predictors, (..., k, b).
        scale : array
            Scales, (..., k, 1).
        rng : Generator
            Source of random numbers.

        Returns
        -------
        array
            Outputs.
        """
        raise NotImplementedError
