"""Blocks of the information and of the scores' outer products: channel weights of rows, and how sums are laid out.

Letters: ``RA`` is r times an expert's score, ``T`` is r times its score over the log scale, added up over the experts
that share one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.arrays.products import place_blocks, unpack_symmetric, weighted_grams
from skmoe.likelihood.problem import Problem
from skmoe.likelihood.rows import Block, weighted
from skmoe.model.channels import as_channels, times
from skmoe.model.family import Law
from skmoe.model.gate import gate_channels
from skmoe.model.posterior import Posterior

__all__ = [
    "ChannelWeights",
    "assembled",
    "expert_expert_weights",
    "expert_gate_weights",
    "grouped",
    "information_weights",
    "input_sums",
    "noise_blocks",
    "score_noise_blocks",
    "score_weights",
]


def grouped(problem: Problem, C: Array) -> Array:
    """Return channels (k, b) added up over the experts that share a noise scale: one row each, (S, b)."""
    if len(problem.noise_groups) == problem.k:
        return C
    xp = array_namespace(C)
    return xp.stack([xp.sum(C[group, :], axis=0) for group in problem.noise_groups])


def pair_weights(C: Array, weight: Array | None = None) -> Array:
    """Return the products of channels, c_i c_j for i <= j, by rows of the upper triangle, times row weights."""
    weighted_C = weighted(C, weight)
    return array_namespace(C).concat([weighted_C[i : i + 1, :] * C[i:, :] for i in range(C.shape[0])], axis=0)


def expert_expert_weights(RA: Array, within: Array, m: int = 1, weight: Array | None = None) -> Array:
    """Return channel weights of the blocks i <= j of all experts' predictors: r_i alpha_i r_j alpha_j, plus `within`.

    `within` holds terms for the pairs of predictors of each expert, (k m (m + 1) / 2, b).
    """
    weights, within, start, first = pair_weights(RA, weight), weighted(within, weight), 0, 0
    for i in range(RA.shape[0]):
        width = m - i % m  # predictors of the same expert, from this one on
        weights[start : start + width, :] += within[first : first + width, :]
        start, first = start + RA.shape[0] - i, first + width
    return weights


def expert_gate_weights(RA: Array, R: Array, m: int = 1) -> Array:
    """Return channel weights of the blocks (predictor i, gate j < k): r_i alpha_i (r_j - delta_ij), delta by expert."""
    rows, gates = [], R.shape[0] - 1
    for i in range(RA.shape[0]):
        products = RA[i : i + 1, :] * R[:-1, :]
        if i // m < gates:
            products[i // m, :] -= RA[i, :]
        rows.append(products)
    return array_namespace(RA).concat(rows, axis=0)


def _within(R: Array, law: Law, m: int) -> Array:
    """Return r times curvature less r times both scores, for each expert and pair of its predictors."""
    if m == 1:
        RA = R * law.score
        return R * law.curvature - RA * law.score
    xp, alpha = array_namespace(R), law.score
    products = xp.concat([alpha[..., c : c + 1, :] * alpha[..., c:, :] for c in range(m)], axis=-2)
    return as_channels(times(R, law.curvature - products))


class ChannelWeights(NamedTuple):
    """Weights of a row's x x' in the blocks expert-expert, expert-gate and gate-gate; one expert has no gate.

    Row weights are included: it costs far less to multiply a channel by them than all products of channels.
    """

    expert: Array
    cross: Array | None = None
    gate: Array | None = None


def information_weights(problem: Problem, post: Posterior, weight: Array | None) -> ChannelWeights:
    """Return the weights of the information's blocks."""
    m = problem.family.predictors
    RA = as_channels(times(post.R, post.law.score))
    expert = expert_expert_weights(RA, _within(post.R, post.law, m), m, weight)
    if problem.k == 1:
        return ChannelWeights(expert)
    gate = gate_channels(post.P, weight)
    gate -= gate_channels(post.R, weight)
    return ChannelWeights(expert, expert_gate_weights(weighted(RA, weight), post.R, m), gate)


def score_weights(problem: Problem, post: Posterior, weight: Array | None) -> ChannelWeights:
    """Return the weights of the blocks of the scores' outer products.

    Products of channels come first, then those of inputs: a quarter of the work of outer products of whole scores.
    """
    RA, E = as_channels(times(post.R, post.law.score)), (post.R - post.P)[:-1, :]
    expert = pair_weights(RA, weight)
    if problem.k == 1:
        return ChannelWeights(expert)
    cross = weighted(RA, weight)[:, None, :] * E[None, :, :]
    return ChannelWeights(expert, array_namespace(RA).reshape(cross, (-1, RA.shape[1])), pair_weights(E, weight))


def input_sums(problem: Problem, block: Block, *weights: ChannelWeights) -> tuple[Array, ...]:
    """Sum channel weights times x x' over rows, for one set of weights after the other.

    Returns for each set expert-expert (packed) and, with a gate, expert-gate (packed, or full where the gate has other
    columns) and gate-gate (packed). Where experts and gate have the same columns, all are one product.
    """
    U, V = block.U, block.V
    xp = array_namespace(U)
    if problem.rows.map.shared:
        channels = [C for given in weights for C in given if C is not None]
        grams = weighted_grams(xp.concat(channels, axis=0) if len(channels) > 1 else channels[0], U)
        ends = np.cumsum([C.shape[0] for C in channels]).tolist()
        return tuple(grams[end - C.shape[0] : end, :] for C, end in zip(channels, ends, strict=True))
    sums = list[Array]()
    for given in weights:
        sums.append(weighted_grams(given.expert, U))
        if given.cross is not None:
            sums.append(xp.stack([(U * given.cross[c, :]) @ V.T for c in range(given.cross.shape[0])]))
            sums.append(weighted_grams(given.gate, V))
    return tuple(sums)


def score_noise_blocks(problem: Problem, post: Posterior, block: Block) -> tuple[Array, ...]:
    """Return the sums of the scores' outer products with those over log scales, laid out as `noise_blocks`."""
    if not problem.noise_groups:
        return ()
    U, V, _, weight = block
    xp = array_namespace(U)
    RA, E = as_channels(times(post.R, post.law.score)), (post.R - post.P)[:-1, :]
    noise = grouped(problem, post.R * post.law.scale_score)
    T = weighted(noise, weight)
    experts, gates = _each_over_inputs(T[:, None, :] * RA, U), _each_over_inputs(T[:, None, :] * E, V)
    return T @ noise.T, xp.zeros_like(T[:, 0]), experts, gates


def _each_over_inputs(C: Array, U: Array) -> Array:
    """Return the products of channels (S, k, b) and inputs (D, b), (S, k D)."""
    xp = array_namespace(C)
    return xp.reshape(as_channels(C) @ U.T, (C.shape[0], -1))


def noise_blocks(problem: Problem, post: Posterior, block: Block) -> tuple[Array, ...]:
    """Return the sums of the blocks noise-noise (S, S), noise-expert (S, k De) and noise-gate (S, (k-1) Dg)."""
    if not problem.noise_groups:
        return ()
    U, V, _, weight = block
    R, law = post.R, post.law
    t = law.scale_score
    RA, Rt = R * law.score, R * t
    noise = grouped(problem, Rt)
    diagonal = grouped(problem, R * (t**2 - law.scale_curvature))
    cross = RA * t - R * law.cross_curvature
    experts, gates = noise[:, None, :] * RA, noise[:, None, :] * R
    for s, group in enumerate(problem.noise_groups):
        experts[s, group, :] -= cross[group, :]
        gates[s, group, :] -= Rt[group, :]
    return (
        weighted(noise, weight) @ noise.T,
        array_namespace(U).sum(weighted(diagonal, weight), axis=1),
        _each_over_inputs(weighted(experts, weight), U),
        _each_over_inputs(weighted(gates[:, :-1, :], weight), V),
    )


def assembled(problem: Problem, expert: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """Lay the blocks out as one symmetric (p, p) matrix."""
    k, a, w = problem.k, problem.k * problem.De, (problem.k - 1) * problem.Dg
    H, rest = np.zeros((problem.n_parameters,) * 2), list(others)
    channels, D = k * problem.family.predictors, problem.rows.map.De
    H[:a, :a] = place_blocks(unpack_symmetric(expert), channels)
    if k > 1:
        cross, gate, *rest = rest
        blocks = unpack_symmetric(cross) if problem.rows.map.shared else cross
        i, j = np.divmod(np.arange(channels * (k - 1)), k - 1)
        full = np.empty((channels, D, k - 1, problem.Dg))
        full[i, :, j, :] = blocks
        H[:a, a : a + w] = full.reshape(a, w)
        H[a : a + w, a : a + w] = place_blocks(unpack_symmetric(gate), k - 1)
    if problem.noise_groups:
        square, diagonal, experts, gates = rest
        H[a + w :, a + w :] = square - np.diag(diagonal)
        H[:a, a + w :], H[a : a + w, a + w :] = experts.T, gates.T
    return np.triu(H) + np.triu(H, 1).T
