r"""Many models of one shape at once: their sums over the same rows are one pass, starts times experts as channels.

On few rows the time of a step of one model is overhead; a batch of them is a few matrix products. Outputs (n, S) in
place of (n,) are those of each model by itself: as many tables over the same inputs. The gate's curvature is that of
:math:`p_i (1 - p_i)\, v v^\top` for each expert by itself. The softmax's curvature is the Laplacian of a graph with
weights :math:`p_i p_j`, which is at most twice this, its diagonal; steps are guarded, so the factor is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.arrays.blocks import sum_over_blocks
from skmoe.arrays.namespaces import Array, array_namespace, on_accelerator, to_device, to_numpy
from skmoe.arrays.products import unpack_symmetric, weighted_grams
from skmoe.likelihood.fused import BLOCK_DOUBLES as COMPILED_DOUBLES
from skmoe.likelihood.fused import fused_sums, is_compiled
from skmoe.likelihood.problem import Problem
from skmoe.likelihood.rows import Block
from skmoe.likelihood.theta import Theta
from skmoe.model.channels import as_channels, expert_blocks, times
from skmoe.model.posterior import Posterior, posterior

__all__ = [
    "BatchSums",
    "batch_block_rows",
    "batch_sums",
    "batch_totals",
    "has_compiled_sums",
]

BatchKernel = Callable[..., tuple[Array, ...]]

BLOCK_DOUBLES = 2**14
"""Size of a block's channels on a CPU: temporaries of 128 KiB stay in the cache, and the allocator keeps them."""
SHARED_DOUBLES = 2**23
"""Rows times channels from which blocks of rows are shared out over threads."""


@dataclass(frozen=True)
class BatchSums:
    """Sums over rows for each of S models, divided by the total weight of the rows."""

    log_likelihood: np.ndarray  # (S,)
    share: np.ndarray  # (S, k) responsibilities
    statistic: np.ndarray  # (S, k) statistics that scales are updated from
    expert_gradient: np.ndarray  # (S, k, De) right sides of the experts' least squares
    gate_gradient: np.ndarray  # (S, k, Dg)
    expert_gram: np.ndarray  # (S, k, De, De), empty where not requested
    gate_gram: np.ndarray  # (S, k, Dg, Dg), likewise

    def picked(self, rows: Any) -> BatchSums:
        """Return the sums of some of the models."""
        return BatchSums(*(sums[rows] if sums.size else sums for sums in vars(self).values()))


def batch_totals(
    problem: Problem, batch: Theta, kernel: BatchKernel, *more: Array | None, channels: int | None = None
) -> list[Array]:
    """Return the totals of ``kernel(posterior, block, *more)`` over the rows, for all models of a batch in one pass.

    Parameters
    ----------
    problem : Problem
        Its number of experts does not count; that of the batch does.
    batch : Theta
    kernel : callable
    *more : (n, ...) arrays, optional
        Handed to the kernel block by block.
    channels : int, optional
        Widest array of the kernel, by which blocks are sized; models times experts by default.
    """
    rows, like, family = problem.rows, problem.rows.X, problem.family
    S, k, _ = batch.A.shape
    W, A = (
        to_device(coef.reshape(n, -1), like) for coef, n in ((batch.W, S * k), (batch.A, S * k * family.predictors))
    )
    scale = to_device(batch.sigma, like)

    def on_block(x: Array, y: Array, weight: Array | None, *rest: Array | None) -> tuple[Array, ...]:
        block = rows.block(x, y, weight)
        return kernel(posterior(A, W, scale, family, block.U, block.V, block.y), block, *rest)

    channels = channels or S * k * family.predictors
    arrays, shared = (rows.X, rows.y, rows.weight, *more), rows.n * channels >= SHARED_DOUBLES
    return list(sum_over_blocks(on_block, *arrays, block_rows=batch_block_rows(channels, like), shared=shared))


def batch_block_rows(channels: int, like: Array) -> int:
    """Return the rows of a block of so many channels: few on a CPU, so that it stays in the cache, many elsewhere."""
    return max(1, 2**20 // channels) if on_accelerator(like) else max(64, BLOCK_DOUBLES // channels)


def batch_sums(problem: Problem, batch: Theta, run_weight: Array | None = None, *, grams: bool = True) -> BatchSums:
    """Return the sums of an EM step for each model of a batch, in one pass over the rows of `problem`.

    Parameters
    ----------
    problem : Problem
        Its number of experts does not count; that of the batch does.
    batch : Theta
    run_weight : (n, S) array, optional
        Row weights of each model by itself, times those of the rows.
    grams : bool
        Whether Gram matrices are wanted.
    """
    S, k, De = batch.A.shape
    Dg, m = batch.W.shape[2], problem.family.predictors

    def kernel(post: Posterior, block: Block, model_weight: Array | None) -> tuple[Array, ...]:
        R, P, law, log_density = post.R, post.P, post.law, post.log_density
        U, V, _, weight = block
        xp = array_namespace(U)
        weighted_P = P
        if model_weight is not None:
            w = xp.matrix_transpose(model_weight)
            w = w if weight is None else w * weight
            log_density, R, weighted_P = log_density * w, R * w[:, None, :], P * w[:, None, :]
        elif weight is not None:
            log_density, R, weighted_P = log_density * weight, R * weight, P * weight

        score, step_weight = times(R, law.step_score), law.step_weight
        sums = (
            xp.sum(log_density, axis=1),
            xp.sum(R, axis=2),
            xp.vecdot(R, law.scale_statistic),
            as_channels(score) @ U.T,
            as_channels(R - weighted_P) @ V.T,
        )
        if not grams:
            return sums
        expert, gate = (
            as_channels(R if step_weight is None else times(R, step_weight)),
            as_channels(weighted_P * (1 - P)),
        )
        if U is V:
            both = weighted_grams(xp.concat([expert, gate], axis=0), U)
            return *sums, both[: expert.shape[0], :], both[expert.shape[0] :, :]
        return *sums, weighted_grams(expert, U), weighted_grams(gate, V)

    rows = problem.rows
    rows.passes.count += 1
    if has_compiled_sums(problem):
        totals = _compiled_totals(problem, batch, run_weight, grams)
    else:
        totals = batch_totals(problem, batch, kernel, run_weight)
    ll, share, statistic, eg, gg, *gram = (to_numpy(t) / problem.total for t in totals)
    expert_gram, gate_gram = np.empty((0, 0, 0, 0)), np.empty((0, 0, 0, 0))
    if grams:
        expert_gram = expert_blocks(unpack_symmetric(gram[0]), S * k, m).reshape(S, k, De, De)
        gate_gram = unpack_symmetric(gram[1]).reshape(S, k, Dg, Dg)
    return BatchSums(ll, share, statistic, eg.reshape(S, k, De), gg.reshape(S, k, Dg), expert_gram, gate_gram)


def has_compiled_sums(problem: Problem) -> bool:
    """Return whether `batch_sums` runs compiled code, as it does for linear Gaussian experts."""
    return is_compiled(problem.family, problem.rows.X)


def _compiled_totals(problem: Problem, batch: Theta, run_weight: np.ndarray | None, grams: bool) -> list[np.ndarray]:
    """Return the totals of `batch_sums` by compiled code."""
    rows, channels = problem.rows, batch.W.shape[0] * batch.k
    W, A = (coef.reshape(channels, -1) for coef in (batch.W, batch.A))

    def on_block(x: np.ndarray, y: Array, weight: Array | None, model_weight: Array | None) -> tuple[Array, ...]:
        block = rows.block(x, y, weight)
        weight = block.weight
        if model_weight is not None:
            weight = model_weight if weight is None else model_weight * weight[:, None]
        sums = fused_sums(W, A, block, batch.sigma, weight, hessian_weights=grams)
        base = problem.family.log_base * (len(block.y) if weight is None else np.sum(weight, axis=0))
        totals = sums.log_density + base, sums.share, sums.squares
        gate, experts = _halves(lambda C, U: C @ U.T, sums.channels, block.V, block.U)
        if sums.hessian_weights is None:
            return *totals, experts, gate
        return *totals, experts, gate, *_halves(weighted_grams, sums.hessian_weights, block.U, block.V)

    arrays, block_rows = (rows.X, rows.y, rows.weight, run_weight), max(64, COMPILED_DOUBLES // channels)
    shared = rows.n * (channels + max(A.shape[1], W.shape[1])) >= SHARED_DOUBLES
    return list(sum_over_blocks(on_block, *arrays, block_rows=block_rows, shared=shared))


def _halves(product: Callable[[Array, Array], Array], C: Array, U: Array, V: Array) -> tuple[Array, Array]:
    """Multiply the first half of the channels C with U and the second with V, at once where these are the same."""
    half = C.shape[0] // 2
    if U is V:
        both = product(C, U)
        return both[:half], both[half:]
    return product(C[:half], U), product(C[half:], V)
