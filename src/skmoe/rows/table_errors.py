"""What is said when a table cannot be used: one line that begins with its name."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from skmoe.rows.visible import visible

__all__ = ["BINARY", "TableError", "arrow", "check_unique", "damaged", "listed", "named_after"]


BINARY = {"arrow": "Arrow file", "parquet": "Parquet file"}
"""Kinds of files that no one writes by hand: what cannot be read there is damaged."""


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
    return ", ".join(visible(str(name)) for name in names[:most]) + (
        f" and {len(names) - most} more" if len(names) > most else ""
    )


def check_unique(where: str, names: Sequence[str]) -> None:
    """Refuse a table with two columns of one name."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{where}: column {twice[0]!r} is there more than once; give every column its own name")


def damaged(where: str, kind: str, error: Exception) -> TableError:
    """What is said of a file that a library cannot make sense of."""
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return TableError(f"{where}: is damaged, cut short or no {kind} ({visible(text)}); write it again")


@contextmanager
def named_after(where: str, kind: str = "") -> Iterator[None]:
    """Whatever goes wrong in reading becomes a `TableError` that names the file, of a kind of `BINARY` or of any."""
    try:
        yield
    except (TableError, FileNotFoundError):
        raise
    except UnicodeDecodeError as error:
        raise TableError(f"{where}: the text is not UTF-8; name its encoding: --encoding latin-1") from error
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
            raise TableError(f"{where}: the text is not UTF-8; name its encoding: --encoding latin-1") from error
        raise TableError(f"{where}: cannot be read ({text})") from error
