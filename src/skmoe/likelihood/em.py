"""Sums of an EM step: one pass over the rows each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, to_numpy
from skmoe.arrays.products import unpack_symmetric, weighted_grams
from skmoe.likelihood.batch import ThetaBatch, batch_sums, has_compiled_sums
from skmoe.likelihood.penalty import penalised_gate, penalty_at
from skmoe.likelihood.problem import Problem
from skmoe.likelihood.rows import Block, weighted
from skmoe.likelihood.theta import Theta
from skmoe.model.channels import as_channels, expert_blocks, times
from skmoe.model.gate import GateSums, gate_channels, gate_kernel, gate_sums, softmax
from skmoe.model.posterior import Posterior, entropy_terms

__all__ = ["EMSums", "em_sums", "expert_grams", "gate_objective", "mean_entropy", "mean_gate", "mean_log_likelihood"]


@dataclass(frozen=True)
class EMSums:
    """Per-row means of the sums of an EM step."""

    log_likelihood: float
    objective: float  # less the penalty: the objective that is maximised
    share: np.ndarray  # (k,) mean responsibility
    statistic: np.ndarray  # (k,) statistics that scales are updated from
    expert_gradient: np.ndarray  # (k, De), right sides of the experts' least squares
    expert_gram: np.ndarray  # (k, De, De)
    gate: GateSums


def mean_log_likelihood(problem: Problem, theta: Theta) -> float:
    """Return the mean log-likelihood, without the penalty."""

    def kernel(post: Posterior, block: Block) -> tuple[Array]:
        return (array_namespace(block.U).sum(weighted(post.log_density, block.weight)),)

    return float(problem.mean_of(kernel, theta)[0])


def mean_gate(problem: Problem, theta: Theta) -> np.ndarray:
    """Return the mean gate weight of each expert, (k,)."""

    def kernel(post: Posterior, block: Block) -> tuple[Array]:
        return (array_namespace(block.U).sum(weighted(post.P, block.weight), axis=1),)

    return to_numpy(problem.mean_of(kernel, theta)[0])


def em_sums(problem: Problem, theta: Theta, labels: Array | None = None) -> EMSums:
    """Return the sums of an EM step, in one pass; `labels` (n, k) replace the responsibilities if given."""
    k, shared_design = problem.k, problem.rows.map.shared

    def kernel(post: Posterior, block: Block, labels: Array | None = None) -> tuple[Array, ...]:
        U, V, _, weight = block
        xp = array_namespace(U)
        share = post.R if labels is None else labels.T
        R = weighted(share, weight)
        step_weight = post.law.step_weight
        hessian_weights = as_channels(R if step_weight is None else times(R, step_weight))
        experts = (
            xp.sum(weighted(post.log_density, weight)),
            xp.sum(R, axis=1),
            xp.sum(R * post.law.scale_statistic, axis=1),
            as_channels(times(R, post.law.step_score)) @ U.T,
        )
        if k == 1:
            return *experts, weighted_grams(hessian_weights, U)
        if not shared_design:
            return *experts, weighted_grams(hessian_weights, U), *gate_kernel(share, post.P, post.log_P, V, weight)
        # one product serves the experts' and the gate's Gram matrices
        grams = weighted_grams(xp.concat([hessian_weights, weighted(gate_channels(post.P), weight)], axis=0), U)
        E = weighted(share - post.P, weight)[:-1, :]
        first = hessian_weights.shape[0]
        return *experts, grams[:first, :], xp.sum(R * post.log_P), E @ V.T, grams[first:, :]

    log_likelihood, share, statistic, gradient, gram, *gate = problem.mean_of(kernel, theta, labels)
    return EMSums(
        float(log_likelihood),
        float(log_likelihood) - penalty_at(problem, theta).cost,
        to_numpy(share),
        to_numpy(statistic),
        to_numpy(gradient).reshape(k, problem.De),
        expert_blocks(unpack_symmetric(to_numpy(gram)), k, problem.family.predictors),
        penalised_gate(problem, gate_sums(*gate), theta.W) if gate else GateSums(0.0, theta.W, np.zeros((0, 0))),
    )


def expert_grams(problem: Problem, theta: Theta) -> np.ndarray:
    """Return Gram matrices of the experts' least squares, (k, De, De): `EMSums.expert_gram` alone."""
    if has_compiled_sums(problem):
        return batch_sums(problem, ThetaBatch.of([theta])).expert_gram[0]
    return em_sums(problem, theta).expert_gram


def gate_objective(problem: Problem, theta: Theta, W: np.ndarray) -> GateSums:
    """Return the objective of the gate's M-step at `W`, responsibilities from `theta`."""
    W_new = problem.on_device(Theta(theta.A, W, theta.sigma))[1]

    def kernel(post: Posterior, block: Block) -> tuple[Array, ...]:
        return gate_kernel(post.R, *softmax(W_new @ block.V), block.V, block.weight)

    return penalised_gate(problem, gate_sums(*problem.mean_of(kernel, theta)), W)


def mean_entropy(problem: Problem, theta: Theta) -> float:
    """Return the mean over rows of the entropy of the responsibilities: the uncertainty of the assignment."""

    def kernel(post: Posterior, block: Block) -> tuple[Array]:
        return (array_namespace(block.U).sum(weighted(entropy_terms(post.R), block.weight)),)

    return float(problem.mean_of(kernel, theta)[0])
