r"""Derivatives of the observed likelihood over (A, W, log noise), exact, in one pass each.

A row's log density is :math:`\ell = \log \sum_i e^{L_i}` with :math:`L_i = \log p_i + f_i`, the log of the gate plus
the log density of an expert. Over the channels :math:`\eta_i = a_i^\top x`, :math:`u_i = w_i^\top x` and
:math:`\tau_i = \log\sigma_i`, with responsibilities :math:`r`,

.. math:: \nabla \ell = E_r[\nabla L], \qquad \nabla^2 \ell = E_r[\nabla^2 L] + \mathrm{Cov}_r(\nabla L),

so a row's Hessian is a small matrix of channel weights times :math:`x x^\top` (`skmoe.likelihood.hessian`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.arrays.blocks import block_rows_for
from skmoe.arrays.namespaces import array_namespace, to_numpy
from skmoe.arrays.products import gram_channels
from skmoe.likelihood.batch import batch_sums
from skmoe.likelihood.hessian import (
    assembled,
    grouped,
    information_weights,
    input_sums,
    noise_blocks,
    score_noise_blocks,
    score_weights,
)
from skmoe.likelihood.penalty import penalty_at, penalty_information
from skmoe.likelihood.problem import Problem
from skmoe.likelihood.rows import Block, weighted
from skmoe.likelihood.theta import Theta
from skmoe.model.channels import as_channels, times
from skmoe.model.posterior import Posterior

__all__ = ["Curvature", "Gradient", "gradient", "information", "score_outer"]

OUTER_ROWS = 1_000_000
"""Rows from which on a search uses a sample of them, so that the information of all is computed only once."""


@dataclass(frozen=True)
class Gradient:
    """The objective (per row) at a point, with its gradient over (A, W, log noise) laid out as one vector."""

    log_likelihood: float
    objective: float
    share: np.ndarray  # (k,) mean responsibility
    gradient: np.ndarray  # (p,)


@dataclass(frozen=True)
class Curvature(Gradient):
    """Objective, gradient and observed information at a point."""

    information: np.ndarray  # (p, p), the negative Hessian
    outer: np.ndarray | None = None  # (p, p), as `score_outer` returns it, where it was computed in the same pass


def _gradient_sums(problem: Problem, post: Posterior, block: Block) -> tuple[Any, ...]:
    """Sum the log-likelihood, shares and blocks of the gradient over a block."""
    U, V, _, weight = block
    xp = array_namespace(U)
    R, E = weighted(post.R, weight), weighted(post.R - post.P, weight)
    noise = (xp.sum(grouped(problem, R * post.law.scale_score), axis=1),) if problem.noise_groups else ()
    log_likelihood = xp.sum(weighted(post.log_density, weight))
    experts = as_channels(times(R, post.law.score)) @ U.T
    return log_likelihood, xp.sum(R, axis=1), experts, E[:-1, :] @ V.T, *noise


def _gradient_of(problem: Problem, theta: Theta, sums: list[Any]) -> Gradient:
    log_likelihood, share, experts, gate, *noise = sums
    slopes = penalty_at(problem, theta)
    scales = to_numpy(noise[0]) if noise else np.zeros(0)
    blocks = (
        to_numpy(experts).reshape(theta.A.shape) - slopes.experts,
        to_numpy(gate) - slopes.gate,
        scales - slopes.noise,
    )
    value = float(log_likelihood)
    return Gradient(value, value - slopes.cost, to_numpy(share), np.concatenate([block.ravel() for block in blocks]))


def gradient(problem: Problem, theta: Theta) -> Gradient:
    """Return the objective and gradient per row, in one pass."""
    sums = batch_sums(problem, Theta.stacked([theta]), grams=False)
    noise = problem.family.scale_slope(sums.statistic[0], sums.share[0], theta.sigma)
    experts = sums.expert_gradient[0] / problem.family.step_scale(theta.sigma)[:, None]
    scales = np.array([np.sum(noise[group]) for group in problem.noise_groups])
    return _gradient_of(
        problem, theta, [sums.log_likelihood[0], sums.share[0], experts, sums.gate_gradient[0, :-1], scales]
    )


def information(problem: Problem, theta: Theta) -> Curvature:
    """Return the objective, gradient and exact negative Hessian per row, in one pass.

    All blocks over inputs are one product of channel weights against the monomials of x. Where rows are so many that
    this is done only once, at the optimum, the scores' outer products are computed in the same pass.
    """
    with_outer = problem.rows.n >= OUTER_ROWS

    def kernel(post: Posterior, block: Block) -> tuple[Any, ...]:
        weights = [information_weights(problem, post, block.weight)]
        noise = noise_blocks(problem, post, block)
        if with_outer:
            weights.append(score_weights(problem, post, block.weight))
            noise = *noise, *score_noise_blocks(problem, post, block)
        return *_gradient_sums(problem, post, block), *input_sums(problem, block, *weights), *noise

    totals = problem.mean_of(kernel, theta, block_rows=_information_rows(problem))
    n_first = 5 if problem.noise_groups else 4
    current = _gradient_of(problem, theta, totals[:n_first])
    blocks = [to_numpy(b) for b in totals[n_first:]]
    of_inputs, of_noise = 3 if problem.k > 1 else 1, 4 if problem.noise_groups else 0
    sets = 2 if with_outer else 1
    H, *outer = (
        assembled(
            problem,
            *blocks[i * of_inputs : (i + 1) * of_inputs],
            *blocks[sets * of_inputs + i * of_noise : sets * of_inputs + (i + 1) * of_noise],
        )
        for i in range(sets)
    )
    H += penalty_information(problem, theta)
    return Curvature(current.log_likelihood, current.objective, current.share, current.gradient, H, *outer)


def score_outer(problem: Problem, theta: Theta) -> np.ndarray:
    """Return the mean over rows of the outer product of a row's score, (p, p): the middle of the sandwich."""

    def kernel(post: Posterior, block: Block) -> tuple[Any, ...]:
        sums = input_sums(problem, block, score_weights(problem, post, block.weight))
        return *sums, *score_noise_blocks(problem, post, block)

    totals = problem.mean_of(kernel, theta, block_rows=_information_rows(problem))
    return assembled(problem, *(to_numpy(b) for b in totals))


def _information_rows(problem: Problem) -> int:
    """Return the rows per block of a pass over all pairs of channels."""
    channels = problem.k * problem.family.predictors
    pairs = channels * (channels + 1) // 2 + channels * (problem.k - 1) + problem.k * (problem.k - 1) // 2
    rows = block_rows_for(max(pairs, gram_channels(problem.rows.map.De, pairs)))
    return min(rows, problem.block_rows)
