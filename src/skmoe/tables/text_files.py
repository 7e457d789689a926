"""Tables as text: CSV and TSV, gzipped or not, in the dialect that was found."""

from __future__ import annotations

import codecs
import shutil
from collections.abc import Mapping, Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.exactness import EXACT
from skmoe.tables.dialect import CHUNK_BYTES, Dialect, bytes_of
from skmoe.tables.table_errors import TableError
from skmoe.tables.text_numbers import text_numbers

__all__ = ["as_utf8", "read_text", "text_dataset", "text_format", "wide_type"]

UTF8 = ("utf-8", "utf-8-sig")


def text_dataset(places: list[str], how: Any, types: Mapping[str, Any]) -> Any:
    """Open text files as a dataset whose columns have the given types."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    return ds.dataset(places, format=how, schema=pa.schema(list(types.items())))


def read_text(paths: Sequence[Path], dialect: Dialect) -> Any:
    """Read text files as one `pyarrow.Table`; the types of its columns are found from all rows.

    A column of whole numbers that neither 64 bits nor double precision hold stays text.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    table = _read_as(paths, dialect, {})
    floats = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    large = [name for name in floats if (pc.max(pc.abs(table[name])).as_py() or 0.0) >= EXACT]
    if not large:
        return table
    texts = _read_as(paths, dialect, dict.fromkeys(large, pa.string()))
    for name in large:
        if text_numbers(texts[name], dialect.decimal).rounded:
            table = table.set_column(table.column_names.index(name), name, texts[name])
    return table


def _read_as(paths: Sequence[Path], dialect: Dialect, types: Mapping[str, Any]) -> Any:
    """Read text files as one table, some of whose columns have given types."""
    import pyarrow as pa
    from pyarrow import csv

    how, tables = text_format(dialect), []
    for place in paths:
        with bytes_of(place) as stream:
            options = csv.ReadOptions(column_names=list(dialect.names), skip_rows_after_names=1)
            conversion = csv.ConvertOptions(strings_can_be_null=True, decimal_point=dialect.decimal, column_types=types)
            tables.append(csv.read_csv(stream, options, how.parse_options, conversion))
    return pa.concat_tables(tables, promote_options="permissive")


def text_format(dialect: Dialect) -> Any:
    """Return the format of a dataset in the given dialect."""
    import pyarrow.dataset as ds
    from pyarrow import csv

    return ds.CsvFileFormat(
        parse_options=csv.ParseOptions(
            delimiter=dialect.separator,
            newlines_in_values=True,
            ignore_empty_lines=len(dialect.names) > 1,  # of one column, an empty line is an empty row
        ),
        read_options=csv.ReadOptions(column_names=list(dialect.names), skip_rows_after_names=1),
        convert_options=csv.ConvertOptions(strings_can_be_null=True, decimal_point=dialect.decimal),
    )


def as_utf8(where: str, place: Path, encoding: str, folder: Path) -> Path:
    """Copy a text file in UTF-8, a chunk at a time; return the file itself where it is in UTF-8."""
    if codecs.lookup(encoding).name in UTF8:
        return place
    copy = folder / place.name.removesuffix(".gz")
    try:
        with (
            TextIOWrapper(bytes_of(place), encoding, newline="") as source,
            open(copy, "w", encoding="utf-8", newline="") as target,
        ):
            shutil.copyfileobj(source, target, CHUNK_BYTES)
    except UnicodeError as error:
        raise TableError(Advised(f"{where}: the text is not {encoding} ({error})", Advice.GIVEN_ENCODING)) from error
    return copy


def wide_type(kind: Any) -> Any:
    """Return the type that a column may have further down: decimals, where it began with whole numbers or nothing."""
    import pyarrow as pa

    return pa.float64() if pa.types.is_integer(kind) or pa.types.is_null(kind) else kind
