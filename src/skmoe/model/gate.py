r"""The softmax gate, and its convex problem: a multinomial logistic regression on soft labels.

Given targets ``R (k, n)`` that add up to one in each row, maximise over ``W`` (last row zero, rows in a ball if asked)

.. math:: Q(W) = \sum_n \sum_i R_{in} \log \mathrm{softmax}_i(W x_n) - \tfrac{\rho}{2} \|W\|^2

by Newton steps that never lower Q. Algorithm 2's M-step and that of joint EM are both this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from skmoe.arrays.memory import check_memory
from skmoe.arrays.namespaces import Array, array_namespace, exponentiate, rows_last, to_numpy
from skmoe.arrays.products import place_blocks, unpack_symmetric, weighted_grams

__all__ = [
    "GateSums",
    "check_gate_memory",
    "gate_channels",
    "gate_kernel",
    "gate_sums",
    "log_sum_exp",
    "maximise_gate",
    "normalised",
    "project_rows",
    "softmax",
    "with_zero_row",
]

INFORMATION_COPIES = 4  # held at once in a step: packed, laid out, regularised, factored
LAST_STEP = 1e-4
"""A relative Newton step this small is the last: the remaining error, its square, is negligible."""


def normalised(L: Array, least: float = -np.inf) -> tuple[Array, Array, Array]:
    """Return the softmax of logits L (..., k, b), the largest logit, and the log of the sum of exponentials less it.

    L is overwritten with its difference from the largest; probabilities are not less than exp(least) of the largest.
    """
    xp = array_namespace(L)
    top = xp.max(L, axis=-2, keepdims=True)
    L -= top
    E = exponentiate(xp.maximum(L, xp.asarray(least, dtype=L.dtype)))
    total = xp.sum(E, axis=-2, keepdims=True)
    E *= 1 / total
    return E, top, xp.log(total)


def log_sum_exp(L: Array) -> tuple[Array, Array]:
    """Return the log of the sum of exponentials over channels (..., k, b), and the normalised exponentials."""
    P, top, log_total = normalised(array_namespace(L).asarray(L, copy=True))
    return (top + log_total)[..., 0, :], P


def softmax(L: Array) -> tuple[Array, Array]:
    """Return the softmax over channels of logits (..., k, b), and its log."""
    log_total, P = log_sum_exp(L)
    return P, L - log_total[..., None, :]


def with_zero_row(W: np.ndarray) -> np.ndarray:
    """Return the gate vectors (k-1, D) with the zero row of the last expert, (k, D)."""
    return np.vstack([W, np.zeros((1, W.shape[1]))])


def check_gate_memory(k: int, d: int) -> None:
    """Refuse a gate of k experts over d columns whose information matrix memory cannot hold."""
    what = f"a gate of {k} experts over {d} columns"
    check_memory(8.0 * INFORMATION_COPIES * ((k - 1) * d) ** 2, what, "use fewer experts or columns")


class GateSums(NamedTuple):
    """Value, gradient (k-1, D) and negative Hessian ((k-1) D, (k-1) D) of a gate objective, on the host."""

    value: float
    gradient: np.ndarray
    information: np.ndarray


def gate_channels(P: Array, weight: Array | None = None) -> Array:
    r"""Return weights :math:`p_i (\delta_{ij} - p_j)`, i <= j < k, of the Hessian's blocks: (k (k - 1) / 2, b).

    They are multiplied by row weights (b,), where there are any.
    """
    xp = array_namespace(P)
    Q = P[:-1, :]
    weighted_Q = Q if weight is None else Q * weight
    rows = []
    for i in range(Q.shape[0]):
        rows.append((weighted_Q[i, :] * (1 - Q[i, :]))[None, :])
        if i + 1 < Q.shape[0]:
            rows.append(-weighted_Q[i, :] * Q[i + 1 :, :])
    return xp.concat(rows, axis=0)


def gate_kernel(
    R: Array, P: Array, log_P: Array, V: Array, weight: Array | None = None, *, every: int = 1
) -> tuple[Array, Array, Array]:
    """Return the sums over a block's rows of Q, its gradient (k-1, D) and its packed negative Hessian.

    Parameters
    ----------
    R : (k, b) targets            P, log_P : (k, b) the gate at that point, and its log
    V : (D, b) gate inputs        weight : (b,) row weights, default 1
    every : int
        Take the Hessian from one row in so many, scaled up: it only sets the direction of a step.
    """
    xp = array_namespace(V)
    E, value = R - P, R * log_P
    C, Z = (gate_channels(P), V) if every == 1 else (gate_channels(P[:, ::every]), rows_last(V[:, ::every].T))
    if weight is not None:
        E, C, value = E * weight, C * weight[::every], value * weight
    grams = weighted_grams(C, Z)
    if every > 1:
        grams = grams * (P.shape[1] / C.shape[1])
    return xp.sum(value), E[:-1, :] @ V.T, grams


def gate_sums(value: Array, gradient: Array, packed: Array) -> GateSums:
    """Bring the totals of `gate_kernel` to the host and lay the Hessian out."""
    G, blocks = to_numpy(gradient), unpack_symmetric(to_numpy(packed))
    return GateSums(float(value), G, place_blocks(blocks, len(G)))


def project_rows(W: np.ndarray, radius: float | None) -> np.ndarray:
    """Return the nearest point whose rows have length at most `radius`."""
    if radius is None:
        return W
    length = np.linalg.norm(W, axis=1, keepdims=True)
    return W * np.minimum(1.0, radius / np.maximum(length, np.finfo(float).tiny))


def _solve(H: np.ndarray, right: np.ndarray, least: float) -> np.ndarray:
    """Solve a positive definite system; eigenvalues that rounding made smaller than `least` count as that."""
    factor, info = linalg.lapack.dpotrf(H, lower=1)
    if info == 0:
        return linalg.cho_solve((factor, True), right)
    values, vectors = linalg.eigh(H)
    return vectors @ ((vectors.T @ right) / np.maximum(values, least))


def _newton_target(W: np.ndarray, sums: GateSums, radius: float | None) -> np.ndarray:
    """Return the maximiser of the quadratic model at `W`, over the ball when there is one."""
    H, gradient = sums.information, sums.gradient
    # keeps the gate in place along directions without information; far below any real curvature
    least = 1e-12 * max(np.trace(H) / H.shape[0], np.finfo(float).tiny)
    H = H + least * np.eye(H.shape[0])
    target = W + _solve(H, gradient.ravel(), least).reshape(W.shape)
    if radius is None or np.all(np.linalg.norm(target, axis=1) <= radius):
        return target
    # accelerated projected gradient on the small quadratic; no pass over the rows
    lipschitz = linalg.eigvalsh(H, subset_by_index=(H.shape[0] - 1, H.shape[0] - 1))[0]
    current = previous = lead = project_rows(target, radius)
    t = 1.0
    for _ in range(2000):
        slope = gradient - (H @ (lead - W).ravel()).reshape(W.shape)
        current = project_rows(lead + slope / lipschitz, radius)
        if np.max(np.abs(current - previous)) <= 1e-14 * radius:
            break
        t, last = 0.5 * (1 + np.sqrt(1 + 4 * t * t)), t
        lead, previous = current + (last - 1) / t * (current - previous), current
    return current


def maximise_gate(
    sums: Callable[[np.ndarray], GateSums],
    W: np.ndarray,
    first: GateSums,
    *,
    radius: float | None = None,
    max_steps: int = 50,
) -> np.ndarray:
    """Maximise a gate objective by Newton steps, each halved until the objective does not fall.

    Parameters
    ----------
    sums : callable
        Value, gradient and information at a (k-1, D) gate: one pass over the rows.
    W, first : the start and `sums` at it
    radius : float, optional
        Rows of the gate stay within this length.
    """
    current = first
    for _ in range(max_steps):
        step = _newton_target(W, current, radius) - W
        if np.max(np.abs(step)) <= LAST_STEP * (1 + np.max(np.abs(W))):
            return W + step
        if np.sum(step * current.gradient) <= np.finfo(float).eps * (1 + abs(current.value)):
            return W  # along directions that separate the rows steps stay long after the objective has converged
        shrink = 1.0
        trial = sums(W + step)
        # rounding in a sum of n terms must not be taken for a loss
        while not trial.value >= current.value - 1e-13 * abs(current.value):
            shrink *= 0.5
            if shrink < 1e-10:
                return W
            trial = sums(W + shrink * step)
        W, current = W + shrink * step, trial
    return W
