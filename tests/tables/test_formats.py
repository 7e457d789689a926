"""Which files are tables, and what is said of those that cannot be read: the same words in Python and on a terminal."""

import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pytest

from skmoe import MoERegressor
from skmoe.tables import TableError, open_table
from skmoe.tables.formats import kind_of_file

pytest.importorskip("pyarrow")

TEXT = "x,z,y\n" + "".join(f"{i}.5,{i % 7},{i % 5}\n" for i in range(40))


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("rows.csv", "csv"),
        ("ROWS.CSV", "csv"),
        ("rows.2024.csv.gz", "csv"),
        ("rows.tsv", "tsv"),
        ("rows.tsv.gz", "tsv"),
        ("rows.parquet", "parquet"),
        ("rows.pq", "parquet"),
        ("rows.arrow", "arrow"),
        ("rows.feather", "arrow"),
        ("rows.ipc", "arrow"),
        ("rows.txt", "csv"),
        ("rows.xlsx", "excel"),
        ("-", "csv"),
    ],
)
def test_kind_of_file_follows_its_name(name, kind):
    assert kind_of_file(name) == kind


@pytest.mark.parametrize("name", ["rows.xls", "rows", "rows.gz", "rows.parquet.gz", ".csv"])
def test_unknown_kind_of_file_is_refused_with_those_there_are(name):
    with pytest.raises(TableError, match=r"must end in one of \.csv, .*\.parquet, .*\.tsv\.gz"):
        kind_of_file(name)


@pytest.mark.parametrize("use", [open_table, lambda path: MoERegressor(1).fit(path, "y")], ids=["open", "fit"])
@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("none.csv", None, FileNotFoundError, "there is no such file"),
        ("rows.xls", b"x,y\n1,2\n", TableError, "the name does not say what kind of table this is"),
        ("rows.csv", b"", TableError, "is empty"),
        ("rows.csv", b" \n\n", TableError, "is empty"),
        ("rows.csv", bytes(range(256)) * 20, TableError, "is not text"),
        ("rows.csv", b"x,x,y\n1,2,3\n4,5,6\n", TableError, "'x' is there more than once"),
        ("rows.csv", b"x,y\n1,2\n3\n", TableError, "row 3 has 1 cells and the header 2; mend it"),
        ("rows.csv", b"x,y", TableError, "it has no rows, or one that is too long"),
        ("rows.csv.gz", TEXT.encode(), TableError, "damaged or cut short"),
        ("rows.csv.gz", gzip.compress(TEXT.encode() * 50)[:-40], TableError, "damaged or cut short"),
        ("rows.parquet", b"PAR1 and nothing of use PAR1", TableError, "no Parquet file"),
        ("rows.arrow", b"ARROW1 and nothing of use", TableError, "no Arrow file"),
    ],
)
def test_file_that_is_no_table_is_refused_in_the_same_words(use, name, content, error, words, tmp_path):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error) as refused:
        use(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_long_file_that_was_cut_short_is_refused_however_it_is_read(tmp_path):
    numbers = np.random.default_rng(0).standard_normal((60_000, 2))
    text = "a,b\n" + "\n".join(f"{a},{b}" for a, b in numbers)
    path = tmp_path / "rows.csv.gz"
    path.write_bytes(gzip.compress(text.encode(), 1)[:-1000])
    uses = (lambda table: table.read(), lambda table: list(table.batches(["a"])), lambda table: table.n)
    for use in uses:  # a reader that is ahead of us may see it already when the table is opened
        with pytest.raises(TableError, match=r"rows\.csv\.gz: the gzip file is damaged or cut short"):
            use(open_table(path))


def test_folder_of_two_kinds_or_none_is_refused(tmp_path):
    with pytest.raises(TableError, match="holds no files"):
        open_table(tmp_path)
    (tmp_path / "a.csv").write_text(TEXT)
    (tmp_path / "b.tsv").write_text(TEXT)
    with pytest.raises(TableError, match="files of 2 kinds; a table is one file, or a folder of one kind"):
        open_table(tmp_path)
    (tmp_path / "notes.doc").touch()
    with pytest.raises(TableError, match="holds files that are no tables"):
        open_table(tmp_path)


def test_folder_is_read_in_the_order_of_its_names(tmp_path):
    for i, name in enumerate(("a.csv", "b.csv", "c/d.csv")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"x,y\n{i},1\n")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part.csv.crc").touch()
    table = open_table(tmp_path)
    assert table.read().to_pydict() == {"x": [0, 1, 2], "y": [1, 1, 1]}
    assert table.n == 3


def test_standard_input_is_csv(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    table = open_table("-")
    assert table.where == "standard input"
    for _ in range(2):  # it is kept, and can be read again
        assert table.read().num_rows == sum(batch.num_rows for batch in table.batches(["x"])) == table.n == 40


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_named_pipe_is_csv_read_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = subprocess.Popen([sys.executable, "-c", f"open({str(tmp_path / 'pipe')!r}, 'w').write({TEXT!r})"])
    table = open_table(tmp_path / "pipe")
    assert writer.wait(timeout=30) == 0
    assert table.n == table.read().num_rows == 40


@pytest.mark.parametrize("use", ["read", "fit"])
def test_column_that_looks_whole_at_first_may_hold_decimals_further_down(use, tmp_path):
    # a block of text is a megabyte: the types of the first one must not bind the next
    n = 300_000
    x = np.arange(float(n)) % 97
    x[-1000:] += 0.25
    gap = np.where(np.arange(n) < n - 1000, np.nan, np.arange(n) % 5)  # holds no values at first, then numbers
    y = np.arange(n) % 3 + 0.5 * x
    lines = (f"{a:g},{'' if np.isnan(b) else f'{b:g}'},{t:g}" for a, b, t in zip(x, gap, y, strict=True))
    path = tmp_path / "rows.csv"
    path.write_text("x,gap,y\n" + "\n".join(lines))
    if use == "read":
        table = open_table(path).read()
        np.testing.assert_array_equal(table["x"].to_numpy(), x)
        np.testing.assert_array_equal(table["gap"].to_numpy(), gap)
        np.testing.assert_array_equal(np.concatenate(list(_streamed(path, "gap"))), gap)
    else:
        np.testing.assert_array_equal(np.concatenate(list(_streamed(path, "x"))), x)
        model = MoERegressor(1, random_state=0).fit(open_table(path, ["x", "y"]), "y")
        slope, intercept = np.polyfit(x, y, 1)
        assert model.history_["rows"] == n
        np.testing.assert_allclose([model.expert_coef_[0, 0], model.expert_intercept_[0]], [slope, intercept])


def _streamed(path, name):
    column = open_table(path).column(name)
    return (chunk for (chunk,) in column.chunks((column,)))


@pytest.mark.parametrize("use", [open_table, lambda path: MoERegressor(1).fit(str(path), "y")], ids=["open", "fit"])
def test_without_pyarrow_the_extra_is_named(use, monkeypatch, tmp_path):
    (tmp_path / "x.csv").write_text(TEXT)
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "skmoe\[data\]"'):
        use(tmp_path / "x.csv")
