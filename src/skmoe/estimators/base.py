"""Base of the estimators: the gate, responsibilities, criteria, the coefficient table, files."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skmoe.arrays.checks import RANDOM_STATE
from skmoe.arrays.namespaces import Array
from skmoe.inference import Summary, diagnose, regimes_table, split_errors, summarise
from skmoe.model.evaluation import log_likelihood, responsibility_entropy
from skmoe.model.fitted import FittedMixture
from skmoe.persistence import save_model
from skmoe.search import SearchConfig
from skmoe.tables.inputs import rows_to_use
from skmoe.tables.results import apply

__all__ = ["MixtureOfExperts"]

MOST_MEMBERS = 1000
"""Most models that predictions average over: more take hours and hardly change them."""
MOST_STARTS = 10_000
"""Most random starts."""


def _standard_error(name: str) -> property:
    """Return the attribute of the standard errors of estimates: they follow from the covariance."""

    def read(self: MixtureOfExperts) -> np.ndarray:
        errors = split_errors(self.covariance_, self.parameters_)[name]
        return errors.reshape(np.shape(getattr(self, f"{name}_", errors)))

    return property(read)


class MixtureOfExperts(FittedMixture, BaseEstimator):
    """A mixture of experts, fitted or not; the estimators define its outputs."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_experts": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "fit_intercept": ["boolean"],
        "penalty": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "averaging": [Interval(Integral, 0, MOST_MEMBERS, closed="both")],
        "max_experts": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, MOST_STARTS, closed="both")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "expert_features": "no_validation",  # type: ignore[dict-item]
        "gate_features": "no_validation",  # type: ignore[dict-item]
        "categorical": [StrOptions({"auto"}), "array-like", None],
        "unseen": [StrOptions({"other", "error"})],
        "random_state": RANDOM_STATE,
        "checkpoint": [str, os.PathLike, None],
        "verbose": ["verbose", callable],
    }

    _search_config: ClassVar[SearchConfig] = SearchConfig()
    expert_coef_se_ = _standard_error("expert_coef")
    expert_intercept_se_ = _standard_error("expert_intercept")
    gate_coef_se_ = _standard_error("gate_coef")
    gate_intercept_se_ = _standard_error("gate_intercept")
    noise_scale_se_ = _standard_error("noise_scale")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "parameters_")

    def _by_rows(self, method: str, X: Any, **how: Any) -> Array:
        """Evaluate a method of the parameters on the caller's inputs."""
        check_is_fitted(self)
        return apply(self, getattr(self.parameters_, method), X, **how)

    def _at_outputs(self, function: Callable[..., Array], X: Any, y: Any, **how: Any) -> Array:
        """Evaluate a function of inputs and outputs on the caller's rows."""
        return apply(self, function, X, y, columns=self.parameters_.family.columns, **how)

    def _rows_with_outputs(self, X: Any, y: Any) -> tuple[Array, Array]:
        """Return inputs and outputs as the model takes them."""
        return rows_to_use(self, X, y, self.parameters_.family.columns)

    def gate_proba(self, X: Any) -> Array:
        """Return the probability of each expert given the inputs.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.

        Returns
        -------
        (n, k) array
            Probabilities, which add up to one in each row.
        """
        check_is_fitted(self)
        return self._by_rows("gate_proba", X, width=self.n_experts_)

    def responsibilities(self, X: Any, y: Any) -> Array:
        """Return the probability of each expert given inputs and output.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        y : (n,) array, or str
            Outputs, or the name of their column.

        Returns
        -------
        (n, k) array
            Probabilities, which add up to one in each row.
        """
        check_is_fitted(self)
        return self._at_outputs(self.parameters_.responsibilities, X, y, width=self.n_experts_)

    # -- criteria -----------------------------------------------------------------------------------------------------

    def aic(self, X: Any, y: Any) -> float:
        """Compute Akaike's criterion on the given rows; smaller is better.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        y : (n,) array, or str
            Outputs, or the name of their column.

        Returns
        -------
        float
            The criterion.
        """
        return 2.0 * self.n_parameters_ - 2 * self._log_likelihood(X, y)[0]

    def bic(self, X: Any, y: Any) -> float:
        """Compute Bayes' criterion on the given rows; smaller is better.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        y : (n,) array, or str
            Outputs, or the name of their column.

        Returns
        -------
        float
            The criterion.
        """
        total, n = self._log_likelihood(X, y)
        return float(np.log(n)) * self.n_parameters_ - 2 * total

    def icl(self, X: Any, y: Any) -> float:
        """Compute the integrated classification likelihood: `bic` plus twice the entropy of the responsibilities.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        y : (n,) array, or str
            Outputs, or the name of their column.

        Returns
        -------
        float
            The criterion; smaller is better, and experts that overlap cost more than by `bic`.
        """
        return self.bic(X, y) + 2 * responsibility_entropy(self.parameters_, *self._rows_with_outputs(X, y))

    def _log_likelihood(self, X: Any, y: Any) -> tuple[float, int]:
        check_is_fitted(self)
        X, y = self._rows_with_outputs(X, y)
        return log_likelihood(self.parameters_, X, y), X.shape[0]

    # -- reports ------------------------------------------------------------------------------------------------------

    def summary(self, *, robust: bool = False, feature_names: Sequence[str] | None = None) -> Summary:
        """Return a table of coefficients with standard errors, t values, p values and 95% intervals.

        Parameters
        ----------
        robust : bool
            Whether standard errors are from the sandwich formula.
        feature_names : sequence of str, optional
            Names of the inputs, by default those of the fit. After a pipeline whose steps return arrays they are
            ``pipeline[:-1].get_feature_names_out()``; with ``pipeline.set_output(transform="pandas")`` before the fit
            the model knows them.

        Returns
        -------
        Summary
            The table, which prints itself.
        """
        check_is_fitted(self)
        return summarise(self, robust=robust, names=feature_names)

    def regimes(self, X: Any = None) -> Summary:
        """Describe where each expert holds: the inputs that decide, and their values for its rows and for all rows.

        An input decides by how much the expert's probability changes over the rows when only this input takes other
        values. The rows of an expert are all rows, weighted by its probability. A range is the one in which the share
        of the expert's rows exceeds that of all rows most; it ends where the gate switches.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes, optional
            Rows to describe the experts by, of which at most 20,000 are used; by default those of the fit.

        Returns
        -------
        Summary
            A table of experts: their share, where they hold, how probable they are and what they predict.
        """
        check_is_fitted(self)
        return regimes_table(self, None if X is None else rows_to_use(self, X)[0])

    def diagnose(self, X: Any = None, y: Any = None) -> Summary:
        """Check how far the data are from what the consistent start assumes, and how certain the fit is.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes, optional
            Rows, which may be new ones: those outside the range of the fit are counted.
        y : (n,) array, or str, optional
            Their outputs, or the name of their column, to check predictions, and the residuals of a single expert.

        Returns
        -------
        Summary
            A table of questions, findings and what they mean.
        """
        check_is_fitted(self)
        if y is not None:
            self._needs_one_column("diagnose with y")
        if X is None:
            return diagnose(self)
        return diagnose(self, *(rows_to_use(self, X) if y is None else self._rows_with_outputs(X, y)))

    def _needs_one_column(self, what: str) -> None:
        if self.parameters_.family.columns > 1:
            raise ValueError(
                f"{what} needs outputs of one column; those of family={self.parameters_.family.name!r} have "
                f"{self.parameters_.family.columns}: use log_density to evaluate the model"
            )

    def save(self, path: Any) -> None:
        """Write the model to a file that runs no code when it is loaded; see `skmoe.load`.

        Parameters
        ----------
        path : str or path
            Where to write; a file that is there is replaced as a whole.
        """
        check_is_fitted(self)
        save_model(self, path)
