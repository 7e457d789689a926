"""How text files are written: found by looking at them, said, and overruled."""

import gzip

import numpy as np
import pytest

from skmoe.tables import TableError, TableTransformer, open_table

pytest.importorskip("pyarrow")

COLUMNS = {"größe": [1.5, 2.25, 1234.5, 4.0], "ort": ["köln", "bonn", "köln", "bonn"], "y": [1.0, 2.0, 4.0, 9.0]}


def written(separator, decimal):
    lines = [separator.join(COLUMNS)]
    for size, place, y in zip(*COLUMNS.values(), strict=True):
        number = str(size).replace(".", decimal)
        cell = f'"{number}"' if separator == decimal else number
        lines.append(separator.join([cell, place, f"{y:g}"]))
    return "\n".join(lines) + "\n"


def learned(path, **how):
    table = open_table(path, **how)
    encoder = TableTransformer().learn(table, "y")
    return encoder, encoder.rows(table)[0].X


EXPECTED = [[1.5, 1], [2.25, 0], [1234.5, 1], [4.0, 0]]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    ("name", "separator", "decimal"),
    [("t.csv", ",", "."), ("t.csv", ";", ","), ("t.csv", "\t", ","), ("t.tsv", "|", "."), ("t.csv", ",", ",")],
)
def test_text_is_read_the_same_however_it_is_written(name, separator, decimal, encoding, tmp_path):
    (tmp_path / name).write_bytes(written(separator, decimal).encode(encoding))
    encoder, X = learned(tmp_path / name)
    assert encoder.features == ["größe", "ort=köln"]
    np.testing.assert_array_equal(X, EXPECTED)
    told = " ".join(encoder.notes)
    assert ("decimal commas" in told) == (decimal == ",")
    assert ("cells are split by" in told) == (separator != ("\t" if name.endswith("tsv") else ","))
    assert ("not UTF-8" in told) == (encoding not in ("utf-8", "utf-8-sig"))


def test_gzipped_text_is_looked_at_alike(tmp_path):
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(written(";", ",").encode("latin-1")))
    np.testing.assert_array_equal(learned(tmp_path / "t.csv.gz")[1], EXPECTED)


def test_what_is_found_can_be_overruled(tmp_path):
    (tmp_path / "t.csv").write_text("a;b;y\n1,500;x,y;1\n2,250;z,y;2\n")
    assert open_table(tmp_path / "t.csv").read()["a"].to_pylist() == [1.5, 2.25]
    table = open_table(tmp_path / "t.csv", decimal=".")
    assert TableTransformer().learn(table, "y").rows(table)[0].X[:, 0].tolist() == [1500, 2250]  # thousands
    (tmp_path / "s.csv").write_text("a;b,y\n1;2,1\n3;4,2\n")
    assert open_table(tmp_path / "s.csv", separator=";").names == ["a", "b,y"]
    assert open_table(tmp_path / "s.csv", separator=",").names == ["a;b", "y"]
    (tmp_path / "l.csv").write_bytes("ä,y\n1,2\n".encode("latin-1"))
    assert open_table(tmp_path / "l.csv", encoding="cp437").names[0] != "ä"
    with pytest.raises(TableError, match="cannot both be"):
        open_table(tmp_path / "t.csv", separator=",", decimal=",")


def test_text_in_another_encoding_far_down_is_found(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,y\n" + b"1,2\n" * 3_000_000 + "ü,3\n".encode("latin-1"))
    table = open_table(tmp_path / "t.csv")
    assert "Latin-1" in table.notes[0]


def test_names_are_what_the_header_says_without_blanks(tmp_path):
    (tmp_path / "t.csv").write_text('"a, b",c ,"say ""d""",y\n1,2,3,4\n')
    assert open_table(tmp_path / "t.csv").names == ["a, b", "c", 'say "d"', "y"]


@pytest.mark.parametrize("header", [",x,y", "x,y", '"","x","y"'])
def test_row_names_without_a_name_are_a_column(header, tmp_path):
    # R leaves the name out, with or without the comma; pandas writes the comma
    (tmp_path / "t.csv").write_text(header + "\n" + "".join(f"{i},{i % 3},{i % 5}\n" for i in range(1, 20)))
    table = open_table(tmp_path / "t.csv")
    assert (table.names, table.nameless) == (["column 1", "x", "y"], ("column 1",))
    encoder = TableTransformer().learn(table, "y")
    assert encoder.features == ["x"]
    assert "column 'column 1' numbers the rows and was left out" in encoder.notes


def test_blanks_split_cells_where_nothing_else_does(tmp_path):
    (tmp_path / "r.txt").write_text('"x" "kind" "y"\n"1" 2.5 "a b" 3\n"2" 3.5 "c" 4\n')  # as R's write.table has it
    table = open_table(tmp_path / "r.txt")
    assert any(note.startswith("cells are split by blanks; ") for note in table.notes)
    assert table.read()["kind"].to_pylist() == ["a b", "c"]
    (tmp_path / "t.csv").write_text("when,y\n2021-01-01 10:00 AM,3\n2021-01-02 11:00 AM,4\n")
    assert open_table(tmp_path / "t.csv").names == ["when", "y"]


def test_lines_before_the_header_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("Sales of 2023\n\nx,y\n" + "".join(f"{i},{i}\n" for i in range(9)))
    with pytest.raises(
        TableError, match=r"the first line, 'Sales of 2023', has 1 cell and most others have 2; take out"
    ):
        open_table(tmp_path / "t.csv")
