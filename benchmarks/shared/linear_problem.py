"""The likelihood of linear experts over given rows, for passes that are timed."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.likelihood import InputMap, MappedRows, Problem, Settings, Theta
from skmoe.likelihood.batch import BatchSums, batch_sums
from skmoe.model.gaussian import GaussianFamily

__all__ = ["em_sums", "linear_problem"]


def linear_problem(X: Any, y: Any, k: int, *, whitened: bool = False) -> Problem:
    """Linear experts with a shared noise over rows as they are.

    With `whitened`, intercepts are learned and each block of rows is multiplied by a (d, d) matrix, here the identity,
    as in a fit.
    """
    d = X.shape[1]
    inputs = InputMap(np.zeros(d), np.eye(d), intercept=True) if whitened else InputMap.identity(d)
    return Problem(MappedRows.of(X, y, inputs), k, GaussianFamily.linear(), Settings(), y_std=1.0)


def em_sums(problem: Problem, theta: Theta) -> BatchSums:
    """Take the pass of an EM step of one model."""
    return batch_sums(problem, Theta.stacked([theta]))
