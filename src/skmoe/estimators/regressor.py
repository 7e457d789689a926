"""MoERegressor: validate, learn, store. The mathematics is in `skmoe.search` and below."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from skmoe.arrays.blocks import in_memory
from skmoe.arrays.checks import generator
from skmoe.arrays.kinds import plain_numbers
from skmoe.arrays.namespaces import Array, to_device, to_numpy
from skmoe.arrays.streamed import Streamed
from skmoe.arrays.threads import with_one_blas_thread
from skmoe.estimators.base import MixtureOfExperts
from skmoe.estimators.exposure import predictive_over
from skmoe.estimators.fitting import fit_regressor
from skmoe.estimators.predictive import Predictive
from skmoe.inference import (
    ExpertsTest,
    likelihood_ratio_test,
    small_sample_correction,
)
from skmoe.model.evaluation import r_squared
from skmoe.model.families import FAMILIES, TruncatedFamily
from skmoe.model.family import Family
from skmoe.model.predictive import PredictiveDistribution
from skmoe.search import Progress
from skmoe.spectral.options import SpectralOptions
from skmoe.tables.inputs import rows_to_use

__all__ = ["MoERegressor"]


class MoERegressor(RegressorMixin, MixtureOfExperts):
    r"""Mixture-of-experts regression: a softmax gate over the inputs picks one of k regressions.

    .. math:: y \mid x \sim \sum_i \mathrm{softmax}_i(W x + c)\; N(g(a_i^\top x + b_i), \sigma_i^2)

    Fitted by penalised maximum likelihood from a consistent start and others raced beside it. What is not given, the
    number of experts and the strength of the penalty, is chosen by the log density of rows held out, which also correct
    the levels of predictive intervals. Coefficients, noise and standard errors are in the units of the data. Experts
    are ordered by falling mean gate weight; the last one is the gate's reference, with coefficients zero. One expert is
    the regression of the textbook, with its standard errors and intervals.

    Parameters
    ----------
    n_experts : int or "auto", default 2
        "auto" chooses by the log density of held-out rows, from one upwards, as long as there are two rows for each
        parameter; a larger number must gain more than a standard error, and the more the fewer of its experts are seen
        again where other rows are left out.
    family : str or Family, default "gaussian"
        Distribution of an expert's output given its predictor: "gaussian", "student", "poisson", "negative-binomial",
        "gamma", "lognormal", "binomial", "censored-gaussian", "censored-lognormal", "truncated-gaussian",
        "truncated-lognormal", one of `skmoe.families` or one of your own; see the guide on families.
    activation : {"linear", "sigmoid", "relu", "tanh", "softplus"}, callable or Activation
        The activation g of Gaussian experts.
    method : {"auto", "spectral", "joint-em"}
        "auto": consistent start, other cheap starts, maximum likelihood. "spectral": the paper's two algorithms,
        experts from moments and then the gate, and no likelihood maximised (unit experts, no intercepts);
        `spectral_options` says how. "joint-em": the baseline, EM from `n_init` random starts.
    spectral_options : mapping or SpectralOptions, optional
        Choices of ``method="spectral"``: moments, decomposition, gate_method, radius and step_size, with the fields and
        defaults of `skmoe.spectral.SpectralOptions`. The defaults are ours; the paper and nothing else is
        ``SpectralOptions.paper()`` with ``input_law=None``.
    input_law : "auto", "gaussian", "mixture", None or a law of `skmoe.scores`
        Distribution of the inputs in X that the consistent start assumes: a name fits it to X, "auto"
        chooses between the two, None is the standard Gaussian.
    fit_intercept : bool
        Whether experts and gate have intercepts.
    noise : "per-expert", "shared" or float
        A noise scale for each expert, one for all, or a known one.
    penalty : "auto" or float
        Strength of the penalty, in total log-likelihood and on the standardised scale: it draws gate vectors together
        and experts to the regression of all rows, as normal priors of variance one over the strength do. Whatever its
        strength, noise scales are then those of rows left out: an expert cannot lie through a few rows. "auto" takes
        0.3 unless held-out rows prefer another strength by more than a standard error; 0 is maximum likelihood.
    averaging : int
        How many models share in predictions, at most 1000; 0 for the best single one. They have several numbers of
        experts, if that is "auto", and are weighted by the log density of held-out rows. Coefficients are always those
        of the best single model.
    max_experts : int
        Largest number of experts that "auto" may choose; no more than 32 are tried.
    calibration : "loo" or None
        How levels of predictive distributions are corrected: by rows that were left out of fits, or not at all. With
        one expert, or with more rows than are searched, there is no correction.
    n_init : int
        Random starts, at most 10,000. "auto" looks further where they disagree, the more the more starts: 20 takes
        about twice as long as 10 there, and ends at a better optimum more often. "joint-em" runs each to its end.
    max_iter : int
        Most iterations of a run.
    max_time : float, optional
        Seconds after which the fit ends with the best model so far, and warns.
    tol : float
        Squared distance to the optimum, in standard errors, at which "auto" stops; the largest change of a parameter
        for "joint-em" and "spectral".
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
        Where to note how far a long fit is, after each pass over all rows; a fit that finds the notes of its own kind
        there goes on from them.
    verbose : int or callable
        Prints how far the fit is, every 50th step (1) or every step (2); a callable is given a `Progress` at each step
        instead, and what it raises ends the fit.

    Attributes
    ----------
    expert_coef_, gate_coef_ : (k, d) arrays
    expert_intercept_, gate_intercept_, noise_scale_ : (k,) arrays
    expert_coef_se_, gate_coef_se_, expert_intercept_se_, gate_intercept_se_, noise_scale_se_ : arrays
        Standard errors of the above, NaN where the data do not identify the model. One expert with as many coefficients
        as rows has none, an unknown noise scale (NaN), and infinite intervals.
    shares_ : (k,) array
        Mean gate weight of each expert.
    dof_ : (k,) array
        Degrees of freedom of each expert: its rows less the parameters it spends on them; 0 where none are left.
    penalty_ : float
        Strength of the penalty, given or chosen.
    members_, member_weights_ : tuple, (m,) array
        Parameters and weights of the models that are averaged, if any.
    stability_ : (k,) array
        Share of other models in which each expert is seen, with mostly the same rows: of the models averaged or,
        without averaging, of the fits that left rows out. NaN where there are none.
    calibration_ : Calibration or None
        Correction of the levels of predictive distributions.
    gate_uncertain_ : bool
        Whether predictive distributions count the uncertainty of the gate, as held-out rows decided.
    family_ : Family
        Law of the experts, with what was learned of it: the degrees of freedom ``dof`` of "student".
    log_likelihood_ : float
        Log-likelihood of the rows of the fit, without the penalty: the total over rows. With ``sample_weight`` the
        weighted total, where weights that are not whole numbers are first scaled to a mean of one.
    n_experts_, n_iter_, n_parameters_ : int
    converged_, identified_ : bool
    covariance_, covariance_robust_ : (p, p) arrays or None
        Covariance of experts' coefficients and intercepts, gate's coefficients and intercepts, and noise scales, laid
        out as one vector: by the observed information and by the sandwich formula.
    covariance_at_origin_ : (p, p) array or None
        The former with intercepts at ``parameters_.origin``, where columns lie so far from zero that there is one.
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
        row), the starts and which of them won, and held-out log density, BIC and ICL of each number of experts tried.

    Examples
    --------
    >>> from skmoe import MoERegressor, make_moe
    >>> X, y, truth = make_moe(2000, 3, 2, random_state=0)
    >>> model = MoERegressor(n_experts=2, random_state=0).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.87
    >>> model.predict_interval(X[:2], coverage=0.9).shape
    (2, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MixtureOfExperts._parameter_constraints,
        "family": [StrOptions(set(FAMILIES)), Family],
        "activation": [str, callable],
        "method": [StrOptions({"auto", "spectral", "joint-em"})],
        "spectral_options": [Mapping, SpectralOptions, None],
        "input_law": "no_validation",  # type: ignore[dict-item]
        "noise": [StrOptions({"shared", "per-expert"}), Interval(Real, 0, None, closed="neither")],
        "calibration": [StrOptions({"loo"}), None],
    }

    def __init__(
        self,
        n_experts: int | str = 2,
        *,
        family: str | Family = "gaussian",
        activation: Any = "linear",
        method: str = "auto",
        spectral_options: Mapping[str, Any] | SpectralOptions | None = None,
        input_law: Any = "auto",
        fit_intercept: bool = True,
        noise: str | float = "per-expert",
        penalty: float | str = "auto",
        averaging: int = 0,
        max_experts: int = 10,
        calibration: str | None = "loo",
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
        self.family = family
        self.activation = activation
        self.method = method
        self.spectral_options = spectral_options
        self.input_law = input_law
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.penalty = penalty
        self.averaging = averaging
        self.max_experts = max_experts
        self.calibration = calibration
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # unit experts without intercepts explain little of a table that was not made from them
        tags.regressor_tags.poor_score = self.method == "spectral"
        return tags

    @with_one_blas_thread
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MoERegressor:
        """Fit the model to a table.

        Parameters
        ----------
        X : (n, d) array, DataFrame, pyarrow table, Dask collection, path or pyarrow dataset
            DataFrames, tables and files may hold text, dates and missing values; see `categorical`. Arrays of PyTorch
            and CuPy stay on their device. Files (Parquet, CSV, Arrow) and Dask collections may be larger than memory:
            they are read in blocks.
        y : (n,) array, or str
            Outputs; for files and tables, the name of a column. Censored outputs have two columns (lower and upper
            bound), truncated ones three (output, lower and upper bound), binomial ones may have two (successes and
            failures), Poisson and negative binomial ones too (counts and exposures): an array, or a list of names.
        sample_weight : (n,) array or str, optional
            Whole numbers are the same as repeated rows; others say how rows compare with each other, and are scaled to
            a mean of one.

        Returns
        -------
        MoERegressor
            The estimator itself, fitted.
        """
        self._validate_params()
        fit_regressor(self, X, y, sample_weight)
        return self

    # -- using --------------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """Predict the mean of y given the inputs: the experts' predictions weighted by the gate.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.

        Returns
        -------
        (n,) array
            Predictions, in the caller's array library; lazy for Dask.
        """
        return self.predictive(X).mean()

    def _distribution(self) -> PredictiveDistribution:
        """Return the distribution of the output given the inputs that all predictions come from."""
        check_is_fitted(self)
        if self.members_:
            return PredictiveDistribution(
                tuple(m.marginal for m in self.members_), self.member_weights_, self.calibration_
            )
        marginal = (self.parameters_.marginal,)
        if np.any(self.dof_ == 0):
            return PredictiveDistribution(marginal, np.ones(1), unknown=True)
        return PredictiveDistribution(marginal, np.ones(1), self.calibration_, (small_sample_correction(self),))

    def predictive(self, X: Any, *, held_out: tuple[Any, Any] | None = None, exposure: Any = None) -> Predictive:
        """Return the predictive distribution of y given the inputs, row by row.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        held_out : (X, y), optional
            Rows that took no part in the fit, by which intervals and regions are calibrated (split conformal): with
            them they hold a new output with at least the probability asked for, whatever the truth; see `Predictive`.
        exposure : (n,) array or float, optional
            Of counts that were fitted with exposures: the exposure of each row, or of all. Without it the distribution
            is that of counts for an exposure of one. Rows have to fit into memory.

        Returns
        -------
        Predictive
            The distribution: mean, std, pdf, logpdf, cdf, quantile, interval, region, sample.

        Examples
        --------
        >>> from skmoe import MoERegressor, make_moe
        >>> X, y, _ = make_moe(2000, 3, 2, random_state=0)
        >>> model = MoERegressor(n_experts=2, random_state=0).fit(X[:1000], y[:1000])
        >>> predictive = model.predictive(X[:5])
        >>> predictive.quantile([0.1, 0.5, 0.9]).shape
        (5, 3)
        >>> model.predictive(X[:5], held_out=(X[1000:], y[1000:])).interval(coverage=0.9).shape
        (5, 2)
        """
        if exposure is not None:
            if held_out is not None:
                raise ValueError("held_out calibrates predictions without exposure; leave out one of them")
            return predictive_over(self, self._distribution(), X, exposure)
        return Predictive(self, self._distribution(), X, held_out=held_out)

    def expert_predict(self, X: Any) -> Array:
        """Return the prediction of each expert.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.

        Returns
        -------
        (n, k) array
            Predictions of the experts.
        """
        check_is_fitted(self)
        return self._by_rows("expert_means", X, width=self.n_experts_)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """Return bounds between which a new y falls with the given probability: exact quantiles of the mixture.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        coverage : float
            Probability, between 0 and 1.

        Returns
        -------
        (n, 2) array
            Lower and upper bounds; the tails outside have equal weight.
        """
        return self.predictive(X).interval(coverage)

    def log_density(self, X: Any, y: Any) -> Array:
        """Return the log density of each row's output given its inputs.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        y : (n,) array, or str
            Outputs, or the name of their column.

        Returns
        -------
        (n,) array
            Log densities, in the units of y.
        """
        check_is_fitted(self)
        if self.parameters_.family.columns == 1 and not isinstance(self.parameters_.family, TruncatedFamily):
            return self.predictive(X).logpdf(y)
        if self.members_:
            raise ValueError("log_density of outputs in several columns is that of one model; averaging has several")
        return self._at_outputs(self.parameters_.log_density, X, y, like=False)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of the variance of y that the predictions explain, R2.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        y : (n,) array, or str
            Outputs, or the name of their column.
        sample_weight : (n,) array, optional
            Row weights; rows that are streamed take none.

        Returns
        -------
        float
            R2, at most 1.
        """
        check_is_fitted(self)
        self._needs_one_column("score")
        X, y = rows_to_use(self, X, y)
        if sample_weight is not None:
            if isinstance(X, Streamed):
                raise ValueError("score takes no sample_weight for rows that are streamed")
            sample_weight = plain_numbers(sample_weight, "sample_weight")
            sample_weight = to_device(_check_sample_weight(sample_weight, to_numpy(X), dtype=np.float64), X)
        return r_squared(self._distribution(), X, y, sample_weight)

    def sample(self, X: Any, random_state: Any = None) -> Array:
        """Draw an output for each row of inputs.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs.
        random_state : int, RandomState, Generator or None
            Seed.

        Returns
        -------
        (n,) array
            Outputs drawn from the model.
        """
        return self.predictive(X).sample(random_state)

    @with_one_blas_thread
    def test_n_experts(self, X: Any, y: Any, *, n_bootstrap: int = 99, random_state: Any = None) -> ExpertsTest:
        """Test the k experts of this model against k + 1: likelihood ratio, p value by parametric bootstrap.

        Outputs are drawn from the fit with k experts at the inputs of the rows, `n_bootstrap` times, and both numbers
        of experts are fitted to each of these tables as to the rows. All fits are of maximum likelihood, whatever the
        model's penalty, and a fit with a noise scale on its floor or a nearly empty expert does not count. The test
        takes the model's noise distribution for granted.

        Parameters
        ----------
        X : (n, d) array or any other holder of rows that `fit` takes
            Inputs, as a rule those that the model was fitted to; they have to fit into memory.
        y : (n,) array, or str
            Outputs, or the name of their column.
        n_bootstrap : int
            Tables to draw; the smallest p value is one over one more than this.
        random_state : int, RandomState, Generator or None
            Seed of the draws and of the starts.

        Returns
        -------
        ExpertsTest
            ``ratio``, ``p_value`` and ``bootstrap_ratios``; prints itself in words.

        Examples
        --------
        >>> from skmoe import MoERegressor, make_moe
        >>> X, y, truth = make_moe(300, 2, 2, noise_scale=0.2, random_state=0)
        >>> test = MoERegressor(1).fit(X, y).test_n_experts(X, y, n_bootstrap=19, random_state=0)
        >>> test.p_value
        0.05
        """
        check_is_fitted(self)
        if not isinstance(n_bootstrap, Integral) or n_bootstrap < 1:
            raise ValueError(f"n_bootstrap must be a whole number of at least 1; got {n_bootstrap!r}")
        if y is None:
            raise ValueError("test_n_experts needs outputs; y is None")
        if self.parameters_.family.base.parts > 1:
            raise ValueError(
                f"test_n_experts cannot draw outputs of family={self.parameters_.family.name!r} with bounds"
            )
        rng = generator(random_state)
        X, y = rows_to_use(self, X, y)
        if isinstance(X, Streamed) and X.shape[0] > self._search_config.rows.sample_rows:
            raise ValueError(
                f"test_n_experts holds all rows in memory and fits them many times; {X.where} has {X.shape[0]} rows, "
                f"more than {self._search_config.rows.sample_rows}: hand in a sample of them as an array"
            )
        return likelihood_ratio_test(self, *in_memory(X, y), int(n_bootstrap), rng, self._search_config)
