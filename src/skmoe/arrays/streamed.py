"""Columns of a table that is not in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import array_api_compat.numpy as xp
import numpy as np

__all__ = ["Streamed"]


class Streamed:
    """One column (n,) or several (n, d) whose rows come as NumPy arrays, chunk by chunk.

    It has the shape, library and device of its chunks, so that kernels' small arrays land where they do. The columns of
    one table are streamed together: methods take all that are wanted.

    Attributes
    ----------
    shape : tuple
    remote : bool, whether sums are taken where the rows are
    where : str, the table's name, for messages
    """

    shape: tuple[int, ...]
    where: str
    remote = False
    device = "cpu"
    dtype = np.dtype(np.float64)

    @property
    def ndim(self) -> int:
        """Number of dimensions, 1 or 2."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return xp

    def chunks(self, columns: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of all columns in order, as many at a time as come at once."""
        raise NotImplementedError

    def take(self, columns: tuple[Any, ...], rows: np.ndarray) -> tuple[Any, ...]:
        """Return the rows of all columns with the given sorted indices; reading ends with the last of them."""
        parts: list[tuple[Any, ...]] = []
        start = 0
        for chunk in self.chunks(columns):
            size = len(next(c for c in chunk if c is not None))
            low, high = np.searchsorted(rows, [start, start + size])
            if high > low:
                inside = rows[low:high] - start
                parts.append(tuple(None if c is None else c[inside] for c in chunk))
            start += size
            if high == len(rows):
                break
        return tuple(None if c[0] is None else np.concatenate(c) for c in zip(*parts, strict=True))

    def sum(self, kernel: Callable[..., tuple[Any, ...]], columns: tuple[Any, ...], block_rows: int) -> list[Any]:
        """Sum a kernel over all rows, where the rows are; for remote columns."""
        raise NotImplementedError
