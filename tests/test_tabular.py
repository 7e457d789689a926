import io
import sys

import numpy as np
import pytest

from skmoe.rows.encoder import Recipe
from skmoe.rows.files import TableError, batches, read, writing

pa = pytest.importorskip("pyarrow")

TEXT = "x,kind,flag,same,y\n1,b,true,7,1\n,a,false,7,2\n3,b,true,7,4\n4,c,true,7,\n5,,false,7,8\n6,a,true,7,9\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    return read(str(tmp_path / "t.csv"))


def test_categories_are_compared_with_the_first(table):
    recipe = Recipe.learn(table, "y", missing="impute")
    assert recipe.features == ["x", "kind=b", "flag"]  # c is only where the target is missing
    X, keep = recipe.apply(table.filter(pa.array([True, True, True, False, True, True])))
    assert keep.all()
    # median of 1, 3, 5, 6 for x; "a" and "b" are as frequent, and the first of them stands in
    np.testing.assert_array_equal(X, [[1, 1, 1], [4, 0, 0], [3, 1, 1], [5, 0, 0], [6, 0, 1]])


def test_rows_that_lack_a_value_are_dropped_and_counted(table):
    recipe = Recipe.learn(table, "y")
    X, y, weight = recipe.rows(table)
    np.testing.assert_array_equal(y, [1, 4, 9])
    np.testing.assert_array_equal(X[:, 0], [1, 3, 6])
    assert weight is None
    assert "missing values: y 1, x 1, kind 1" in recipe.notes
    assert "3 of 6 rows lack a value and were dropped" in recipe.notes
    assert "column 'same' is the same in every row and was dropped" in recipe.notes


def test_keep_says_which_rows_have_all_inputs(table):
    X, keep = Recipe.learn(table, "y").apply(table, unseen="empty")
    np.testing.assert_array_equal(keep, [True, False, True, False, False, True])  # "c" was not learned from
    assert len(X) == 3


def test_recipe_comes_back_from_plain_values(table):
    import json

    recipe = Recipe.learn(table, "y", drop=["flag"], missing="impute")
    again = Recipe.from_json(json.loads(json.dumps(recipe.to_json())))
    assert again == recipe
    with pytest.raises(TableError, match="damaged"):
        Recipe.from_json({"columns": [{"categories": []}], "dropped": []})


def test_weights_are_no_input(table):
    weighted = table.append_column("w", pa.array([1.0, 1, 2, 1, 1, 3]))
    recipe = Recipe.learn(weighted, "y", weights="w")
    assert "w" not in recipe.features
    np.testing.assert_array_equal(recipe.rows(weighted)[2], [1, 2, 3])


def test_named_columns_are_found_behind_their_inputs(table):
    recipe = Recipe.learn(table, "y", missing="impute")
    assert recipe.expand(["kind", "x"], "--gate-columns") == [1, 0]
    with pytest.raises(TableError, match="was dropped"):
        recipe.expand(["same"], "--gate-columns")


def test_fifty_categories_are_the_most():
    def made(n):
        kinds = [f"k{i % n}" for i in range(200)]
        return pa.table({"kind": kinds, "y": np.arange(200.0)})

    assert len(Recipe.learn(made(50), "y").features) == 49
    with pytest.raises(TableError, match="51 different values"):
        Recipe.learn(made(51), "y")


def test_types_of_other_formats_are_understood():
    from decimal import Decimal

    table = pa.table(
        {
            "big": pa.array([2**60, 2, 3, 4]),
            "price": pa.array([Decimal("1.5"), Decimal("2.5"), None, Decimal("4.5")]),
            "level": pa.array([1, 2, 1, 2]).dictionary_encode(),
            "gone": pa.array([np.nan, 1.0, 2.0, 3.0]),
            "nothing": pa.nulls(4),
            "y": pa.array([1, 2, 3, 5]),
        }
    )
    recipe = Recipe.learn(table, "y", missing="impute")
    assert recipe.features == ["big", "price", "level=2", "gone"]
    X, _ = recipe.apply(table)
    np.testing.assert_array_equal(X[:, 1], [1.5, 2.5, 2.5, 4.5])
    np.testing.assert_array_equal(X[:, 3], [2.0, 1.0, 2.0, 3.0])  # NaN is a missing number
    assert "column 'nothing' holds no values and was dropped" in recipe.notes


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.gz", "t.parquet", "t.arrow", "t.feather"])
def test_what_is_written_is_read(tmp_path, name):
    path = str(tmp_path / name)
    batch = pa.record_batch({"a": pa.array([1.5, None, 3.0]), "b": pa.array([1.0, 2.0, 3.0])})
    with writing(path, batch.schema) as writer:
        writer.write_batch(batch)
        writer.write_batch(batch)
    assert read(path).to_pydict() == {"a": [1.5, None, 3.0] * 2, "b": [1.0, 2.0, 3.0] * 2}
    parts = list(batches(path, {"a": pa.float64()}))
    assert pa.concat_tables(parts).to_pydict() == {"a": [1.5, None, 3.0] * 2}


def test_arrow_streams_are_read_too(tmp_path):
    table = pa.table({"a": [1.0, 2.0]})
    with pa.OSFile(str(tmp_path / "s.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert read(str(tmp_path / "s.arrow")) == table


@pytest.mark.parametrize("name", ["long.csv", "long.parquet", "long.arrow"])
def test_long_files_come_in_parts_in_order(tmp_path, name):
    from skmoe.rows.files import BATCH_ROWS

    path, n = str(tmp_path / name), 2 * BATCH_ROWS + 5
    with writing(path, pa.schema({"a": pa.float64(), "b": pa.float64()})) as writer:
        writer.write_batch(pa.record_batch({"a": np.arange(float(n)), "b": np.zeros(n)}))
    parts = [part["a"].to_numpy() for part in batches(path, {"a": pa.float64()})]
    assert len(parts) > 1
    assert max(map(len, parts)) < n
    np.testing.assert_array_equal(np.concatenate(parts), np.arange(n))


def test_columns_that_nobody_asked_for_do_not_matter(tmp_path):
    # the first megabyte lets "b" look like numbers; a reader that guessed would stumble over its last line
    (tmp_path / "t.csv").write_text("b,a\n" + "1,2\n" * 400_000 + "text,2\n")
    parts = batches(str(tmp_path / "t.csv"), {"a": pa.float64()})
    assert sum(part.num_rows for part in parts) == 400_001


def test_empty_line_of_a_single_column_is_a_row(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n\n3\n")
    parts = batches(str(tmp_path / "t.csv"), {"a": pa.float64()})
    assert pa.concat_tables(parts)["a"].to_pylist() == [1.0, None, 3.0]


def test_standard_input_is_csv(monkeypatch):
    for _ in range(2):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
        assert read("-").num_rows == 6
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    assert sum(part.num_rows for part in batches("-", {"x": pa.float64()})) == 6


def test_without_pyarrow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"skmoe\[data\]"):
        read("t.csv")
