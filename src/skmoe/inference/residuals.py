"""Tests of the residuals of a single expert: normality, equal variance, and bends."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import stats

from skmoe.inference.formatting import listed
from skmoe.model.fitted import FittedMixture

__all__ = ["residual_findings"]

SURE = 0.01  # level of the tests: warnings of a diagnosis should rarely be wrong
SKEWED, TAILED = 0.5, 1.0  # skewness and excess kurtosis reported, by size
MOST_TERMS = 0.2  # squares of columns are tested where they and the columns are at most this share of the rows


def residual_findings(model: FittedMixture, X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, str, str]]:
    """Test the residuals of a model of one expert; yield questions, findings and their meaning.

    Normality is tested by Jarque and Bera's test; evenness by Koenker's version of Breusch and Pagan's; bends by a
    Lagrange multiplier test for the squares of the columns, or of the predictions where columns are many.

    Parameters
    ----------
    model : fitted MoERegressor with one expert
    X : (n, d) array
    y : (n,) array
    """
    predicted = model.parameters_.predict(X)
    residual = y - predicted
    scale = float(np.std(residual))
    if len(y) < 8 or not scale > 0:
        return
    residual = (residual - np.mean(residual)) / scale
    Z = _standardised(X)
    reasons = []

    p = float(stats.jarque_bera(residual).pvalue)
    skewness, kurtosis = float(stats.skew(residual)), float(stats.kurtosis(residual))
    words = "residuals look normal"
    if p < SURE:
        shape = _shape(skewness, kurtosis)
        words = f"residuals are {shape}: intervals may be off, and a second expert may explain it"
        reasons.append(f"residuals {shape}")
    yield "residuals normal", f"skewness {skewness:.2f}, excess kurtosis {kurtosis:.2f}, p {p:.2g}", words

    if Z.shape[1]:
        p = _lagrange(residual**2 - 1, np.ones((len(y), 1)), Z)
        words = "the noise is about the same for all rows"
        if p < SURE:
            words = "the noise depends on the inputs: use robust standard errors, or try a second expert"
            reasons.append("uneven noise")
        yield "noise even", f"p {p:.2g}", words

        many = 1 + 2 * Z.shape[1] > MOST_TERMS * len(y)
        squares = _standardised(((predicted - np.mean(predicted)) ** 2)[:, None] if many else Z**2)
        p = _lagrange(residual, np.column_stack([np.ones(len(y)), Z]), squares)
        words = "no bend is left in the residuals"
        if p < SURE:
            words = "the relation bends: one expert misses it"
            reasons.append("a bend")
        yield "bends", f"p {p:.2g}", words

    yield "a second expert", ", ".join(reasons) if reasons else "no sign", _advice(model, reasons)


def _shape(skewness: float, kurtosis: float) -> str:
    """Describe how residuals are not normal."""
    found = ["skewed"] if abs(skewness) > SKEWED else []
    if abs(kurtosis) > TAILED:
        found.append("heavy-tailed" if kurtosis > 0 else "light-tailed")
    return listed(found) if found else "not normal"


def _advice(model: FittedMixture, reasons: list[str]) -> str:
    if len(model.record_.tried) > 1:
        return "two experts were tried, and held-out rows prefer one"
    if reasons:
        return "may be worth trying: fit two experts, or let their number be chosen, and compare"
    return "nothing in the residuals asks for one"


def _standardised(X: np.ndarray) -> np.ndarray:
    """Standardise the columns that vary."""
    spread = np.std(X, axis=0)
    varies = spread > 1e-12 * np.maximum(np.max(np.abs(X), axis=0), np.finfo(float).tiny)
    return (X[:, varies] - np.mean(X[:, varies], axis=0)) / spread[varies]


def _lagrange(values: np.ndarray, known: np.ndarray, new: np.ndarray) -> float:
    """Return the P value of n R2 of a regression of `values` on known and new columns for the new ones."""
    both = np.column_stack([known, new])
    more = np.linalg.matrix_rank(both) - np.linalg.matrix_rank(known)
    if more < 1 or len(values) <= both.shape[1]:
        return 1.0
    rest = values - both @ np.linalg.lstsq(both, values, rcond=None)[0]
    before = values - known @ np.linalg.lstsq(known, values, rcond=None)[0]
    r2 = 1 - np.sum(rest**2) / max(float(np.sum(before**2)), np.finfo(float).tiny)
    return float(stats.chi2.sf(len(values) * max(r2, 0.0), more))
