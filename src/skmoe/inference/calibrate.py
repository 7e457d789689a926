"""Calibration of a fit by rows that were held out: models of the folds are judged as the fit itself will be used."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from skmoe.arrays.namespaces import to_numpy
from skmoe.inference.correction import correction_of, small_sample
from skmoe.inference.covariance import covariance_of, from_root
from skmoe.likelihood import InputMap, Problem, Theta
from skmoe.model.calibration import Calibration
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.predictive import PredictiveDistribution
from skmoe.search import Optimum
from skmoe.search.finish import Fit
from skmoe.search.folds import FoldFits, Folds
from skmoe.search.number import gain
from skmoe.search.optimiser import Optimiser, Point

__all__ = ["COVERAGES", "Calibrated", "calibration_of", "corrected_law", "held_out_coverage"]

COVERAGES = (0.5, 0.9, 0.95)
"""Coverages of central intervals whose shares of held-out rows are noted."""


class Calibrated(NamedTuple):
    """What held-out rows say of predictive laws.

    Attributes
    ----------
    calibration : Calibration or None
        The correction they ask for.
    gate_uncertain : bool
        Whether the gate's uncertainty is counted.
    coverage : list of (float, float)
        Coverages of intervals, and the shares of held-out rows inside; see `held_out_coverage`.
    """

    calibration: Calibration | None
    gate_uncertain: bool
    coverage: list[tuple[float, float]]


def held_out_coverage(folds: Folds, scores: np.ndarray, *, corrected: bool = True) -> list[tuple[float, float]]:
    """Share of held-out rows inside central intervals, which other folds have corrected.

    Parameters
    ----------
    folds : Folds
    scores : (n,) array
        Normal scores of rows under models of the folds that held them out.
    corrected : bool
        Whether intervals are corrected at all.
    """
    levels = np.empty(folds.n)
    for fold in folds.parts:
        others = np.ones(folds.n, dtype=bool)
        others[fold.held_out] = False
        by_others = Calibration.fit(scores[others], folds.weight[others]) if corrected else Calibration()
        levels[fold.held_out] = by_others.levels(scores[fold.held_out])
    inside = [np.abs(levels - 0.5) <= c / 2 for c in COVERAGES]
    return [(c, float(np.average(held, weights=folds.weight))) for c, held in zip(COVERAGES, inside, strict=True)]


def calibration_of(folds: Folds, fits: FoldFits) -> Calibrated:
    """Calibration by the normal scores of held-out rows under the corrected laws of the folds' models.

    The textbook's law of one regression is left as it is unless held-out rows gain more than a standard error.
    The gate's uncertainty is counted where held-out rows gain more than a standard error by it: where a gate all but
    separates rows, its likelihood is far from a Gaussian.
    """
    log_density, scores = np.empty((2, folds.n)), np.empty((2, folds.n))
    laws = [corrected_law(_by_itself(problem), theta) for problem, theta in zip(fits.problems, fits.best, strict=True)]
    if any(law.unknown for law in laws):
        return Calibrated(None, False, [])
    for fold, law in zip(folds.parts, laws, strict=True):
        inputs = to_numpy(fold.test.X)[:, : fold.test.map.width]
        y = to_numpy(fold.test.y)
        for way, chosen in enumerate((law.without_gate_uncertainty(), law)):
            at_rows = chosen.at(inputs)
            log_density[way, fold.held_out] = at_rows.logpdf(y)
            scores[way, fold.held_out] = at_rows.normal_scores(y)
    found = [Calibration.fit(z, folds.weight) for z in scores]
    sure, unsure = (log_density[way] + found[way].log_slope(scores[way]) for way in range(2))
    if fits.k == 1:
        mean, error = gain(sure, log_density[0], folds.weight)
        corrected = mean > error
        coverage = held_out_coverage(folds, scores[0], corrected=corrected)
        return Calibrated(found[0] if corrected else None, False, coverage)
    mean, error = gain(unsure, sure, folds.weight)
    way = int(mean > error)
    return Calibrated(found[way], bool(way), held_out_coverage(folds, scores[way]))


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


def corrected_law(problem: Problem, theta: Theta) -> PredictiveDistribution:
    """Predictive law at an optimum, with what small samples ask for of Gaussian experts."""
    parameters = problem.rows.map.to_parameters(theta, problem.family)
    if not isinstance(problem.family, GaussianFamily):
        return PredictiveDistribution.of(parameters)
    fit = Fit.of(Optimiser(Point(problem, theta).with_sums("curvature")), converged=True)
    optimum = Optimum(problem, fit, np.arange(problem.k))
    few, d = small_sample(optimum, problem.k), parameters.A.shape[1]
    if few.none_left:
        return replace(PredictiveDistribution.of(parameters), unknown=True)
    covariance = covariance_of(optimum, robust=False)
    if covariance is None:
        return PredictiveDistribution.of(parameters)
    scaled = from_root(few.corrected(covariance.model, d))
    correction = correction_of(scaled, parameters.sigma * np.sqrt(few.factor), few.dof, d)
    return PredictiveDistribution((parameters,), np.ones(1), corrections=(correction,))
