"""Calibration of a fit by rows that were held out: models of the folds are judged as the fit itself will be used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from skmoe.inference.correction import correction_of, small_sample
from skmoe.inference.covariance import covariance_of
from skmoe.likelihood import InputMap, Problem, Theta
from skmoe.model.calibration import Calibration
from skmoe.model.predictive import PredictiveLaw
from skmoe.rows.arrays import to_numpy
from skmoe.search import Optimum
from skmoe.search.ascent import Ascent, Point
from skmoe.search.finish import Fit
from skmoe.search.folds import FoldFits, Folds
from skmoe.search.number import gain

__all__ = ["calibration_of", "corrected_law"]


def calibration_of(folds: Folds, fits: FoldFits) -> tuple[Calibration | None, bool]:
    """Calibration by the normal scores of held-out rows under the corrected laws of the folds' models.

    The textbook's law of one regression is left as it is unless held-out rows gain more than a standard error.
    Returns also whether the gate's uncertainty is counted: where a gate all but separates rows, its likelihood is far
    from a Gaussian, so held-out rows must gain more than a standard error by it.
    """
    log_density, scores = np.empty((2, folds.n)), np.empty((2, folds.n))
    for fold, problem, theta in zip(folds.parts, fits.problems, fits.best, strict=True):
        law = corrected_law(_by_itself(problem), theta)
        inputs = to_numpy(fold.test.X)[:, : fold.test.map.width]
        y = to_numpy(fold.test.y)
        for way, chosen in enumerate((law.with_sure_gate(), law)):
            at_rows = chosen.at(inputs)
            log_density[way, fold.held_out] = at_rows.logpdf(y)
            scores[way, fold.held_out] = at_rows.normal_scores(y)
    found = [Calibration.fit(z, folds.weight) for z in scores]
    sure, unsure = (log_density[way] + found[way].log_slope(scores[way]) for way in range(2))
    if fits.k == 1:
        mean, error = gain(sure, log_density[0], folds.weight)
        return (found[0] if mean > error else None), False
    mean, error = gain(unsure, sure, folds.weight)
    return (found[1], True) if mean > error else (found[0], False)


def _by_itself(problem: Problem) -> Problem:
    """The same problem with standardised rows as what the caller gave."""
    old = problem.rows.map
    plain = InputMap(
        np.zeros(old.width),
        intercept=old.intercept,
        expert_columns=old.expert_columns,
        gate_columns=old.gate_columns,
    )
    return problem.on(replace(problem.rows, map=plain))


def corrected_law(problem: Problem, theta: Theta) -> PredictiveLaw:
    """Predictive law at an optimum, with what small samples ask for."""
    fit = Fit.of(Ascent(Point(problem, theta)), converged=True)
    optimum = Optimum(problem, fit, np.arange(problem.k))
    parameters = problem.rows.map.to_parameters(theta, problem.family)
    covariance = covariance_of(optimum, robust=False)
    if covariance is None:
        return PredictiveLaw.of(parameters)
    few, d = small_sample(optimum, problem.k), parameters.A.shape[1]
    correction = correction_of(few.corrected(covariance.model, d), parameters.sigma * np.sqrt(few.factor), few.dof, d)
    return PredictiveLaw((parameters,), np.ones(1), corrections=(correction,))
