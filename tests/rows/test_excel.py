"""Excel workbooks."""

import datetime

import pytest

from skmoe.rows import TableEncoder, TableError, open_table

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
    encoder = TableEncoder.learn(table, "y")
    assert encoder.features == ["size", "kind=b", "when: days", "when: weekday", "ok"]
    assert "only the first sheet is read; there are others: more" in encoder.notes
    assert encoder.rows(table)[0].X.shape == (30, 5)


def test_empty_sheet_is_refused(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    openpyxl.Workbook().save(tmp_path / "t.xlsx")
    with pytest.raises(TableError, match=r"t\.xlsx: is empty"):
        open_table(tmp_path / "t.xlsx")
