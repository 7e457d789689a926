"""Calibration of a fit by held-out rows: models of the folds are evaluated as the fit itself will be used."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from skmoe.arrays.namespaces import to_numpy
from skmoe.inference.correction import correction_of, small_sample
from skmoe.inference.covariance import covariance_root, from_root
from skmoe.likelihood import InputMap, Problem, Theta
from skmoe.model.calibration import Calibration
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.predictive import PredictiveDistribution
from skmoe.search import Optimum
from skmoe.search.finish import Fit
from skmoe.search.folds import FoldFits, Folds
from skmoe.search.number import gain
from skmoe.search.optimiser import Optimiser, Point

__all__ = ["COVERAGES", "Calibrated", "calibration_of", "corrected_distribution", "held_out_coverage"]

COVERAGES = (0.5, 0.9, 0.95)
"""Coverages of central intervals for which shares of held-out rows are reported."""


class Calibrated(NamedTuple):
    """Calibration of predictive distributions by held-out rows.

    Attributes
    ----------
    calibration : Calibration or None
        The correction that they suggest.
    gate_uncertain : bool
        Whether the gate's uncertainty is counted.
    coverage : list of (float, float)
        Coverages of intervals, and the shares of held-out rows inside; see `held_out_coverage`.
    """

    calibration: Calibration | None
    gate_uncertain: bool
    coverage: list[tuple[float, float]]


def held_out_coverage(folds: Folds, scores: np.ndarray, *, corrected: bool = True) -> list[tuple[float, float]]:
    """Return the share of held-out rows inside central intervals that were calibrated on the other folds.

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
    """Fit the calibration to normal scores of held-out rows under the corrected distributions of the folds' models.

    Components are Gaussian for it: heavy tails are the calibration's, and t distributions under another one would have
    tails that fall off like a power of the logarithm, with quantiles far beyond any output.
    The exact distribution of one regression is used unless held-out rows gain more than a standard error.
    The gate's uncertainty is counted where held-out rows gain more than a standard error by it: where a gate all but
    separates rows, its likelihood is far from a Gaussian.
    """
    log_density, scores = np.empty((3, folds.n)), np.empty((3, folds.n))
    pairs = zip(fits.problems, fits.best, strict=True)
    laws = [corrected_distribution(_in_own_units(problem), theta) for problem, theta in pairs]
    if any(law.unknown for law in laws):
        return Calibrated(None, False, [])
    for fold, law in zip(folds.parts, laws, strict=True):
        inputs, y = to_numpy(fold.test.X)[:, : fold.test.map.width], to_numpy(fold.test.y)
        gaussian = law.with_gaussian_components()
        for i, chosen in enumerate((gaussian.without_gate_uncertainty(), gaussian, law)):
            at_rows = chosen.at(inputs)
            log_density[i, fold.held_out] = at_rows.logpdf(y)
            scores[i, fold.held_out] = at_rows.normal_scores(y)
    found = [Calibration.fit(z, folds.weight) for z in scores[:2]]
    without, with_gate = (log_density[i] + found[i].log_slope(scores[i]) for i in range(2))
    if fits.k == 1:
        mean, error = gain(without, log_density[2], folds.weight)
        corrected = mean > error
        coverage = held_out_coverage(folds, scores[0 if corrected else 2], corrected=corrected)
        return Calibrated(found[0] if corrected else None, False, coverage)
    mean, error = gain(with_gate, without, folds.weight)
    best = int(mean > error)
    return Calibrated(found[best], bool(best), held_out_coverage(folds, scores[best]))


def _in_own_units(problem: Problem) -> Problem:
    """Return the same problem with standardised rows in place of the caller's."""
    old = problem.rows.map
    plain = InputMap(
        np.zeros(old.width),
        intercept=old.intercept,
        expert_columns=old.expert_columns,
        gate_columns=old.gate_columns,
    )
    return problem.on(replace(problem.rows, map=plain))


def corrected_distribution(problem: Problem, theta: Theta) -> PredictiveDistribution:
    """Return the predictive distribution at an optimum, with small-sample corrections of Gaussian experts."""
    parameters = problem.rows.map.to_parameters(theta, problem.family)
    if not isinstance(problem.family, GaussianFamily):
        return PredictiveDistribution.of(parameters)
    fit = Fit.of(Optimiser(Point(problem, theta).with_sums("curvature")), converged=True)
    optimum = Optimum(problem, fit, np.arange(problem.k))
    small, d = small_sample(optimum, problem.k), parameters.A.shape[1]
    if small.none_left:
        return replace(PredictiveDistribution.of(parameters), unknown=True)
    root = covariance_root(optimum)
    if root is None:
        return PredictiveDistribution.of(parameters)
    scaled = from_root(small.corrected(root, parameters))
    correction = correction_of(scaled, parameters.sigma * np.sqrt(small.factor), small.dof, d)
    return PredictiveDistribution((parameters,), np.ones(1), corrections=(correction,))
