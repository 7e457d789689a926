"""Files of tables: their kinds, and opening each.

pyarrow reads CSV and TSV (gzipped too), Parquet and Arrow, one file or a folder of them; openpyxl reads Excel's.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.visible import visible
from skmoe.tables.dialect import Dialect, Reading, find_dialect, find_encoding
from skmoe.tables.excel import read_excel
from skmoe.tables.table_errors import TableError, arrow, check_unique, named_after
from skmoe.tables.text_files import UTF8, as_utf8, text_dataset, text_format, wide_type

__all__ = ["TEXT", "Source", "find_source", "kind_of_file"]

KINDS = {
    ".csv": "csv",
    ".txt": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "excel",
    ".xlsm": "excel",
}
TEXT = ("csv", "tsv")  # kinds that may be gzipped as well
SMALL_FILE = 2**26  # bytes of Parquet files whose columns are read whole
ARROW = b"ARROW1"  # first bytes of an Arrow file; a stream has others


def kind_of_file(path: str | os.PathLike[str]) -> str:
    """Return the kind of a table file by its name: "csv", "tsv", "parquet", "arrow" or "excel"; "-" is CSV."""
    kind = "csv" if path == "-" else _kind(path)
    if kind is None:
        known = ", ".join([*KINDS, ".csv.gz", ".tsv.gz"])
        raise TableError(f"{path}: the name does not say what kind of table this is; it must end in one of {known}")
    return kind


def _kind(path: str | os.PathLike[str]) -> str | None:
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    zipped = suffixes[-1:] == [".gz"]
    kind = KINDS.get("".join(suffixes[-2:-1] if zipped else suffixes[-1:]))
    return None if zipped and kind not in TEXT else kind


INDEX = "__index_level_0__"  # the name that pandas gives an index without a name in Parquet and Arrow files


@dataclass(frozen=True)
class Source:
    """Source of a table: its name for messages, its kind and files, and the pyarrow dataset over them."""

    where: str
    kind: str  # empty for tables of pyarrow
    paths: tuple[Path, ...]
    dataset: Any
    dialect: Dialect | None = None  # of text
    nameless: tuple[str, ...] = ()  # columns that the file has no name for
    notes: tuple[str, ...] = ()  # on the dialect that was found
    copy: Any = None  # temporary folder of copies, deleted with this record


class _Folder:
    """A temporary folder, deleted with this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="skmoe-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


def find_source(source: Any, asked: Reading) -> Source:
    """Open a path, "-" for standard input, or a table or dataset of pyarrow; no row is read yet."""
    arrow()
    if isinstance(source, str | os.PathLike):
        where = "standard input" if source == "-" else visible(str(source))
        with named_after(where):
            found = _from_path(source, where, asked)
    else:
        import pyarrow.dataset as ds

        where = "the table"
        with named_after(where):
            found = Source(where, "", (), source if isinstance(source, ds.Dataset) else ds.dataset(source))
    check_unique(where, found.dataset.schema.names)
    return found


def _from_path(source: str | os.PathLike[str], where: str, asked: Reading) -> Source:
    path = Path(source)
    if source == "-" or path.is_fifo():  # a pipe cannot be read twice: it is copied to disk
        copy = _Folder()
        return _from_text(where, "csv", [_copied(source, copy.path / "input.csv")], asked, copy)
    if path.is_dir():
        paths = sorted(p for p in path.rglob("*") if p.is_file() and p.name[0] not in "._")
        kind = _kind_of_folder(where, paths)
    else:
        kind, paths = kind_of_file(path), [path]
        if not path.exists():
            raise FileNotFoundError(f"{where}: there is no such file")
    if kind in TEXT:
        return _from_text(where, kind, paths, asked, None)
    if kind == "excel":
        return _from_excel(where, paths)
    with named_after(where, kind):
        dataset = _dataset(kind, [str(p) for p in paths])
    return Source(where, kind, tuple(paths), dataset, nameless=(INDEX,) if INDEX in dataset.schema.names else ())


def _from_excel(where: str, paths: Sequence[Path]) -> Source:
    import pyarrow.dataset as ds

    if len(paths) > 1:
        raise TableError(f"{where}: this folder holds {len(paths)} Excel files; name one of them")
    table, nameless, notes = read_excel(where, paths[0])
    check_unique(where, table.column_names)
    return Source(where, "excel", (), ds.dataset(table), nameless=nameless, notes=tuple(notes))


def _from_text(where: str, kind: str, paths: list[Path], asked: Reading, copy: _Folder | None) -> Source:
    """Open text files of one dialect; those in another encoding are copied into UTF-8 first."""
    import pyarrow.dataset as ds

    notes = []
    for i, place in enumerate(paths):
        encoding = asked.encoding or find_encoding(where, place)
        if encoding not in UTF8:
            copy = copy or _Folder()
            folder = copy.path / f"part-{i}"
            folder.mkdir()
            paths[i] = as_utf8(where, place, encoding, folder)
            if asked.encoding is None and i == 0:
                name = {"cp1252": "Latin-1 (cp1252)", "latin-1": "Latin-1"}.get(encoding, encoding.upper())
                notes.append(Advised(f"the text is not UTF-8 and was read as {name}", Advice.FOUND_ENCODING))
    dialect = find_dialect(where, paths[0], kind, asked)
    check_unique(where, dialect.names)
    places, how = [str(p) for p in paths], text_format(dialect)
    # a column that looks whole, or empty, in the first block may hold decimals further down
    types = {f.name: wide_type(f.type) for f in ds.dataset(places, format=how).schema}
    dataset = text_dataset(places, how, types)
    return Source(where, kind, tuple(paths), dataset, dialect, dialect.nameless, (*notes, *dialect.notes), copy)


def _kind_of_folder(where: str, paths: Sequence[Path]) -> str:
    kinds = {_kind(p) for p in paths}
    if not kinds:
        found = "no files"
    elif None in kinds:
        found = "files that are no tables"
    elif len(kinds) > 1:
        found = f"files of {len(kinds)} kinds"
    else:
        return kind_of_file(paths[0])
    raise TableError(f"{where}: this folder holds {found}; a table is one file, or a folder of one kind")


def _copied(source: str | os.PathLike[str], place: Path) -> Path:
    with open(place, "wb") as target, nullcontext(sys.stdin.buffer) if source == "-" else open(source, "rb") as pipe:
        shutil.copyfileobj(pipe, target)
    return place


def _dataset(kind: str, places: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.dataset as ds

    if kind == "parquet":
        options = ds.ParquetFragmentScanOptions(
            page_checksum_verification=True,  # damage is found where the writer kept checksums
            pre_buffer=False,  # buffers are kept to the end of the file
            # memory stays low, but sizes that pages state are not checked
            use_buffered_stream=sum(os.path.getsize(place) for place in places) > SMALL_FILE,
        )
        return ds.dataset(places, format=ds.ParquetFileFormat(default_fragment_scan_options=options))
    try:
        return ds.dataset(places, format="ipc")
    except pa.ArrowInvalid:
        with open(places[0], "rb") as file:
            if file.read(len(ARROW)) == ARROW:
                raise
        # the other of Arrow's two formats, which datasets do not know
        return ds.dataset(pa.concat_tables([pa.ipc.open_stream(pa.memory_map(p)).read_all() for p in places]))
