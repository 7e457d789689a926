"""Tables opened: read at once, in batches, and as columns of numbers."""

import gc
import resource
import struct
import time

import numpy as np
import pytest

from skmoe.arrays.blocks import in_memory, sum_over_blocks, take_rows
from skmoe.tables import TableError, open_table
from skmoe.tables.files import BATCH_ROWS
from skmoe.tables.writing import writing

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module", params=["csv", "parquet", "arrow"])
def long(request, tmp_path_factory):
    """A file of more rows than come at once."""
    path, n = str(tmp_path_factory.mktemp("long") / f"rows.{request.param}"), 2 * BATCH_ROWS + 5
    with writing(path, pa.schema({"a": pa.float64(), "b": pa.float64()})) as writer:
        writer.write_batch(pa.record_batch({"a": np.arange(float(n)), "b": np.arange(n) % 7.0}))
    return path, n


def test_long_files_come_in_parts_in_order(long):
    path, n = long
    parts = [part["a"].to_numpy() for part in open_table(path).batches(["a"], {"a": pa.float64()})]
    assert len(parts) > 1
    assert max(map(len, parts)) < n
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(n))


def test_columns_have_a_shape_before_they_are_read_and_the_same_numbers_after(long):
    path, n = long
    table = open_table(path)
    X, y = table.columns(["b", "a"]), table.column("a")
    assert (X.shape, y.shape, len(y)) == ((n, 2), (n,), n)
    X, y = in_memory(X, y)
    np.testing.assert_array_equal(X, np.column_stack([np.arange(n) % 7, np.arange(n)]))
    np.testing.assert_array_equal(y, np.arange(n))


def test_taken_rows_are_those_asked_for(long):
    path, n = long
    table = open_table(path)
    index = np.array([0, 5, BATCH_ROWS - 1, BATCH_ROWS, n - 1])
    X, nothing, y = take_rows((table.columns(["b"]), None, table.column("a")), index)
    np.testing.assert_array_equal(y, index)
    np.testing.assert_array_equal(X[:, 0], index % 7)
    assert nothing is None


def test_sums_of_a_file_are_those_of_its_rows(long):
    path, n = long
    table = open_table(path)
    kernel = lambda x, t: (x.T @ t, t.sum())  # noqa: E731
    product, total = sum_over_blocks(kernel, table.columns(["b"]), table.column("a"), block_rows=500)
    assert total == n * (n - 1) / 2
    np.testing.assert_allclose(product, [np.arange(n) % 7 @ np.arange(n)], rtol=1e-12)


def test_float32_integers_and_booleans_are_numbers():
    table = open_table(
        pa.table({"a": pa.array([1.5, 2.5], "float32"), "b": pa.array([1, 2], "int64"), "c": [True, False]})
    )
    (X,) = in_memory(table.columns(["c", "a", "b"]))
    np.testing.assert_array_equal(X, [[1, 1.5, 1], [0, 2.5, 2]])


def test_missing_numbers_are_nan():
    table = open_table(pa.table({"a": pa.array([1, None]), "b": pa.array([None, True])}))
    (X,) = in_memory(table.columns(["a", "b"]))
    np.testing.assert_array_equal(X, [[1, np.nan], [np.nan, 1]])


def test_columns_that_nobody_asked_for_do_not_matter(tmp_path):
    # the first megabyte lets "b" look like numbers; a reader that guessed would stumble over its last line
    (tmp_path / "t.csv").write_text("b,a\n" + "1,2\n" * 400_000 + "text,2\n")
    table = open_table(tmp_path / "t.csv")
    for types in (None, {"a": pa.float64()}):
        assert sum(part.num_rows for part in table.batches(["a"], types)) == 400_001


def test_empty_line_of_a_single_column_is_a_row(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n\n3\n")
    table = open_table(tmp_path / "t.csv")
    parts = pa.Table.from_batches(table.batches(["a"], {"a": pa.float64()}))
    assert parts["a"].to_pylist() == table.read()["a"].to_pylist() == [1.0, None, 3.0]
    assert table.n == 3


def test_arrow_streams_are_read_too(tmp_path):
    table = pa.table({"a": [1.0, 2.0]})
    with pa.OSFile(str(tmp_path / "s.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert open_table(tmp_path / "s.arrow").read() == table


def test_chosen_columns_are_the_table(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c\n1,2,3\n4,5,6\n")
    table = open_table(tmp_path / "t.csv")
    some = open_table(table, ["c", "a"])
    assert some.names == ["c", "a"]
    assert some.read().to_pydict() == {"c": [3, 6], "a": [1, 4]}
    assert table.names == ["a", "b", "c"]
    with pytest.raises(TableError, match=r"has no column 'd', 'e'; it has a, b, c$"):
        open_table(table, ["a", "d", "e"])
    with pytest.raises(TableError, match="leaves no columns"):
        open_table(table, [])


def test_text_is_no_column_of_numbers():
    table = open_table(pa.table({"a": [1.0], "town": ["x"]}))
    with pytest.raises(TableError, match="column 'town' of the table holds string, not numbers"):
        table.columns(["a", "town"])


def test_same_name_twice_is_refused():
    with pytest.raises(TableError, match="'x' is there more than once"):
        open_table(pa.table([[1.0], [2.0]], names=["x", "x"]))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_same_name_twice_in_a_file_is_said_as_such(tmp_path, kind):
    path, table = str(tmp_path / f"rows.{kind}"), pa.table([[1.0], [2.0]], names=["x", "x"])
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(TableError, match="is there more than once; give every column its own name"):
        open_table(path)


def test_names_of_wide_tables_are_looked_up_in_time():
    """Each name against each other would take minutes."""
    names = [f"column {i}" for i in range(100_000)]
    begin = time.process_time()
    table = open_table(pa.table([pa.array([1.0])] * len(names), names=names))
    table.check_names(names)
    assert time.process_time() - begin < 10


def test_file_that_grew_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    column = open_table(path).column("a")
    path.write_text("a,b\n1,2\n3,4\n5,6\n")
    with pytest.raises(TableError, match="has 3 rows now and had 2 when it was opened"):
        sum_over_blocks(lambda x: (x.sum(),), column, block_rows=10)


def test_damaged_part_of_a_file_is_refused_with_its_name(tmp_path):
    path = tmp_path / "rows.parquet"
    numbers = np.random.default_rng(0).standard_normal(50_000)
    pq.write_table(pa.table({"a": numbers, "b": numbers}), path, row_group_size=10_000, write_page_checksum=True)
    raw = bytearray(path.read_bytes())
    middle = len(raw) // 2
    raw[middle : middle + 64] = bytes(64)
    path.write_bytes(raw)
    table = open_table(path)
    assert table.n == 50_000
    for use in (lambda: in_memory(table.columns(["a", "b"])), table.read):
        with pytest.raises(TableError, match=r"rows\.parquet: is damaged"):
            use()


def test_rows_of_a_pipe_go_when_the_table_does(monkeypatch, tmp_path):
    import io
    import sys
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n3,4\n")))
    column = open_table("-").column("b")
    gc.collect()
    np.testing.assert_array_equal(in_memory(column)[0], [2, 4])
    assert len(list(tmp_path.iterdir())) == 1
    del column
    gc.collect()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("way", ["read", "cells"])
def test_arrow_file_that_names_places_outside_of_itself_is_refused(way, tmp_path):
    table = pa.table({"kind": ["first", "second", "third"], "y": [1.0, 2.0, 3.0]})
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as file:
        file.write_table(table)
    offsets = struct.pack("<4i", 0, 5, 11, 16)  # of the three texts
    content = (tmp_path / "t.arrow").read_bytes()
    assert content.count(offsets) == 1
    (tmp_path / "t.arrow").write_bytes(content.replace(offsets, struct.pack("<4i", 0, 5, 2**30, 2**30 + 5)))
    opened = open_table(tmp_path / "t.arrow")
    with pytest.raises(TableError, match=r"t\.arrow: is damaged, cut short or no Arrow file \(.*\); write it again"):
        opened.read() if way == "read" else list(opened.cells(["kind"]))


def test_binary_file_that_asks_for_all_memory_is_refused(tmp_path, monkeypatch):
    pa.parquet.write_table(pa.table({"y": [1.0]}), tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet")

    def asks(*_):
        raise pa.ArrowMemoryError("malloc of size 7017279348371710848 failed")

    monkeypatch.setattr(type(table), "_scans", asks)
    with pytest.raises(TableError, match=r"t\.parquet: asks for more memory than there is \(malloc .*write it again"):
        list(table.cells(["y"]))


def test_size_that_a_parquet_page_claims_is_not_believed(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(
        pa.table({"kind": ["first", "second", "third"] * 10}), path, compression="zstd", use_dictionary=False
    )
    content = bytearray(path.read_bytes())
    # its first page begins after the mark PAR1: type, then sizes of the page unpacked and packed, as thrift writes them
    assert content[4:6] == b"\x15\x00"
    packed = content.index(b"\x15", 7) + 1
    end = next(i for i in range(packed, packed + 5) if content[i] < 128) + 1  # of a number in pieces of seven bits
    content[packed:end] = b"\xfe\xff\xff\xff\x07"  # 2**30 - 1
    path.write_bytes(content)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TableError, match=r"t\.parquet: is damaged"):
        list(open_table(path).cells(["kind"]))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB
