"""Tables of text, numbers and gaps turned into numbers."""

import json
import tracemalloc

import numpy as np
import pytest

from skmoe.tables import TableEncoder, TableError, TableTransformer, open_table
from skmoe.tables.columns import Column

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

ROWS = "1,b,true,7,1\n,a,false,7,2\n3,b,true,7,4\n4,c,true,7,\n5,,false,7,8\n6,a,true,7,9\n"
TEXT = "x,kind,flag,same,y\n" + 2 * ROWS


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(TEXT)
    return open_table(tmp_path / "t.csv")


def test_categories_are_compared_with_the_first(table):
    encoder = TableTransformer(missing="impute").learn(table, "y")
    assert encoder.features == ["x", "x=missing", "kind=b", "flag"]  # c is only where the target is missing
    # median of 1, 3, 5, 6 for x; "a" and "b" are as frequent, and the first of them stands in
    expected = [[1, 0, 1, 1], [4, 1, 0, 0], [3, 0, 1, 1], [5, 0, 0, 0], [6, 0, 0, 1]]
    np.testing.assert_array_equal(encoder.rows(table)[0].X, 2 * expected)


def test_rows_that_lack_a_value_are_dropped_and_counted(table):
    encoder = TableTransformer(missing="drop").learn(table, "y")
    inputs, y, weight = encoder.rows(table)
    np.testing.assert_array_equal(y, 2 * [1, 4, 9])
    np.testing.assert_array_equal(inputs.X[:, 0], 2 * [1, 3, 6])
    assert inputs.names == encoder.features
    assert inputs.encoder is encoder
    assert weight is None
    assert (encoder.n_rows, encoder.n_used) == (12, 6)
    assert "2 of 12 rows have no target 'y' and were left out" in encoder.notes
    assert "rows that lack a value, by column: x 2, kind 2; 4 of 10 rows were dropped" in encoder.notes
    assert "column 'same' is the same in every row and was left out" in encoder.notes


def test_keep_says_which_rows_have_all_inputs(table):
    X, keep = TableTransformer(missing="drop").learn(table, "y").encode(table.read(), unseen="empty")
    np.testing.assert_array_equal(keep, 2 * [True, False, True, False, False, True])  # "c" was not learned from
    assert len(X) == 6


def test_batches_of_a_file_are_encoded_as_its_table(table):
    encoder = TableTransformer(missing="drop").learn(table, "y")
    X, keep = encoder.encode(table.read(), unseen="empty")
    batches = list(table.cells(encoder.names))
    assert sum(batch.num_rows for batch in batches) == 12
    encoded = [encoder.encode(batch, unseen="empty") for batch in batches]
    np.testing.assert_array_equal(np.concatenate([part for part, _ in encoded]), X)
    np.testing.assert_array_equal(np.concatenate([kept for _, kept in encoded]), keep)


def test_encoder_comes_back_from_plain_values(table):
    encoder = TableTransformer(drop=["flag"], missing="impute").learn(table, "y")
    again = TableEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert again == encoder
    with pytest.raises(TableError, match="damaged"):
        TableEncoder.from_json({"columns": [{"categories": []}], "dropped": []})


def test_weights_are_no_input(table):
    weighted = table.read().append_column("w", pa.array(2 * [1.0, 1, 2, 1, 1, 3]))
    encoder = TableTransformer(missing="drop").learn(weighted, "y", weights="w")
    assert "w" not in encoder.features
    np.testing.assert_array_equal(encoder.rows(weighted)[2], 2 * [1, 2, 3])


def test_named_columns_are_found_behind_their_inputs(table):
    encoder = TableTransformer(missing="impute").learn(table, "y")
    assert encoder.expand(["kind", "x"], "--gate-columns") == ["kind=b", "x", "x=missing"]
    with pytest.raises(TableError, match="--gate-columns: column 'same' was dropped"):
        encoder.expand(["same"], "--gate-columns")
    with pytest.raises(TableError, match="'age' is not among the inputs x, kind, flag"):
        encoder.expand(["age"], "--gate-columns")
    with pytest.raises(TableError, match="named twice"):
        encoder.expand(["x", "x"], "--gate-columns")


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
    encoder = TableTransformer(missing="impute").learn(table, "y")
    assert encoder.features == ["big", "price", "level=2", "gone"]
    X, _ = encoder.encode(table)
    np.testing.assert_array_equal(X[:, 1], [1.5, 2.5, 2.5, 4.5])
    np.testing.assert_array_equal(X[:, 3], [2.0, 1.0, 2.0, 3.0])  # NaN is a missing number
    assert "column 'nothing' holds no values and was left out" in encoder.notes


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"target": "price"}, "target: there is no column 'price'; the table has x, kind, flag, same, y"),
        ({"target": "kind"}, "target 'kind' must hold numbers; it holds text such as 'b'"),
        ({"target": "same"}, "target 'same' is 7 in every row"),
        ({"target": "y", "drop": ["y"]}, "drop: 'y' is the target"),
        ({"target": "y", "drop": ["v"]}, "drop: there is no column 'v'"),
        ({"target": "y", "weights": "v"}, "weights: there is no column 'v'"),
        ({"target": "y", "weights": "y"}, "weights: 'y' is the target"),
        ({"target": "y", "weights": "kind"}, "weights: column 'kind' must hold numbers"),
        ({"target": "y", "missing": "guess"}, "missing must be one of level, impute, drop, error; got 'guess'"),
        ({"target": "y", "missing": "error"}, "missing values: x 2, kind 2; mend them"),
        ({"target": "y", "drop": ["x", "kind", "flag"]}, "no column is left as an input"),
    ],
)
def test_requests_that_cannot_be_met_are_refused(table, how, words):
    how = dict(how)
    target, weights = how.pop("target"), how.pop("weights", None)
    with pytest.raises(TableError, match=words):
        TableTransformer(**how).learn(table, target, weights=weights)


def test_table_that_lacks_a_column_is_refused(table):
    encoder = TableTransformer().learn(table, "y")
    with pytest.raises(TableError, match="column 'kind', which the model needs, is not in the table"):
        encoder.encode(table.read().drop_columns(["kind"]))


def test_inputs_that_would_share_a_name_are_refused():
    columns = (Column("a", "category", ("b", "c")), Column("a=c", "number"))
    with pytest.raises(TableError, match="share a name"):
        TableEncoder("y", columns)


def test_rows_in_memory_are_held_once(tmp_path):
    n = 2**18
    columns = {f"x{i}": np.arange(n) % (7.0 + i) for i in range(6)}
    columns |= {"kind": np.where(np.arange(n) % 3 == 0, "a", "b"), "y": np.arange(n) * 1.0}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=2**14)
    table = open_table(tmp_path / "rows.parquet")
    encoder = TableTransformer().learn(table, "y")
    tracemalloc.start()
    X, y, _ = encoder.rows(table)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    numbers = X.X.nbytes + y.nbytes
    assert numbers == 8 * n * 8
    assert held < 1.05 * numbers
    assert peak < 1.5 * numbers
