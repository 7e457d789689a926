"""Tables as text: CSV and TSV, gzipped or not, in one dialect."""

from __future__ import annotations

import codecs
import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from skmoe.rows.table_errors import TableError

__all__ = ["check_separator", "check_text", "header_of", "read_text", "text_dataset", "text_format", "wide_type"]

WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)


def text_dataset(places: list[str], how: Any, types: Mapping[str, Any]) -> Any:
    """A dataset over text files whose columns are read as the given types."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    return ds.dataset(places, format=how, schema=pa.schema(list(types.items())))


def read_text(paths: Sequence[Path], how: Any) -> Any:
    """Read text files as one `pyarrow.Table`; the types of its columns are found from all rows."""
    import pyarrow as pa
    from pyarrow import csv

    tables = []
    for place in paths:
        with _bytes(place) as stream:
            tables.append(csv.read_csv(stream, parse_options=how.parse_options, convert_options=_conversion()))
    return pa.concat_tables(tables, promote_options="permissive")


def text_format(kind: str, **how: Any) -> Any:
    """How cells of a text file are split and read."""
    import pyarrow.dataset as ds

    return ds.CsvFileFormat(parse_options=_cells(kind, **how), convert_options=_conversion())


def _bytes(place: Path) -> IO[bytes]:
    return gzip.open(place) if place.suffix.lower() == ".gz" else open(place, "rb")  # type: ignore[return-value]


def check_text(where: str, place: Path) -> None:
    """Refuse a file that is empty, or no text."""
    with _bytes(place) as stream:
        head = stream.read(4096)
    if not head.strip():
        raise TableError(f"{where}: is empty; a header and rows are needed")
    if head.startswith(WIDE) or b"\0" in head:
        raise TableError(f"{where}: this is UTF-16 or not text at all; save the file as UTF-8")


def header_of(kind: str, place: Path) -> list[str]:
    """Names of the columns, which pyarrow's datasets refuse in words of their own where two are the same."""
    from pyarrow import csv

    with _bytes(place) as stream, csv.open_csv(stream, parse_options=_cells(kind)) as reader:
        return reader.schema.names


def check_separator(where: str, name: str) -> None:
    """Refuse a lone column whose name looks like several."""
    if any(mark in name for mark in ";\t"):
        raise TableError(f"{where}: cells seem to be split by other than commas (header {name!r}); use commas")


def _cells(kind: str, **how: Any) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",", newlines_in_values=True, **how)


def _conversion() -> Any:
    from pyarrow import csv

    return csv.ConvertOptions(strings_can_be_null=True)


def wide_type(kind: Any) -> Any:
    """The type that a column may turn out to have further down: whole numbers and nothing at all become decimals."""
    import pyarrow as pa

    return pa.float64() if pa.types.is_integer(kind) or pa.types.is_null(kind) else kind
