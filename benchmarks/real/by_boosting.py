"""scikit-learn's HistGradientBoostingRegressor with Gaussian noise of one scale."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from . import Method, Predicted, Rows
from .laws import normal

LEAVES, LEAST_ROWS, RATE = (4, 8, 31), (3, 20), 0.1
ROUNDS, PATIENCE, FOLDS = 1000, 20, 5


class Choice(NamedTuple):
    """Settings, and what they predict for rows left out of five folds."""

    square: float  # mean squared error there
    leaves: int
    least: int
    rounds: int
    left_out: np.ndarray


def boosting(leaves: int, least: int, rounds: int, seed: int, **how: Any) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    sizes = {"max_leaf_nodes": leaves, "min_samples_leaf": least}
    return HistGradientBoostingRegressor(learning_rate=RATE, max_iter=rounds, random_state=seed, **sizes, **how)


def choose(rows: Rows, seed: int) -> Choice:
    """Size of trees and number of rounds, by five folds with early stopping."""
    order = np.random.default_rng(seed).permutation(len(rows.y))
    found = []
    for leaves, least in product(LEAVES, LEAST_ROWS):
        staged = np.empty((ROUNDS, len(rows.y)))
        for out in np.array_split(order, FOLDS):
            kept = np.setdiff1d(order, out)
            model = boosting(
                *(leaves, least, ROUNDS, seed), early_stopping=True, n_iter_no_change=PATIENCE, scoring="loss"
            )
            model.fit(rows.X[kept], rows.y[kept], X_val=rows.X[out], y_val=rows.y[out])
            stages = np.stack(list(model.staged_predict(rows.X[out])))
            staged[:, out] = stages[np.minimum(np.arange(ROUNDS), len(stages) - 1)]  # as it was when it stopped
        squares = np.mean((rows.y - staged) ** 2, axis=1)
        best = int(squares.argmin())
        found.append(Choice(float(squares[best]), leaves, least, best + 1, staged[best]))
    return min(found, key=lambda choice: choice.square)


def run(rows: Rows, seed: int) -> Predicted:
    """Refit the choice on all rows; the scale is that of the residuals of rows left out."""
    choice = choose(rows, seed)
    model = boosting(choice.leaves, choice.least, choice.rounds, seed, early_stopping=False).fit(rows.X, rows.y)
    notes = {"rounds": choice.rounds, "leaves": choice.leaves, "least": choice.least}
    return normal(model.predict(rows.X_new), np.sqrt(choice.square), rows.y_new, **notes)


METHODS = [
    Method(
        "HistGradientBoosting",
        run,
        "learning rate 0.1; leaves 4, 8 or 31, at least 3 or 20 rows each, and up to 1000 rounds by 5 folds with early "
        "stopping; Gaussian, its scale from the residuals of rows left out",
        modules=("scipy.stats", "sklearn.ensemble", "skmoe.model.crps"),
    )
]
