"""Outputs as the caller has them: which are possible, what is fitted, and their distribution given a predictor."""

from __future__ import annotations

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace

__all__ = ["Response"]


class Response:
    """Outputs of a family; the defaults are those of numbers that are fitted as they are.

    Attributes
    ----------
    columns : int
        Columns of y that an output is given by.
    parts : int
        Numbers that an output is fitted by, along a first axis where there are several.
    discrete : bool
        Whether outputs are whole numbers.
    lowest, highest : float
        Range of the outputs.
    support : str
        Description of possible outputs.
    """

    columns: int = 1
    parts: int = 1
    discrete: bool = False
    lowest: float = -np.inf
    highest: float = np.inf
    support: str = "numbers"

    def transform_response(self, y: Array) -> Array:
        """Return outputs as `Family.base` takes them.

        Parameters
        ----------
        y : array
            Outputs, (b,).

        Returns
        -------
        array
            Transformed responses.
        """
        return y

    def typical(self, y: Array) -> Array:
        """Return one number for each output, on the scale of `transform_response`, to centre and scale by, (b,).

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
        """Return the log of the derivative of `transform_response` at outputs, (b,).

        Parameters
        ----------
        y : array
            Outputs, (b,).

        Returns
        -------
        array
            Logs, (b,).
        """
        return array_namespace(y).zeros_like(y if y.ndim == 1 else y[:, 0])

    def known(self, y: Array) -> Array:
        """Return 1 for outputs that are known, with a density, and 0 for those that have a probability, (b,).

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
        """Return which outputs (b,) are impossible.

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

    def mean(self, eta: Array, scale: Array) -> Array:
        """Return the mean of the output.

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
        """Return the variance of the output, on the host.

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
        """Return the probability of an output of at most y, on the host.

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
