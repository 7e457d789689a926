"""Rows of Dask collections: kernels run on the workers that hold the blocks, and only sums are sent back.

A pass is one task a partition and a tree of additions in a fixed order, so that a result does not depend on which
worker did what; a lost worker costs its blocks, which Dask computes again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from skmoe.arrays.blocks import sum_over_blocks
from skmoe.arrays.checks import check_same_rows, check_table_shape
from skmoe.arrays.kinds import plain_numbers
from skmoe.arrays.namespaces import is_array, to_numpy
from skmoe.arrays.streamed import Streamed

__all__ = ["DaskColumns", "apply", "stream"]

FAN_IN = 8  # sums added by one task


def _numbers(block: Any, dimensions: int) -> np.ndarray:
    """Return one partition as an array of numbers."""
    values = np.asarray(plain_numbers(block, "the Dask collection"))
    if values.dtype.kind not in "fiub":
        values = values.astype(np.float64)  # the error quotes the text that is no number
    if dimensions == 1:
        return np.ascontiguousarray(values.reshape(len(values)), dtype=np.float64)
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def _sum_partition(kernel: Callable[..., tuple[Any, ...]], block_rows: int, *partitions: Any) -> list[Any]:
    blocks = [None if part is None else _numbers(part, dimensions) for part, dimensions in partitions]
    totals = sum_over_blocks(kernel, *blocks, block_rows=block_rows)
    return [to_numpy(total) if is_array(total) else total for total in totals]


def _add(*parts: list[Any]) -> list[Any]:
    return [reduce(add, totals) for totals in zip(*parts, strict=True)]


def _take_partition(rows: np.ndarray, *partitions: Any) -> list[Any]:
    return [None if part is None else _numbers(part, dimensions)[rows] for part, dimensions in partitions]


def _compute(values: list[Any]) -> list[Any]:
    """Compute; raise a readable error where workers die again and again."""
    import dask

    try:
        return list(dask.compute(*values))
    except Exception as error:
        if type(error).__name__ != "KilledWorker":
            raise
        raise RuntimeError(
            f"workers of the Dask cluster died while working on a block, most likely out of memory ({error}); nothing "
            "was fitted: use smaller partitions (X.rechunk, repartition) or give workers more memory"
        ) from error


class DaskColumns(Streamed):
    """One or several columns of a Dask collection, a delayed value a partition."""

    remote = True

    def __init__(self, array: Any) -> None:
        self.partitions = list(array.to_delayed().ravel())
        self.lengths = np.array(array.chunks[0], dtype=np.int64)
        self.shape, self.where = tuple(int(s) for s in array.shape), "the Dask collection"

    def __getstate__(self) -> dict[str, Any]:
        # kernels are pickled with what they close over, which must not include the rows
        return {"shape": self.shape, "where": self.where}

    def _partitions(self, columns: tuple[Any, ...]) -> Iterator[list[Any]]:
        for i in range(len(self.partitions)):
            yield [(None, 0) if c is None else (c.partitions[i], c.ndim) for c in columns]

    def sum(self, kernel: Callable[..., tuple[Any, ...]], columns: tuple[Any, ...], block_rows: int) -> list[Any]:
        """Sum a kernel over all rows, where the rows are."""
        import dask

        shipped = dask.delayed(kernel, pure=False, traverse=False)
        one, added = dask.delayed(_sum_partition, pure=False), dask.delayed(_add, pure=False)
        sums = [
            one(shipped, block_rows, *parts)
            for parts, length in zip(self._partitions(columns), self.lengths, strict=True)
            if length
        ]
        while len(sums) > 1:
            sums = [added(*sums[i : i + FAN_IN]) for i in range(0, len(sums), FAN_IN)]
        return _compute(sums)[0]

    def take(self, columns: tuple[Any, ...], rows: np.ndarray) -> tuple[Any, ...]:
        """Return the rows of all columns with the given sorted indices."""
        import dask

        ends = np.cumsum(self.lengths)
        bounds = np.searchsorted(rows, np.concatenate([[0], ends]))
        one = dask.delayed(_take_partition, pure=False)
        wanted = [
            one(rows[bounds[i] : bounds[i + 1]] - (ends[i] - self.lengths[i]), *parts)
            for i, parts in enumerate(self._partitions(columns))
            if bounds[i + 1] > bounds[i]
        ]
        found = _compute(wanted)
        return tuple(None if c[0] is None else np.concatenate(c) for c in zip(*found, strict=True))


def _frame_array(values: Any, what: str, *, lengths: bool) -> Any:
    """Return a Dask DataFrame or Series of numbers as an array, checked before integers become floats."""
    kinds = [values.dtype] if values.ndim == 1 else list(values.dtypes)
    if any(getattr(kind, "kind", "f") not in "fiub" for kind in kinds):
        raise ValueError(f"{what} does not hold numbers but {', '.join(map(str, kinds))}")
    plain = values.to_dask_array(lengths=True if lengths else None)
    if not any(kind.kind in "iu" and kind.itemsize == 8 for kind in kinds):
        return plain
    checked = values.map_partitions(plain_numbers, what, meta=values._meta)
    return checked.to_dask_array(lengths=list(plain.chunks[0]) if lengths else None)


def _is_frame(X: Any) -> bool:
    return hasattr(X, "npartitions") and hasattr(X, "map_partitions") and not hasattr(X, "chunks")


def _array(X: Any, names: Any, *, lengths: bool) -> Any:
    """Return a Dask array of the inputs (n, d), one chunk wide."""
    if _is_frame(X):
        text = [str(name) for name, kind in X.dtypes.items() if kind.kind not in "fiub"]
        if text:
            raise ValueError(
                f"columns {text} of the Dask DataFrame do not hold numbers; leave them out, or encode them"
            )
        return _frame_array(X, "X", lengths=lengths)
    check_table_shape(X.shape)
    if names is not None and X.shape[1] != len(names):
        raise ValueError(f"X has {X.shape[1]} columns; the model was fitted to {len(names)}: {list(names)}")
    X = X.rechunk({1: -1})
    return X.compute_chunk_sizes() if lengths and np.isnan(X.shape[0]) else X


def _names(values: Any) -> list[str]:
    """Return the names of columns by which outputs or weights are given, if they are."""
    values = [values] if isinstance(values, str) else values
    return list(values) if isinstance(values, list | tuple) and all(isinstance(name, str) for name in values) else []


def _selected(X: Any, y: Any, weight: Any, names: Any) -> tuple[Any, Any, Any, Any]:
    """Return inputs, outputs, weights and names; columns are selected by name where X is a frame."""
    if not _is_frame(X):
        if _names(y) or _names(weight):
            raise TypeError("y and sample_weight can be column names only where X is a DataFrame")
        return X, y, weight, None
    columns, named = [str(c) for c in X.columns], [*_names(y), *_names(weight)]
    wanted = list(names) if names is not None else [c for c in columns if c not in named]
    missing = [c for c in [*wanted, *named] if c not in columns]
    if missing:
        raise ValueError(f"the Dask DataFrame has no column {', '.join(map(repr, missing))}; it has {columns}")
    y, weight = (X[b if isinstance(b, str) else _names(b)] if _names(b) else b for b in (y, weight))
    return X[wanted], y, weight, wanted


def _auxiliary(X: Any, values: Any, what: str, *, lengths: bool, columns: int = 1) -> Any:
    """Return outputs or weights as a Dask array with the partitions of X; of several columns (n, columns)."""
    import dask.array as da

    if values is None:
        return None
    if _is_frame(values) or hasattr(values, "to_dask_array"):
        if values.ndim != 1 and columns == 1:
            raise ValueError(f"{what} must be one column; got {list(values.columns)}")
        values = _frame_array(values, what, lengths=lengths)
    elif not hasattr(values, "chunks"):
        values = da.from_array(np.asarray(values), chunks=-1)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    shape = () if columns == 1 else (columns,)
    if tuple(values.shape[1:]) != shape:
        wanted = ", ".join(["n_samples", *map(str, shape)]) + ("" if shape else ",")
        raise ValueError(f"{what} must have shape ({wanted}); got shape {values.shape}")
    values = values.rechunk({1: -1}) if shape else values
    if lengths and np.isnan(values.shape[0]):
        values = values.compute_chunk_sizes()
    if lengths:
        check_same_rows(X.shape[0], values.shape[0], what)
    return values.rechunk({0: X.chunks[0]}) if lengths or not np.isnan(X.shape[0]) else values


def stream(X: Any, y: Any, weight: Any, names: Any, columns: int = 1) -> tuple[Any, Any, Any, Any]:
    """Return streamed columns of Dask collections and the names of inputs; see `skmoe.tables.inputs.stream`."""
    X, y, weight, names_found = _selected(X, y, weight, names)
    table = _array(X, names, lengths=True)
    others = (
        _auxiliary(table, y, "y", lengths=True, columns=columns),
        _auxiliary(table, weight, "sample_weight", lengths=True),
    )
    check_table_shape(table.shape)
    views = [None if c is None else DaskColumns(c) for c in (table, *others)]
    return *views, names_found


def apply(
    function: Callable[..., Any],
    X: Any,
    y: Any = None,
    *,
    names: Any = None,
    width: int | None = None,
    columns: int = 1,
) -> Any:
    """Map a function of blocks of rows lazily: a Dask array (n,), or (n, width)."""
    import dask.array as da

    X, y, _, _ = _selected(X, y, None, names)
    table = _array(X, names, lengths=False)
    outputs = _auxiliary(table, y, "y", lengths=False, columns=columns)
    more = () if outputs is None else (outputs, "i" if columns == 1 else "il")

    def on_block(x: Any, *rest: Any) -> Any:
        return function(_numbers(x, 2), *(_numbers(r, 1 if columns == 1 else 2) for r in rest))

    return da.blockwise(
        on_block,
        "i" if width is None else "ik",
        table,
        "ij",
        *more,
        new_axes=None if width is None else {"k": width},
        dtype=np.float64,
        concatenate=True,
        meta=np.empty((0,) * (1 if width is None else 2)),
        align_arrays=False,
    )
