r"""Upper bounds of predictors of experts with a log link in predictions.

A line is supported by the rows of its expert. Extrapolated it gives means :math:`e^\eta` of any size, and where the
gate leaves such an expert a share the mean of the mixture is as wrong, while the likelihood loses little. In
predictions a predictor is therefore bounded by the largest that it takes on the rows of the expert, those whose
responsibility is at least half of the largest that the expert has. A single expert, an ordinary regression, is not
bounded.
"""

from __future__ import annotations

import numpy as np

from skmoe.arrays.blocks import row_blocks
from skmoe.arrays.namespaces import to_numpy
from skmoe.likelihood.problem import Problem
from skmoe.likelihood.theta import Theta
from skmoe.model.posterior import posterior

__all__ = ["ROW_SHARE", "largest_predictors"]

ROW_SHARE = 0.5
"""Share of its largest responsibility from which on a row is one of an expert's."""


def largest_predictors(problem: Problem, theta: Theta) -> np.ndarray | None:
    """Return the largest predictor of each expert on its rows, (k,); None where predictors are not bounded."""
    if problem.k == 1 or not problem.family.log_link:
        return None
    A, W, sigma = problem.on_device(theta)
    rows, found = problem.rows, []
    for x, y, weight in row_blocks(rows.X, rows.y, rows.weight, block_rows=problem.block_rows):
        U, V, y, weight = rows.block(x, y, weight)
        R = to_numpy(posterior(A, W, sigma, problem.family, U, V, y).R)
        found.append((R if weight is None else np.where(to_numpy(weight) > 0, R, 0.0), to_numpy(A @ U)))
    R, eta = (np.concatenate(blocks, axis=1) for blocks in zip(*found, strict=True))
    return np.max(eta, axis=1, where=np.max(R, axis=1, keepdims=True) * ROW_SHARE <= R, initial=-np.inf)
