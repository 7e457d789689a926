"""MoEClassifier: validate, learn, store. The mathematics is in `skmoe.search` and below."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from skmoe.arrays.blocks import sum_over_blocks
from skmoe.arrays.checks import check_no_nan
from skmoe.arrays.namespaces import Array, array_namespace, device, to_numpy
from skmoe.arrays.streamed import Streamed
from skmoe.arrays.threads import with_one_blas_thread
from skmoe.estimators.base import MixtureOfExperts
from skmoe.estimators.fitting import fit_classifier
from skmoe.search import Progress
from skmoe.tables.classes import class_rows_to_use, with_labels
from skmoe.tables.inputs import is_dask
from skmoe.tables.results import apply

__all__ = ["MoEClassifier"]

BLOCK_ROWS = 16384  # scored at a time where rows are read in blocks


class MoEClassifier(ClassifierMixin, MixtureOfExperts):
    r"""Mixture-of-experts classification: a softmax gate over the inputs picks one of k logistic regressions.

    .. math:: P(y = c \mid x) = \sum_i \mathrm{softmax}_i(W x + c)\; \mathrm{softmax}_c(A_i x + b_i)

    Each expert is a multinomial logistic regression, with the log odds of each class against the first as predictors.
    Fitted by penalised maximum likelihood from many starts. The number of experts and the strength of the penalty are
    chosen by the log probability of rows held out, where they are not given. One expert is the multinomial logistic
    regression of the textbook. Experts are ordered by falling mean gate weight; the last one is the gate's reference.

    Parameters
    ----------
    n_experts : int or "auto", default 2
        "auto" chooses by the log probability of held-out rows.
    fit_intercept : bool
        Whether experts and gate have intercepts.
    penalty : "auto" or float
        Strength of the penalty, as in `MoERegressor`; 0 is maximum likelihood.
    averaging : int
        How many models share in predictions; 0 for the best single one.
    max_experts : int
        Largest number of experts that "auto" may choose; no more than 32 are tried.
    n_init : int
        Random starts.
    max_iter : int
        Most iterations of a run.
    max_time : float, optional
        Seconds after which the fit ends with the best model so far, and warns.
    tol : float
        Squared distance to the optimum, in standard errors, at which a fit stops.
    expert_features, gate_features : sequences of column names or indices, optional
        Columns of `X` that experts and gate see, by default all. A column of text stands for all inputs that became of
        it; one of them is named like ``"species=Gentoo"``. ``gate_features=[]`` is a gate of constants, the same in all
        rows (a plain mixture of regressions); ``expert_features=[]``: each expert is a constant.
    categorical : "auto", None or sequence of column names
        Encoding of DataFrames (pandas, polars), tables of pyarrow and files with text, dates or missing values.
        "auto": text becomes categories, one input each but the first in alphabetical order (a Categorical keeps its
        order), with infrequent ones as one; dates become days since the first, month and weekday; missing numbers get
        the median, and a missing indicator; missing text is a category. `encoder_` holds what was learned, its `notes`
        describe it, and predictions take new tables of the same columns. Names are of columns of numbers that are
        categories as well. None: only numbers are taken, none missing. Arrays hold numbers, whatever this says.
    unseen : {"other", "error"}
        Treatment of categories that new tables hold and the fit did not. "other": they count as the infrequent ones, or
        where there were none as the mean of the known categories (each one's inputs take the same share), and a
        warning counts their rows. "error": they are refused.
    random_state : int, RandomState, Generator or None
        Same seed, same answer, for any number of threads.
    checkpoint : path, optional
        Where to note how far a long fit is, as in `MoERegressor`.
    verbose : int or callable
        Prints how far the fit is; a callable is given a `Progress` at each step instead.

    Attributes
    ----------
    classes_ : (C,) array
        Labels of the classes, sorted.
    expert_coef_ : (k, C - 1, d) array
        Coefficients of the log odds of each class but the first against the first.
    expert_intercept_ : (k, C - 1) array
    gate_coef_ : (k, d) array
    gate_intercept_ : (k,) array
    expert_coef_se_, gate_coef_se_, expert_intercept_se_, gate_intercept_se_ : arrays
        Standard errors of the above, NaN where the data do not identify the model.
    shares_ : (k,) array
        Mean gate weight of each expert.
    dof_ : (k,) array
        Degrees of freedom of each expert, which are infinite.
    penalty_ : float
    members_, member_weights_ : tuple, (m,) array
        Parameters and weights of the models that are averaged, if any.
    stability_ : (k,) array
        Share of other models in which each expert is seen; NaN where there are none.
    log_likelihood_ : float
        Log-likelihood of the rows of the fit, without the penalty: the total over rows. With ``sample_weight`` the
        weighted total, where weights that are not whole numbers are first scaled to a mean of one.
    n_experts_, n_iter_, n_parameters_ : int
    converged_, identified_ : bool
    covariance_, covariance_robust_ : (p, p) arrays or None
        Covariance of experts' coefficients and intercepts and the gate's, laid out as one vector; the last k rows and
        columns, where a regressor has noise scales, are zero.
    profile_intervals_ : (p, 2) array or None
        Ends of the 95% intervals of `summary` where they are those of the profile likelihood: for outputs of few values
        and few rows, with a penalty. None where intervals go by standard errors.
    encoder_ : TableEncoder or None
        Encodings of the columns of a table with text, dates or missing values.
    n_features_in_ : int
        Number of columns of `X`.
    feature_names_in_ : array of str
        Names of the columns of `X`, if they have any.
    encoded_feature_names_ : (d,) array of str
        Names of the inputs that the columns became, in the order of the coefficients; ``x0``, ``x1``, ... where
        columns have no names.
    record_ : FitRecord
        The fit in typed fields: its rows, the search, the numbers of experts tried, where each expert holds.
    history_ : mapping
        The same as plain values, to be read only: the objective by iteration (log-likelihood less the penalty, mean per
        row), the starts, and criteria of each number of experts tried.

    Examples
    --------
    >>> import numpy as np
    >>> from skmoe import MoEClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 2))
    >>> odds = np.where(X[:, 1] > 0, 3 * X[:, 0], -3 * X[:, 0])
    >>> y = np.where(rng.random(1000) < 1 / (1 + np.exp(-odds)), "yes", "no")
    >>> model = MoEClassifier(n_experts=2, random_state=0).fit(X, y)
    >>> bool(model.score(X, y) > 0.75)
    True
    >>> model.expert_proba(X[:3]).shape
    (3, 2, 2)
    """

    method = "auto"
    calibration = None  # of intervals, which classes have none of

    def __init__(
        self,
        n_experts: int | str = 2,
        *,
        fit_intercept: bool = True,
        penalty: float | str = "auto",
        averaging: int = 0,
        max_experts: int = 10,
        n_init: int = 10,
        max_iter: int = 500,
        max_time: float | None = None,
        tol: float = 1e-4,
        expert_features: Sequence[Any] | None = None,
        gate_features: Sequence[Any] | None = None,
        categorical: str | Sequence[str] | None = "auto",
        unseen: str = "other",
        random_state: Any = None,
        checkpoint: Any = None,
        verbose: int | Callable[[Progress], None] = 0,
    ) -> None:
        self.n_experts = n_experts
        self.fit_intercept = fit_intercept
        self.penalty = penalty
        self.averaging = averaging
        self.max_experts = max_experts
        self.n_init = n_init
        self.max_iter = max_iter
        self.max_time = max_time
        self.tol = tol
        self.expert_features = expert_features
        self.gate_features = gate_features
        self.categorical = categorical
        self.unseen = unseen
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    @property
    def expert_coef_(self) -> np.ndarray:
        """Coefficients of the log odds of each class but the first against the first, (k, C - 1, d)."""
        return self.parameters_.A.reshape(self.n_experts_, len(self.classes_) - 1, -1)

    @property
    def expert_intercept_(self) -> np.ndarray:
        """Intercepts of the same, (k, C - 1)."""
        return self.parameters_.expert_intercept.reshape(self.n_experts_, -1)

    @with_one_blas_thread
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MoEClassifier:
        """Fit the model to a table.

        Parameters
        ----------
        X : (n, d) array, DataFrame, pyarrow table, Dask collection, path or pyarrow dataset
            Inputs, as `MoERegressor.fit` takes them.
        y : (n,) array, or str
            Labels of any kind, two classes or more, or the name of a column: one of text has the table held in memory,
            one of numbers 0, 1, ... is read in blocks.
        sample_weight : (n,) array or str, optional
            Whole numbers are the same as repeated rows; others are scaled to a mean of one.

        Returns
        -------
        MoEClassifier
            The estimator itself, fitted.
        """
        self._validate_params()
        fit_classifier(self, X, y, sample_weight)
        return self

    def _rows_with_outputs(self, X: Any, y: Any) -> tuple[Array, Array]:
        return class_rows_to_use(self, X, y)

    def _at_outputs(self, function: Callable[..., Array], X: Any, y: Any, **how: Any) -> Array:
        X, y = with_labels(X, y)
        if isinstance(y, str) or is_dask(y):
            return apply(self, function, X, y, **how)
        return check_no_nan(function(*class_rows_to_use(self, X, y)))

    def _class_proba(self, X: Array) -> Array:
        if not self.members_:
            return self.parameters_.predict_proba(X)
        xp = array_namespace(X)
        parts = [w * member.predict_proba(X) for w, member in zip(self.member_weights_, self.members_, strict=True)]
        return xp.sum(xp.stack(parts), axis=0)

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each class given the inputs.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.

        Returns
        -------
        (n, C) array
            Probabilities, which add up to one in each row, in the order of `classes_`.
        """
        check_is_fitted(self)
        return apply(self, self._class_proba, X, width=len(self.classes_))

    def predict_log_proba(self, X: Any) -> Array:
        """Return the log of the probability of each class given the inputs.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.

        Returns
        -------
        (n, C) array
            Logs of `predict_proba`, of the smallest normal number where that is zero.
        """
        P = self.predict_proba(X)
        if is_dask(P):
            return np.log(P)
        xp = array_namespace(P)
        return xp.log(xp.clip(P, float(xp.finfo(P.dtype).tiny), None))

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each row.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.

        Returns
        -------
        (n,) array
            Labels; a NumPy array, or one of the inputs' library where labels are numbers.
        """
        P = self.predict_proba(X)
        P = P.compute() if is_dask(P) else P
        chosen = self.classes_[np.argmax(to_numpy(P), axis=1)]
        if isinstance(P, np.ndarray) or chosen.dtype.kind not in "fiub":
            return chosen
        return array_namespace(P).asarray(chosen, device=device(P))  # labels keep their type

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the rows whose most probable class is the observed one.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        y : (n,) array, or str
            Labels, or the name of their column.
        sample_weight : (n,) array, optional
            Row weights; rows that are streamed take none.

        Returns
        -------
        float
            The accuracy, at most 1.
        """
        X, y = with_labels(X, y)
        if not isinstance(y, str | Streamed) and not is_dask(y):
            return float(super().score(X, y, sample_weight=sample_weight))
        if sample_weight is not None:
            raise ValueError("score takes no sample_weight for rows that are streamed")
        check_is_fitted(self)
        rows, codes = self._rows_with_outputs(X, y)

        def right(x: Array, t: Array) -> tuple[Array]:
            xp = array_namespace(x)
            chosen = xp.argmax(self._class_proba(x), axis=1)
            return (xp.sum(xp.astype(chosen == xp.astype(t, chosen.dtype), xp.float64)),)

        return float(sum_over_blocks(right, rows, codes, block_rows=BLOCK_ROWS)[0]) / rows.shape[0]

    def expert_proba(self, X: Any) -> Array:
        """Return the probability of each class by each expert.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.

        Returns
        -------
        (n, k, C) array
            Probabilities, which add up to one over the classes.
        """
        check_is_fitted(self)
        k, C, p = self.n_experts_, len(self.classes_), self.parameters_

        def flat(X: Array) -> Array:
            P = p.expert_proba(X)
            return array_namespace(P).reshape(P, (P.shape[0], k * C))

        P = apply(self, flat, X, width=k * C)
        return P.reshape((-1, k, C)) if is_dask(P) else array_namespace(P).reshape(P, (P.shape[0], k, C))

    def log_density(self, X: Any, y: Any) -> Array:
        """Return the log probability of each row's class given its inputs.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        y : (n,) array, or str
            Labels, or the name of their column.

        Returns
        -------
        (n,) array
            Log probabilities.
        """
        check_is_fitted(self)
        return self._at_outputs(self._log_probability, X, y)

    def _log_probability(self, X: Array, y: Array) -> Array:
        if not self.members_:
            return self.parameters_.log_density(X, y)
        xp, P = array_namespace(X), self._class_proba(X)
        return xp.log(xp.take_along_axis(P, xp.astype(y, xp.int64)[:, None], axis=1)[:, 0])
