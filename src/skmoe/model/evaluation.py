"""Sums of a fitted model over any kind of rows, in one pass each: log-likelihood, mean gate, R2."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from skmoe.arrays.blocks import block_rows_for, sum_over_blocks, take_rows
from skmoe.arrays.namespaces import Array, array_namespace, to_numpy
from skmoe.model.parameters import MoEParameters
from skmoe.model.posterior import entropy_terms
from skmoe.model.predictive import PredictiveDistribution

__all__ = ["log_likelihood", "mean_gate", "r_squared", "responsibility_entropy"]


def _block_rows(parameters: MoEParameters) -> int:
    return block_rows_for(sum(parameters.A.shape))


def _total(parameters: MoEParameters, values: Callable[..., Array], weight: Array | None, *rows: Array) -> Array:
    """Return the sums over rows of values (..., b) at blocks of them, by their weights if any."""

    def kernel(*blocks: Array | None) -> tuple[Array]:
        *block, w = blocks
        found = values(*block)
        return (array_namespace(found).sum(found if w is None else found * w, axis=-1),)

    return sum_over_blocks(kernel, *rows, weight, block_rows=_block_rows(parameters))[0]


def log_likelihood(parameters: MoEParameters, X: Array, y: Array, weight: Array | None = None) -> float:
    """Return the log-likelihood of all rows together."""
    return float(_total(parameters, replace(parameters, largest=None).log_density, weight, X, y))


def responsibility_entropy(parameters: MoEParameters, X: Array, y: Array) -> float:
    """Return the entropy of the responsibilities of all rows together: the uncertainty of the assignment."""
    terms = _total(parameters, lambda x, t: entropy_terms(parameters.responsibilities(x, t)).T, None, X, y)
    return float(np.sum(to_numpy(terms)))


def mean_gate(parameters: MoEParameters, X: Array, weight: Array | None = None) -> np.ndarray:
    """Return the mean probability of each expert, (k,)."""
    total = to_numpy(_total(parameters, lambda x: parameters.gate_proba(x).T, weight, X))
    return total / np.sum(total)


def r_squared(distribution: PredictiveDistribution, X: Array, y: Array, weight: Array | None = None) -> float:
    """Return the share of the variance of y that predictions explain, as scikit-learn's ``r2_score`` defines it."""
    if X.shape[0] < 2:
        warnings.warn("R2 is not defined for fewer than two rows", UndefinedMetricWarning, stacklevel=3)
        return float("nan")

    # sums about an output of the data lose no digits to a distant origin, and are zero where all are equal
    one = float(to_numpy(take_rows((y,), np.zeros(1, dtype=np.int64))[0])[0])

    def kernel(x: Array, t: Array, w: Array | None) -> tuple[Array, ...]:
        xp = array_namespace(x)
        t = xp.astype(t, xp.float64, copy=False)
        w = xp.ones_like(t) if w is None else w
        size = xp.sum(w)
        shifted = t - one
        mean = xp.sum(w * shifted) / size if float(size) else size
        errors, inside = w * (t - distribution.mean(x)) ** 2, w * (shifted - mean) ** 2
        return xp.sum(errors), xp.sum(inside), size * mean**2, size * mean, size

    rest, inside, squares, total, size = (
        float(v) for v in sum_over_blocks(kernel, X, y, weight, block_rows=_block_rows(distribution.members[0]))
    )
    variation = inside + max(squares - total**2 / size, 0.0)
    if variation == 0:  # a constant y is explained by a perfect prediction alone
        return 1.0 if rest == 0 else 0.0
    return 1.0 - rest / variation
