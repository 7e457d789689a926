"""A table in files or in pyarrow's memory: read at once, a batch at a time, or as columns of numbers for kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from typing import Any

import numpy as np

from skmoe.arrays.exactness import EXACT, Rounded
from skmoe.arrays.streamed import Streamed
from skmoe.arrays.visible import listed
from skmoe.tables.columns import numbers_of
from skmoe.tables.dialect import Reading
from skmoe.tables.formats import TEXT, find_source
from skmoe.tables.table_errors import BINARY, TableError, named_after
from skmoe.tables.text_files import read_text, text_dataset
from skmoe.tables.text_numbers import text_numbers

__all__ = ["FileColumns", "FileTable", "open_table"]

BATCH_ROWS = 2**16
READ_AHEAD = 2  # batches decoded while one is worked on; each more is memory


def open_table(
    source: Any,
    columns: Sequence[str] | None = None,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
) -> FileTable:
    """Open a file, a folder of files, or a pyarrow table or dataset, as a table whose rows come in blocks.

    Parameters
    ----------
    source : path, "-", pyarrow Table or Dataset, or an opened table
        A path of a Parquet, CSV, TSV or Arrow file, or of a folder of such files, or of an Excel file; "-" is CSV from
        standard input.
    columns : sequence of str, optional
        Columns to be used, by default all.
    separator : str, optional
        Separator of the cells of a text file: by default found from the file (commas, semicolons, tabs or bars).
    decimal : {".", ","}, optional
        The decimal mark of a text file, by default found as well.
    encoding : str, optional
        The encoding of a text file: by default UTF-8, UTF-16 or Latin-1, by its bytes.

    Returns
    -------
    FileTable
        The table, of which no row has been read yet.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from skmoe.tables import open_table
    >>> table = open_table(pa.table({"age": [1.0, 2.0], "price": [3.0, 5.0]}))
    >>> table.columns(["age"]).shape
    (2, 1)
    """
    table = source if isinstance(source, FileTable) else FileTable(source, Reading(separator, decimal, encoding))
    return table if columns is None else table.only(columns)


class FileTable:
    """A table in files or in pyarrow's memory: its columns by name. See `open_table`.

    Parameters
    ----------
    source : path, "-", pyarrow Table or Dataset
    reading : Reading, optional
        Dialect of a text file, where it is not to be found from the file.

    Attributes
    ----------
    names : list of str
        Columns in use.
    nameless : tuple of str
        Columns without a name in the file, by the names they got.
    where : str
        The table's name, for messages.
    decimal : str
        Decimal mark of numbers that are text.
    notes : tuple of str
        Notes on the dialect that was found.
    """

    def __init__(self, source: Any, reading: Reading | None = None) -> None:
        self._source = find_source(source, reading or Reading())
        self.where, self.kind, self.notes = self._source.where, self._source.kind, self._source.notes
        self.names, self.nameless = list(self._source.dataset.schema.names), self._source.nameless
        self.decimal = "." if self._source.dialect is None else self._source.dialect.decimal
        self._exact: set[str] = set()  # columns of text with large numbers, none of which is rounded

    def only(self, columns: Sequence[str]) -> FileTable:
        """Return the table with some of its columns; it is not opened again.

        Parameters
        ----------
        columns : sequence of str
            Names.

        Returns
        -------
        FileTable
            The narrower table.
        """
        self.check_names(columns)
        narrower = copy(self)
        narrower.names = list(columns)
        return narrower

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse names that are no columns.

        Parameters
        ----------
        names : sequence of str
            Names to be checked.
        """
        known = dict.fromkeys(self._source.dataset.schema.names)
        missing = [repr(name) for name in names if name not in known]
        if missing:
            raise TableError(f"{self.where} has no column {listed(missing)}; it has {listed(list(known))}")
        if not names:
            raise TableError(f"{self.where} leaves no columns to be used as inputs")

    def columns(self, names: Sequence[str]) -> FileColumns:
        """Return several columns of numbers.

        Parameters
        ----------
        names : sequence of str
            Names of d columns.

        Returns
        -------
        FileColumns
            Columns of shape (n, d), read a block at a time.
        """
        self._check_numbers(names)
        return FileColumns(self, list(names), (self.n, len(names)))

    def column(self, name: str) -> FileColumns:
        """Return one column of numbers.

        Parameters
        ----------
        name : str
            Its name.

        Returns
        -------
        FileColumns
            A column of shape (n,), read a block at a time.
        """
        self._check_numbers([name])
        return FileColumns(self, [name], (self.n,))

    def _check_numbers(self, names: Sequence[str]) -> None:
        import pyarrow.types as kinds

        self.check_names(names)
        for name in names:
            kind = self._source.dataset.schema.field(name).type
            if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind)):
                raise TableError(
                    f"column {name!r} of {self.where} holds {kind}, not numbers; leave it out, or encode it first"
                )

    @property
    def size(self) -> int:
        """Bytes of the files on disk; 0 for tables of pyarrow."""
        return sum(path.stat().st_size for path in self._source.paths)

    @cached_property
    def n(self) -> int:
        """Number of rows; for text it takes a pass over the file."""
        if self._source.dialect is not None:  # pyarrow counts a header that is given another name as a row
            return sum(batch.num_rows for batch in self.cells(self._source.dataset.schema.names[:1]))
        with named_after(self.where, self.kind):
            return int(self._source.dataset.count_rows())

    def read(self) -> Any:
        """Read all rows; the types of text columns are found from all of them.

        Returns
        -------
        pyarrow.Table
            The table.
        """
        with named_after(self.where, self.kind):
            if self._source.dialect is not None:
                return read_text(self._source.paths, self._source.dialect).select(self.names)
            return self._validated(self._source.dataset.to_table(columns=self.names))

    def cells(self, names: Sequence[str]) -> Iterator[Any]:
        """Yield the rows as `batches` does, all columns of a text file as text, whose kind is decided later.

        Parameters
        ----------
        names : sequence of str
            Columns wanted.

        Yields
        ------
        pyarrow.RecordBatch
            The next rows.
        """
        import pyarrow as pa

        self.check_names(names)
        yield from self.batches(names, dict.fromkeys(names, pa.string()))

    def batches(self, names: Sequence[str], types: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """Yield the rows in order, a batch at a time; memory stays flat however long the table is.

        Parameters
        ----------
        names : sequence of str
            Columns wanted.
        types : mapping of str to pyarrow.DataType, optional
            Types that columns of text files are read as.

        Yields
        ------
        pyarrow.RecordBatch
            The next rows.
        """
        dataset, count = self._source.dataset, 0
        if types is not None and self.kind in TEXT:
            read_as = {f.name: types.get(f.name, f.type) for f in dataset.schema}
            dataset = text_dataset(dataset.files, dataset.format, read_as)
        with named_after(self.where, self.kind):
            for scan in self._scans(dataset):
                for batch in scan(columns=list(names), batch_size=BATCH_ROWS, batch_readahead=READ_AHEAD):
                    count += batch.num_rows
                    if batch.num_rows:
                        yield self._validated(batch)
        if "n" in vars(self) and count != self.n:
            raise TableError(f"{self.where}: has {count} rows now and had {self.n} when it was opened: it was changed")

    def _refuse_rounded(self, name: str, numbers: np.ndarray, found: Rounded) -> None:
        """Refuse a column, of which `numbers` were read, whose whole numbers double precision changes."""
        if self.kind in TEXT and name not in self._exact and np.any(np.abs(numbers) >= EXACT):
            texts = (batch.column(0) for batch in self.cells([name]))  # numbers that were read are rounded already
            found = sum((text_numbers(part, self.decimal).rounded for part in texts), Rounded())
            self._exact.add(name)
        if found:
            raise TableError(
                f"column {name!r} of {self.where} {found.message}; subtract its smallest value, or leave the column out"
            )

    def _validated(self, rows: Any) -> Any:
        """Return rows after validation: offsets in a damaged file may lie outside of it.

        pyarrow does not check an Arrow file, and reading text of such a row would crash the process.
        """
        if self.kind in BINARY:
            rows.validate(full=True)
        return rows

    def _scans(self, dataset: Any) -> Iterator[Callable[..., Any]]:
        """Yield scans in order: of each row group of a Parquet file, else one of all rows.

        One scan of all reads ahead of slow kernels by up to 1 GiB, whatever its settings; one of a row group cannot.
        """
        # a dataset of the caller's own may filter rows, which its fragments do not know of
        if self.kind != "parquet":
            yield partial(dataset.to_batches, fragment_readahead=1)
            return
        for fragment in dataset.get_fragments():
            for group in fragment.split_by_row_group():
                yield partial(group.to_batches, schema=dataset.schema)


class FileColumns(Streamed):
    """Columns of numbers of a `FileTable`."""

    def __init__(self, table: FileTable, names: list[str], shape: tuple[int, ...]) -> None:
        self.table, self.names, self.shape, self.where = table, names, shape, table.where

    def chunks(self, columns: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of all columns in order, a record batch at a time."""
        names = list(dict.fromkeys(n for c in columns if c is not None for n in c.names))
        for batch in self.table.batches(names):
            place = {name: batch.column(i) for i, name in enumerate(batch.schema.names)}
            yield tuple(None if c is None else c._values(place, batch.num_rows) for c in columns)

    def _values(self, place: dict[str, Any], rows: int) -> np.ndarray:
        """Return the numbers of a batch; a column is contiguous, as kernels want it. A missing value is NaN."""
        Z = np.empty((len(self.names), rows))
        for i, name in enumerate(self.names):
            Z[i], found = numbers_of(place[name], name)
            self.table._refuse_rounded(name, Z[i], found)
        return Z[0] if self.ndim == 1 else Z.T
