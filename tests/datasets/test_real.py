"""The packaged real tables: the right rows, unchanged, in every form a caller may ask for."""

import sys
from importlib import resources

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from skmoe.datasets import load_airfoil, load_concrete, load_stock_portfolio, real

# loader, table, shape, R2 of ordinary least squares with an intercept
TABLES = [
    pytest.param(load_concrete, real.CONCRETE, (1030, 8), 0.615465, id="concrete"),
    pytest.param(load_airfoil, real.AIRFOIL, (1503, 5), 0.515710, id="airfoil"),
    pytest.param(load_stock_portfolio, real.STOCK_PORTFOLIO, (63, 6), 0.512844, id="stock_portfolio"),
]
each_table = pytest.mark.parametrize(("load", "table", "shape", "r2"), TABLES)


@each_table
def test_load_shapes_and_names(load, table, shape, r2):
    bunch = load()
    assert bunch.data.shape == shape
    assert bunch.target.shape == shape[:1]
    assert bunch.data.dtype == bunch.target.dtype == np.float64
    assert len(bunch.feature_names) == shape[1]
    assert bunch.target_name not in bunch.feature_names
    assert bunch.frame is None


@each_table
def test_load_no_missing_values(load, table, shape, r2):
    X, y = load(return_X_y=True)
    assert np.all(np.isfinite(X))
    assert np.all(np.isfinite(y))


@each_table
def test_load_pair_matches_bunch(load, table, shape, r2):
    bunch = load()
    X, y = load(return_X_y=True)
    np.testing.assert_array_equal(X, bunch.data)
    np.testing.assert_array_equal(y, bunch.target)


@each_table
def test_load_gives_fresh_arrays(load, table, shape, r2):
    X, y = load(return_X_y=True)
    X[:], y[:] = 0, 0
    again = load()
    assert np.any(again.data)
    assert np.any(again.target)


@each_table
def test_load_least_squares_r2_as_recorded(load, table, shape, r2):
    X, y = load(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    assert LinearRegression().fit(X, y).score(X, y) == pytest.approx(r2, abs=1e-6)


@each_table
def test_description_has_licence_columns_and_checksum(load, table, shape, r2):
    bunch = load()
    for word in ["CC BY 4.0", "UCI", "Cite:", table.sha256, bunch.target_name, *bunch.feature_names]:
        assert word in bunch.DESCR
    assert bunch.DESCR.count("SHA-256") == 2  # this table's section and no other


@each_table
def test_packaged_file_is_found(load, table, shape, r2):
    folder = resources.files("skmoe.datasets") / "data"
    assert (folder / f"{table.name}.csv").is_file()
    assert (folder / "README.md").is_file()


@each_table
def test_read_table_refuses_changed_file(load, table, shape, r2, monkeypatch):
    content = real._packaged(f"{table.name}.csv")
    monkeypatch.setattr(real, "_packaged", lambda name: content[:-2] + b"0\n")
    with pytest.raises(ValueError, match=rf"{table.name}\.csv has SHA-256 .* expected {table.sha256}"):
        load()


def test_concrete_known_values():
    concrete = load_concrete()
    np.testing.assert_array_equal(concrete.data[0], [540, 0, 0, 162, 2.5, 1040, 676, 28])
    np.testing.assert_array_equal(concrete.data[-1], [260.9, 100.5, 78.3, 200.6, 8.6, 864.5, 761.5, 28])
    assert concrete.target[0] == 79.98611076
    assert concrete.target[-1] == 32.401235144
    assert concrete.target.mean() == pytest.approx(35.817836, abs=1e-6)


def test_airfoil_known_values():
    airfoil = load_airfoil()
    np.testing.assert_array_equal(airfoil.data[0], [800, 0, 0.3048, 71.3, 0.00266337])
    np.testing.assert_array_equal(airfoil.data[-1], [6300, 15.6, 0.1016, 39.6, 0.0528487])
    assert airfoil.target[0] == 126.201
    assert airfoil.target[-1] == 104.204
    assert (airfoil.target.min(), airfoil.target.max()) == (103.38, 140.987)


def test_stock_portfolio_known_values():
    stock = load_stock_portfolio()
    np.testing.assert_array_equal(stock.data[:6], np.eye(6))
    np.testing.assert_array_equal(stock.data[-1], np.full(6, 0.167))
    np.testing.assert_allclose(stock.data.sum(axis=1), 1, atol=0.0021)
    assert stock.target_name == "excess_return"
    assert (stock.target[0], stock.target[6], stock.target[-1]) == (0.01, 0.026, 0.022)


def test_stock_portfolio_outcomes_are_the_other_eleven():
    stock = load_stock_portfolio()
    assert len(stock.outcomes) == 11
    assert "excess_return" not in stock.outcomes
    assert stock.outcomes["annual_return"][0] == 0.139
    assert stock.outcomes["systematic_risk"][0] == 1.33
    for name, values in stock.outcomes.items():
        plain = stock.target if name == "excess_return_normalized" else stock.outcomes[name.removesuffix("_normalized")]
        assert np.corrcoef(values, plain)[0, 1] > 0.999
        if name.endswith("_normalized"):
            assert (values.min(), values.max()) == pytest.approx((0.2, 0.8))


def test_other_tables_have_no_outcomes():
    assert "outcomes" not in load_concrete()
    assert "outcomes" not in load_airfoil()


@each_table
def test_as_frame_matches_arrays(load, table, shape, r2):
    pandas = pytest.importorskip("pandas")
    framed, plain = load(as_frame=True), load()
    assert isinstance(framed.data, pandas.DataFrame)
    assert isinstance(framed.target, pandas.Series)
    assert list(framed.data.columns) == framed.feature_names
    np.testing.assert_array_equal(framed.data.to_numpy(), plain.data)
    np.testing.assert_array_equal(framed.target.to_numpy(), plain.target)
    for name in plain.get("outcomes", {}):
        np.testing.assert_array_equal(framed.outcomes[name], plain.outcomes[name])


def test_as_frame_without_pandas_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"as_frame=True needs pandas.*pip install pandas"):
        load_concrete(as_frame=True)
