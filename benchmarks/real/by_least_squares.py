"""Ordinary least squares with the textbook's predictive distribution."""

from __future__ import annotations

import numpy as np
from scipy.stats import t

from skmoe.model.crps import integrated_crps

from . import COVERAGES, Method, Predicted, Rows


def run(rows: Rows, seed: int) -> Predicted:
    r"""Predict by :math:`t_{n-p}` about the line, of scale :math:`s\sqrt{1 + z^T(Z^TZ)^{-1}z}`."""
    center, scale = rows.X.mean(axis=0), rows.X.std(axis=0)
    Z, Z_new = (np.column_stack([np.ones(len(X)), (X - center) / scale]) for X in (rows.X, rows.X_new))
    inverse = np.linalg.pinv(Z, rcond=1e-10)  # columns of a table may be collinear
    coef = inverse @ rows.y
    freedom = len(rows.y) - np.linalg.matrix_rank(Z, rtol=1e-10)
    s = np.sqrt(np.sum((rows.y - Z @ coef) ** 2) / freedom)
    leverage = np.sum((Z_new @ inverse) ** 2, axis=1)
    mean, spread = Z_new @ coef, s * np.sqrt(1 + leverage)
    law = t(freedom, loc=mean, scale=spread)
    intervals = {level: np.column_stack(law.interval(level)) for level in COVERAGES}

    def cdf(some: np.ndarray, z: np.ndarray) -> np.ndarray:
        return t.cdf(z, freedom, mean[some, None], spread[some, None])

    crps = integrated_crps(cdf, rows.y_new, *law.interval(1 - 1e-12))
    return Predicted(mean, law.logpdf(rows.y_new), intervals, crps)


METHODS = [
    Method("least squares", run, "one line, Student's t with n - p degrees of freedom", modules=("scipy.stats",)),
]
