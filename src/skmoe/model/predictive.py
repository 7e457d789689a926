"""The predictive distribution of a row: a mixture of the experts' laws, its quantiles and probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.model.family import Family
from skmoe.model.parameters import MoEParameters
from skmoe.rows.arrays import Array, to_device, to_numpy
from skmoe.rows.blocks import block_rows_for, row_blocks

__all__ = ["cdf", "interval", "mixture_quantile"]

NEGLIGIBLE = 1e-12  # gate weight below which an expert has no say in where a quantile can be
STEPS = 200  # a bracket is halved to nothing by then


def mixture_quantile(family: Family, P: np.ndarray, eta: np.ndarray, scale: Any, level: float) -> np.ndarray:
    """Quantile of a mixture for each row, by Newton steps kept inside a shrinking bracket.

    Parameters
    ----------
    family : Family
    P, eta : (n, k) arrays
        Weights and linear predictors of the components.
    scale : (k,) array
    level : float in (0, 1)
    """
    ends = family.quantile(level, eta, scale)
    # below every component's own quantile no mass is missing, above every one it is all there
    used = P > NEGLIGIBLE
    low = np.min(np.where(used, ends, np.inf), axis=1)
    high = np.max(np.where(used, ends, -np.inf), axis=1)
    q = 0.5 * (low + high)
    before = np.full(len(q), np.inf)
    for _ in range(STEPS):
        excess = np.sum(P * family.cdf(q[:, None], eta, scale), axis=1) - level
        density = np.sum(P * family.pdf(q[:, None], eta, scale), axis=1)
        low, high = np.where(excess < 0, q, low), np.where(excess < 0, high, q)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            new = q - excess / density
        # between far modes the density all but vanishes and Newton crawls: halve the bracket there
        good = (new > low) & (new < high) & (np.abs(excess) < 0.5 * before)
        before = np.abs(excess)
        new = np.where(good, new, 0.5 * (low + high))
        new = np.where(before > 1e-14, new, q)
        settled = np.max(np.abs(new - q) / (np.abs(q) + np.min(scale))) <= 1e-13
        q = new
        if settled:
            break
    return q


def interval(parameters: MoEParameters, coverage: float, X: Array) -> Array:
    """Bounds between which an output falls with probability `coverage`, tails of equal weight, (n, 2)."""
    tail = (1 - coverage) / 2
    parts = []
    for (x,) in row_blocks(X, block_rows=block_rows_for(8 * len(parameters.A))):
        P, eta = to_numpy(parameters.gate_proba(x)), to_numpy(parameters.predictors(x))
        parts.append(
            [mixture_quantile(parameters.family, P, eta, parameters.sigma, level) for level in (tail, 1 - tail)]
        )
    return to_device(np.concatenate([np.stack(bounds, axis=1) for bounds in parts]), X)


def cdf(parameters: MoEParameters, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Predictive probability of an output of at most y, (n,): uniform over rows where the model is right (PIT)."""
    below = parameters.family.cdf(y[:, None], parameters.predictors(X), parameters.sigma)
    return np.sum(parameters.gate_proba(X) * below, axis=1)
