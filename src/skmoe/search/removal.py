r"""The fall of the log-likelihood without an expert.

It is exact: without expert i the gate is renormalised, and a row's log density changes by :math:`\log(1 - r_i) -
\log(1 - p_i)`.
"""

from __future__ import annotations

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace, to_numpy
from skmoe.likelihood import Problem, Theta
from skmoe.likelihood.batch import batch_totals
from skmoe.likelihood.rows import Block, weighted
from skmoe.model.posterior import Posterior

__all__ = ["removal_losses"]

TINY = 1e-40  # added to probabilities, so that their logs are finite


def removal_losses(problem: Problem, batch: Theta) -> np.ndarray:
    """Return the fall of the total log-likelihood when each expert is removed and nothing else is changed, (S, k)."""

    def others(P: Array) -> Array:
        xp = array_namespace(P)  # sums of the others, since 1 - p has no digits left near 1
        before, after = [xp.zeros_like(P[:, 0, :])], [xp.zeros_like(P[:, 0, :])]
        for i in range(batch.k - 1):
            before.append(before[-1] + P[:, i, :])
            after.append(after[-1] + P[:, batch.k - 1 - i, :])
        return xp.stack([a + b for a, b in zip(before, after[::-1], strict=True)], axis=1)

    def kernel(post: Posterior, block: Block) -> tuple[Array]:
        xp = array_namespace(block.U)
        loss = xp.log(others(post.P) + TINY) - xp.log(others(post.R) + TINY)
        return (xp.sum(weighted(loss, block.weight), axis=2),)

    return to_numpy(batch_totals(problem, batch, kernel)[0])
