"""A linear model tree: a regression tree with a ridge regression in each leaf, and Gaussian noise of one scale.

A split is the one of up to fifteen cuts of each input after which the two regressions leave the least squared error.
The package linear-tree (0.3.5) does not work with scikit-learn 1.9.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np

from . import Method, Predicted, Rows
from .laws import normal

DEPTH, FOLDS = 6, 5
RIDGES, LEAST_ROWS = (1e-6, 1.0, 10.0), (1, 3)  # rows in a leaf are per coefficient
CUTS = np.linspace(0, 1, 17)[1:-1]


class Node(NamedTuple):
    """A regression, and where its rows part."""

    coef: np.ndarray  # (d + 1,), of standardised inputs and the intercept
    column: int = 0
    cut: float = np.inf
    low: Node | None = None  # rows up to the cut; None: a leaf
    high: Node | None = None


def regressions(grams: np.ndarray, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """Return coefficients (m, d + 1) and squared errors (m,) by sums of outer products of ``[X, 1, y]``."""
    penalty = np.append(np.full(grams.shape[-1] - 2, ridge), 1e-9)
    left, right = grams[:, :-1, :-1] + np.diag(penalty), grams[:, :-1, -1]
    coef = np.linalg.solve(left, right[..., None])[..., 0]
    error = grams[:, -1, -1] - 2 * np.sum(coef * right, axis=1) + np.einsum("mi,mij,mj->m", coef, left, coef)
    return coef, error  # with the penalty, so that a split cannot lose


def grow(Z: np.ndarray, y: np.ndarray, least: int, ridge: float, depth: int) -> Node:
    """Split where that helps most, until `depth` is used up or no part has two times `least` rows."""
    rows = np.column_stack([Z, np.ones(len(y)), y])
    outer = rows[:, :, None] * rows[:, None, :]
    whole = outer.sum(axis=0)
    coef, error = (found[0] for found in regressions(whole[None], ridge))
    best = error, 0, np.inf
    for column in range(Z.shape[1]) if depth else ():
        cuts = np.unique(np.quantile(Z[:, column], CUTS, method="lower"))
        where = np.searchsorted(cuts, Z[:, column])
        some = np.cumsum(np.bincount(where, minlength=len(cuts)))[: len(cuts)]
        parts = np.zeros((len(cuts) + 1, *whole.shape))
        np.add.at(parts, where, outer)
        low = np.cumsum(parts, axis=0)[: len(cuts)]
        fits = (some >= least) & (len(y) - some >= least)
        if fits.any():
            both = regressions(low[fits], ridge)[1] + regressions(whole - low[fits], ridge)[1]
            best = min(best, (both.min(), column, cuts[fits][both.argmin()]))
    if not np.isfinite(best[2]):
        return Node(coef)
    is_low = Z[:, best[1]] <= best[2]
    low_node, high_node = (grow(Z[some], y[some], least, ridge, depth - 1) for some in (is_low, ~is_low))
    return Node(coef, best[1], best[2], low_node, high_node)


def by_depth(node: Node, Z: np.ndarray) -> np.ndarray:
    """Return the predictions of the tree cut back to each depth from 0 to 6, (7, n)."""
    found = np.tile(np.column_stack([Z, np.ones(len(Z))]) @ node.coef, (DEPTH + 1, 1))
    for child, some in ((node.low, Z[:, node.column] <= node.cut), (node.high, Z[:, node.column] > node.cut)):
        if child is not None:
            found[1:, some] = by_depth(child, Z[some])[:-1]
    return found


def predictions(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, least: int, ridge: float) -> np.ndarray:
    """Return the predictions of each depth, (7, n)."""
    center, scale = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)
    Z, Z_new = (X - center) / scale, (X_new - center) / scale
    return y.mean() + by_depth(grow(Z, y - y.mean(), least * (X.shape[1] + 1), ridge, DEPTH), Z_new)


def run(rows: Rows, seed: int) -> Predicted:
    """Choose depth, rows in a leaf and ridge by five folds; the scale is that of the residuals of rows left out."""
    order = np.random.default_rng(seed).permutation(len(rows.y))
    found = []
    for least, ridge in product(LEAST_ROWS, RIDGES):
        left_out = np.empty((DEPTH + 1, len(rows.y)))
        for out in np.array_split(order, FOLDS):
            kept = np.setdiff1d(order, out)
            left_out[:, out] = predictions(rows.X[kept], rows.y[kept], rows.X[out], least, ridge)
        squares = np.mean((rows.y - left_out) ** 2, axis=1)
        found.append((float(squares.min()), int(squares.argmin()), least, ridge))
    square, depth, least, ridge = min(found)
    mean = predictions(rows.X, rows.y, rows.X_new, least, ridge)[depth]
    return normal(mean, np.sqrt(square), rows.y_new, depth=depth, least=least, ridge=ridge)


METHODS = [
    Method(
        "linear model tree",
        run,
        "a ridge regression in each leaf, splits by their errors; depth 0 to 6, ridge 1e-6, 1 or 10, at least 1 or 3 "
        "rows per coefficient in a leaf by 5 folds; Gaussian, its scale from the residuals of rows left out",
        modules=("scipy.stats", "skmoe.model.crps"),
    )
]
