"""Fit an estimator: check its settings and rows, learn, store, and warn of what went wrong."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.checks import generator
from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import (
    Calibrated,
    FewRowsWarning,
    RelationWarning,
    RoundedOutputWarning,
    at_zero,
    calibration_of,
    coarse_outputs,
    covariance_root,
    feature_names,
    few_rows_of_fit,
    from_root,
    held_out_coverage,
    profile_intervals,
    regimes_from_rows,
    robust_root,
    small_sample,
)
from skmoe.inference.relations import target_of
from skmoe.model.checks import check_outputs
from skmoe.model.families import BinomialFamily, MultinomialFamily, get_family, with_second_column
from skmoe.model.family import Family
from skmoe.search import Control, ModelSpec, Progress, learn
from skmoe.search.given_dof import check_given_dof, given_dof, searched_family
from skmoe.search.learn import Learned, Request
from skmoe.spectral.options import SpectralOptions, spectral_options
from skmoe.tables.chosen import chosen_inputs
from skmoe.tables.classes import class_rows_to_fit
from skmoe.tables.inputs import RowsToFit, rows_to_fit
from skmoe.tables.relations import Relation, find_relations

__all__ = ["fit_classifier", "fit_regressor"]

NOT_OF_THE_FIT = ("checkpoint", "verbose", "random_state", "max_time")  # settings that do not make it another fit
PROGRESS_EVERY = 50  # steps between lines at verbose=1
CALLER = 6  # level of the caller of `fit` in the stack of a function that `_fit` calls
MOST_WARNED = 5  # relations that a fit warns of; diagnose() has all


def fit_regressor(model: MixtureOfExperts, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit a `MoERegressor` to rows."""
    family = get_family(model.family, model.activation)
    check_given_dof(family, model.n_experts, model.method)
    if model.spectral_options is not None and model.method != "spectral":
        raise ValueError(f'spectral_options is for method="spectral"; method is {model.method!r}')
    options = spectral_options(model.spectral_options)
    if hasattr(model, "parameters_"):  # a fit that fails must not leave the old model under new columns
        del model.parameters_
    family, y, sample_weight = with_second_column(family, y, sample_weight)
    rows = rows_to_fit(model, X, y, sample_weight, family.columns)
    check_outputs(family, rows.y, rows.weight)
    _fit(model, rows, family, model.noise, model.input_law, options)
    if coarse := coarse_outputs(model):
        warnings.warn(coarse, RoundedOutputWarning, stacklevel=CALLER - 2)


def fit_classifier(model: MixtureOfExperts, X: Any, y: Any, sample_weight: Any) -> None:
    """Fit a `MoEClassifier` to rows."""
    if hasattr(model, "parameters_"):
        del model.parameters_
    rows, model.classes_ = class_rows_to_fit(model, X, y, sample_weight)
    classes = len(model.classes_)
    family = BinomialFamily() if classes == 2 else MultinomialFamily(classes)
    _fit(model, rows, family, 1.0, "auto", spectral_options(None))


def _fit(
    model: MixtureOfExperts,
    rows: RowsToFit,
    family: Family,
    noise: str | float,
    input_law: Any,
    options: SpectralOptions,
) -> None:
    """Learn from rows by an estimator's settings, store the result, and warn of what went wrong."""
    relations = _relations(model, rows)  # a warning of them comes before the search
    spec = ModelSpec(
        searched_family(family),
        noise,
        model.penalty if isinstance(model.penalty, str) else float(model.penalty),
        bool(model.fit_intercept),
        input_law=input_law,
        expert_columns=chosen_inputs(model, "expert"),
        gate_columns=chosen_inputs(model, "gate"),
        expert_dof=given_dof(family),
    )
    settings = {k: repr(v) for k, v in model.get_params().items() if k not in NOT_OF_THE_FIT}
    request = Request(
        model.method,
        model.n_experts,
        model.n_init,
        model.checkpoint,
        settings,
        options,
        int(model.averaging),
        model.calibration is not None and family.base.noise_dof is not None,
    )
    callback = _progress(type(model).__name__, model.verbose)
    control = Control(float(model.tol), int(model.max_iter), callback, max_time=model.max_time)
    config = model._search_config.changed("number", most_experts=int(model.max_experts))
    _store(model, learn(rows, spec, request, generator(model.random_state), control, config))
    regimes = regimes_from_rows(model, rows.X, rows.weight)
    model.record_ = replace(model.record_, relations=relations, regimes=regimes)
    _warn_of_fit(model, control)


def _relations(model: MixtureOfExperts, rows: RowsToFit) -> tuple[Relation, ...]:
    """Find relations that a reader should know first, and warn of them before the search."""
    found = find_relations(rows, feature_names(model), classes=hasattr(model, "classes_"))
    for relation in [one for one in found if one.advised][:MOST_WARNED]:
        warnings.warn(RelationWarning(relation, target_of(model)), stacklevel=CALLER)
    return found


def _progress(who: str, verbose: Any) -> Any:
    """Return the progress callback: the caller's own, one that prints, or None."""
    if callable(verbose) or not verbose:
        return verbose or None

    def show(progress: Progress) -> None:
        if verbose > 1 or progress.step % PROGRESS_EVERY == 0:
            print(f"[{who}] {progress}", flush=True)

    return show


def _store(model: MixtureOfExperts, learned: Learned) -> None:
    """Store what was learned, with its covariance, small-sample corrections and calibration."""
    fitted, p, members = learned.fitted, learned.fitted.parameters, learned.ensemble
    root, few = covariance_root(fitted.optimum), small_sample(fitted.optimum, len(p.A))
    model.parameters_, model.shares_, model.dof_ = p, fitted.shares, few.dof
    if not hasattr(model, "classes_"):
        model.noise_scale_ = p.sigma * np.sqrt(few.factor)
    model.covariance_ = model.covariance_robust_ = model.covariance_at_origin_ = None
    if fitted.optimum is not None and root is not None and not few.none_left:
        at_origin, robust = few.corrected(root, p), few.corrected(robust_root(fitted.optimum, root), p)
        model.covariance_at_origin_ = None if p.origin is None else from_root(at_origin)
        model.covariance_ = from_root(at_zero(at_origin, p))
        model.covariance_robust_ = from_root(at_zero(robust, p))
    model.profile_intervals_ = profile_intervals(fitted.optimum, p)
    model.members_ = () if members is None else members.parameters
    model.member_weights_ = np.zeros(0) if members is None else members.weights
    model.stability_ = learned.stability
    found = _calibrated(model, learned)
    model.calibration_ = found.calibration
    model.record_ = replace(
        learned.record,
        run=replace(fitted.run, identified=fitted.run.identified and not few.none_left),
        gate_uncertain=found.gate_uncertain,
        coverage=tuple(found.coverage),
    )


def _calibrated(model: MixtureOfExperts, learned: Learned) -> Calibrated:
    """Return the calibration of predictions by held-out rows, if there are any and it is wanted."""
    choice, members = learned.choice, learned.ensemble
    none = Calibrated(None, False, [])
    if model.calibration is None or choice is None or choice.folds is None:
        return none
    if learned.sampled or model.parameters_.family.base.noise_dof is None:
        return none
    if members is not None:
        scores = members.held_out.scores
        coverage = [] if scores is None else held_out_coverage(choice.folds, scores)
        return Calibrated(members.held_out.calibration(), False, coverage)
    return none if choice.fits is None else calibration_of(choice.folds, choice.fits)


def _warn_of_fit(model: MixtureOfExperts, control: Control) -> None:
    if model.record_.search.interrupted:
        late = control.out_of_time
        why = f"was stopped after the {model.max_time:g} seconds that it was given" if late else "was interrupted"
        warnings.warn(f"the fit {why}; this is the best model so far", ConvergenceWarning, stacklevel=CALLER)
    elif not model.converged_:
        short = model.n_iter_ + 1 >= model.max_iter
        stopped = f"the fit stopped after {model.n_iter_} iterations short of the optimum"
        fewer = f"{stopped}; use fewer experts if their coefficients are not identified"
        warnings.warn(Advised(stopped, Advice.ITERATIONS) if short else fewer, ConvergenceWarning, stacklevel=CALLER)
    if few := few_rows_of_fit(model):
        warnings.warn(few[0], FewRowsWarning, stacklevel=CALLER)
