"""Random forests: the mean for its error, and the distribution of the outputs in the leaves for its density."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from . import Method, Predicted, Rows
from .laws import Smooth, best_smooth

TREES = 300
LEAST_ROWS, FEATURES = (1, 3, 10), (1 / 3, 1.0)


def forest(rows: Rows, seed: int, **how: Any) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(TREES, oob_score=True, random_state=seed, **how).fit(rows.X, rows.y)


def run_mean(rows: Rows, seed: int) -> Predicted:
    """Choose the share of inputs tried at a split by the rows out of bag."""
    found = [forest(rows, seed, max_features=share) for share in FEATURES]
    best = max(found, key=lambda model: model.oob_score_)
    return Predicted(best.predict(rows.X_new), notes={"max_features": best.max_features})


def leaf_weights(model: Any, X: np.ndarray, X_new: np.ndarray | None = None) -> np.ndarray:
    """Weight of each fitted row for each new one: the mean over trees of its share of the leaf.

    Without new rows, those for the fitted rows themselves, from the trees for which they were out of bag.
    """
    from scipy.sparse import csr_array

    n, trees = len(X), len(model.estimators_)
    counts = np.stack([np.bincount(drawn, minlength=n) for drawn in model.estimators_samples_], axis=1)  # (n, trees)
    size = max(tree.tree_.node_count for tree in model.estimators_)
    leaves = model.apply(X) + size * np.arange(trees)
    total = np.bincount(leaves.ravel(), counts.ravel(), minlength=size * trees)
    share = counts / np.maximum(total[leaves], 1)
    new = leaves if X_new is None else model.apply(X_new) + size * np.arange(trees)
    used = (counts == 0).astype(float) if X_new is None else np.ones(new.shape)

    def matrix(where: np.ndarray, values: np.ndarray) -> csr_array:
        lines = np.repeat(np.arange(len(where)), trees)
        return csr_array((values.ravel(), (lines, where.ravel())), shape=(len(where), size * trees))

    weights = (matrix(new, used) @ matrix(leaves, share).T).toarray()
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)


def run_quantiles(rows: Rows, seed: int) -> Predicted:
    """Choose leaves, inputs tried at a split and bandwidth by the density of the rows out of bag."""
    best: tuple[float, Any, Smooth] | None = None
    for least, share in product(LEAST_ROWS, FEATURES):
        model = forest(rows, seed, min_samples_leaf=least, max_features=share)
        weights = leaf_weights(model, rows.X)

        def value(smooth: Smooth, weights: np.ndarray = weights) -> float:
            return float(np.mean(smooth.log_density(weights, rows.y, rows.y)))

        smooth = best_smooth(rows.y, value)
        if best is None or value(smooth) > best[0]:
            best = value(smooth), model, smooth
    assert best is not None
    _, model, smooth = best
    weights = leaf_weights(model, rows.X, rows.X_new)
    return smooth.predicted(weights, rows.y, rows.y_new, rows=model.min_samples_leaf)


METHODS = [
    Method(
        "random forest",
        run_mean,
        "300 trees; a third or all of the inputs tried at a split, by rows out of bag; no density",
        modules=("sklearn.ensemble",),
    ),
    Method(
        "quantile forest",
        run_quantiles,
        "300 trees; outputs in the leaves under a Gaussian kernel; rows in a leaf (1, 3, 10), inputs tried at a split, "
        "and the kernel's width, local or global, by the density of rows out of bag",
        modules=("sklearn.ensemble", "scipy.sparse", "scipy.stats"),
    ),
]
