r"""Moves between optima of the likelihood: drop experts that are hardly missed, split one that does two jobs.

What an expert is worth is exact: without expert i the gate is renormalised, and a row's log density changes by
:math:`\log(1 - r_i) - \log(1 - p_i)`. Where to split is read from the residuals :math:`e` of an expert, in coordinates
:math:`s` in which its own rows are white: two laws that cross leave a variance that grows along a direction,
:math:`E_r[(e^2/\sigma^2 - 1)\, s s^\top]`; a bend leaves :math:`E_r[e\, s s^\top]`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import linalg

from skmoe.likelihood.joint import JointLikelihood, Theta
from skmoe.model.parameters import Posterior
from skmoe.rows.arrays import Array, array_namespace, to_device, to_numpy
from skmoe.rows.products import unpack_symmetric, weighted_grams
from skmoe.search.refine import Ascent

__all__ = ["prune", "removal_losses", "remove_and_split", "short_run", "split_moments", "union"]

LEAST_SHIFT = 0.3  # of an expert's noise: halves nearer to each other than this would take EM long to part
GATE_SLOPE = 3.0  # across a bend, per standard deviation of the expert's own rows


def removal_losses(likelihood: JointLikelihood, theta: Theta) -> np.ndarray:
    """Fall of the mean log-likelihood when each expert is removed and nothing else is changed, (k,)."""
    tiny = float(np.finfo(float).tiny)

    def others(P: Array) -> Array:
        xp = array_namespace(P)  # sums of the others, since 1 - p has no digits left near 1
        return xp.stack([xp.sum(P[:i, :], axis=0) + xp.sum(P[i + 1 :, :], axis=0) for i in range(P.shape[0])])

    def kernel(post: Posterior, U: Array, V: Array, weight: Array | None) -> tuple[Array]:
        xp = array_namespace(U)
        loss = xp.log(others(post.P) + tiny) - xp.log(others(post.R) + tiny)
        return (xp.sum(loss if weight is None else loss * weight, axis=1),)

    return to_numpy(likelihood.mean_of(kernel, theta)[0])


def split_moments(likelihood: JointLikelihood, theta: Theta) -> np.ndarray:
    """Per expert the second moments of its inputs, of its variance excess and of its residuals: (3, k, De, De)."""
    sigma, g = to_device(theta.sigma, likelihood.X), likelihood.g

    def kernel(post: Posterior, U: Array, V: Array, weight: Array | None) -> tuple[Array]:
        xp = array_namespace(U)
        scaled = post.residual / sigma[:, None]
        if not g.linear:
            scaled = scaled * g.prime(post.eta)
        excess = (post.residual / sigma[:, None]) ** 2 - 1
        C = xp.concat([post.R, post.R * excess, post.R * scaled], axis=0)
        return (weighted_grams(C if weight is None else C * weight, U),)

    packed = to_numpy(likelihood.mean_of(kernel, theta)[0])
    return unpack_symmetric(packed).reshape(3, likelihood.k, likelihood.De, likelihood.De)


class _Halves(NamedTuple):
    """How the halves of a split expert differ: by plus and minus these."""

    shift: np.ndarray  # (De,) of the experts, in units of the noise
    turn: np.ndarray | None = None  # (De,) of the gate
    level: float = 0.0  # both experts, in units of the noise


def _crossing(G: np.ndarray, excess: np.ndarray) -> _Halves:
    """Two laws that cross: apart along the direction in which the residuals' variance grows most."""
    white = _whitener(G)
    sizes, Q = _signed_eigen(white.T @ excess @ white)
    return _Halves(np.clip(np.sqrt(max(sizes[-1], 0.0) / 2), LEAST_SHIFT, 1.0) * (white @ Q[-1]))


def _bend(G: np.ndarray, residual: np.ndarray) -> _Halves:
    """One law that bends: other slopes on the two sides of a plane, and a gate between the sides."""
    white = _whitener(G)
    sizes, Q = _signed_eigen(white.T @ residual @ white)
    top = int(np.argmax(np.abs(sizes)))
    # for Gaussian t, E[|t| (t^2 - 1)] = E|t| = 0.8: hence the slope from the moment, and the level at the bend
    slope = np.copysign(np.clip(abs(sizes[top]) / 0.8, LEAST_SHIFT, 3.0), sizes[top])
    v = white @ Q[top]
    return _Halves(slope * v, GATE_SLOPE * v, -0.8 * slope)


def _whitener(G: np.ndarray) -> np.ndarray:
    """Map to coordinates in which the second moment G is the identity."""
    values, vectors = linalg.eigh(G)
    return vectors / np.sqrt(np.maximum(values, 1e-9 * values[-1]))


def _signed_eigen(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, rising, and eigenvectors as rows, with signs that do not depend on the machine."""
    values, vectors = linalg.eigh(0.5 * (M + M.T))
    signs = np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(len(M))])
    return values, (vectors * signs).T


def _split(likelihood: JointLikelihood, theta: Theta, i: int, j: int, halves: _Halves) -> Theta:
    """Replace expert j by a half of expert i."""
    A, sigma = theta.A.copy(), theta.sigma.copy()
    W = _with_zero(theta.W)
    A[j], A[i] = A[i] - sigma[i] * halves.shift, A[i] + sigma[i] * halves.shift
    W[j], sigma[j] = W[i], sigma[i]
    if likelihood.intercept:
        A[[i, j], -1] += sigma[i] * halves.level
        W[[i, j], -1] -= np.log(2.0)
    # a gate over other columns cannot turn about the experts' direction: EM has to find its own
    if halves.turn is not None and likelihood.same:
        W[j], W[i] = W[i] - halves.turn, W[i] + halves.turn
    return Theta(A, (W - W[-1])[:-1], sigma)


def remove_and_split(likelihood: JointLikelihood, theta: Theta, share: np.ndarray) -> Iterator[tuple[str, Theta]]:
    """Yield starts one move away: for each expert i, the cheapest other one dropped and i split in two ways."""
    loss = removal_losses(likelihood, theta)
    moments = split_moments(likelihood, theta)
    for i in range(likelihood.k):
        j = min((m for m in range(likelihood.k) if m != i), key=lambda m: loss[m])
        G, excess, residual = moments[:, i] / max(share[i], np.finfo(float).tiny)
        yield f"drop {j}, split {i} crossing", _split(likelihood, theta, i, j, _crossing(G, excess))
        yield f"drop {j}, split {i} bend", _split(likelihood, theta, i, j, _bend(G, residual))


def _with_zero(W: np.ndarray) -> np.ndarray:
    return np.vstack([W, np.zeros((1, W.shape[1]))])


def union(one: Theta, other: Theta) -> Theta:
    """Put the experts of two models side by side, each with its own gate vectors."""
    W = np.vstack([_with_zero(one.W), _with_zero(other.W)])
    return Theta(np.vstack([one.A, other.A]), W[:-1], np.append(one.sigma, other.sigma))


def prune(likelihood: JointLikelihood, theta: Theta, *, steps: int = 2) -> Theta:
    """Drop the experts least missed, one at a time with a few EM steps between, until `likelihood.k` are left.

    A law that one expert among many has found is kept, where k experts from a poor start would have shared it out.
    """
    while len(theta.A) > likelihood.k:
        loss = removal_losses(likelihood.with_experts(len(theta.A)), theta)
        kept = np.delete(np.arange(len(theta.A)), np.argmin(loss))
        W = _with_zero(theta.W)[kept]
        theta = Theta(theta.A[kept], (W - W[-1])[:-1], theta.sigma[kept])
        theta = short_run(likelihood.with_experts(len(kept)), theta, steps)
    return theta


def short_run(likelihood: JointLikelihood, theta: Theta, steps: int) -> Theta:
    """Take a few EM steps."""
    ascent = Ascent(likelihood, theta)
    for _ in range(steps):
        ascent.em()
    return ascent.theta
