"""Section 4.3's error E(A, W) and its relation to the fits of equations 11 and 12."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

from skmoe import metrics

from .draws import draw_model

Setting = dict[str, Any]
Found = dict[str, Any]


def literal_error(A: np.ndarray, W: np.ndarray, A_true: np.ndarray, W_true: np.ndarray) -> float:
    """E(A, W) as printed: the rows of the true gate are permuted and no vector is added to them."""
    orders = (list(order) for order in permutations(range(len(A))))
    return float(min(np.linalg.norm(A - A_true[o]) + np.linalg.norm(W - W_true[o]) for o in orders))


def error_and_fits(setting: Setting, rng: np.random.Generator) -> Found:
    """E(A, W) of the truth in all orders, as printed and re-gauged; E and fits of (-A, 3 W), and of a truth with noise.

    In another order the gate that gives the same probabilities has the vector of the expert that is now last
    subtracted from all its rows.
    """
    k = setting["k"]
    model = draw_model(5, k, 0.1, "linear", 1.0, rng, orthogonal=False)
    A, W = model.A, model.W
    orders = [list(order) for order in permutations(range(k))]
    relabelled = [(A[o], W[o] - W[o[-1]]) for o in orders]
    near = [M + 0.01 * rng.standard_normal(M.shape) for M in (A, W)]
    near[1] -= near[1][-1]

    def judged(A_: np.ndarray, W_: np.ndarray) -> list[float]:
        fits = metrics.regressor_fit(A_, A), metrics.gating_fit(W_, W)
        return [metrics.parameter_error(A_, W_, A, W), *fits]

    return {
        "literal": float(np.mean([literal_error(*same, A, W) for same in relabelled])),
        "re-gauged": max(metrics.parameter_error(*same, A, W) for same in relabelled),
        "turned": judged(-A, 3 * W),
        "near": judged(*near),
    }
