r"""Distances of learned parameters to the truth, up to the order of the experts.

Orders are found by the Hungarian algorithm, not by trying all of them. The gate is only defined up to a common vector
added to all its rows: the row of the learned gate that is matched with the zero row of the truth is subtracted first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

__all__ = ["gating_fit", "match_experts", "parameter_error", "regressor_fit"]


def _pair(M: Any, M_true: Any, what: str) -> tuple[np.ndarray, np.ndarray]:
    M, M_true = (np.atleast_2d(np.asarray(m, dtype=np.float64)) for m in (M, M_true))
    if M.shape != M_true.shape:
        raise ValueError(f"{what} has shape {M.shape} but the truth has shape {M_true.shape}; they must match")
    return M, M_true


def _unit_rows(M: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(M, axis=1, keepdims=True)
    return np.divide(M, length, out=np.zeros_like(M), where=length > 0)


def _bottleneck(similarity: np.ndarray) -> tuple[float, np.ndarray]:
    """Assign rows to columns so that the worst similarity is largest; return it, and the column of each row."""
    values = np.unique(similarity)
    low, high = 0, len(values) - 1
    while low < high:  # the largest similarity at which all rows can be assigned
        middle = (low + high + 1) // 2
        rows, columns = linear_sum_assignment(similarity < values[middle])
        if np.any(similarity[rows, columns] < values[middle]):
            high = middle - 1
        else:
            low = middle
    columns = linear_sum_assignment(similarity < values[low])[1]
    return float(values[low]), columns


def regressor_fit(A: Any, A_true: Any) -> float:
    r"""Return :math:`\max_\pi \min_i |\langle a_{\pi(i)}, a_i^* \rangle|` of unit-normalised experts.

    (paper: equation 11) One is a perfect fit.

    Parameters
    ----------
    A, A_true : (k, d) arrays
        Learned and true experts.

    Returns
    -------
    float
        Between 0 and 1.
    """
    A, A_true = _pair(A, A_true, "A")
    return min(_bottleneck(np.abs(_unit_rows(A) @ _unit_rows(A_true).T))[0], 1.0)


def gating_fit(W: Any, W_true: Any) -> float:
    r"""Return the worst correlation of unit-normalised gate vectors, over orders of the experts (paper: equation 12).

    For two experts this is :math:`|\langle w, w^* \rangle|`: exchanging them changes the sign of w. For more, the
    signs are fixed by the order, so there is no absolute value to hide a wrong one behind.

    Parameters
    ----------
    W, W_true : (k, d) arrays
        Learned and true gate vectors; only differences between their rows count.

    Returns
    -------
    float
        At most 1, which is a perfect fit.
    """
    W, W_true = _pair(W, W_true, "W")
    truth = _unit_rows((W_true - W_true[-1])[:-1])
    if len(truth) == 0:
        return 1.0
    fits = [_bottleneck(_unit_rows(np.delete(W - W[r], r, axis=0)) @ truth.T)[0] for r in range(len(W))]
    return min(max(fits), 1.0)


def match_experts(A: Any, A_true: Any) -> np.ndarray:
    """Order such that ``A[order]`` is nearest to ``A_true`` in Frobenius norm.

    Parameters
    ----------
    A, A_true : (k, d) arrays
        Experts to be ordered, and those to be matched.

    Returns
    -------
    (k,) array of int
        The order.
    """
    A, A_true = _pair(A, A_true, "A")
    cost = ((A_true[:, None, :] - A[None, :, :]) ** 2).sum(axis=2)
    return linear_sum_assignment(cost)[1]


def parameter_error(A: Any, W: Any, A_true: Any, W_true: Any) -> float:
    r"""Return the error :math:`\inf_\pi \|A - A^*_\pi\|_F + \|W - W^*_\pi\|_F` (paper: section 4.3).

    W counts up to a common shift: rows are taken relative to the last expert's, and those of the truth relative to
    that of its partner, since relabelled experts have the same gate only up to that. The paper's formula, taken
    literally, gives relabelled exact parameters an error.

    The best order minimises a sum of square roots of two assignment costs. That is concave in the two, so the best
    lies on their lower convex hull, whose corners are assignments under weighted costs: found exactly by bisection.

    Parameters
    ----------
    A, W : (k, d) arrays
        Learned experts and gate vectors.
    A_true, W_true : (k, d) arrays
        The truth.

    Returns
    -------
    float
        The error, 0 for a perfect fit.
    """
    A, A_true = _pair(A, A_true, "A")
    W, W_true = _pair(W, W_true, "W")
    cost_A = ((A[:, None, :] - A_true[None, :, :]) ** 2).sum(axis=2)
    best = np.inf
    for r in range(len(A)):  # the true expert in the place of our last one, whose gate row is zero
        cost_W = (((W - W[-1])[:, None, :] - (W_true - W_true[r])[None, :, :]) ** 2).sum(axis=2)
        forbid = np.zeros_like(cost_A)
        forbid[-1, :] = 1e3 * (1 + cost_A.sum() + cost_W.sum())
        forbid[-1, r] = 0.0
        best = min(best, _smallest_root_sum(cost_A, cost_W, forbid))
    return float(best)


def _smallest_root_sum(cost_A: np.ndarray, cost_W: np.ndarray, forbid: np.ndarray) -> float:
    def corner(weight_A: float, weight_W: float) -> tuple[float, float]:
        rows, columns = linear_sum_assignment(weight_A * cost_A + weight_W * cost_W + forbid)
        return float(cost_A[rows, columns].sum()), float(cost_W[rows, columns].sum())

    corners = {corner(1.0, 1e-9), corner(1e-9, 1.0)}
    pending = [tuple(sorted(corners))]
    while pending:
        pair = pending.pop()
        if len(pair) < 2:
            continue
        (a, u), (b, v) = pair
        new = corner(u - v, b - a)  # the direction in which the two are equal
        gain = (u - v) * (a - new[0]) + (b - a) * (u - new[1])
        if new not in corners and gain > 1e-12 * abs((u - v) * (b - a)):
            corners.add(new)
            pending += [((a, u), new), (new, (b, v))]
    return min(np.sqrt(a) + np.sqrt(w) for a, w in corners)
