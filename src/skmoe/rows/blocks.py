"""Rows in blocks: every stage is a kernel that returns sums over rows, added up here block by block.

Rows may be arrays in memory or on a device, memory maps, and `Streamed` columns: those of a file (`skmoe.rows.stream_files`)
or of a Dask collection (`skmoe.rows.cluster`). `open_table` and `stream` make the latter from what a caller has.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from skmoe.rows.arrays import Array, array_namespace, device, on_accelerator
from skmoe.rows.stream_files import FileTable
from skmoe.rows.streamed import Streamed
from skmoe.rows.threads import in_order, threads_allowed

__all__ = [
    "Streamed",
    "block_rows_for",
    "in_memory",
    "is_dask",
    "is_streamable",
    "open_table",
    "row_blocks",
    "stream",
    "sum_over_blocks",
    "take_rows",
]

BLOCK_DOUBLES = 2**20
"""Size of a block's largest temporary: 8 MiB of float64, a few level-2 caches.

Measured flat on one thread between a quarter and twice this; on several, smaller blocks wait for one another.
"""

ACCELERATOR_BLOCKS = 128
"""An accelerator takes so many blocks at once, 1 GiB: it has no such cache, and each call to it costs microseconds."""


def block_rows_for(channels: int) -> int:
    """Rows per block such that `channels` float64 values a row fill `BLOCK_DOUBLES`."""
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


def sum_over_blocks(kernel: Callable[..., tuple[Any, ...]], *arrays: Array | None, block_rows: int) -> list[Any]:
    """Add up the tuples of sums that `kernel` returns for each block of rows.

    Parameters
    ----------
    kernel : callable
        Takes the blocks of `arrays` in order and returns a tuple of arrays or numbers, each a sum over its rows.
    *arrays : arrays with n rows, streamed columns of one table, or None
    block_rows : int
        Rows per block, see `block_rows_for`.
    """
    lead = _lead(arrays)
    if isinstance(lead, Streamed) and lead.remote:
        return lead.sum(kernel, arrays, block_rows)
    total: list[Any] = []
    for part in _parts(kernel, lead, row_blocks(*arrays, block_rows=block_rows), block_rows):
        total = [a + b for a, b in zip(total, part, strict=True)] if total else list(part)
    return total


def _parts(kernel: Callable[..., tuple[Any, ...]], lead: Any, blocks: Iterator[Any], block_rows: int) -> Iterator[Any]:
    """Sums of each block in order, on several threads where there are blocks enough for them."""
    if isinstance(lead, np.ndarray | Streamed):
        threads = threads_allowed()
        if threads > 1 and lead.shape[0] >= 2 * threads * block_rows:
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


def in_memory(*arrays: Array | None) -> tuple[Any, ...]:
    """All rows of streamed columns as NumPy arrays; arrays are left as they are."""
    lead = _lead(arrays)
    return take_rows(arrays, np.arange(lead.shape[0])) if isinstance(lead, Streamed) else arrays


def _module(x: Any) -> str:
    return type(x).__module__.partition(".")[0]


def is_dask(x: Any) -> bool:
    """Whether `x` is a Dask collection; Dask is not imported to find out."""
    return _module(x) == "dask"


def is_streamable(X: Any) -> bool:
    """Whether `stream` takes `X`: a path, a pyarrow table or dataset, an opened table, a Dask collection."""
    return isinstance(X, str | os.PathLike | FileTable) or is_dask(X) or _module(X) == "pyarrow"


def open_table(source: Any, columns: Sequence[str] | None = None) -> FileTable:
    """Open a file, a folder of files, or a pyarrow table or dataset, as a table whose rows come in blocks.

    Parameters
    ----------
    source : path of a Parquet, CSV, TSV or Arrow file or folder; pyarrow Table or Dataset; an opened table
    columns : sequence of names, optional
        Columns to be used, by default all.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from skmoe.rows.blocks import open_table
    >>> table = open_table(pa.table({"age": [1.0, 2.0], "price": [3.0, 5.0]}))
    >>> table.columns(["age"]).shape
    (2, 1)
    """
    table = source if isinstance(source, FileTable) else FileTable(source)
    return table if columns is None else table.only(columns)


def stream(X: Any, y: Any = None, weight: Any = None, *, names: Any = None) -> tuple[Any, Any, Any, Any]:
    """Streamed columns of inputs, output and weight, and the names of the inputs (None where they have none).

    Parameters
    ----------
    X : what `is_streamable` accepts
    y, weight : column names of a table or a Dask DataFrame, or Dask collections beside one
    names : the inputs to take, by default all columns but `y` and `weight`
    """
    if is_dask(X):
        from skmoe.rows import cluster

        return cluster.stream(X, y, weight, names)
    table = open_table(X)
    for what, value in (("y", y), ("sample_weight", weight)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{what} must be the name of a column of {table.where}; got {type(value).__name__}")
    chosen = list(names) if names is not None else [n for n in table.all_names if n not in (y, weight)]
    target, weights = (None if name is None else table.column(name) for name in (y, weight))
    return table.columns(chosen), target, weights, np.array(chosen, dtype=object)
