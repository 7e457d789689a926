"""Files of tables: which kinds there are, how each is opened, and what is said when one cannot be read.

pyarrow reads them all: CSV and TSV (gzipped too), Parquet and Arrow, one file or a folder of them. Whatever is wrong is
said in one line that begins with the file's name.
"""

from __future__ import annotations

import codecs
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

__all__ = [
    "TEXT",
    "Source",
    "TableError",
    "arrow",
    "find_source",
    "kind_of_file",
    "listed",
    "named_after",
    "read_text",
    "text_dataset",
]

KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
TEXT = ("csv", "tsv")  # kinds that may be gzipped as well
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


class TableError(ValueError):
    """A table that cannot be used; the message says why, and what to do."""


def arrow() -> Any:
    """Import pyarrow, or say how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError('reading tables needs pyarrow: pip install "skmoe[data]"') from error
    return pyarrow


def listed(names: Sequence[str], most: int = 12) -> str:
    """Names in a row, the first dozen of them."""
    return ", ".join(map(str, names[:most])) + (f" and {len(names) - most} more" if len(names) > most else "")


def kind_of_file(path: str | os.PathLike[str]) -> str:
    """Kind of a table file by its name: "csv", "tsv", "parquet" or "arrow"; "-" is CSV."""
    if path == "-":
        return "csv"
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    zipped = suffixes[-1:] == [".gz"]
    kind = KINDS.get("".join(suffixes[-2:-1] if zipped else suffixes[-1:]))
    if kind is None or (zipped and kind not in TEXT):
        known = ", ".join([*KINDS, ".csv.gz", ".tsv.gz"])
        raise TableError(f"{path}: the name does not say what kind of table this is; it must end in one of {known}")
    return kind


@contextmanager
def named_after(where: str) -> Iterator[None]:
    """Whatever goes wrong in reading becomes a `TableError` that names the file."""
    try:
        yield
    except (TableError, FileNotFoundError):
        raise
    except UnicodeDecodeError as error:
        raise TableError(f"{where}: the text is not UTF-8; save the file as UTF-8") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{where}: the gzip file is damaged or cut short ({error})") from error
    except (ValueError, OSError, KeyError, NotImplementedError) as error:  # pyarrow's errors are kinds of these
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "zlib" in text:
            raise TableError(f"{where}: the gzip file is damaged or cut short ({text})") from error
        raise TableError(f"{where}: cannot be read ({text})") from error


@dataclass(frozen=True)
class Source:
    """Where a table is: its name for messages, its kind and files, and the pyarrow dataset over them."""

    where: str
    kind: str  # empty for tables of pyarrow
    paths: tuple[Path, ...]
    dataset: Any
    copy: Any = None  # temporary folder of what came through a pipe; it lives as long as this record


def find_source(source: Any) -> Source:
    """Open a path, "-" for standard input, or a table or dataset of pyarrow; no row is read yet."""
    arrow()
    if isinstance(source, str | os.PathLike):
        where = "standard input" if source == "-" else str(source)
        with named_after(where):
            return _from_path(source, where)
    import pyarrow.dataset as ds

    where = f"the {type(source).__name__}"
    with named_after(where):
        return Source(where, "", (), source if isinstance(source, ds.Dataset) else ds.dataset(source))


def _from_path(source: str | os.PathLike[str], where: str) -> Source:
    path, copy = Path(source), None
    if source == "-" or path.is_fifo():  # a pipe cannot be read twice: it is copied to disk
        copy = tempfile.TemporaryDirectory()
        kind, paths = "csv", [_copied(source, Path(copy.name) / "input.csv")]
    elif path.is_dir():
        paths = sorted(p for p in path.rglob("*") if p.is_file() and p.name[0] not in "._")
        kinds = {kind_of_file(p) for p in paths}
        if len(kinds) != 1:
            found = f"files of {len(kinds)} kinds" if kinds else "no files"
            raise TableError(f"{where}: this folder holds {found}; a table is one file, or a folder of one kind")
        kind = kinds.pop()
    else:
        kind, paths = kind_of_file(path), [path]
        if not path.exists():
            raise FileNotFoundError(f"{where}: there is no such file")
    if kind in TEXT:
        for place in paths:
            _check_text(where, place)
    return Source(where, kind, tuple(paths), _dataset(where, kind, [str(p) for p in paths]), copy)


def _copied(source: str | os.PathLike[str], place: Path) -> Path:
    with open(place, "wb") as target:
        if source == "-":
            shutil.copyfileobj(sys.stdin.buffer, target)
        else:
            with open(source, "rb") as pipe:
                shutil.copyfileobj(pipe, target)
    return place


def _dataset(where: str, kind: str, places: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.dataset as ds

    if kind in TEXT:
        names = ds.dataset(places, format=_text_format(kind)).schema.names
        if len(names) == 1:
            _check_separator(where, names[0])
        how = _text_format(kind, ignore_empty_lines=len(names) > 1)  # of one column, an empty line is an empty row
        found = ds.dataset(places, format=how).schema
        # a column that looks whole, or empty, in the first block may hold decimals further down
        return text_dataset(places, how, {f.name: _wide_type(f.type) for f in found})
    if kind == "parquet":
        options = ds.ParquetFragmentScanOptions(
            page_checksum_verification=True,  # damage is found where the writer kept checksums
            pre_buffer=False,  # which keeps all that was read to the end of the file
            use_buffered_stream=True,
        )
        return ds.dataset(places, format=ds.ParquetFileFormat(default_fragment_scan_options=options))
    try:
        return ds.dataset(places, format="ipc")
    except pa.ArrowInvalid:  # the other of Arrow's two formats, which datasets do not know
        return ds.dataset(pa.concat_tables([pa.ipc.open_stream(pa.memory_map(p)).read_all() for p in places]))


def text_dataset(places: list[str], how: Any, types: Mapping[str, Any]) -> Any:
    """A dataset over text files whose columns are read as the given types."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    return ds.dataset(places, format=how, schema=pa.schema(list(types.items())))


def read_text(source: Source) -> Any:
    """Read text files as one `pyarrow.Table`; the types of its columns are found from all rows."""
    import pyarrow as pa
    from pyarrow import csv

    tables = []
    for place in source.paths:
        with _bytes(place) as stream:
            tables.append(csv.read_csv(stream, parse_options=_cells(source.kind), convert_options=_conversion()))
    return pa.concat_tables(tables, promote_options="permissive")


def _text_format(kind: str, **how: Any) -> Any:
    import pyarrow.dataset as ds

    return ds.CsvFileFormat(parse_options=_cells(kind, **how), convert_options=_conversion())


def _bytes(place: Path) -> IO[bytes]:
    return gzip.open(place) if place.suffix.lower() == ".gz" else open(place, "rb")  # type: ignore[return-value]


def _check_text(where: str, place: Path) -> None:
    with _bytes(place) as stream:
        head = stream.read(4096)
    if not head.strip():
        raise TableError(f"{where}: is empty; a header and rows are needed")
    if head.startswith(WIDE) or b"\0" in head:
        raise TableError(f"{where}: this is UTF-16 or not text at all; save the file as UTF-8")


def _check_separator(where: str, name: str) -> None:
    if any(mark in name for mark in ";\t"):
        raise TableError(f"{where}: cells seem to be split by other than commas (header {name!r}); use commas")


def _cells(kind: str, **how: Any) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",", newlines_in_values=True, **how)


def _conversion() -> Any:
    from pyarrow import csv

    return csv.ConvertOptions(strings_can_be_null=True)


def _wide_type(kind: Any) -> Any:
    import pyarrow as pa

    return pa.float64() if pa.types.is_integer(kind) or pa.types.is_null(kind) else kind
