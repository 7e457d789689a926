"""Tables on the command line: options of reading, names of columns, rows in memory or in blocks."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Annotated, Any

import typer

from skmoe.cli.shell import note

if TYPE_CHECKING:
    import numpy as np

    from skmoe.tables import EncodedTable, FileTable, TableEncoder

__all__ = [
    "Categorical",
    "Columns",
    "Data",
    "Dates",
    "Decimal",
    "Drop",
    "Encoding",
    "Missing",
    "Reference",
    "Separator",
    "Target",
    "Unseen",
    "inputs_among",
    "learn_table",
    "names_among",
    "open_asked",
    "read_asked",
    "rows_of",
]

LARGE = 2**26  # bytes of numbers that are held in memory, several times while they are fitted; more are read in blocks

Data = Annotated[
    str, typer.Argument(help="CSV, TSV (.gz too), Parquet, Arrow, Feather or Excel file; - for CSV from stdin.")
]
Target = Annotated[str, typer.Option(help="Column to be predicted.")]
Columns = Annotated[
    list[str] | None, typer.Option(help="Columns to use as inputs, by default all others; repeat, or split by commas.")
]
Drop = Annotated[list[str] | None, typer.Option(help="Column to leave out; repeat it, or split names by commas.")]
Categorical = Annotated[
    list[str] | None, typer.Option(help="Columns of numbers whose values are categories; repeat, or split by commas.")
]
Reference = Annotated[
    list[str] | None,
    typer.Option(
        help="COLUMN=CATEGORY: the others of that column are compared with it; by default the first. Repeat it."
    ),
]
Missing = Annotated[
    str,
    typer.Option(
        help="Missing inputs: level (a category of their own; numbers get the median, and an indicator), impute "
        "(median or most frequent), drop (leave the rows out) or error."
    ),
]
Unseen = Annotated[
    str,
    typer.Option(
        help="Categories not there in fitting: other (count as rare ones, or as the mean of the known), empty or error."
    ),
]
Dates = Annotated[
    str, typer.Option(help="What dates become: some of days, year, month, weekday, hour, split by commas.")
]
Separator = Annotated[
    str | None, typer.Option(help="What splits cells of a text file, such as ';' or tab; by default found in the file.")
]
Decimal = Annotated[str | None, typer.Option(help="Decimal mark of a text file, . or ,; by default found in the file.")]
Encoding = Annotated[
    str | None, typer.Option(help="Encoding of a text file, such as latin-1; by default found in the file.")
]


def open_asked(data: str, separator: str | None, decimal: str | None, encoding: str | None) -> FileTable:
    """Open a table as the options say."""
    from skmoe.tables import open_table

    marks = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";"}
    if separator is not None:
        separator = marks.get(separator, separator)
    return open_table(data, separator=separator, decimal=decimal, encoding=encoding)


def read_asked(
    data: str, separator: str | None, decimal: str | None, encoding: str | None, *, classes: str | None = None
) -> tuple[FileTable, np.ndarray | None]:
    """Open a table whose rows are needed several times; a column of classes is numbered, and its labels come too."""
    table = open_asked(data, separator, decimal, encoding)
    return (_held_in_memory(table), None) if classes is None else _numbered(table, classes)


def _held_in_memory(table: FileTable) -> FileTable:
    """Return a table whose text is read once, however often a command goes over its rows; a large one as it is."""
    import pyarrow as pa

    from skmoe.tables.formats import TEXT

    if table.kind not in TEXT:
        return table
    batches, size = [], 0
    for batch in table.cells(table.names):
        batches.append(batch)
        size += batch.nbytes
        if size > LARGE:
            return table
    if not batches:
        return table
    rows, held = pa.Table.from_batches(batches), copy(table)
    held.cells = lambda names: iter(rows.select(list(names)).to_batches())  # type: ignore[method-assign]
    return held


def _numbered(table: FileTable, target: str) -> tuple[FileTable, np.ndarray]:
    """Number the target of a table by class; return the table and the sorted labels. Missing values stay missing."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from skmoe.tables import open_table

    table.check_names([target])
    held = table.read()
    column = held[target].combine_chunks()
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.if_else(pc.equal(pc.utf8_trim_whitespace(column), ""), pa.scalar(None, column.type), column)
    if pa.types.is_float16(column.type):  # which pyarrow does not sort
        column = pc.cast(column, pa.float32())
    labels = pc.unique(column).drop_null()
    if len(labels) == 1:
        raise ValueError(f"target {target!r} holds one class, {labels[0].as_py()!r}; two or more are needed")
    labels = labels.take(pc.array_sort_indices(labels))
    codes = pc.cast(pc.index_in(column, value_set=labels), pa.float64())
    numbered = held.set_column(held.column_names.index(target), target, codes)
    return open_table(numbered), np.asarray(labels.to_pylist())


def names_among(written: Sequence[str] | None, known: Sequence[str], option: str) -> list[str]:
    """Return names as they were written after an option: each a whole name, or several split at commas.

    Parameters
    ----------
    written : sequence of str, optional
        Texts, one for each time that the option was given.
    known : sequence of str
        Columns of the table.
    option : str
        The option, for messages.

    Returns
    -------
    list of str
        The names.
    """
    found: list[str] = []
    for text in written or ():
        parts = [text] if text in known else [part.strip() for part in text.split(",") if part.strip()]
        strange = [part for part in parts if part not in known]
        if strange:
            from skmoe.arrays.visible import listed

            raise ValueError(f"{option}: there is no column {strange[0]!r}; the table has {listed(list(known))}")
        found += parts
    return list(dict.fromkeys(found))


def inputs_among(written: Sequence[str], table: FileTable, encoder: TableEncoder, option: str) -> list[str]:
    """Return columns as they were written after an option, which became inputs; `none` alone stands for no column."""
    if list(written) == ["none"] and "none" not in table.names:
        return []
    names = names_among(written, table.names, option)
    encoder.expand(names, option)
    return names


def learn_table(
    table: FileTable,
    target: str,
    *,
    columns: Sequence[str] | None,
    drop: Sequence[str] | None,
    categorical: Sequence[str] | None,
    dates: str | None,
    reference: Sequence[str] | None = None,
    weights: str | None = None,
    output: Any = None,
    **how: Any,
) -> TableEncoder:
    """Decide what the columns of a table become, and print notes for its owner; `how` is for `TableTransformer`."""
    from skmoe.tables.transformer import USUAL_DATES, TableTransformer

    transformer = TableTransformer(
        columns=names_among(columns, table.names, "--columns") if columns else None,
        drop=names_among(drop, table.names, "--drop"),
        categorical=names_among(categorical, table.names, "--categorical"),
        dates=[part.strip() for part in dates.split(",")] if dates else USUAL_DATES,
        reference=_references(reference or ()),
        **how,
    )
    encoder = transformer.learn(table, target, weights=weights, output=output)
    for line in encoder.notes:
        note(line)
    return encoder


def _references(written: Sequence[str]) -> dict[str, str]:
    """Return columns and their references, from texts such as "kind=house"."""
    if wrong := next((text for text in written if "=" not in text), None):
        raise ValueError(f"--reference is COLUMN=CATEGORY, such as kind=house; got {wrong!r}")
    parts = (text.partition("=") for text in written)
    return {column.strip(): category.strip() for column, _, category in parts}


def rows_of(table: FileTable, encoder: TableEncoder) -> tuple[EncodedTable, Any, Any]:
    """Return inputs, outputs and weights of a table: in memory, or read in blocks where they are too many."""
    if 8 * encoder.n_used * (len(encoder.features) + 1) <= LARGE:
        return encoder.rows(table)
    note(f"{encoder.n_used} rows are read in blocks")
    return encoder.streamed(table)
