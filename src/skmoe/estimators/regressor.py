"""MoERegressor: validate, learn, store. The mathematics is in `skmoe.search.fitting` and below."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from skmoe.inference.diagnosis import diagnose, look_at_inputs, summarise
from skmoe.inference.uncertainty import Summary, interval, log_likelihood, mean_gate, r_squared, split_errors
from skmoe.model.activations import get_activation
from skmoe.model.parameters import MoEParameters
from skmoe.persistence import model_file as persistence
from skmoe.rows.arrays import Array, array_namespace, to_device, to_numpy
from skmoe.rows.blocks import Streamed, in_memory
from skmoe.rows.checks import check_columns, check_n_experts, check_noise_scale, check_positive
from skmoe.rows.inputs import apply, rows_to_fit, rows_to_use
from skmoe.search.checkpoint import Checkpoint
from skmoe.search.fitting import (
    Fitted,
    Progress,
    Task,
    choose_experts,
    fit_joint_em,
    fit_search,
    most_experts,
    prepared,
)
from skmoe.spectral.experts import learn_experts
from skmoe.spectral.gating import learn_gate

__all__ = ["MoERegressor", "load"]

METHODS = ("auto", "spectral", "joint-em")


class MoERegressor(RegressorMixin, BaseEstimator):
    r"""Mixture-of-experts regression: a softmax gate over the inputs picks one of k regressions.

    .. math:: y \mid x \sim \sum_i \mathrm{softmax}_i(W x + c)\; N(g(a_i^\top x + b_i), \sigma_i^2)

    Fitted by maximum likelihood from a consistent start and others raced beside it. Coefficients, noise and standard
    errors are in the units of the data. Experts are ordered by falling mean gate weight; the last one is the gate's
    reference, with coefficients zero.

    Parameters
    ----------
    n_experts : int or "auto", default 2
        "auto" chooses by BIC, from one upwards.
    activation : {"linear", "sigmoid", "relu", "tanh", "softplus"}, callable or Activation
    method : {"auto", "spectral", "joint-em"}
        "auto": consistent start, other cheap starts, maximum likelihood. "spectral": the paper's two algorithms and
        nothing else (unit experts, no intercepts). "joint-em": the baseline, EM from `n_init` random starts.
    input_law : "auto", "gaussian", "mixture", None or a law of `skmoe.spectral.scores`
        What the consistent start takes the inputs' law to be.
    fit_intercept : bool
        Whether experts and gate have intercepts.
    noise : "shared", "per-expert" or a known noise scale
    gate_penalty : float
        Ridge on the gate, in total log-likelihood, over whitened inputs. It keeps gates finite on separable data and is
        too small to matter elsewhere.
    n_init : int
        Random starts of ``method="joint-em"``; "auto" decides itself.
    max_iter : int
        Most iterations of a run.
    tol : float
        Squared distance to the optimum, in standard errors, at which "auto" stops; the largest change of a parameter
        for "joint-em" and "spectral".
    expert_features, gate_features : sequences of column names or indices, optional
        Columns that experts and gate look at, by default all.
    random_state : int, RandomState instance or None
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
        Standard errors of the above, NaN where the data do not identify the model.
    shares_ : (k,) array, mean gate weight of each expert
    log_likelihood_ : float, mean per row
    n_experts_, n_iter_, n_parameters_ : int
    converged_, identified_ : bool
    covariance_, covariance_robust_ : (p, p) arrays or None
        Covariance of experts' coefficients and intercepts, gate's coefficients and intercepts, and noise scales, laid
        out as one vector: by the observed information and by the sandwich formula.
    history_ : dict
        The log-likelihood per iteration, the starts and which of them won, and what BIC said of each number tried.

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

    def __init__(
        self,
        n_experts: int | str = 2,
        *,
        activation: Any = "linear",
        method: str = "auto",
        input_law: Any = "auto",
        fit_intercept: bool = True,
        noise: str | float = "shared",
        gate_penalty: float = 1e-5,
        n_init: int = 10,
        max_iter: int = 500,
        tol: float = 1e-4,
        expert_features: Sequence[Any] | None = None,
        gate_features: Sequence[Any] | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        verbose: int | Callable[[Progress], None] = 0,
    ) -> None:
        self.n_experts = n_experts
        self.activation = activation
        self.method = method
        self.input_law = input_law
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.gate_penalty = gate_penalty
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.expert_features = expert_features
        self.gate_features = gate_features
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.verbose = verbose

    # -- learning -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MoERegressor:
        """Fit the model to a table.

        Parameters
        ----------
        X : (n, d) array, DataFrame, Dask collection, path or pyarrow dataset
            Arrays of PyTorch and CuPy stay on their device. Files (Parquet, CSV, Arrow) and Dask collections may be
            larger than memory: they are read in blocks, see `skmoe.rows.blocks`.
        y : (n,) array; for files, and for Dask DataFrames if you like, the name of its column
        sample_weight : (n,) array or name of a column, optional
            Integer weights are the same as repeated rows.
        """
        self._check_settings()
        if hasattr(self, "parameters_"):  # a fit that fails must not leave the old model under new columns
            del self.parameters_
        task = self._task(*rows_to_fit(self, X, y, sample_weight))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        if self.method != "spectral":
            task = prepared(task, getattr(self, "feature_names_in_", None), self.n_experts, rng)
        fitted, tried = self._learn(task, rng)
        self._store(fitted, tried)
        seen = task.X if task.sample is None else task.sample[0]
        self.history_ |= {"inputs": look_at_inputs(self, seen), "rows": task.X.shape[0], "searched": seen.shape[0]}
        self._say_what_went_wrong(fitted)
        return self

    def _check_settings(self) -> None:
        if self.n_experts != "auto":
            check_n_experts(self.n_experts)
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {METHODS}; got {self.method!r}")
        get_activation(self.activation)
        if isinstance(self.noise, str):
            if self.noise not in ("shared", "per-expert"):
                raise ValueError(f'noise must be "shared", "per-expert" or a positive number; got {self.noise!r}')
        else:
            check_noise_scale(self.noise)
        if not isinstance(self.gate_penalty, Real) or not 0 <= float(self.gate_penalty) < np.inf:
            raise ValueError(f"gate_penalty must be a number that is not negative; got {self.gate_penalty!r}")
        check_positive(self.tol, "tol")
        for name in ("n_init", "max_iter"):
            value = getattr(self, name)
            if not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1; got {value!r}")
        if self.method == "spectral" and self.n_experts == "auto":
            raise ValueError('method="spectral" needs a number of experts; n_experts="auto" is for method="auto"')

    def _task(self, X: Array, y: Array, weight: Array | None) -> Task:
        names = getattr(self, "feature_names_in_", None)
        return Task(
            X,
            y,
            weight,
            get_activation(self.activation),
            self.noise,
            bool(self.fit_intercept),
            float(self.gate_penalty),
            input_law=self.input_law,
            expert_columns=check_columns(self.expert_features, names, X.shape[1], "expert_features"),
            gate_columns=check_columns(self.gate_features, names, X.shape[1], "gate_features"),
            max_iter=int(self.max_iter),
            tol=float(self.tol),
        )

    def _learn(self, task: Task, rng: np.random.Generator) -> tuple[Fitted, list[tuple[int, float]]]:
        """The fit, and the numbers of experts tried on the way with their BIC."""
        report = self._report if self.verbose else None
        if self.method == "spectral":
            return self._spectral(task, rng), []
        checkpoint = self._open_checkpoint(task)
        if self.n_experts == "auto":
            return choose_experts(task, rng, report=report, checkpoint=checkpoint)
        assert task.look is not None
        k, most = int(self.n_experts), most_experts(task, task.look.rows)
        if k > most:
            warnings.warn(
                f"n_experts={k} asks for more than {task.look.rows} rows of {task.X.shape[1]} columns can carry (two "
                f"rows per coefficient of an expert); {most} fitted instead: use fewer experts or more rows",
                stacklevel=3,
            )
            k = most
        if self.method == "joint-em":
            return fit_joint_em(task, k, rng, int(self.n_init), report=report), []
        return fit_search(task, k, rng, report=report, checkpoint=checkpoint), []

    def _open_checkpoint(self, task: Task) -> Checkpoint | None:
        if self.checkpoint is None:
            return None
        if self.method != "auto":
            raise ValueError(f'checkpoint is for method="auto"; method is {self.method!r}')
        settings = {k: v for k, v in self.get_params().items() if k not in ("checkpoint", "verbose", "random_state")}
        assert task.look is not None
        seen = vars(task.look) | {"shape": (*task.X.shape,)}
        return Checkpoint(self.checkpoint, {k: repr(v) for k, v in settings.items()}, seen)

    def _spectral(self, task: Task, rng: np.random.Generator) -> Fitted:
        """The paper and nothing else: Algorithm 1, Algorithm 2."""
        if task.weight is not None:
            raise ValueError('method="spectral" takes no sample_weight; use method="auto"')
        if task.expert_columns is not None or task.gate_columns is not None:
            raise ValueError('method="spectral" takes no expert_features or gate_features; use method="auto"')
        noise = None if isinstance(task.noise, str) else float(task.noise)
        law = None if isinstance(self.input_law, str) and self.input_law == "auto" else self.input_law
        k = check_n_experts(self.n_experts)
        experts = learn_experts(
            task.X, task.y, k, activation=task.g, noise_scale=noise, input_law=law, random_state=rng
        )
        gate = learn_gate(
            task.X,
            task.y,
            experts.coef,
            activation=task.g,
            noise_scale=experts.noise_scale,
            max_iter=task.max_iter,
            tol=task.tol,
            random_state=rng,
        )
        model = MoEParameters(experts.coef, gate.coef, experts.noise_scale, g=task.g)
        shares = mean_gate(model, task.X)
        order = np.argsort(-shares, kind="stable")
        k, d = experts.coef.shape
        return Fitted(
            model.permuted(order),
            log_likelihood(model, task.X, task.y) / task.X.shape[0],
            (2 * k - 1) * d + (noise is None),
            gate.converged,
            False,
            gate.log_likelihood,
            shares=shares[order],
            spectral=experts,
            winner="spectral",
        )

    def _store(self, fitted: Fitted, tried: list[tuple[int, float]]) -> None:
        p = fitted.parameters
        self.parameters_ = p
        self.expert_coef_, self.expert_intercept_ = p.A, p.b
        self.gate_coef_, self.gate_intercept_ = p.W, p.c
        self.noise_scale_ = p.sigma
        k, d = p.A.shape
        self.covariance_, self.covariance_robust_ = fitted.covariance, fitted.sandwich
        for name, values in split_errors(fitted.covariance, k, d).items():
            setattr(self, f"{name}_se_", values)
        self.n_experts_ = k
        self.n_parameters_ = fitted.n_parameters
        self.log_likelihood_ = fitted.log_likelihood
        self.n_iter_ = max(len(fitted.trace) - 1, 1)
        self.converged_, self.identified_ = bool(fitted.converged), bool(fitted.identified)
        self.shares_ = fitted.shares
        self.history_ = {
            "log_likelihood": fitted.trace,
            "starts": [(r.name, r.log_likelihood, r.stage) for r in fitted.records],
            "winner": fitted.winner,
            "agreement": fitted.agreement,
            "at_floor": fitted.at_floor,
            "interrupted": fitted.interrupted,
            "bic": tried,
            "passes": fitted.passes,
            "spectrum": None if fitted.spectral is None else fitted.spectral.spectrum,
            "gap": None if fitted.spectral is None else fitted.spectral.gap,
            "noise_level": None if fitted.spectral is None else fitted.spectral.noise_level,
        }

    def _say_what_went_wrong(self, fitted: Fitted) -> None:
        if fitted.interrupted:
            warnings.warn("the fit was interrupted; this is the best model so far", ConvergenceWarning, stacklevel=3)
        elif not fitted.converged:
            warnings.warn(
                f"the fit stopped after {self.n_iter_} iterations short of the optimum; raise max_iter, or use fewer "
                "experts if diagnose() says that they are not identified",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _report(self, progress: Progress) -> None:
        if callable(self.verbose):
            self.verbose(progress)
        elif self.verbose > 1 or (self.verbose and progress.step % 50 == 0):
            print(
                f"[MoERegressor] {progress.n_experts} experts, {progress.stage}, step {progress.step}: "
                f"best log-likelihood {progress.log_likelihood:.6f}",
                flush=True,
            )

    # -- using --------------------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "parameters_")

    def predict(self, X: Any) -> Array:
        """Mean of y given the inputs: the experts' predictions weighted by the gate, (n,)."""
        check_is_fitted(self)
        return apply(self, self.parameters_.predict, X)

    def gate_proba(self, X: Any) -> Array:
        """Probability of each expert given the inputs, (n, k)."""
        check_is_fitted(self)
        return apply(self, self.parameters_.gate_proba, X, width=self.n_experts_)

    def expert_predict(self, X: Any) -> Array:
        """What each expert predicts, (n, k)."""
        check_is_fitted(self)
        return apply(self, self.parameters_.expert_means, X, width=self.n_experts_)

    def responsibilities(self, X: Any, y: Any) -> Array:
        """Probability of each expert given inputs and output, (n, k)."""
        check_is_fitted(self)
        return apply(self, self.parameters_.responsibilities, X, y, width=self.n_experts_)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """Bounds between which a new y falls with the given probability, (n, 2): exact quantiles of the mixture."""
        if not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
            raise ValueError(f"coverage must be between 0 and 1; got {coverage!r}")
        check_is_fitted(self)
        return apply(self, partial(interval, self.parameters_, float(coverage)), X, width=2)

    def score_samples(self, X: Any, y: Any) -> Array:
        """Log density of each row, (n,)."""
        check_is_fitted(self)
        return apply(self, self.parameters_.log_density, X, y, like=False)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of the variance of y that the predictions explain, R2; rows that are streamed take no weights."""
        check_is_fitted(self)
        X, y = rows_to_use(self, X, y)
        if sample_weight is not None:
            if isinstance(X, Streamed):
                raise ValueError("score takes no sample_weight for rows that are streamed")
            sample_weight = to_device(_check_sample_weight(sample_weight, to_numpy(X), dtype=np.float64), X)
        return r_squared(self.parameters_, X, y, sample_weight)

    def sample(self, X: Any, random_state: Any = None) -> Array:
        """Draw an output for each row of inputs, (n,)."""
        check_is_fitted(self)
        rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
        (X,) = in_memory(rows_to_use(self, X)[0])
        values = self.parameters_.sample(X, rng)[0]
        return array_namespace(values).astype(values, X.dtype, copy=False)

    def aic(self, X: Any, y: Any) -> float:
        """Akaike's criterion on the given rows; smaller is better."""
        return 2.0 * self.n_parameters_ - 2 * self._log_likelihood(X, y)[0]

    def bic(self, X: Any, y: Any) -> float:
        """Bayes' criterion on the given rows; smaller is better."""
        total, n = self._log_likelihood(X, y)
        return float(np.log(n)) * self.n_parameters_ - 2 * total

    def _log_likelihood(self, X: Any, y: Any) -> tuple[float, int]:
        check_is_fitted(self)
        X, y = rows_to_use(self, X, y)
        return log_likelihood(self.parameters_, X, y), X.shape[0]

    # -- telling ------------------------------------------------------------------------------------------------------

    def summary(self, *, robust: bool = False) -> Summary:
        """Coefficients with standard errors, z values, p values and 95% intervals; sandwich ones if `robust`."""
        check_is_fitted(self)
        return summarise(self, robust=robust)

    def diagnose(self, X: Any = None, y: Any = None) -> Summary:
        """How far the data are from what the consistent start assumes, and how sure the fit is, in plain words.

        With rows, which may be new ones, it also says whether the predictive distribution agrees with them.
        """
        check_is_fitted(self)
        return diagnose(self, *((None, None) if X is None else rows_to_use(self, X, y)))

    def save(self, path: Any) -> None:
        """Write the model to a file that runs no code when it is loaded; see `skmoe.load`."""
        check_is_fitted(self)
        persistence.save(self, path)


def load(path: Any) -> MoERegressor:
    """Read a model written by `MoERegressor.save`; no code in the file is run.

    Raises
    ------
    ValueError
        If the file is damaged, is no skmoe model, or was written by a later version.
    """
    return persistence.load(path, MoERegressor)
