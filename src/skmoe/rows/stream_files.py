"""Rows of files larger than memory, read by pyarrow: one pass reads the columns it needs, a batch at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from skmoe.rows.streamed import Streamed

__all__ = ["FileColumns", "FileTable"]

BATCH_ROWS = 2**16
READ_AHEAD = 2  # batches decoded while one is worked on; each more is memory
FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
}


def _dataset(source: Any) -> tuple[Any, str]:
    """Open as a pyarrow dataset; also its name for messages."""
    try:
        import pyarrow.dataset as ds
    except ImportError as error:
        raise ImportError('reading files takes pyarrow: pip install "skmoe[data]"') from error
    if not isinstance(source, str | os.PathLike):
        return (source if isinstance(source, ds.Dataset) else ds.dataset(source)), f"the {type(source).__name__}"
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    members = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file() and p.name[0] not in "._")
    kinds = {FORMATS.get(Path(p.name.removesuffix(".gz")).suffix.lower()) for p in members}
    if len(kinds) != 1 or None in kinds:
        raise ValueError(f"{path} must be a file, or a folder of files of one kind, ending in one of {list(FORMATS)}")
    (kind,) = kinds
    return ds.dataset([str(p) for p in members], format=_format(kind, ds)), str(path)


def _format(kind: str | None, ds: Any) -> Any:
    from pyarrow import csv

    if kind == "tsv":
        return ds.CsvFileFormat(parse_options=csv.ParseOptions(delimiter="\t"))
    if kind == "parquet":
        options = ds.ParquetFragmentScanOptions(
            page_checksum_verification=True,  # damage is found where the writer kept checksums
            pre_buffer=False,  # which keeps all that was read to the end of the file
            use_buffered_stream=True,
        )
        return ds.ParquetFileFormat(default_fragment_scan_options=options)
    return kind


class FileTable:
    """A table in files, or a pyarrow dataset: its columns by name. See `skmoe.rows.blocks.open_table`."""

    def __init__(self, source: Any) -> None:
        import pyarrow as pa

        try:
            self.dataset, self.where = _dataset(source)
            self.n = int(self.dataset.count_rows())
        except (pa.ArrowException, OSError) as error:
            if isinstance(error, FileNotFoundError) and not isinstance(source, pa.dataset.Dataset):
                raise
            raise ValueError(f"{source} cannot be read as a table: {_first_line(error)}") from error
        # a dataset of the caller's own may filter rows, which its fragments do not know of
        self.by_groups = isinstance(source, str | os.PathLike) and self.dataset.format.default_extname == "parquet"
        self.all_names = list(self.dataset.schema.names)
        self.check_names(self.all_names)

    def only(self, columns: Sequence[str]) -> FileTable:
        """The same table with some of its columns; it is not opened again."""
        self.check_names(columns)
        part = copy(self)
        part.all_names = list(columns)
        return part

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse names that are no columns."""
        there = self.dataset.schema.names
        missing = [n for n in names if n not in there]
        if missing:
            raise ValueError(f"{self.where} has no column {', '.join(map(repr, missing))}; it has {there}")
        if not names:
            raise ValueError(f"{self.where} leaves no columns to be used as inputs")

    def _check(self, names: Sequence[str]) -> None:
        import pyarrow.types as kinds

        self.check_names(names)
        for name in names:
            kind = self.dataset.schema.field(name).type
            if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
                raise ValueError(
                    f"column {name!r} of {self.where} holds {kind}, not numbers; leave it out, or encode it first"
                )

    def columns(self, names: Sequence[str]) -> FileColumns:
        """Several columns, (n, d)."""
        self._check(names)
        return FileColumns(self, list(names), (self.n, len(names)))

    def column(self, name: str) -> FileColumns:
        """One column, (n,)."""
        self._check([name])
        return FileColumns(self, [name], (self.n,))

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Record batches of the named columns, in order."""
        import pyarrow as pa

        seen = 0
        try:
            for scan in self._scans():
                for batch in scan(columns=names, batch_size=BATCH_ROWS, batch_readahead=READ_AHEAD):
                    seen += batch.num_rows
                    if batch.num_rows:
                        yield batch
        except (pa.ArrowException, OSError) as error:
            raise ValueError(
                f"{self.where} could not be read to its end: {_first_line(error)} (after row {seen}); nothing was "
                "fitted: repair the file or write it again"
            ) from error
        if seen != self.n:
            raise ValueError(f"{self.where} has {seen} rows now and had {self.n} when it was opened: it was changed")

    def _scans(self) -> Iterator[Callable[..., Any]]:
        """Ways to read the parts, in order: the row groups of a Parquet file, else all at once.

        One scan of all reads ahead of slow kernels by up to 1 GiB, whatever it is told; one of a row group cannot.
        """
        if not self.by_groups:
            yield partial(self.dataset.to_batches, fragment_readahead=1)
            return
        for fragment in self.dataset.get_fragments():
            for group in fragment.split_by_row_group():
                yield partial(group.to_batches, schema=self.dataset.schema)


class FileColumns(Streamed):
    """Columns of a `FileTable`."""

    def __init__(self, table: FileTable, names: list[str], shape: tuple[int, ...]) -> None:
        self.table, self.names, self.shape, self.where = table, names, shape, table.where

    def chunks(self, columns: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of all columns in order, a record batch at a time."""
        names = list(dict.fromkeys(n for c in columns if c is not None for n in c.names))
        for batch in self.table.batches(names):
            place = {name: batch.column(i) for i, name in enumerate(batch.schema.names)}
            yield tuple(None if c is None else c._values(place, batch.num_rows) for c in columns)

    def _values(self, place: dict[str, Any], rows: int) -> np.ndarray:
        """Numbers of a batch; a column is contiguous, as kernels want it. A missing value is NaN."""
        # whole numbers of up to 53 bits are exact in float64, and so is float32
        Z = np.empty((len(self.names), rows))
        for i, name in enumerate(self.names):
            column = place[name]
            if column.type == "bool":
                column = column.cast("int8")
            Z[i] = column.to_numpy(zero_copy_only=False)
        return Z[0] if self.ndim == 1 else Z.T

    def take(self, columns: tuple[Any, ...], rows: np.ndarray) -> tuple[Any, ...]:
        """Rows of all columns with the given sorted indices; reading ends with the last of them."""
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


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
