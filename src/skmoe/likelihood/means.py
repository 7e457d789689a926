"""Means over rows at a point: log-likelihood, gate, and uncertainty of the assignment."""

from __future__ import annotations

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, to_numpy
from skmoe.likelihood.problem import Problem
from skmoe.likelihood.rows import Block, weighted
from skmoe.likelihood.theta import Theta
from skmoe.model.posterior import Posterior, entropy_terms

__all__ = ["mean_entropy", "mean_gate", "mean_log_likelihood"]


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


def mean_entropy(problem: Problem, theta: Theta) -> float:
    """Return the mean over rows of the entropy of the responsibilities: the uncertainty of the assignment."""

    def kernel(post: Posterior, block: Block) -> tuple[Array]:
        return (array_namespace(block.U).sum(weighted(entropy_terms(post.R), block.weight)),)

    return float(problem.mean_of(kernel, theta)[0])
