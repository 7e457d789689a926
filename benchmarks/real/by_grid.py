"""Probabilities over the values of a rounded output: what can be had by a model which knows their grid."""

from __future__ import annotations

import numpy as np

from . import Method, Predicted, Rows
from .by_boosting import boosting, choose

TREES, LEAST_ROWS = 300, (1, 3, 10, 30)
WIDTHS = (0.6, 0.8, 1.0, 1.3)  # of the Gaussian about the boosted mean, times the scale of its residuals
ROUNDS = 200


def run(rows: Rows, seed: int) -> Predicted:
    """Mix forests over the values, Gaussians about a boosted mean, and the frequencies of the values.

    Weights maximise the likelihood of rows left out (out of bag, or out of five folds). The probability of a value is
    spread evenly over one step of the grid.
    """
    from sklearn.ensemble import RandomForestClassifier

    values, where = np.unique(rows.y, return_inverse=True)
    least_chance = 1 / len(rows.y)
    flat = np.full((1, len(values)), 1 / len(values))
    frequency = np.bincount(where)[None] / len(where)
    left_out, new = [flat.repeat(len(where), 0), frequency.repeat(len(where), 0)], []
    new += [part[:1].repeat(len(rows.y_new), 0) for part in left_out]
    for least in LEAST_ROWS:
        model = RandomForestClassifier(TREES, min_samples_leaf=least, oob_score=True, random_state=seed)
        model.fit(rows.X, where)
        left_out.append(np.nan_to_num(model.oob_decision_function_))
        new.append(model.predict_proba(rows.X_new))
    choice = choose(rows, seed)
    boosted = boosting(choice.leaves, choice.least, choice.rounds, seed, early_stopping=False).fit(rows.X, rows.y)
    for width in WIDTHS:
        scale = width * np.sqrt(choice.square)
        left_out.append(on_grid(choice.left_out, scale, values))
        new.append(on_grid(boosted.predict(rows.X_new), scale, values))
    weights = stacked(np.stack([part[np.arange(len(where)), where] for part in left_out], axis=1))
    chance = np.tensordot(weights, np.stack(new), 1)
    near = np.abs(rows.y_new[:, None] - values) < 1e-9 * np.ptp(values)
    seen = np.where(near.any(axis=1), np.sum(near * chance, axis=1), least_chance)  # of a value not seen, one row's
    density = np.log(np.maximum(seen, 1e-12) / np.diff(values).min())
    return Predicted(chance @ values, density, notes={"weights": [round(float(w), 3) for w in weights]})


def on_grid(mean: np.ndarray, scale: float, values: np.ndarray) -> np.ndarray:
    """Gaussian densities at the values of the grid, over their sum."""
    log = -0.5 * ((mean[:, None] - values) / scale) ** 2
    raised = np.exp(log - log.max(axis=1, keepdims=True))
    return raised / raised.sum(axis=1, keepdims=True)


def stacked(chances: np.ndarray) -> np.ndarray:
    """Weights of the columns under which the mean log of the mixture is highest, by EM from even weights."""
    weights = np.full(chances.shape[1], 1 / chances.shape[1])
    for _ in range(ROUNDS):
        parts = weights * chances
        weights = np.mean(parts / parts.sum(axis=1, keepdims=True), axis=0)
    return weights


METHODS = [
    Method(
        "knows the grid",
        run,
        "random forests over the values of the output, Gaussians about a boosted mean and the frequencies of the "
        "values, mixed by rows left out; density: the probability of the value over the least step between values",
        modules=("sklearn.ensemble",),
        rounded_only=True,
    )
]
