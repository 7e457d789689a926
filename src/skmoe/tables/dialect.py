"""Find the dialect of a text file: its encoding, separator, decimal mark and header."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from skmoe.arrays.advice import Advice, Advised
from skmoe.tables.table_errors import TableError

__all__ = ["Dialect", "Reading", "bytes_of", "find_dialect", "find_encoding"]

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
HEAD_BYTES = 2**18  # of a file, by which separator and decimal mark are found
CHUNK_BYTES = 2**22
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Reading:
    """Dialect of a text file as the caller gives it; None is found from the file."""

    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None

    def __post_init__(self) -> None:
        separator = self.separator
        if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in '\0\r\n"'):
            raise TableError(f"separator must be one character, such as ';' or a tab; got {separator!r}")
        if self.decimal not in (None, ".", ","):
            raise TableError(f"decimal must be '.' or ','; got {self.decimal!r}")
        if self.encoding is not None:
            try:
                "".encode(self.encoding)  # other than `codecs.lookup`, it knows only encodings of text
            except (LookupError, ValueError) as error:
                raise TableError(
                    f"encoding: {self.encoding!r} is unknown; try utf-8, latin-1, cp1252 or utf-16"
                ) from error
        if self.separator is not None and self.separator == self.decimal:
            raise TableError(f"separator and decimal mark cannot both be {self.decimal!r}")


@dataclass(frozen=True)
class Dialect:
    """Dialect of a text file, with notes for its reader."""

    separator: str
    decimal: str
    names: tuple[str, ...]
    nameless: tuple[str, ...] = ()  # columns that were given a name, since the file has none for them
    notes: tuple[str, ...] = ()


def bytes_of(place: Path) -> IO[bytes]:
    """Open a file for reading, unpacked where it is gzipped."""
    return gzip.open(place) if place.suffix.lower() == ".gz" else open(place, "rb")  # type: ignore[return-value]


def find_encoding(where: str, place: Path) -> str:
    """Find the encoding of a text file: by its byte order mark, else UTF-8, UTF-16, or Windows' Latin-1."""
    with bytes_of(place) as stream:
        head = stream.read(4096)
        for mark, name in BYTE_ORDER_MARKS:
            if head.startswith(mark):
                return name
        if not head.strip(b" \t\r\n\0"):
            raise TableError(f"{where}: is empty; a header and rows are needed")
        if b"\0" in head:
            even, odd = head[::2].count(0), head[1::2].count(0)
            if max(even, odd) < len(head) // 4 or min(even, odd) > len(head) // 20:
                raise TableError(f"{where}: is not text; a table is CSV, Parquet, Arrow or Excel")
            return "utf-16-le" if odd > even else "utf-16-be"
        decoder, found, chunk = codecs.getincrementaldecoder("utf-8")(), "utf-8", head
        undefined = bytes((0x81, 0x8D, 0x8F, 0x90, 0x9D))  # bytes that Windows' Latin-1 leaves open
        while chunk:
            if found == "utf-8":
                try:
                    decoder.decode(chunk)
                except UnicodeDecodeError:
                    found = "cp1252"
            if found == "cp1252" and any(byte in chunk for byte in undefined):
                return "latin-1"
            chunk = stream.read(CHUNK_BYTES)
    return found


def find_dialect(where: str, place: Path, kind: str, asked: Reading) -> Dialect:
    """Find separator, decimal mark and names of the columns of a file in UTF-8.

    Parameters
    ----------
    where : str
        The table's name, for messages.
    place : Path
        The file.
    kind : {"csv", "tsv"}
        Its kind by its name.
    asked : Reading
        What the caller gives.

    Returns
    -------
    Dialect
        The dialect; `notes` are on what differs from the name of the file.
    """
    with bytes_of(place) as stream:
        raw = stream.read(HEAD_BYTES)
    text = raw.decode("utf-8-sig", errors="ignore")
    if not text.strip():
        raise TableError(f"{where}: is empty; a header and rows are needed")
    whole = len(raw) < HEAD_BYTES
    usual = "\t" if kind == "tsv" else ","
    separator = asked.separator or _separator(text, whole, usual)
    rows = _rows(text, separator, whole)
    decimal = asked.decimal or _decimal(rows[1:], separator)
    notes = []
    if separator != usual and asked.separator is None:
        notes.append(Advised(f"cells are split by {SEPARATORS[separator]}", Advice.SEPARATOR))
    if decimal == "," and asked.decimal is None:
        notes.append(Advised("numbers have decimal commas", Advice.DECIMAL))
    header = rows[0]
    _refuse_lines_before_the_header(where, rows)
    if len(rows) > 1 and all(len(row) == len(header) + 1 for row in rows[1:]):
        header = ["", *header]  # R leaves row names without a name
    names = [name.strip() for name in header]
    nameless = [i for i, name in enumerate(names) if not name]
    for i in nameless:
        names[i] = f"column {i + 1}"
    return Dialect(separator, decimal, tuple(names), tuple(names[i] for i in nameless), tuple(notes))


def _rows(text: str, separator: str, whole: bool) -> list[list[str]]:
    """Split a text into rows of cells; without the `whole` file the last row may be cut, and is left out."""
    csv.field_size_limit(HEAD_BYTES)
    rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if row]
    return rows if whole or len(rows) < 3 else rows[:-1]


def _refuse_lines_before_the_header(where: str, rows: list[list[str]]) -> None:
    """Refuse a first line of one cell above rows of several: it is a title."""
    wide = [len(row) for row in rows[1:] if len(row) > 1]
    if len(rows[0]) == 1 and len(wide) > 2 and wide.count(wide[-1]) > len(rows) // 2:
        raise TableError(
            f"{where}: the first line, {rows[0][0]!r}, has 1 cell and most others have {wide[-1]}; take out what "
            "stands before the names of the columns"
        )


def _separator(text: str, whole: bool, usual: str) -> str:
    """Find the character that splits every row into as many cells as the header has, and into the most.

    Blanks, which are in texts and dates too, count where no other does.
    """
    best, most = usual, 1
    for mark in (usual, *(mark for mark in SEPARATORS if mark != usual)):
        if mark == " " and most > 1:
            continue
        try:
            widths = [len(row) for row in _rows(text, mark, whole)]
        except csv.Error:
            continue
        same = sum(width == widths[0] for width in widths[1:])
        shifted = sum(width == widths[0] + 1 for width in widths[1:])
        if widths[0] > most and max(same, shifted) >= 0.9 * (len(widths) - 1):
            best, most = mark, widths[0]
    return best


COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+%?")
POINT = re.compile(r"[+-]?(\d+|\d{1,3}(,\d{3})+)\.\d+%?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


def _decimal(rows: list[list[str]], separator: str) -> str:
    """Find the decimal mark of most cells; between commas, a cell that may have a thousand separator is not counted."""
    commas = points = 0
    for row in rows:
        for cell in row:
            text = cell.strip()
            points += POINT.fullmatch(text) is not None
            unclear = separator == "," and THOUSANDS.fullmatch(text) is not None
            commas += not unclear and COMMA.fullmatch(text) is not None
    return "," if commas > points else "."
