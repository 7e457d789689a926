"""Ordinary least squares with the textbook's predictive distribution."""

from __future__ import annotations

import numpy as np
from scipy.stats import t

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
    law = t(freedom, loc=Z_new @ coef, scale=s * np.sqrt(1 + leverage))
    intervals = {level: np.column_stack(law.interval(level)) for level in COVERAGES}
    return Predicted(Z_new @ coef, law.logpdf(rows.y_new), intervals)


METHODS = [
    Method("least squares", run, "one line, Student's t with n - p degrees of freedom", modules=("scipy.stats",)),
]
