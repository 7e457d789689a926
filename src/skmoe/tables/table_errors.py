"""Errors of tables that cannot be used: one line that begins with the name of the table."""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.visible import visible

__all__ = ["BINARY", "TableError", "arrow", "check_unique", "damaged", "named_after"]


BINARY = {"arrow": "Arrow file", "parquet": "Parquet file"}
"""Kinds of files that no one writes by hand: one that cannot be read is damaged."""
RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)")
"""Message of pyarrow on a row of a text file that has more or fewer cells than the header."""


class TableError(ValueError):
    """A table that cannot be used; the message says why, and what to do."""


def arrow() -> Any:
    """Import pyarrow, or raise with how to install it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError('reading tables needs pyarrow: pip install "skmoe[data]"') from error
    return pyarrow


def check_unique(where: str, names: Sequence[str]) -> None:
    """Refuse a table with two columns of one name."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise TableError(f"{where}: column {twice[0]!r} is there more than once; give every column its own name")


def damaged(where: str, kind: str, error: Exception) -> TableError:
    """Return the error for a file that a library cannot read."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    if "duplicate field names" in text:
        return TableError(f"{where}: a column is there more than once; give every column its own name")
    return TableError(f"{where}: is damaged, cut short or no {kind} ({visible(text)}); write it again")


@contextmanager
def named_after(where: str, kind: str = "") -> Iterator[None]:
    """Turn errors of reading into a `TableError` that names the file, of a kind of `BINARY` or of any."""
    try:
        yield
    except (TableError, FileNotFoundError):
        raise
    except UnicodeDecodeError as error:
        raise TableError(Advised(f"{where}: the text is not UTF-8", Advice.ENCODING)) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{where}: the gzip file is damaged or cut short ({error})") from error
    except MemoryError as error:
        if kind not in BINARY:
            raise
        raise TableError(
            f"{where}: asks for more memory than there is ({error}); it is damaged, or its row groups are too large: "
            "write it again"
        ) from error
    except (ValueError, OSError, KeyError, NotImplementedError) as error:  # pyarrow's errors are kinds of these
        if kind in BINARY and getattr(error, "errno", None) is None:
            raise damaged(where, BINARY[kind], error) from error
        text = str(error).splitlines()[0] if str(error) else type(error).__name__
        if "zlib" in text or "Truncated compressed stream" in text:
            raise TableError(f"{where}: the gzip file is damaged or cut short ({text})") from error
        if "invalid UTF8" in text:
            raise TableError(Advised(f"{where}: the text is not UTF-8", Advice.ENCODING)) from error
        raise TableError(_reworded(where, text)) from error


def _reworded(where: str, text: str) -> str:
    """Turn a message of pyarrow on a text file into one for its writer."""
    ragged = RAGGED.search(text)
    if ragged:
        row, expected, got = ragged.groups()
        which = "a row" if row is None else f"row {row}"
        return Advised(f"{where}: {which} has {got} cells and the header {expected}", Advice.RAGGED)
    if "straddl" in text:
        return (
            f"{where}: it has no rows, or one that is too long to be one; close its quotes, or end rows with a new line"
        )
    return f"{where}: cannot be read ({visible(text)})"
