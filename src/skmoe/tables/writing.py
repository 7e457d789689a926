"""Files written whole or not at all, and tables of the kind that a file's name says."""

from __future__ import annotations

import errno
import gzip
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skmoe.arrays.visible import visible
from skmoe.tables.formats import TEXT, kind_of_file
from skmoe.tables.table_errors import TableError, arrow

__all__ = ["kind_to_write", "prove_writable", "replacing", "writing"]

PROBE_BYTES = 2**20  # bytes, more than most models and reports have


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to, moved to `path` at the end: a failure leaves nothing half-written."""
    path = Path(path).resolve()
    if path.exists() and not path.is_file():  # a pipe or a device is written to, never replaced
        yield path
        return
    # a new short name in the same folder, with the suffix by which writers choose a format
    temporary = path.with_name(f".skmoe-{secrets.token_hex(8)}{''.join(path.suffixes[-2:])[-20:]}")
    temporary.touch(exist_ok=False)  # with the permissions of any new file
    try:
        yield temporary
        _flush(temporary)
        temporary.replace(path)
        _flush(path.parent)  # the name too outlives a loss of power
    finally:
        temporary.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":  # there folders cannot be opened
        return
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def prove_writable(path: str | os.PathLike[str], what: str) -> None:
    """Refuse a place that `replacing` could not write to, by writing a file in its folder, before any long work.

    Parameters
    ----------
    path : str or path
    what : str
        Name of the caller's option, for messages.

    Raises
    ------
    ValueError
        If the place is a folder, its folder is not there, or the system refuses the name, or a file of 1 MiB there.
    """
    shown = visible(os.fspath(path))
    try:
        place = Path(path).resolve()
        if place.is_dir():
            raise ValueError(f"{what}: {shown} is a directory; name a file")
        if not place.parent.is_dir():
            raise ValueError(f"{what}: there is no directory {visible(str(place.parent))}")
        if os.path.lexists(place) and not os.access(place, os.W_OK):  # asks for the name itself: it may be too long
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if place.exists() and not place.is_file():
            return  # a pipe or a device
        with tempfile.NamedTemporaryFile(dir=place.parent, prefix=".skmoe-") as probe:
            probe.write(bytes(PROBE_BYTES))
            probe.flush()
            os.fsync(probe.fileno())
    except (OSError, RuntimeError) as error:  # links that lead in a circle are a RuntimeError up to Python 3.12
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ValueError(f"{what}: {shown} cannot be written to ({visible(why)})") from error


def kind_to_write(path: str) -> str:
    """Return the kind of a table to write, by the file's name; see `kind_of_file`."""
    kind = kind_of_file(path)
    if kind == "excel":
        raise TableError(f"{visible(path)}: Excel files are read, not written; name a .csv or .parquet file")
    return kind


@contextmanager
def writing(path: str, schema: Any) -> Iterator[Any]:
    """Yield a writer with ``write_batch``, of the kind of the file's name; "-" is CSV on standard output."""
    pa, kind = arrow(), kind_to_write(path)
    if kind in TEXT:
        if path == "-":
            late = _LateWriter(lambda: _text_writer(sys.stdout.buffer, schema, kind))
            yield late
            late.close()
            sys.stdout.flush()
        else:
            with gzip.open(path, "wb") if path.endswith(".gz") else open(path, "wb") as sink:
                writer = _text_writer(sink, schema, kind)
                yield writer
                writer.close()
    elif kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetWriter(path, schema) as writer:
            yield writer
    else:
        with pa.ipc.new_file(path, schema) as writer:
            yield writer


def _text_writer(sink: Any, schema: Any, kind: str) -> Any:
    """Return a writer of CSV, or of TSV, to an open file."""
    from pyarrow import csv

    if len(schema) == 1:
        return _LoneColumnWriter(sink, schema.names[0])
    options = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",", quoting_style="needed")
    return csv.CSVWriter(sink, schema, write_options=options)


class _LoneColumnWriter:
    """A writer of one column, whose rows without a value are ``""``: most readers take an empty line for no row."""

    def __init__(self, sink: Any, name: str) -> None:
        self._sink = sink
        self._write(arrow().array([name]))

    def write_batch(self, batch: Any) -> None:
        self._write(batch.column(0))

    def _write(self, values: Any) -> None:
        import pyarrow.compute as pc

        pa = arrow()
        if pa.types.is_string(values.type):
            doubled = pc.replace_substring(values, '"', '""')
            values = pc.binary_join_element_wise('"', doubled, '"', "")
        lines = pc.fill_null(pc.cast(values, pa.string()), '""').to_pylist()
        self._sink.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None:
        """Do nothing: all rows are written already."""


class _LateWriter:
    """A writer that is made for the first batch: where that batch is refused, no header was printed."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._writer: Any = None

    def write_batch(self, batch: Any) -> None:
        self._writer = self._writer or self._make()
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Write what is left; of no batches, the header."""
        (self._writer or self._make()).close()
