"""Tables written by the kind that a name says, and files that are whole or not there."""

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from skmoe.tables import TableError, open_table
from skmoe.tables.writing import prove_writable, replacing, writing

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    "name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t.parquet", "t.pq", "t.arrow", "t.feather", "t.ipc"]
)
def test_what_is_written_is_read(tmp_path, name):
    path = str(tmp_path / name)
    batch = pa.record_batch({"a": pa.array([1.5, None, 3.0]), "b": pa.array([1.0, 2.0, 3.0])})
    with writing(path, batch.schema) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch)
    table = open_table(path)
    assert table.read().to_pydict() == {"a": [1.5, None, 3.0] * 2, "b": [1.0, 2.0, 3.0] * 2}
    parts = pa.Table.from_batches(table.batches(["a"], {"a": pa.float64()}))
    assert parts.to_pydict() == {"a": [1.5, None, 3.0] * 2}


@pytest.mark.parametrize(
    ("values", "lines"),
    [
        (pa.array([1.5, None, 3.0]), ['"a"', "1.5", '""', "3"]),
        (pa.array(["x", None, 'say "y", z']), ['"a"', '"x"', '""', '"say ""y"", z"']),
    ],
    ids=["numbers", "labels"],
)
def test_rows_without_a_value_are_rows_of_a_lone_column(tmp_path, values, lines):
    path, batch = tmp_path / "t.csv", pa.record_batch({"a": values})
    with writing(str(path), batch.schema) as writer:
        writer.write_batch(batch)
    assert path.read_text().splitlines() == lines
    pandas = pytest.importorskip("pandas")
    for column in (open_table(path).read()["a"].to_pylist(), pandas.read_csv(path)["a"].tolist()):
        assert [None if v != v or v in (None, "") else v for v in column] == values.to_pylist()


def test_unknown_kind_of_output_is_refused_before_anything_is_written(tmp_path):
    with (
        pytest.raises(TableError, match=r"t\.doc: .*must end in one of"),
        writing(str(tmp_path / "t.doc"), pa.schema({"a": pa.float64()})),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_standard_output_is_csv():
    code = (
        "import pyarrow as pa; from skmoe.tables.writing import writing\n"
        "batch = pa.record_batch({'a': [1.5, None], 'b': [2.0, 3.5]})\n"
        "with writing('-', batch.schema) as writer: writer.write_batch(batch)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == '"a","b"\n1.5,2\n,3.5\n'


def test_failure_leaves_the_old_file_and_nothing_beside_it(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("before")

    def fail():
        with replacing(path) as beside:
            beside.write_text("half")
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space"):
        fail()
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["out.txt"]


def test_replaced_file_has_the_permissions_of_any_new_file(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "umask")  # it is the whole process's: changed for a moment, other threads see it
    with replacing(tmp_path / "replaced.csv") as beside:
        assert beside.suffix == ".csv"  # writers go by the name
        beside.write_text("x")
    (tmp_path / "plain.csv").write_text("x")
    replaced, plain = ((tmp_path / name).stat().st_mode for name in ("replaced.csv", "plain.csv"))
    assert stat.filemode(replaced) == stat.filemode(plain)


def test_link_is_followed_and_kept(tmp_path):
    (tmp_path / "target.txt").write_text("before")
    (tmp_path / "link.txt").symlink_to("target.txt")
    with replacing(tmp_path / "link.txt") as beside:
        beside.write_text("after")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "target.txt").read_text() == "after"


def test_writers_at_once_leave_the_file_of_one_of_them(tmp_path):
    path = tmp_path / "out.txt"
    texts = [letter * 200_000 for letter in "abcd"]

    def write(text):
        for _ in range(10):
            with replacing(path) as beside:
                beside.write_text(text)
            assert path.read_text() in texts

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, texts))
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="no devices")
def test_device_is_written_to_and_not_replaced():
    with replacing("/dev/null") as place:
        place.write_text("gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


# -- places proven before long work -----------------------------------------------------------------------------------


def refused(path, **how):
    with pytest.raises(ValueError, match=r"^--out: .*(cannot be written to|is a directory|no directory)") as caught:
        prove_writable(path, "--out", **how)
    return str(caught.value)


def test_place_that_can_be_written_is_left_as_it_was(tmp_path):
    path = tmp_path / ("x" * 240 + ".skmoe")
    prove_writable(path, "--out")
    assert list(tmp_path.iterdir()) == []
    path.write_text("before")
    prove_writable(path, "--out")
    assert path.read_text() == "before"
    assert len(list(tmp_path.iterdir())) == 1
    with replacing(path) as beside:  # a name of 250 characters is no obstacle to a name beside it
        beside.write_text("after")
    assert path.read_text() == "after"


def test_place_that_cannot_be_written_is_refused(tmp_path):
    assert "is a directory" in refused(tmp_path)
    assert "there is no directory" in refused(tmp_path / "none" / "m.skmoe")
    assert "File name too long" in refused(tmp_path / ("x" * 256))
    (tmp_path / "loop").symlink_to(tmp_path / "pool")
    (tmp_path / "pool").symlink_to(tmp_path / "loop")
    assert "loop" in refused(tmp_path / "loop")
    assert "\x1b" not in refused(tmp_path / "\x1b[31m" / "m.skmoe")
    assert {p.name for p in tmp_path.iterdir()} == {"loop", "pool"}


@pytest.mark.skipif(not os.path.isdir("/sys/kernel"), reason="no folder that even its owner cannot write to")
def test_writable_name_in_an_unwritable_folder_is_refused():
    refused("/sys/kernel/m.skmoe")


def test_place_without_room_is_refused_and_left_empty(tmp_path):
    code = (
        "import resource, sys; from skmoe.tables.writing import prove_writable\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2**16, 2**16))\n"
        "prove_writable(sys.argv[1], '--out')"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "m"], capture_output=True, text=True, check=False)
    assert "ValueError: --out: " in done.stderr
    assert "cannot be written to (File too large)" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_pipe_and_device_pass(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "pipe", "/dev/null"):
        prove_writable(place, "--out")
