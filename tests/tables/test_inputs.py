"""Where rows come in: tables with names, encoded tables, and what is refused of them."""

import numpy as np
import pytest

from skmoe import MoERegressor, make_moe
from skmoe.tables import EncodedTable, TableEncoder, TableTransformer
from skmoe.tables.columns import Column
from skmoe.tables.inputs import weight_scale

pa = pytest.importorskip("pyarrow")

NAMES = ["mass", "age", "speed"]
FITTED = ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_", "covariance_")


@pytest.fixture(scope="module")
def arrays():
    X, y, _ = make_moe(500, 3, 2, random_state=1)
    return X, y


@pytest.fixture(scope="module")
def table(arrays):
    return pa.table(dict(zip(NAMES, arrays[0].T, strict=True)))


@pytest.fixture(scope="module")
def direct(arrays):
    return fitted(*arrays)


def fitted(X, y, weight=None):
    return MoERegressor(2, random_state=0).fit(X, y, sample_weight=weight)


def encoded(X, names=NAMES):
    return EncodedTable(X, list(names), TableEncoder("price", tuple(Column(name, "number") for name in names)))


def assert_equal(model, expected):
    for name in FITTED:
        np.testing.assert_array_equal(getattr(model, name), getattr(expected, name), err_msg=name)


# -- tables of pyarrow -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outputs", ["array", "list", "column", "arrow"])
def test_table_with_outputs_beside_it_is_fitted_as_its_array_with_the_names_kept(outputs, arrays, table, direct):
    X, y = arrays
    beside = {"array": y, "list": y.tolist(), "column": y[:, None], "arrow": pa.array(y)}[outputs]
    model = fitted(table, beside)
    assert_equal(model, direct)
    assert list(model.encoded_feature_names_) == NAMES
    assert not hasattr(direct, "feature_names_in_")
    assert model.encoder_ is None
    np.testing.assert_array_equal(model.predict(table), direct.predict(X))
    np.testing.assert_array_equal(model.log_density(table, y), direct.log_density(X, y))
    assert model.score(table, y) == direct.score(X, y)


def test_table_that_holds_its_outputs_is_fitted_as_its_array(arrays, table, direct):
    model = fitted(table.append_column("price", pa.array(arrays[1])), "price")
    assert_equal(model, direct)
    assert list(model.encoded_feature_names_) == NAMES


def test_columns_of_new_tables_are_found_by_name(arrays, table, direct):
    X, y = arrays
    model = fitted(table, y)
    other = table.select(NAMES[::-1]).append_column("town", pa.array(["x"] * len(y)))
    np.testing.assert_array_equal(model.predict(other), direct.predict(X))
    with pytest.raises(ValueError, match="the table has no column 'age'; it has mass, speed"):
        model.predict(table.drop_columns(["age"]))


@pytest.mark.parametrize("weights", ["counts", "fractions"])
def test_weights_beside_a_table_are_those_of_its_array(weights, arrays, table):
    X, y = arrays
    weight = np.random.default_rng(0).integers(0, 3, size=len(y)) * (1.0 if weights == "counts" else 0.37)
    expected = fitted(X, y, weight)
    held = table.append_column("price", pa.array(y)).append_column("w", pa.array(weight))
    for model in (fitted(table, y, weight), fitted(held, "price", "w"), fitted(encoded(X), y, weight)):
        for name in FITTED:
            np.testing.assert_allclose(getattr(model, name), getattr(expected, name), rtol=1e-9, err_msg=name)
        assert list(model.encoded_feature_names_) == NAMES
        assert model.history_["rows"] == expected.history_["rows"] == np.sum(weight > 0)


def test_outputs_that_do_not_fit_a_table_are_refused(arrays, table):
    y = arrays[1]
    with pytest.raises(ValueError, match="X has 500 rows and y has 3; they must match"):
        fitted(table, y[:3])
    with pytest.raises(ValueError, match="X has 500 rows and sample_weight has 2; they must match"):
        fitted(table, y, [1.0, 2.0])
    with pytest.raises(ValueError, match="no column 'prize'; it has mass, age, speed"):
        fitted(table, "prize")
    with pytest.raises(ValueError, match="y contains NaN, missing values or infinity"):
        fitted(table, np.where(np.arange(500) == 7, np.nan, y))
    with pytest.raises(ValueError, match="requires y to be passed"):
        fitted(table, None)


def test_files_take_the_names_of_columns_they_hold(arrays, table, tmp_path):
    from pyarrow import parquet

    parquet.write_table(table, tmp_path / "rows.parquet")
    with pytest.raises(TypeError, match=r"y must be the name of a column of .*rows\.parquet; got ndarray"):
        fitted(tmp_path / "rows.parquet", arrays[1])


def test_missing_value_and_text_are_refused_with_their_columns(arrays, table):
    y = arrays[1]
    holed = table.set_column(1, "age", pa.array([None, *table["age"].to_pylist()[1:]], "float64"))
    strict = MoERegressor(2, categorical=None, random_state=0)
    with pytest.raises(ValueError, match=r"missing values or infinity in columns \['age'\]"):
        strict.fit(holed, y)
    with pytest.raises(ValueError, match="column 'town' of the table holds string, not numbers"):
        strict.fit(table.append_column("town", pa.array(["x"] * 500)), y)


# -- encoded tables ----------------------------------------------------------------------------------------------------


def test_encoded_table_is_fitted_as_its_array_with_names_and_encoder_kept(arrays, direct):
    X, y = arrays
    rows = encoded(X)
    model = fitted(rows, y)
    assert_equal(model, direct)
    assert list(model.encoded_feature_names_) == NAMES
    assert model.encoder_ is rows.encoder
    np.testing.assert_array_equal(model.predict(rows), direct.predict(X))
    np.testing.assert_array_equal(model.predict_interval(rows), direct.predict_interval(X))
    assert model.score(rows, y) == direct.score(X, y)


def test_text_of_a_table_is_encoded_once_and_predicted_alike():
    rng = np.random.default_rng(0)
    kind, x = rng.choice(["brick", "wood"], size=200), rng.standard_normal(200)
    y = 2 * x + 3 * (kind == "wood") + 0.1 * rng.standard_normal(200)
    table = pa.table({"kind": kind, "x": x, "y": y})
    rows, outputs, weight = TableTransformer().learn(table, "y").rows(table)
    model = MoERegressor(1, random_state=0).fit(rows, outputs, sample_weight=weight)
    assert list(model.encoded_feature_names_) == ["kind=wood", "x"]
    new = model.encoder_.rows(table.slice(0, 5))[0]
    np.testing.assert_array_equal(model.predict(new), model.predict(rows)[:5])


def test_inputs_of_another_table_are_refused(arrays):
    X, y = arrays
    model = fitted(encoded(X), y)
    with pytest.raises(ValueError, match="inputs age, mass, speed; the model was fitted to mass, age, speed"):
        model.predict(encoded(X, ["age", "mass", "speed"]))
    nameless = fitted(X, y)
    with pytest.raises(ValueError, match="expecting 3 features"):
        nameless.predict(encoded(X[:, :2], NAMES[:2]))


def test_encoded_rows_that_cannot_be_used_are_refused(arrays):
    X, y = arrays
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"missing values or infinity in columns \['age'\]"):
        fitted(encoded(holed), y)
    with pytest.raises(ValueError, match="X has 500 rows and y has 499"):
        fitted(encoded(X), y[1:])


def test_fit_that_fails_leaves_no_model(arrays, table):
    X, y = arrays
    model = fitted(encoded(X), y)
    with pytest.raises(ValueError, match="no column 'prize'"):
        model.fit(table, "prize")
    with pytest.raises(ValueError, match="not fitted"):
        model.predict(X)


@pytest.mark.parametrize("refit", ["array", "frame", "table"])
def test_refit_to_numbers_forgets_the_columns_of_the_table_before(refit, arrays, table, tmp_path):
    import skmoe

    X, y = arrays
    model = fitted(encoded(X[:, :2], ["age", "kind=b"]), y)
    assert model.encoder_ is not None
    if refit == "frame":
        rows = pytest.importorskip("pandas").DataFrame(X, columns=NAMES)
    else:
        rows = {"array": X, "table": table}[refit]
    model.fit(rows, y)
    assert model.encoder_ is None
    model.save(tmp_path / "m.skmoe")
    again = skmoe.load(tmp_path / "m.skmoe")
    assert again.encoder_ is None
    assert list(getattr(again, "feature_names_in_", NAMES)) == NAMES
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))


# -- weights -----------------------------------------------------------------------------------------------------------


def test_whole_weights_count_rows_and_others_have_a_mean_of_one(rng):
    assert weight_scale(np.array([1.0, 2.0, 3.0])) == 1.0
    for factor in (1e-300, 0.3, 1e300):
        values = rng.uniform(0.1, 1.0, size=50) * factor
        assert np.mean(values * weight_scale(values)) == pytest.approx(1.0)
