"""Rows outside the range of the fit are counted, whatever holds them."""

import numpy as np
import pytest

import skmoe
from skmoe import MoERegressor, make_moe
from skmoe.inference import Outside, rows_outside
from skmoe.tables import EncodedTable, TableEncoder
from skmoe.tables.columns import Column


@pytest.fixture(scope="module")
def table():
    return make_moe(500, 3, 2, random_state=0)[:2]


@pytest.fixture(scope="module")
def model(table):
    return MoERegressor(2, random_state=0).fit(*table)


def finding(model, *rows):
    return next(f for question, f, _ in model.diagnose(*rows).rows if question == "fitted range")


def moved(X):
    """Rows of which three lie outside: one by x0, one by x2, one by both."""
    new = X[:100].copy()
    new[5, 0] = X[:, 0].max() + 1e-9
    new[50, 2] = X[:, 2].min() - 1
    new[70, [0, 2]] = 1e6
    return new


def test_range_is_that_of_the_rows(table, model):
    X, _ = table
    np.testing.assert_array_equal(model.history_["inputs"]["low"], X.min(axis=0))
    np.testing.assert_array_equal(model.history_["inputs"]["high"], X.max(axis=0))


def test_rows_of_the_fit_lie_inside(table, model):
    assert rows_outside(model, table[0]) == Outside(500, 0, {})
    assert finding(model, *table) == "all of 500 rows lie inside the fitted range"


def test_rows_outside_are_counted_by_input(xp, table, model):
    new = xp.asarray(moved(table[0]))
    assert rows_outside(model, new) == Outside(100, 3, {"x0": 2, "x2": 2})


def test_diagnosis_needs_no_outputs_to_count_rows_outside(table, model):
    new = moved(table[0])
    assert finding(model, new) == "3 of 100 rows lie outside the fitted range (x0 2, x2 2)"
    assert "calibration" not in [row[0] for row in model.diagnose(new).rows]
    words = next(words for question, _, words in model.diagnose(new).rows if question == "fitted range")
    assert "extrapolations" in words


def test_many_inputs_are_not_all_named():
    text = str(Outside(10, 9, {f"c{i}": 9 - i for i in range(8)}))
    assert text == "9 of 10 rows lie outside the fitted range (c0 9, c1 8, c2 7, c3 6, c4 5, 3 more inputs)"


def test_counts_of_blocks_add_up(table, model):
    new = moved(table[0])
    assert rows_outside(model, new[:60]) + rows_outside(model, new[60:]) == rows_outside(model, new)


def test_rows_without_weight_have_no_range(table):
    X, y = table
    far = X.copy()
    far[:10] = 1e3
    weight = np.ones(500)
    weight[:10] = 0
    model = MoERegressor(2, random_state=0).fit(far, y, sample_weight=weight)
    np.testing.assert_array_equal(model.history_["inputs"]["high"], X[10:].max(axis=0))


def test_rows_of_a_file_are_counted(table, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, y = table
    names = ["a", "b", "c"]

    def write(name, rows, **more):
        columns = dict(zip(names, rows.T, strict=True)) | more
        parquet.write_table(pa.table(columns), tmp_path / name, row_group_size=70)
        return tmp_path / name

    fitted = MoERegressor(2, random_state=0).fit(write("rows.parquet", X, y=y), "y")
    np.testing.assert_array_equal(fitted.history_["inputs"]["low"], X.min(axis=0))
    found = finding(fitted, write("new.parquet", moved(X)))
    assert found == "3 of 100 rows lie outside the fitted range (a 2, c 2)"


def test_rows_of_a_table_with_text_are_counted(rng):
    encoder = TableEncoder("y", (Column("kind", "category", ("a", "b", "c")), Column("size", "number")))

    def encoded(kind, size):
        return EncodedTable(np.column_stack([kind == 1, kind == 2, size]), encoder.features, encoder)

    kind, size = rng.integers(0, 3, size=200), rng.uniform(0, 1, size=200)
    model = MoERegressor(1).fit(encoded(kind, size), kind + size + 0.1 * rng.standard_normal(200))
    new = encoded(np.array([0, 1, 2, 0]), np.array([0.5, 2.0, -1.0, 0.4]))
    assert finding(model, new) == "2 of 4 rows lie outside the fitted range (size 2)"


def test_dask_partitions_have_one_range(table):
    da = pytest.importorskip("dask.array")
    X, y = table
    model = MoERegressor(2, random_state=0).fit(da.from_array(X, chunks=(120, 3)), da.from_array(y, chunks=120))
    np.testing.assert_array_equal(model.history_["inputs"]["high"], X.max(axis=0))
    assert finding(model, da.from_array(moved(X), chunks=(30, 3))).startswith("3 of 100 rows lie outside")


def test_range_is_saved(table, model, tmp_path):
    model.save(tmp_path / "m.skmoe")
    assert rows_outside(skmoe.load(tmp_path / "m.skmoe"), moved(table[0])) == rows_outside(model, moved(table[0]))
