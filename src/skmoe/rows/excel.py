"""Excel workbooks as tables: the first sheet, its first row the header."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skmoe.rows.table_errors import TableError, arrow

__all__ = ["read_excel"]


def read_excel(where: str, place: Path) -> tuple[Any, tuple[str, ...], list[str]]:
    """Read the first sheet of a workbook.

    Parameters
    ----------
    where : str
        The table's name, for messages.
    place : Path
        The file.

    Returns
    -------
    pyarrow.Table
        The rows; a column of cells of several kinds is text.
    tuple of str
        Columns that have no name in the sheet, by the names they got.
    list of str
        What the reader should know.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(
            f'{where}: reading Excel files needs openpyxl: pip install "skmoe[data]", or save the sheet as CSV'
        ) from error
    book = openpyxl.load_workbook(place, read_only=True, data_only=True)
    try:
        sheet = book.worksheets[0]
        rows = [row for row in sheet.iter_rows(values_only=True) if any(cell is not None for cell in row)]
        others = [other.title for other in book.worksheets[1:]]
    finally:
        book.close()
    if not rows:
        raise TableError(f"{where}: is empty; a header and rows are needed")
    names = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    columns = list(zip(*rows[1:], strict=True)) or [()] * len(names)
    used = [i for i, name in enumerate(names) if name or any(cell is not None for cell in columns[i])]
    nameless = tuple(f"column {i + 1}" for i in used if not names[i])
    table = arrow().table([_column(columns[i]) for i in used], names=[names[i] or f"column {i + 1}" for i in used])
    notes = [f"only the first sheet is read; there are others: {', '.join(others)}"] if others else []
    return table, nameless, notes


def _column(cells: Sequence[Any]) -> Any:
    """Cells as one pyarrow array: numbers, dates or booleans where all are, else text."""
    pa = arrow()
    there = [cell for cell in cells if cell is not None]
    if not there:
        return pa.nulls(len(cells))
    if all(isinstance(cell, bool) for cell in there):
        return pa.array(cells, pa.bool_())
    if all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in there):
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    if all(isinstance(cell, datetime.date) for cell in there):
        return pa.array(cells, pa.timestamp("s"))
    return pa.array([None if cell is None or cell == "" else str(cell) for cell in cells], pa.string())
