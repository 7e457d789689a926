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

from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.rows import Block, weighted
from skmoe.model.gate import with_zero_row
from skmoe.model.posterior import Posterior
from skmoe.rows.arrays import Array, array_namespace, to_device, to_numpy
from skmoe.rows.products import unpack_symmetric, weighted_grams
from skmoe.search.ascent import Ascent, Point
from skmoe.search.config import SearchConfig
from skmoe.search.records import Start, StartKind

__all__ = ["grown_starts", "prune", "removal_losses", "remove_and_split", "short_run", "split_moments", "union"]

FOLDED = 0.8  # of a standard Gaussian t: E|t| = E[|t| (t^2 - 1)] = 0.8, which ties a moment to the slope of a bend


def removal_losses(problem: Problem, theta: Theta) -> np.ndarray:
    """Fall of the mean log-likelihood when each expert is removed and nothing else is changed, (k,)."""
    tiny = float(np.finfo(float).tiny)

    def others(P: Array) -> Array:
        xp = array_namespace(P)  # sums of the others, since 1 - p has no digits left near 1
        return xp.stack([xp.sum(P[:i, :], axis=0) + xp.sum(P[i + 1 :, :], axis=0) for i in range(P.shape[0])])

    def kernel(post: Posterior, block: Block) -> tuple[Array]:
        xp = array_namespace(block.U)
        loss = xp.log(others(post.P) + tiny) - xp.log(others(post.R) + tiny)
        return (xp.sum(weighted(loss, block.weight), axis=1),)

    return to_numpy(problem.mean_of(kernel, theta)[0])


def split_moments(problem: Problem, theta: Theta) -> np.ndarray:
    """Per expert the second moments of its inputs, of its variance excess and of its residuals: (3, k, De, De)."""
    sigma = to_device(theta.sigma, problem.rows.X)[:, None]

    def kernel(post: Posterior, block: Block) -> tuple[Array]:
        xp = array_namespace(block.U)
        residual = post.law.score * sigma  # in units of the noise
        C = xp.concat([post.R, post.R * post.law.scale_score, post.R * residual], axis=0)
        return (weighted_grams(weighted(C, block.weight), block.U),)

    packed = to_numpy(problem.mean_of(kernel, theta)[0])
    return unpack_symmetric(packed).reshape(3, problem.k, problem.De, problem.De)


class _Halves(NamedTuple):
    """How the halves of a split expert differ: by plus and minus these."""

    shift: np.ndarray  # (De,) of the experts, in units of the noise
    turn: np.ndarray | None = None  # (De,) of the gate
    level: float = 0.0  # both experts, in units of the noise


def _crossing(G: np.ndarray, excess: np.ndarray, config: SearchConfig) -> _Halves:
    """Two laws that cross: apart along the direction in which the residuals' variance grows most."""
    white = _whitener(G)
    sizes, Q = _signed_eigen(white.T @ excess @ white)
    return _Halves(np.clip(np.sqrt(max(sizes[-1], 0.0) / 2), config.least_shift, 1.0) * (white @ Q[-1]))


def _bend(G: np.ndarray, residual: np.ndarray, config: SearchConfig) -> _Halves:
    """One law that bends: other slopes on the two sides of a plane, and a gate between the sides."""
    white = _whitener(G)
    sizes, Q = _signed_eigen(white.T @ residual @ white)
    top = int(np.argmax(np.abs(sizes)))
    slope = np.copysign(np.clip(abs(sizes[top]) / FOLDED, config.least_shift, 3.0), sizes[top])
    v = white @ Q[top]
    return _Halves(slope * v, config.gate_slope * v, -FOLDED * slope)


def _whitener(G: np.ndarray) -> np.ndarray:
    """Map to coordinates in which the second moment G is the identity."""
    values, vectors = linalg.eigh(G)
    return vectors / np.sqrt(np.maximum(values, 1e-9 * values[-1]))


def _signed_eigen(M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, rising, and eigenvectors as rows, with signs that do not depend on the machine."""
    values, vectors = linalg.eigh(0.5 * (M + M.T))
    signs = np.sign(vectors[np.argmax(np.abs(vectors), axis=0), np.arange(len(M))])
    return values, (vectors * signs).T


def _split(problem: Problem, theta: Theta, i: int, j: int, halves: _Halves) -> Theta:
    """Replace expert j by a half of expert i."""
    A, sigma = theta.A.copy(), theta.sigma.copy()
    W = with_zero_row(theta.W)
    A[j], A[i] = A[i] - sigma[i] * halves.shift, A[i] + sigma[i] * halves.shift
    W[j], sigma[j] = W[i], sigma[i]
    if problem.rows.map.intercept:
        A[[i, j], -1] += sigma[i] * halves.level
        W[[i, j], -1] -= np.log(2.0)
    # a gate over other columns cannot turn about the experts' direction: EM has to find its own
    if halves.turn is not None and problem.rows.map.shared:
        W[j], W[i] = W[i] - halves.turn, W[i] + halves.turn
    return Theta(A, (W - W[-1])[:-1], sigma)


def remove_and_split(
    problem: Problem, theta: Theta, share: np.ndarray, config: SearchConfig, experts: range | None = None
) -> Iterator[Start]:
    """Yield starts one move away: for each expert i, the cheapest other one dropped and i split in two ways."""
    loss = removal_losses(problem, theta)
    moments = split_moments(problem, theta)
    for i in experts if experts is not None else range(problem.k):
        j = min((m for m in range(problem.k) if m != i), key=lambda m: loss[m])
        G, excess, residual = moments[:, i] / max(share[i], np.finfo(float).tiny)
        for how, halves in (("crossing", _crossing(G, excess, config)), ("bend", _bend(G, residual, config))):
            name = f"drop {j}, split {i} {how}"
            yield Start(name, StartKind.SPLIT, _split(problem, theta, i, j, halves))


def grown_starts(problem: Problem, smaller: Theta, config: SearchConfig) -> list[Start]:
    """Starts with one expert more: each expert of a smaller fit split in two, in two ways."""
    if not problem.rows.map.intercept:
        return []
    W = with_zero_row(smaller.W) if smaller.W.size else np.zeros((1, problem.Dg))
    spare = W[:1].copy()
    spare[0, -1] -= config.spare_logit  # an expert of negligible gate weight, for the split to take the place of
    W = np.vstack([spare, W])
    bigger = Theta(np.vstack([smaller.A[:1], smaller.A]), (W - W[-1])[:-1], np.append(smaller.sigma[:1], smaller.sigma))
    share = np.append(1e-3, np.full(smaller.k, 1 / smaller.k))
    moves = remove_and_split(problem, bigger, share, config, range(1, problem.k))
    return [Start(f"grown: {move.name}", StartKind.GROWN, move.theta) for move in moves]


def union(one: Theta, other: Theta) -> Theta:
    """Put the experts of two models side by side, each with its own gate vectors."""
    W = np.vstack([with_zero_row(one.W), with_zero_row(other.W)])
    return Theta(np.vstack([one.A, other.A]), W[:-1], np.append(one.sigma, other.sigma))


def prune(problem: Problem, theta: Theta, steps: int = 2) -> Theta:
    """Drop the experts least missed, one at a time with a few EM steps between, until `problem.k` are left.

    A law that one expert among many has found is kept, where k experts from a poor start would have shared it out.
    """
    while theta.k > problem.k:
        loss = removal_losses(problem.with_experts(theta.k), theta)
        kept = np.delete(np.arange(theta.k), np.argmin(loss))
        W = with_zero_row(theta.W)[kept]
        theta = Theta(theta.A[kept], (W - W[-1])[:-1], theta.sigma[kept])
        theta = short_run(problem.with_experts(len(kept)), theta, steps)
    return theta


def pooled_start(
    problem: Problem, name: str, one: Theta, other: Theta, parents: tuple[str, ...], config: SearchConfig
) -> Start:
    """The experts of two models, pruned to k: what either has found is kept."""
    both = union(one, other)
    theta = prune(problem, short_run(problem.with_experts(both.k), both, config.pool_steps), config.prune_steps)
    return Start(name, StartKind.POOLED, theta, parents)


def short_run(problem: Problem, theta: Theta, steps: int) -> Theta:
    """Take a few EM steps."""
    ascent = Ascent(Point(problem, theta).taking("em"))
    for _ in range(steps):
        ascent.em()
    return ascent.point.theta
