"""Random forests: the mean for its error, and the distribution of the outputs in the leaves for its density."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from . import COVERAGES, Method, Predicted, Rows

TREES = 300
LEAST_ROWS, FEATURES = (1, 3, 10), (1 / 3, 1.0)
WIDTHS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0)
BROAD = (0.01, 0.001, 0.05)  # the first while other things are chosen
BROAD_SPREAD = 3  # standard deviations of y: outputs beyond those seen are to be expected
SLIGHT = 1e-3  # least bandwidth, in standard deviations of y


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


class Smooth(NamedTuple):
    """Weighted outputs under a Gaussian kernel, with a little of one broad Gaussian over all of them."""

    y: np.ndarray
    width: float
    is_local: bool  # the width is in standard deviations of the weighted outputs, else of all
    broad: float

    def bandwidth(self, weights: np.ndarray) -> np.ndarray:
        """Of each new row."""
        spread = np.full(len(weights), self.y.std())
        if self.is_local:
            mean = weights @ self.y
            spread = np.sqrt(np.maximum(weights @ self.y**2 - mean**2, 0))
        # a kernel narrower than half a step would put spikes on the values of a rounded output
        least = max(SLIGHT * self.y.std(), np.diff(np.unique(self.y)).min() / 2)
        return np.maximum(self.width * spread, least)

    def log_density(self, weights: np.ndarray, y_new: np.ndarray) -> np.ndarray:
        """Of one output for each new row."""
        from scipy.stats import norm

        h = self.bandwidth(weights)[:, None]
        kernel = np.exp(-0.5 * ((y_new[:, None] - self.y) / h) ** 2) / (h * np.sqrt(2 * np.pi))
        broad = norm(self.y.mean(), BROAD_SPREAD * self.y.std()).pdf(y_new)
        return np.log((1 - self.broad) * np.sum(weights * kernel, axis=1) + self.broad * broad)

    def quantile(self, weights: np.ndarray, level: float) -> np.ndarray:
        """Bisect the distribution function of each row."""
        from scipy.special import ndtr

        h, (m, s) = self.bandwidth(weights)[:, None], (self.y.mean(), self.y.std())
        low, high = np.full(len(weights), m - 50 * s), np.full(len(weights), m + 50 * s)
        for _ in range(40):
            middle = (low + high) / 2
            kernel = np.sum(weights * ndtr((middle[:, None] - self.y) / h), axis=1)
            below = (1 - self.broad) * kernel + self.broad * ndtr((middle - m) / (BROAD_SPREAD * s)) < level
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return (low + high) / 2


def run_quantiles(rows: Rows, seed: int) -> Predicted:
    """Choose leaves, inputs tried at a split and bandwidth by the density of the rows out of bag."""
    best: tuple[float, Any, Smooth] | None = None
    for least, share in product(LEAST_ROWS, FEATURES):
        model = forest(rows, seed, min_samples_leaf=least, max_features=share)
        weights = leaf_weights(model, rows.X)

        def value(smooth: Smooth, weights: np.ndarray = weights) -> float:
            return float(np.mean(smooth.log_density(weights, rows.y)))

        smooth = max((Smooth(rows.y, *how, BROAD[0]) for how in product(WIDTHS, (True, False))), key=value)
        smooth = max((smooth._replace(broad=broad) for broad in BROAD), key=value)
        if best is None or value(smooth) > best[0]:
            best = value(smooth), model, smooth
    assert best is not None
    _, model, smooth = best
    weights = leaf_weights(model, rows.X, rows.X_new)
    intervals = {
        level: np.column_stack([smooth.quantile(weights, (1 + side * level) / 2) for side in (-1, 1)])
        for level in COVERAGES
    }
    notes = {"rows": model.min_samples_leaf, "width": smooth.width, "local": smooth.is_local, "broad": smooth.broad}
    return Predicted(weights @ rows.y, smooth.log_density(weights, rows.y_new), intervals, notes=notes)


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
