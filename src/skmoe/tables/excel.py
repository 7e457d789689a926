"""Excel workbooks as tables: the first sheet, its first row the header."""

from __future__ import annotations

import datetime
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from skmoe.arrays import memory
from skmoe.arrays.exactness import rounded
from skmoe.tables.table_errors import TableError, arrow, damaged

__all__ = ["read_excel"]

MOST_ROWS = 2**20  # of a sheet, by Excel's own limit
TIMES_UNPACKED = 3  # memory that the cells of a sheet take, about, as a multiple of its text
CELL_BYTES = 8  # of a cell that is empty


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
        Notes for the reader.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(
            f'{where}: reading Excel files needs openpyxl: pip install "skmoe[data]", or save the sheet as CSV'
        ) from error
    try:
        with open(place, "rb") as file:  # by us, since openpyxl leaves a damaged one open
            with zipfile.ZipFile(file) as parts:
                unpacked = sum(info.file_size for info in parts.infolist())
            _refuse_large(TIMES_UNPACKED * unpacked, f"{where}: the workbook")
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
            rows = _rows(where, book.worksheets[0])
            others = [other.title for other in book.worksheets[1:]]
    except (TableError, OSError, MemoryError):
        raise
    except Exception as error:  # openpyxl does not check files: a damaged one can make it raise anything
        raise damaged(where, "Excel workbook", error) from error
    if not rows:
        raise TableError(f"{where}: is empty; a header and rows are needed")
    names = ["" if cell is None else str(cell).strip() for cell in rows[0]]
    columns = list(zip(*rows[1:], strict=True)) or [()] * len(names)
    used = [i for i, name in enumerate(names) if name or any(cell is not None for cell in columns[i])]
    nameless = tuple(f"column {i + 1}" for i in used if not names[i])
    table = arrow().table([_column(columns[i]) for i in used], names=[names[i] or f"column {i + 1}" for i in used])
    notes = [f"only the first sheet is read; there are others: {', '.join(others)}"] if others else []
    return table, nameless, notes


def _refuse_large(needed: float, what: str) -> None:
    try:
        memory.check_memory(needed, what, "save the sheet as CSV, which is read a block at a time")
    except ValueError as error:
        raise TableError(str(error)) from error


def _rows(where: str, sheet: Any) -> list[tuple[Any, ...]]:
    """Return the rows that hold anything, all as long as the longest."""
    if not hasattr(sheet, "reset_dimensions"):
        raise TableError(f"{where}: the first sheet holds no cells; a header and rows are needed")
    sheet.reset_dimensions()  # those that a file states may be wrong
    found: list[tuple[Any, ...]] = []
    for number, row in enumerate(sheet.iter_rows(values_only=True)):
        if number >= MOST_ROWS:
            raise TableError(f"{where}: the sheet has more than {MOST_ROWS} rows; save it as CSV")
        if any(cell is not None for cell in row):
            found.append(row)
    width = max(map(len, found), default=0)
    _refuse_large(CELL_BYTES * width * len(found), f"{where}: a sheet of {width} columns")
    return [(*row, *(width - len(row)) * (None,)) for row in found]


def _column(cells: Sequence[Any]) -> Any:
    """Convert cells to one pyarrow array: numbers, dates or booleans where all are, else text."""
    pa = arrow()
    present = [cell for cell in cells if cell is not None]
    if not present:
        return pa.nulls(len(cells))
    if all(isinstance(cell, bool) for cell in present):
        return pa.array(cells, pa.bool_())
    numbers = all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in present)
    if numbers and not rounded(np.array(present, dtype=object)):  # others stay text, and are refused later
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    if all(isinstance(cell, datetime.date) for cell in present):
        return pa.array(cells, pa.timestamp("s"))
    return pa.array([None if cell is None or cell == "" else str(cell) for cell in cells], pa.string())
