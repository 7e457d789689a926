"""Excel workbooks."""

import datetime
import zipfile

import pytest

from skmoe.tables import TableError, TableTransformer, open_table

pa = pytest.importorskip("pyarrow")


def test_without_openpyxl_the_extra_is_named(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "openpyxl", None)
    (tmp_path / "t.xlsx").touch()
    with pytest.raises(ImportError, match=r't\.xlsx: reading Excel files needs openpyxl: pip install "skmoe\[data\]"'):
        open_table(tmp_path / "t.xlsx")


def test_first_sheet_is_the_table(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([None, "size", "kind", "when", "ok", "y"])
    for i in range(30):
        day = datetime.datetime(2020, 1, 1) + datetime.timedelta(days=i)
        sheet.append([i + 1, None if i == 3 else i * 0.5, "ab"[i % 2], day, i % 3 == 0, i])
    book.create_sheet("more").append(["nothing"])
    book.save(tmp_path / "t.xlsx")
    table = open_table(tmp_path / "t.xlsx")
    encoder = TableTransformer().learn(table, "y")
    assert encoder.features == ["size", "kind=b", "when: days", "when: weekday", "ok"]
    assert "only the first sheet is read; there are others: more" in encoder.notes
    assert encoder.rows(table)[0].X.shape == (30, 5)


def test_empty_sheet_is_refused(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    openpyxl.Workbook().save(tmp_path / "t.xlsx")
    with pytest.raises(TableError, match=r"t\.xlsx: is empty"):
        open_table(tmp_path / "t.xlsx")


@pytest.fixture
def workbook(tmp_path):
    """A small workbook, and a function that writes it again with one of its members changed."""
    openpyxl = pytest.importorskip("openpyxl")
    book, path = openpyxl.Workbook(), tmp_path / "t.xlsx"
    for row in (["x", "y"], [1, 2], [3, 4]):
        book.active.append(row)
    book.save(path)

    def changed(change, member="xl/worksheets/sheet1.xml"):
        with zipfile.ZipFile(path) as file:
            parts = {name: file.read(name) for name in file.namelist()}
        parts[member] = change(parts[member])
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in parts.items():
                file.writestr(name, content)
        return path

    return changed


@pytest.mark.parametrize(
    "change",
    [lambda text: text[:-30], lambda text: text.replace(b'r="A2"', b'r="2A"'), lambda text: b"\0" + text],
    ids=["cut", "odd place", "no XML"],
)
def test_damaged_sheet_is_refused_in_a_sentence(workbook, change):
    words = r"t\.xlsx: is damaged, cut short or no Excel workbook \(.*\); write it again"
    with pytest.raises(TableError, match=words):
        open_table(workbook(change))


def test_file_that_is_no_workbook_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "t.xlsx").write_bytes(b"not a zip")
    with pytest.raises(TableError, match=r"t\.xlsx: is damaged, cut short or no Excel workbook"):
        open_table(tmp_path / "t.xlsx")


def test_row_numbers_of_a_sheet_are_not_believed(workbook):
    with pytest.raises(TableError, match="more than 1048576 rows"):
        open_table(workbook(lambda text: text.replace(b'<row r="3"', b'<row r="99999999999"')))


def test_size_that_a_sheet_claims_is_not_believed(workbook):
    path = workbook(lambda text: text.replace(b'ref="A1:B3"', b'ref="A1:XFD1048576"'))
    assert open_table(path).read().to_pydict() == {"x": [1.0, 3.0], "y": [2.0, 4.0]}


def test_workbook_that_unpacks_to_more_than_memory_is_refused(workbook, monkeypatch):
    path = workbook(lambda text: text + b" " * 2**22)
    monkeypatch.setattr("skmoe.arrays.memory.available_bytes", lambda: 2.0**22)
    with pytest.raises(TableError, match=r"t\.xlsx: the workbook needs about .* of memory.*save the sheet as CSV"):
        open_table(path)


def test_sheet_wider_than_memory_is_refused(workbook, monkeypatch):
    path = workbook(lambda text: text.replace(b'r="B2"', b'r="XFD2"'))
    monkeypatch.setattr("skmoe.arrays.memory.available_bytes", lambda: 200_000.0)
    with pytest.raises(TableError, match=r"a sheet of 16384 columns needs about"):
        open_table(path)
