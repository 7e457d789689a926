"""Files written whole or not at all, and tables of the kind that a file's name says."""

from __future__ import annotations

import gzip
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from skmoe.rows.formats import TEXT, kind_of_file
from skmoe.rows.table_errors import TableError, arrow

__all__ = ["replacing", "writing"]


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside `path` to write to, moved into its place at the end: what fails leaves nothing half-written."""
    path = Path(path).resolve()
    if path.exists() and not path.is_file():  # a pipe or a device is written to, never replaced
        yield path
        return
    # a name of its own for every caller, and the permissions of any new file; writers go by the suffix
    beside = path.with_name(f".skmoe-{secrets.token_hex(8)}{''.join(path.suffixes[-2:])[-20:]}")
    beside.touch(exist_ok=False)
    try:
        yield beside
        with open(beside, "rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def writing(path: str, schema: Any) -> Iterator[Any]:
    """A writer with ``write_batch``, of the kind that the file's name says; "-" is CSV on standard output."""
    pa, kind = arrow(), kind_of_file(path)
    if kind == "excel":
        raise TableError(f"{path}: Excel files are read, not written; name a .csv or .parquet file")
    if kind in TEXT:
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
