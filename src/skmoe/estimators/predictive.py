"""The predictive distribution of rows, in the caller's array library."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from numbers import Real
from operator import methodcaller
from typing import Any

import numpy as np

from skmoe.arrays.blocks import in_memory, row_blocks
from skmoe.arrays.checks import check_no_nan, generator
from skmoe.arrays.namespaces import Array, array_namespace, device, to_numpy
from skmoe.estimators.base import MixtureOfExperts
from skmoe.model.predictive import PredictiveDistribution, RowDistributions
from skmoe.tables.inputs import rows_to_use
from skmoe.tables.results import apply, in_precision_of

__all__ = ["Predictive"]

BLOCK_ROWS = 16384  # read at a time where one output is evaluated for all rows
ROUNDING = 1e-9  # relative; an output on the very bound counts as inside


class Predictive:
    """Predictive distribution of the output of each row, as `MoERegressor.predictive` gives it.

    Results are in the caller's array library: lazy for Dask, NumPy arrays for files. Where outputs are needed they
    are one for each row, one number for all rows, or the name of a column.

    With rows held out from the fit, `interval` and `region` are calibrated by them (split conformal prediction): if
    these rows and a new one are exchangeable, for instance independent draws from the same source, a set of coverage c
    holds the new output with probability at least c, on average over draws of the held-out rows and the new one, for
    any number of rows and however wrong the model is. With fewer than c / (1 - c) rows held out no bounded set can
    promise that, and bounds are infinite. The guarantee is for new rows on average, not for every value of the inputs.
    All other methods are as without held-out rows.

    Parameters
    ----------
    model : MoERegressor
        A fitted model.
    distribution : PredictiveDistribution
        Its predictive distribution.
    X : (n, d) array or any other holder of rows that `fit` takes
        Inputs.
    held_out : (X, y), optional
        Rows that took no part in the fit.
    """

    def __init__(
        self,
        model: MixtureOfExperts,
        distribution: PredictiveDistribution,
        X: Any,
        *,
        held_out: tuple[Any, Any] | None = None,
    ) -> None:
        self._model, self._distribution, self._X = model, distribution, X
        if held_out is not None and (not isinstance(held_out, tuple | list) or len(held_out) != 2):
            raise ValueError(f"held_out must be a pair (X, y) of inputs and outputs; got {type(held_out).__name__}")
        self._held_out = held_out

    def mean(self) -> Array:
        """Return the mean of the output, as `MoERegressor.predict` does.

        Returns
        -------
        (n,) array
            Means.
        """
        return apply(self._model, self._distribution.mean, self._X)

    def std(self) -> Array:
        """Return the root mean squared deviation of the output from `mean`.

        Where the distribution is calibrated or has heavy tails, outputs beyond its quantiles of level 1e-6 on either
        side count as if they were at these quantiles, so that it is finite.

        Returns
        -------
        (n,) array
            Standard deviations.
        """
        return self._evaluate(methodcaller("std"))

    def pdf(self, y: Any) -> Array:
        """Return the density at outputs.

        Parameters
        ----------
        y : (n,) array, float or str
            Outputs, one for all rows, or the name of their column.

        Returns
        -------
        (n,) array
            Densities, in the units of 1 / y.
        """

        def density(X: Array, t: Array) -> Array:
            values = self._distribution.log_density(X, t)
            return array_namespace(values).exp(values)

        return self._at_outputs(density, y)

    def logpdf(self, y: Any) -> Array:
        """Return the log density at outputs.

        Parameters
        ----------
        y : (n,) array, float or str
            Outputs, one for all rows, or the name of their column.

        Returns
        -------
        (n,) array
            Log densities, in the units of y.
        """
        return self._at_outputs(self._distribution.log_density, y)

    def cdf(self, y: Any) -> Array:
        """Return the probability of an output of at most y; at observed outputs, the probability integral transform.

        Parameters
        ----------
        y : (n,) array, float or str
            Outputs, one for all rows, or the name of their column.

        Returns
        -------
        (n,) array
            Probabilities.
        """
        return self._at_outputs(self._distribution.cdf, y)

    def crps(self, y: Any) -> Array:
        r"""Continuous ranked probability score at outputs, :math:`\int (F(z) - 1\{z \ge y\})^2\, dz`; lower is better.

        Mixtures of Gaussians have a closed form (Grimit et al., 2006), other distributions are integrated numerically
        between their quantiles of level 1e-6, to a relative error of about 1e-6. For outputs of 0 and 1 it is the Brier
        score. Lognormal components are taken as Gaussian in the logs, as they are for `mean`: the score of heavier
        tails would be infinite.

        Parameters
        ----------
        y : (n,) array, float or str
            Outputs, one for all rows, or the name of their column.

        Returns
        -------
        (n,) array
            Scores, in the units of y.
        """
        return self._at_outputs(partial(self._distribution.evaluate, lambda distribution, t: distribution.crps(t)), y)

    def quantile(self, level: Any) -> Array:
        """Return the outputs that are not exceeded with the given probabilities.

        Parameters
        ----------
        level : float or (m,) array
            Probabilities between 0 and 1.

        Returns
        -------
        (n,) or (n, m) array
            Quantiles, a column for each level where there are several.
        """
        levels = np.asarray(level, dtype=np.float64)
        if levels.ndim > 1 or not np.all((levels > 0) & (levels < 1)):
            raise ValueError(f"levels must be between 0 and 1; got {level!r}")
        width = len(levels) if levels.ndim else None
        return self._evaluate(methodcaller("quantile", levels), width=width)

    def interval(self, coverage: float = 0.9) -> Array:
        """Return bounds between which the output falls with the given probability.

        Parameters
        ----------
        coverage : float
            Probability, between 0 and 1.

        Returns
        -------
        (n, 2) array
            Lower and upper bounds; the tails outside have equal weight.
        """
        coverage = _check_coverage(coverage)
        if self._held_out is None:
            return self._evaluate(methodcaller("interval", coverage), width=2)
        return self._evaluate(methodcaller("central", _conformal(self._absolute_scores, coverage)), width=2)

    def region(self, coverage: float = 0.9) -> list[np.ndarray]:
        """Return the smallest set in which the output falls with the given probability.

        It is made of several intervals where the density has several modes. Rows of Dask are computed at once.

        Parameters
        ----------
        coverage : float
            Probability, between 0 and 1.

        Returns
        -------
        list of (m, 2) arrays
            For each row the lower and upper bounds of its intervals, in ascending order, as NumPy arrays.
        """
        coverage = _check_coverage(coverage)
        outside = np.log1p(-coverage) if self._held_out is None else -_conformal(self._conformity_scores, coverage)

        def sets(X: Array) -> np.ndarray:
            return np.concatenate(self._distribution.by_blocks(partial(_sets, outside), X))

        return list(_computed(apply(self._model, sets, self._X, like=False)))

    def sample(self, random_state: Any = None) -> Array:
        """Draw an output for each row.

        Parameters
        ----------
        random_state : int, RandomState, Generator or None
            Seed.

        Returns
        -------
        (n,) array
            Outputs; a NumPy array for rows of Dask, which are brought into memory.
        """
        (X,) = in_memory(rows_to_use(self._model, self._X)[0])
        rng = generator(random_state)
        values = check_no_nan(self._distribution.evaluate(lambda distribution: distribution.sample(rng), X))
        return in_precision_of(X, values)

    def _evaluate(self, function: Callable[[RowDistributions], np.ndarray], width: int | None = None) -> Array:
        return apply(self._model, partial(self._distribution.evaluate, function), self._X, width=width)

    def _at_outputs(self, function: Callable[[Array, Array], Array], y: Any) -> Array:
        if isinstance(y, Real):
            return apply(self._model, partial(_at_one_output, function, float(y)), self._X, like=False)
        return apply(self._model, function, self._X, y, like=False)

    @cached_property
    def _absolute_scores(self) -> np.ndarray:
        """Absolute standard scores of held-out outputs."""
        return self._held_out_scores(lambda distribution, y: np.abs(distribution.standard_scores(y)))

    @cached_property
    def _conformity_scores(self) -> np.ndarray:
        """Conformity scores: negative log probabilities outside the smallest sets that hold the held-out outputs."""
        return self._held_out_scores(lambda distribution, y: -distribution.log_less_likely(y))

    def _held_out_scores(self, score: Callable[[RowDistributions, np.ndarray], np.ndarray]) -> np.ndarray:
        assert self._held_out is not None
        scores = apply(self._model, partial(self._distribution.evaluate, score), *self._held_out, like=False)
        return np.sort(to_numpy(_computed(scores)))


def _check_coverage(coverage: Any) -> float:
    if not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
        raise ValueError(f"coverage must be between 0 and 1; got {coverage!r}")
    return float(coverage)


def _conformal(sorted_scores: np.ndarray, coverage: float) -> float:
    """Return the bound that the score of a new row exceeds with probability at most 1 - coverage."""
    rank = int(np.ceil((len(sorted_scores) + 1) * coverage - ROUNDING))
    return float(sorted_scores[rank - 1]) * (1 + ROUNDING) if rank <= len(sorted_scores) else float("inf")


def _computed(values: Any) -> Any:
    return values.compute() if hasattr(values, "compute") else values


def _at_one_output(function: Callable[[Array, Array], Array], y: float, X: Array) -> Array:
    xp = array_namespace(X)
    parts = [
        function(x, xp.full((x.shape[0],), y, dtype=xp.float64, device=device(x)))
        for (x,) in row_blocks(X, block_rows=BLOCK_ROWS)
    ]
    return xp.concat(parts)


def _sets(log_outside: float, distribution: RowDistributions) -> np.ndarray:
    found = np.empty(len(distribution), dtype=object)
    for i, intervals in enumerate(distribution.sets(log_outside)):
        found[i] = intervals
    return found
