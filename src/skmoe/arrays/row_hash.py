"""A hash of a table: the hashes of its rows, added up.

Inputs, output and weight of a row are hashed together, so that the sum changes with which of them belong together; it
does not change with the order of rows, with blocks or with where they live. It guards against mistakes, not forgers.
"""

from __future__ import annotations

import numpy as np

from skmoe.arrays.blocks import block_rows_for, sum_over_blocks
from skmoe.arrays.namespaces import Array, to_numpy

__all__ = ["STEP", "mixed", "row_hash"]

# constants of the finaliser of splitmix64 (Steele, Lea, Flood 2014), which mixes all bits of a number into all others
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
STEP = np.uint64(0x9E3779B97F4A7C15)


def row_hash(X: Array, y: Array, weight: Array | None = None) -> str:
    """Hash of a table, 32 hexadecimal digits.

    Parameters
    ----------
    X : (n, d) array or streamed columns
    y, weight : (n,) arrays or streamed columns
        No weights are weights of one.
    """
    sums = sum_over_blocks(_kernel, X, y, weight, block_rows=block_rows_for(2 * X.shape[1]))
    return "".join(f"{int(total[0]):016x}" for total in sums)


def _kernel(X: Array, y: Array, weight: Array | None) -> tuple[np.ndarray, np.ndarray]:
    inputs, output = to_numpy(X), to_numpy(y)
    hashed = np.zeros(len(output), dtype=np.uint64)
    for column in (output, np.ones_like(output) if weight is None else to_numpy(weight), *inputs.T):
        hashed = mixed(hashed + STEP ^ _bits(column))
    return np.sum(hashed[None, :], axis=1), np.sum(mixed(hashed + STEP)[None, :], axis=1)


def _bits(column: np.ndarray) -> np.ndarray:
    """Return numbers as their bits; zero has one sign."""
    return (np.asarray(column, dtype=np.float64) + 0.0).view(np.uint64)


def mixed(x: np.ndarray) -> np.ndarray:
    """Return numbers of 64 bits, each of whose bits depends on all bits of one of `x`."""
    x = (x ^ (x >> np.uint64(30))) * FIRST
    x = (x ^ (x >> np.uint64(27))) * SECOND
    return x ^ (x >> np.uint64(31))
