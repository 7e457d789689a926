"""Rows in blocks: every stage is a kernel that returns sums over rows, added up here block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from skmoe.arrays import Array

__all__ = ["block_rows_for", "row_blocks", "sum_over_blocks"]

BLOCK_DOUBLES = 2**19
"""Size of a block's largest temporary: 4 MiB of float64, about one core's level-2 cache and then some.

Measured flat between a quarter and four times this; far above it, work falls out of cache.
"""


def block_rows_for(channels: int) -> int:
    """Rows per block such that `channels` float64 values a row fill `BLOCK_DOUBLES`."""
    return max(256, min(16384, BLOCK_DOUBLES // max(channels, 1)))


def row_blocks(*arrays: Array | None, block_rows: int) -> Iterator[tuple[Any, ...]]:
    """Yield matching slices of rows of all arrays; ``None`` stays ``None``."""
    n = next(a for a in arrays if a is not None).shape[0]
    for start in range(0, n, block_rows):
        rows = slice(start, min(start + block_rows, n))
        yield tuple(None if a is None else a[rows, ...] for a in arrays)


def sum_over_blocks(kernel: Callable[..., tuple[Any, ...]], *arrays: Array | None, block_rows: int) -> list[Any]:
    """Add up the tuples of sums that `kernel` returns for each block of rows.

    Parameters
    ----------
    kernel : callable
        Takes the blocks of `arrays` in order and returns a tuple of arrays or numbers, each a sum over its rows.
    *arrays : arrays with n rows, or None
    block_rows : int
        Rows per block, see `block_rows_for`.
    """
    total: list[Any] = []
    for block in row_blocks(*arrays, block_rows=block_rows):
        part = kernel(*block)
        total = [a + b for a, b in zip(total, part, strict=True)] if total else list(part)
    return total
