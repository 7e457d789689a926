"""Hostile Parquet, Arrow and Excel files through ``skmoe fit`` and ``skmoe predict``: refused in a sentence, or fitted.

Files are tables of odd columns (nested, decimal, dictionaries, times), and files whose bytes or members were changed.
Readers of these formats are native code: a slice runs in a process of its own, whose death is a fault.
"""

from __future__ import annotations

import datetime
import decimal
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import skmoe

from .csv_files import CELLS, NAMES, check_predictions
from .harness import Observer, WrongError, numbered
from .mutations import mutated_bytes
from .running import run_command

__all__ = ["Target"]

WRITERS = ("parquet", "parquet plain", "arrow", "arrow zstd", "arrow stream", "xlsx")
HOW = ("--experts", "1", "--calibration", "none", "--penalty", "0.3", "--max-time", "5")


class Target:
    """Files in one folder, overwritten from case to case."""

    def __init__(self, folder: Path) -> None:
        import pyarrow as pa

        self.folder = folder
        rng = np.random.default_rng(0)
        x, kind = rng.normal(size=40), rng.choice(["a", "b", "c"], 40)
        y = np.where(x > 0, 3 * x, -x) + (kind == "b") + 0.1 * rng.normal(size=40)
        self.good = pa.table({"x": x, "kind": kind, "day": pa.array(range(40), pa.date32()), "y": y})
        self.contents = {writer: _written(self.good, writer) for writer in WRITERS}

    def run(self, observer: Observer, start: int, cases: int, seed: int) -> None:
        """Put cases to the observer; see `harness.Target`."""
        for number in range(start, start + cases):
            observer.observe(number, lambda number=number: self._case(numbered(seed, number)))

    def _case(self, rng: np.random.Generator) -> bool:
        writer = WRITERS[rng.integers(len(WRITERS))]
        content = self.contents[writer]
        if rng.random() < 0.4:
            content = _written(_odd_table(rng), writer)
        if rng.random() < 0.8 and writer == "xlsx":
            content = _mutated_workbook(content, rng)
        elif rng.random() < 0.8:
            content = mutated_bytes(content, rng)
        name = f"rows.{writer.split()[0]}"
        (self.folder / name).write_bytes(content)
        (self.folder / "m.skmoe").unlink(missing_ok=True)
        missing = ("drop", "impute", "error")[rng.integers(3)]
        code = run_command(self.folder, ["fit", name, "--target", "y", *HOW, "--missing", missing, "--out", "m.skmoe"])
        if code == 2:
            if (self.folder / "m.skmoe").exists():
                raise WrongError("a refused table left a model")
            return False
        model = skmoe.load(self.folder / "m.skmoe")
        if run_command(self.folder, ["predict", "m.skmoe", name, "--interval", "0.9", "--out", "p.csv"]) == 0:
            check_predictions(self.folder / "p.csv", model.history_["rows"])
        return True


# -- odd tables -------------------------------------------------------------------------------------------------------


def _numbers(n: int, rng: np.random.Generator) -> list[float]:
    return (10.0 ** rng.choice([0, 0, 0, -8, 8, 300]) * rng.normal(size=n)).tolist()


def _odd_columns() -> dict[str, Callable[[int, np.random.Generator], Any]]:
    """Columns of every type that the formats know, by its name: Python values and the type they are written as."""
    import pyarrow as pa

    def of(values: Callable[[int, np.random.Generator], list[Any]], kind: Any) -> Callable[..., Any]:
        return lambda n, rng: pa.array(_with_gaps(values(n, rng), rng), kind)

    def whole(n: int, rng: np.random.Generator) -> list[int]:
        return rng.integers(0, 100, n).tolist()

    def texts(n: int, rng: np.random.Generator) -> list[str]:
        few = [CELLS[i] for i in rng.integers(len(CELLS), size=3)]
        return [few[i] for i in rng.integers(3, size=n)]

    return {
        "double": of(_numbers, pa.float64()),
        "single": of(lambda n, rng: rng.normal(size=n).tolist(), pa.float32()),
        "half": of(lambda n, rng: list(rng.normal(size=n).astype(np.float16)), pa.float16()),
        **{str(kind): of(whole, kind) for kind in (pa.int8(), pa.uint8(), pa.int64(), pa.uint64())},
        "huge whole": of(lambda n, rng: rng.integers(2**62, 2**63 - 1, n).tolist(), pa.int64()),
        "decimal": of(lambda n, rng: [decimal.Decimal(v) / 8 for v in whole(n, rng)], pa.decimal128(38, 10)),
        "bool": of(lambda n, rng: rng.integers(0, 2, n).astype(bool).tolist(), pa.bool_()),
        "text": of(texts, pa.string()),
        "large text": of(texts, pa.large_string()),
        "bytes": of(lambda n, rng: [rng.bytes(3) for _ in range(n)], pa.binary()),
        "dictionary": of(texts, pa.dictionary(pa.int8(), pa.string())),
        "date": of(whole, pa.date32()),
        "far date": of(lambda n, rng: rng.integers(-(2**62), 2**62, n).tolist(), pa.timestamp("s")),
        "zoned": of(whole, pa.timestamp("us", tz="Europe/Paris")),
        "time": of(whole, pa.time32("s")),
        "duration": of(whole, pa.duration("ns")),
        "nothing": of(lambda n, rng: [None] * n, pa.null()),
        "list": of(lambda n, rng: [[v] * int(v % 3) for v in whole(n, rng)], pa.list_(pa.float64())),
        "record": of(lambda n, rng: [{"a": v} for v in whole(n, rng)], pa.struct({"a": pa.int64()})),
        "map": of(lambda n, rng: [[("a", v)] for v in whole(n, rng)], pa.map_(pa.string(), pa.int64())),
    }


def _with_gaps(values: list[Any], rng: np.random.Generator) -> list[Any]:
    share = rng.choice([0.0, 0.0, 0.0, 0.1, 1.0])
    return [None if rng.random() < share else value for value in values]


def _odd_table(rng: np.random.Generator) -> Any:
    """A table of odd names and types, mostly with numbers for the target."""
    import pyarrow as pa

    kinds, n = _odd_columns(), int(rng.choice([0, 1, 5, 30, 40]))
    width = int(rng.integers(1, 5))
    names = [NAMES[i] for i in rng.choice(len(NAMES), size=width, replace=rng.random() < 0.1)]
    columns = [kinds[str(rng.choice(list(kinds)))](n, rng) for _ in range(width)]
    if rng.random() < 0.8:
        names.append("y")
        columns.append(pa.array(rng.normal(size=n)))
    return pa.Table.from_arrays(columns, names=names)


# -- files ------------------------------------------------------------------------------------------------------------


def _written(table: Any, writer: str) -> bytes:
    """A table as the bytes of a file; without the columns that the format cannot hold."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    if writer == "xlsx":
        return _workbook(table)
    if writer.startswith("parquet"):
        plain = writer == "parquet plain"
        try:
            pq.write_table(
                table,
                buffer,
                compression="none" if plain else "zstd",
                use_dictionary=not plain,
                write_page_checksum=not plain,
                row_group_size=16,
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a type that Parquet has no word for
            return b"PAR1"
        return buffer.getvalue()
    options = pa.ipc.IpcWriteOptions(compression="zstd" if writer == "arrow zstd" else None)
    make = pa.ipc.new_stream if writer == "arrow stream" else pa.ipc.new_file
    with make(buffer, table.schema, options=options) as file:
        file.write_table(table, max_chunksize=16)
    return buffer.getvalue()


def _workbook(table: Any) -> bytes:
    import openpyxl

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet()
    for row in (table.column_names, *zip(*(_cells(column) for column in table.columns), strict=True)):
        sheet.append([_cell(value) for value in row])
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def _cells(column: Any) -> list[Any]:
    try:
        return column.to_pylist()
    except (ValueError, OverflowError):  # times that Python has no word for
        return [None] * len(column)


def _cell(value: Any) -> Any:
    """A value that a cell can hold."""
    if isinstance(value, str):
        return "".join(c for c in value if c.isprintable())[:32_000]
    plain = value is None or isinstance(value, bool | int | float | datetime.date | decimal.Decimal)
    if isinstance(value, datetime.datetime):
        return value.replace(tzinfo=None)
    return value if plain else str(value)


XML = (b"", b"<", b"&", b"&x;", b"1e999", b"-1", b"99999999999", b"XFD1048576", b"A0", b"nan", b"s", b"\0", b"0", b"'")


def _mutated_workbook(content: bytes, rng: np.random.Generator) -> bytes:
    """A workbook whose bytes, or those of one of its members, were changed."""
    if rng.random() < 0.3:
        return mutated_bytes(content, rng)
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    name = list(parts)[rng.integers(len(parts))]
    if rng.random() < 0.5:
        name = next(n for n in parts if n.startswith("xl/worksheets/"))
    text = parts[name]
    if rng.random() < 0.1:
        del parts[name]
    elif rng.random() < 0.3:
        parts[name] = mutated_bytes(text, rng)
    else:
        marks = [i for i, c in enumerate(text) if c in b'"<>']
        start, end = sorted(int(i) for i in rng.choice(marks, 2)) if len(marks) > 1 else (0, len(text))
        end = min(end, start + int(2 ** rng.uniform(0, 8)))
        parts[name] = text[: start + 1] + XML[rng.integers(len(XML))] + text[end:]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for n, c in parts.items():
            file.writestr(n, c)
    return buffer.getvalue()
