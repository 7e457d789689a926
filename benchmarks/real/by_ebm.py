"""Explainable boosting machines (interpret) with Gaussian noise of one scale."""

from __future__ import annotations

import copy
import importlib.metadata
from typing import Any

import numpy as np

from . import Method, Predicted, Rows, installed
from .laws import normal

BAGS, RATE = 7, 0.1
INTERACTIONS = (0, "5x")


def fit(rows: Rows, seed: int, interactions: Any) -> tuple[Any, np.ndarray]:
    """Return the machine, and predictions for the rows of each bag that were left out of it.

    Each bag leaves out a seventh of the rows, by which it stops, and each row is left out once.
    """
    from interpret.glassbox import ExplainableBoostingRegressor

    bag = np.random.default_rng(seed).permutation(len(rows.y)) % BAGS
    model = ExplainableBoostingRegressor(
        interactions=interactions, learning_rate=RATE, outer_bags=BAGS, n_jobs=1, random_state=seed
    )
    used = np.where(bag[:, None] == np.arange(BAGS), -1, 1).astype(np.int8)  # -1: left out
    model.fit(rows.X, rows.y, bags=used)
    left_out, one = np.empty(len(rows.y)), copy.copy(model)
    for number in range(BAGS):
        one.term_scores_ = [scores[number] for scores in model.bagged_scores_]
        one.intercept_ = float(model.bagged_intercept_[number])
        left_out[bag == number] = one.predict(rows.X[bag == number])
    return model, left_out


def run(rows: Rows, seed: int) -> Predicted:
    """Choose with or without pairs of inputs by the rows left out; the scale is that of their residuals."""
    found = {pairs: fit(rows, seed, pairs) for pairs in INTERACTIONS}
    squares = {pairs: float(np.mean((rows.y - left_out) ** 2)) for pairs, (_, left_out) in found.items()}
    best = min(squares, key=lambda pairs: squares[pairs])
    return normal(found[best][0].predict(rows.X_new), np.sqrt(squares[best]), rows.y_new, interactions=best)


METHODS = [
    Method(
        "EBM",
        run,
        "explainable boosting machine; with pairs of inputs (5 times as many as inputs) or without, by rows left out; "
        "an average of 7 machines at learning rate 0.1, each stopped on another seventh of the rows; Gaussian, its "
        "scale from the residuals of rows left out; where a fit takes more than 20 seconds, three splits only",
        missing=installed("interpret"),
        version=lambda: importlib.metadata.version("interpret-core"),
        modules=("interpret.glassbox", "scipy.stats", "skmoe.model.crps"),
        slow_after=20.0,
    )
]
