"""Rows in blocks: every stage is a kernel that returns sums over rows, which are added up here block by block.

Rows may be arrays in memory or on a device, memory maps, and `Streamed` columns: those of a file (`skmoe.tables.files`)
or of a Dask collection (`skmoe.arrays.dask`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from skmoe.arrays.memory import keep_freed_memory
from skmoe.arrays.namespaces import Array, array_namespace, device, on_accelerator
from skmoe.arrays.streamed import Streamed
from skmoe.arrays.threads import in_order, one_blas_thread, threads_allowed

__all__ = ["block_rows_for", "evenly_spaced_rows", "in_memory", "row_blocks", "sum_over_blocks", "take_rows"]

BLOCK_DOUBLES = 2**20
"""Size of a block's largest temporary: 8 MiB of float64, a few level-2 caches.

Measured flat on one thread between a quarter and twice this; on several, smaller blocks wait for one another.
"""

ACCELERATOR_BLOCKS = 512
"""An accelerator takes so many blocks at once, 4 GiB: it has no such cache, and a block of an information matrix is
some hundred calls of ten microseconds each."""

BLOCKS_PER_THREAD = 2
"""Blocks are shared out over threads where there are so many for each: starting the threads costs half a millisecond,
which is the time of a twentieth of a block."""

Kernel = Callable[..., tuple[Any, ...]]

keep_freed_memory()  # a block takes the memory that the one before it freed


def block_rows_for(channels: int) -> int:
    """Return the rows per block such that `channels` float64 values a row fill `BLOCK_DOUBLES`."""
    return max(512, min(16384, BLOCK_DOUBLES // max(channels, 1)))


def _lead(arrays: tuple[Any, ...]) -> Any:
    return next(a for a in arrays if a is not None)


def row_blocks(*arrays: Array | None, block_rows: int) -> Iterator[tuple[Any, ...]]:
    """Yield matching slices of rows of all arrays; ``None`` stays ``None``."""
    lead = _lead(arrays)
    if isinstance(lead, Streamed):
        for chunk in lead.chunks(arrays):
            yield from row_blocks(*chunk, block_rows=block_rows)
        return
    if on_accelerator(lead):
        block_rows *= ACCELERATOR_BLOCKS
    for start in range(0, lead.shape[0], block_rows):
        rows = slice(start, min(start + block_rows, lead.shape[0]))
        yield tuple(None if a is None else a[rows, ...] for a in arrays)


def sum_over_blocks(kernel: Kernel, *arrays: Array | None, block_rows: int, shared: bool = True) -> list[Any]:
    """Add up the tuples of sums that `kernel` returns for each block of rows.

    The digits of the result do not depend on the number of threads.

    Parameters
    ----------
    kernel : callable
        Takes the blocks of `arrays` in order and returns a tuple of arrays or numbers, each a sum over its rows.
    *arrays : arrays with n rows, streamed columns of one table, or None
    block_rows : int
        Rows per block, see `block_rows_for`.
    shared : bool
        Whether blocks may be shared out over threads; where they are small that would cost more than it saves.
    """
    lead = _lead(arrays)
    if isinstance(lead, Streamed) and lead.remote:
        return lead.sum(kernel, arrays, block_rows)
    total: list[Any] = []
    with one_blas_thread:
        for sums in _block_sums(kernel, lead, row_blocks(*arrays, block_rows=block_rows), block_rows, shared):
            total = [a + b for a, b in zip(total, sums, strict=True)] if total else list(sums)
    return total


def _block_sums(kernel: Kernel, lead: Any, blocks: Iterator[Any], block_rows: int, shared: bool) -> Iterator[Any]:
    """Yield the sums of each block in order, on several threads where there are blocks enough for them."""
    if shared and isinstance(lead, np.ndarray | Streamed):
        threads = threads_allowed()
        if threads > 1 and lead.shape[0] >= BLOCKS_PER_THREAD * threads * block_rows:
            return in_order(kernel, blocks, threads)
    return (kernel(*block) for block in blocks)


def take_rows(arrays: tuple[Array | None, ...], rows: np.ndarray) -> tuple[Any, ...]:
    """Bring the rows with the given sorted indices into memory: of streamed columns as NumPy arrays, in one pass."""
    lead = _lead(arrays)
    if isinstance(lead, Streamed):
        return lead.take(arrays, rows)

    def taken(a: Array) -> Array:
        xp = array_namespace(a)
        return xp.take(a, xp.asarray(rows, device=device(a)), axis=0)

    return tuple(None if a is None else taken(a) for a in arrays)


def evenly_spaced_rows(arrays: tuple[Array | None, ...], most: int) -> tuple[Any, ...]:
    """Bring at most `most` rows into memory, evenly spaced, as `take_rows` does."""
    n = _lead(arrays).shape[0]
    return take_rows(arrays, np.arange(0, n, -(-n // most)))


def in_memory(*arrays: Array | None) -> tuple[Any, ...]:
    """Return all rows of streamed columns as NumPy arrays; arrays are left as they are."""
    lead = _lead(arrays)
    return take_rows(arrays, np.arange(lead.shape[0])) if isinstance(lead, Streamed) else arrays
