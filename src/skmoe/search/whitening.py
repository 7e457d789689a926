"""A first look at a table, in one pass; and inputs of unit covariance, whatever their units and dependences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skmoe.model.parameters import design
from skmoe.rows.arrays import Array, array_namespace, to_device, to_numpy
from skmoe.rows.blocks import block_rows_for, sum_over_blocks, take_rows

__all__ = ["Look", "first_look", "whitening", "whitening_map"]


@dataclass(frozen=True)
class Look:
    """What one pass over a table tells."""

    rows: int  # with weight
    total: float  # weight of all rows
    mean: np.ndarray  # (d,), of the inputs
    covariance: np.ndarray  # (d, d)
    level: float  # mean of the outputs
    spread: float  # their standard deviation
    negative: int  # weights below zero


def first_look(X: Array, y: Array | None = None, weight: Array | None = None) -> Look:
    """Means and covariances of inputs and output; not finite where an entry is not."""
    x0, y0 = (None if a is None else to_numpy(a)[0] for a in take_rows((X, y), np.zeros(1, dtype=np.int64)))
    # sums about a row of the data lose no digits to a far origin
    one = np.append(np.asarray(x0, dtype=np.float64), [0.0] if y0 is None else [0.0, float(y0)])
    d = X.shape[1]

    def kernel(x: Array, t: Array | None, w: Array | None) -> tuple[Array, ...]:
        Z = design(x, True)
        xp = array_namespace(Z)
        if t is not None:
            Z = xp.concat([Z, xp.astype(t, xp.float64, copy=False)[None, :]], axis=0)
        Z = Z - to_device(one, x)[:, None]
        if w is None:
            return Z @ Z.T, float(x.shape[0]), 0.0
        w = xp.astype(w, xp.float64, copy=False)
        return (Z * w) @ Z.T, xp.sum(xp.astype(w > 0, xp.float64)), xp.sum(xp.astype(w < 0, xp.float64))

    sums = sum_over_blocks(kernel, X, y, weight, block_rows=block_rows_for(2 * d))
    S, rows, negative = to_numpy(sums[0]), int(sums[1]), int(sums[2])
    total = float(S[d, d])
    shift = S[:, d] / total
    central = S / total - np.outer(shift, shift)
    level, spread = 0.0, 0.0
    if y is not None:
        level, spread = float(one[-1] + shift[-1]), float(np.sqrt(np.maximum(central[-1, -1], 0.0)))
    return Look(rows, total, one[:d] + shift[:d], central[:d, :d], level, spread, negative)


def whitening(
    look: Look, columns: Sequence[int] | None = None, *, centered: bool = True, tol: float = 1e-10
) -> tuple[np.ndarray, np.ndarray]:
    """Center (d,) and transform (d, r) to inputs of unit covariance; directions without variance are dropped.

    Columns are scaled first, so that the rank found does not depend on their units. Without an intercept in the model
    the origin has a meaning: `centered=False` leaves it in place. Only the given `columns` are looked at, if any.
    """
    index = slice(None) if columns is None else list(columns)
    mean, second = look.mean[index], look.covariance[index][:, index]
    scale = np.sqrt(np.maximum(np.diag(second), 0.0))
    # a constant column far from zero shows a variance of rounding errors only
    flat = scale <= 1e-12 * np.abs(mean)
    if not centered:
        second = second + np.outer(mean, mean)
        scale = np.sqrt(np.diag(second))
        flat = scale == 0
    scale[flat] = np.inf
    values, vectors = np.linalg.eigh(second / np.outer(scale, scale))
    keep = values > tol * max(values[-1], np.finfo(float).tiny)
    center, transform = np.zeros(len(look.mean)), np.zeros((len(look.mean), int(np.sum(keep))))
    center[index] = mean if centered else 0.0
    transform[index] = (vectors[:, keep] / np.sqrt(values[keep])) / scale[:, None]
    return center, transform


def whitening_map(X: Array, weight: Array | None = None, *, centered: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Center and transform to unit covariance of the given rows; see `whitening`."""
    return whitening(first_look(X, None, weight), centered=centered)
