"""Tables from files and to files: CSV, TSV (gzipped too), Parquet and Arrow, or CSV from standard input.

Only pyarrow reads: it is fast, it streams, and it is one dependency. Whatever is wrong with a file is said in one line
that begins with the file's name.
"""

from __future__ import annotations

import codecs
import gzip
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

__all__ = ["TableError", "arrow", "batches", "check_suffix", "read", "writing"]

BATCH_ROWS = 65_536
KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".csv.gz": "csv",
    ".tsv.gz": "tsv",
}
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


class TableError(ValueError):
    """A table that cannot be used; the message tells its owner why, and what to do."""


def arrow() -> Any:
    """pyarrow, or how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError('reading tables needs pyarrow: pip install "skmoe[data]"') from error
    return pyarrow


def check_suffix(path: str) -> str:
    """Kind of a table file by its name: "csv", "tsv", "parquet" or "arrow"; "-" is CSV."""
    if path == "-":
        return "csv"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes = ["".join(suffixes[-2:])]
    kind = KINDS.get(suffixes[-1]) if suffixes else None
    if kind is None:
        raise TableError(f"{path}: which kind of table this is cannot be told; name it {', '.join(KINDS)}")
    return kind


def read(path: str) -> Any:
    """A whole table as a `pyarrow.Table`, types of CSV columns found from all rows; "-" is standard input."""
    pa = arrow()
    with _told(path), _local(path) as (place, kind):
        if kind in ("csv", "tsv"):
            from pyarrow import csv

            _check_text(path, place)
            with _bytes(place) as stream:
                table = csv.read_csv(stream, parse_options=_cells(kind), convert_options=_conversion())
        else:
            table = pa.Table.from_batches(*_binary(place, kind, None))
        _check_names(path, table.column_names)
        return table


def batches(path: str, types: Mapping[str, Any]) -> Iterator[Any]:
    """Some columns of a table as a stream of `pyarrow.Table`, so that memory stays flat however long the file is.

    Parameters
    ----------
    path : a file, or "-" for standard input
    types : the columns, and the type that each is read as where the file does not say (CSV)
    """
    pa = arrow()
    with _told(path), _local(path) as (place, kind):
        if kind in ("csv", "tsv"):
            from pyarrow import csv

            _check_text(path, place)
            with _bytes(place) as stream, csv.open_csv(stream, parse_options=_cells(kind)) as reader:
                names = reader.schema.names
            _check_names(path, names, needed=types)
            conversion = _conversion(column_types=dict(types), include_columns=list(types))
            # where there is one column only, an empty line is a row with nothing in it
            cells = _cells(kind, ignore_empty_lines=len(names) > 1)
            with (
                _bytes(place) as stream,
                csv.open_csv(stream, parse_options=cells, convert_options=conversion) as reader,
            ):
                for batch in reader:
                    yield pa.Table.from_batches([batch])
        else:
            parts, schema = _binary(place, kind, list(types))
            _check_names(path, schema.names, needed=types)
            for batch in parts:
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    yield pa.Table.from_batches([batch.slice(start, BATCH_ROWS)]).select(list(types))


@contextmanager
def writing(path: str, schema: Any) -> Iterator[Any]:
    """A writer with ``write_batch``, of the kind that the file's name says; "-" is CSV on standard output."""
    pa, kind = arrow(), check_suffix(path)
    if kind in ("csv", "tsv"):
        from pyarrow import csv

        options = csv.WriteOptions(delimiter="\t" if kind == "tsv" else ",", quoting_style="needed")
        if path == "-":
            with csv.CSVWriter(sys.stdout.buffer, schema, write_options=options) as writer:
                yield writer
            sys.stdout.flush()
        else:
            with (
                gzip.open(path, "wb") if path.endswith(".gz") else open(path, "wb") as sink,
                csv.CSVWriter(sink, schema, write_options=options) as writer,
            ):
                yield writer
    elif kind == "parquet":
        from pyarrow import parquet

        with parquet.ParquetWriter(path, schema) as writer:
            yield writer
    else:
        with pa.ipc.new_file(path, schema) as writer:
            yield writer


@contextmanager
def _told(path: str) -> Iterator[None]:
    """Whatever goes wrong in reading becomes a `TableError` that names the file."""
    name = "standard input" if path == "-" else path
    try:
        yield
    except TableError:
        raise
    except FileNotFoundError as error:
        raise TableError(f"{name}: there is no such file") from error
    except IsADirectoryError as error:
        raise TableError(f"{name}: this is a directory, not a table") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{name}: the text is not UTF-8; save the file as UTF-8") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{name}: the gzip file is damaged or cut short ({error})") from error
    except (ValueError, OSError, KeyError, NotImplementedError) as error:  # pyarrow's errors are kinds of these
        raise TableError(f"{name}: cannot be read ({str(error).splitlines()[0]})") from error


@contextmanager
def _local(path: str) -> Iterator[tuple[Path, str]]:
    """A file that can be opened more than once, and its kind; what comes through a pipe is copied to disk first."""
    place = Path(path)
    if path == "-" or place.is_fifo():
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "input.csv"
            with open(copy, "wb") as target:
                if path == "-":
                    shutil.copyfileobj(sys.stdin.buffer, target)
                else:
                    with open(place, "rb") as source:
                        shutil.copyfileobj(source, target)
            yield copy, "csv"
        return
    if place.is_dir():
        raise IsADirectoryError(path)
    kind = check_suffix(path)
    if not place.exists():
        raise FileNotFoundError(path)
    yield place, kind


def _bytes(place: Path) -> IO[bytes]:
    return gzip.open(place) if place.suffix.lower() == ".gz" else open(place, "rb")  # type: ignore[return-value]


def _check_text(path: str, place: Path) -> None:
    with _bytes(place) as stream:
        head = stream.read(4096)
    if not head.strip():
        raise TableError(f"{'standard input' if path == '-' else path}: is empty; a header and rows are needed")
    if head.startswith(WIDE) or b"\0" in head:
        raise TableError(f"{path}: this is UTF-16 or not text at all; save the file as UTF-8")


def _cells(kind: str, **how: Any) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",", newlines_in_values=True, **how)


def _conversion(**how: Any) -> Any:
    from pyarrow import csv

    return csv.ConvertOptions(strings_can_be_null=True, **how)


def _binary(place: Path, kind: str, columns: list[str] | None) -> tuple[Iterator[Any], Any]:
    """Record batches of a Parquet or Arrow file, and its schema."""
    pa = arrow()
    if kind == "parquet":
        from pyarrow import parquet

        file = parquet.ParquetFile(place)
        known = None if columns is None else [name for name in columns if name in file.schema_arrow.names]
        return file.iter_batches(batch_size=BATCH_ROWS, columns=known), file.schema_arrow
    source = pa.memory_map(str(place))
    try:
        reader = pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        reader = pa.ipc.open_stream(source)  # the other of Arrow's two formats
        return iter(reader), reader.schema
    return (reader.get_batch(i) for i in range(reader.num_record_batches)), reader.schema


def _check_names(path: str, names: list[str], needed: Mapping[str, Any] | None = None) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{path}: column {twice[0]!r} is there more than once; give every column its own name")
    if len(names) == 1 and any(mark in names[0] for mark in ";\t"):
        raise TableError(f"{path}: cells seem to be split by other than commas (header {names[0]!r}); use commas")
    lacking = [name for name in needed or {} if name not in names]
    if lacking:
        raise TableError(
            f"{path}: lacks {', '.join(map(repr, lacking))}, which the model needs; it has {listed(names)}"
        )


def listed(names: list[str], most: int = 12) -> str:
    """Names in a row, the first dozen of them."""
    return ", ".join(map(str, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")
