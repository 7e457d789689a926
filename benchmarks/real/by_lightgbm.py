"""LightGBM with quantile losses: a model for each of twenty levels, smoothed into a density."""

from __future__ import annotations

import importlib.metadata
from itertools import product
from typing import Any

import numpy as np

from . import Method, Predicted, Rows, installed
from .laws import Smooth, best_smooth

LEAVES, LEAST_ROWS, RATE = (4, 8, 31), (3, 20), 0.1
ROUNDS, PATIENCE = 1000, 50
LEVELS = (np.arange(20) + 0.5) / 20
TRIED = (0.1, 0.5, 0.9)  # levels by which settings are chosen; the others take the rounds of the nearest


def booster(level: float, rounds: int, leaves: int, least: int, seed: int) -> Any:
    from lightgbm import LGBMRegressor

    how = {"random_state": seed, "n_jobs": 1, "deterministic": True, "verbose": -1}
    sizes = {"num_leaves": leaves, "min_child_samples": least}
    return LGBMRegressor(objective="quantile", alpha=level, n_estimators=rounds, learning_rate=RATE, **sizes, **how)


def settings(inner: Rows, seed: int) -> tuple[int, int, list[int]]:
    """Return leaves, rows in a leaf and the rounds of each level tried: least quantile loss of the rows left out."""
    from lightgbm import early_stopping

    out, found = (inner.X_new, inner.y_new), []
    for leaves, least in product(LEAVES, LEAST_ROWS):
        models = [booster(level, ROUNDS, leaves, least, seed) for level in TRIED]
        for model in models:
            stop = early_stopping(PATIENCE, verbose=False)
            model.fit(inner.X, inner.y, eval_set=[out], eval_metric="quantile", callbacks=[stop])
        loss = sum(next(iter(model.best_score_.values()))["quantile"] for model in models)
        found.append((float(loss), leaves, least, [model.best_iteration_ for model in models]))
    return min(found)[1:]


def quantiles(rows: Rows, leaves: int, least: int, rounds: list[int], seed: int) -> np.ndarray:
    """Return the predicted quantiles of each new row in ascending order, (n, 20)."""
    nearest = [rounds[int(np.argmin(np.abs(np.array(TRIED) - level)))] for level in LEVELS]
    models = [booster(*how, leaves, least, seed).fit(rows.X, rows.y) for how in zip(LEVELS, nearest, strict=True)]
    return np.sort(np.stack([model.predict(rows.X_new) for model in models], axis=1), axis=1)


def run(rows: Rows, seed: int) -> Predicted:
    """Choose settings and the kernel on a fifth of the rows, then fit all of them."""
    inner = rows.inner(seed)
    how = settings(inner, seed)
    weights, centers = np.full((1, len(LEVELS)), 1 / len(LEVELS)), quantiles(inner, *how, seed)

    def value(smooth: Smooth) -> float:
        return float(np.mean(smooth.log_density(weights.repeat(len(centers), 0), centers, inner.y_new)))

    smooth, centers = best_smooth(rows.y, value), quantiles(rows, *how, seed)
    notes = dict(zip(("leaves", "least", "rounds"), how, strict=True))
    return smooth.predicted(weights.repeat(len(centers), 0), centers, rows.y_new, **notes)


METHODS = [
    Method(
        "LightGBM quantiles",
        run,
        "a model for each of 20 levels, 0.025 to 0.975, learning rate 0.1; leaves 4, 8 or 31, at least 3 or 20 rows "
        "each, up to 1000 rounds (for low, middle and high levels) with early stopping, and the width of a Gaussian "
        "kernel over the quantiles on a fifth of the rows, refitted on all",
        missing=installed("lightgbm"),
        version=lambda: importlib.metadata.version("lightgbm"),
        modules=("lightgbm", "scipy.stats", "skmoe.model.crps"),
    )
]
