"""Counts over exposures: predictive distributions, tables with text and gaps, rows read in blocks."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import skmoe
from skmoe import MoERegressor
from skmoe.tables import TableEncoder, TableTransformer
from skmoe.tables.output_columns import OutputColumns, OutputLayout


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X, days = rng.standard_normal((800, 2)), rng.uniform(1, 30, 800)
    rate = np.exp(np.where(X[:, 1] > 0, 0.8 * X[:, 0], 0.5 - 0.7 * X[:, 0]))
    return X, rng.poisson(days * rate).astype(float), days


@pytest.fixture(scope="module", params=["poisson", "negative-binomial"])
def model(rows, request):
    X, y, days = rows
    return MoERegressor(2, family=request.param, random_state=0).fit(X, np.column_stack([y, days]))


def test_distribution_over_an_exposure_is_the_mixture_of_its_laws(rows, model):
    X, y, days = rows
    law, mean = model.predictive(X, exposure=days), model.expert_predict(X) * days[:, None]
    if model.family_.name == "poisson":
        each = stats.poisson(mean)
    else:
        shape = 1 / model.parameters_.sigma**2
        each = stats.nbinom(shape, shape / (shape + mean))
    gate = model.gate_proba(X)
    assert_allclose(law.mean(), np.sum(gate * mean, axis=1))
    assert_allclose(law.pdf(y), np.sum(gate * each.pmf(y[:, None]), axis=1), rtol=1e-8)
    assert_allclose(law.cdf(y), np.sum(gate * each.cdf(y[:, None]), axis=1), rtol=1e-8)
    assert_allclose(law.logpdf(y), model.log_density(X, np.column_stack([y, days])), rtol=1e-8)
    low, high = law.interval(0.9).T
    assert 0.87 < np.mean((low <= y) & (y <= high)) < 0.97
    assert_allclose(model.predictive(X, exposure=1.0).mean(), model.predict(X))
    assert_array_equal(
        model.predictive(X[:5], exposure=7).sample(0), model.predictive(X[:5], exposure=[7.0] * 5).sample(0)
    )


def test_exposures_that_are_none_are_refused(rows, model):
    X, y, days = rows
    with pytest.raises(ValueError, match="exposure must hold positive numbers"):
        model.predictive(X, exposure=days - 5)
    with pytest.raises(ValueError, match="X has 800 rows and exposure has 799"):
        model.predictive(X, exposure=days[1:])
    with pytest.raises(ValueError, match="leave out one of them"):
        model.predictive(X, exposure=days, held_out=(X, y))
    plain = MoERegressor(1, family="poisson").fit(X, y)
    with pytest.raises(ValueError, match=r"this model has family='poisson' without"):
        plain.predictive(X, exposure=days)


def test_tables_with_text_and_gaps_take_outputs_of_two_columns(rows, tmp_path):
    X, y, days = rows
    town = np.where(np.arange(800) % 3, "Bern", "Oslo")
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "town": town})
    table.loc[:9, "a"] = np.nan
    model = MoERegressor(2, family="poisson", random_state=0).fit(table, np.column_stack([y, days]))
    assert list(model.encoded_feature_names_) == ["a", "a=missing", "b", "town=Oslo"]
    model.save(tmp_path / "m.skmoe")
    loaded = skmoe.load(tmp_path / "m.skmoe")
    assert_allclose(loaded.predictive(table, exposure=days).mean(), days * model.predict(table))


def test_rows_read_in_blocks_give_the_same_fit(rows):
    pa = pytest.importorskip("pyarrow")
    X, y, days = rows
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "town": ["Bern", "Oslo"] * 400, "y": y, "days": days})
    output = OutputColumns(OutputLayout.EXPOSURE, ("days",))
    encoder = TableTransformer().learn(table, "y", output=output)
    assert encoder.features == ["a", "b", "town=Oslo"]
    assert TableEncoder.from_json(encoder.to_json()) == encoder
    held, streamed = encoder.rows(table), encoder.streamed(table)
    assert_array_equal(held[1], np.column_stack([y, days]))
    assert streamed[1].shape == (800, 2)
    fits = [MoERegressor(2, family="poisson", random_state=0).fit(*some) for some in (held, streamed)]
    assert_allclose(fits[1].expert_coef_, fits[0].expert_coef_, rtol=1e-5)


@pytest.mark.parametrize(
    ("layout", "beside", "expected"),
    [
        ("trials", ("n",), [[1.0, 4.0], [3.0, 0.0]]),
        ("censored", (1.0, None), [[-np.inf, 1.0], [3.0, 3.0]]),
        ("censored", (None, "n"), [[1.0, 1.0], [3.0, np.inf]]),
        ("truncated", (0.0, "n"), [[1.0, 0.0, 5.0], [3.0, 0.0, 3.0]]),
    ],
)
def test_outputs_are_laid_out_as_fits_take_them(layout, beside, expected):
    found = OutputColumns(layout, beside).laid_out(np.array([1.0, 3.0]), {"n": np.array([5.0, 3.0])})
    assert_array_equal(found, expected)


def test_layouts_that_are_none_are_refused():
    with pytest.raises(ValueError, match="one of exposure, trials, censored, truncated, as given; got 'offset'"):
        OutputColumns("offset", ("n",))
    with pytest.raises(ValueError, match="outputs with trials have 1 columns beside"):
        OutputColumns("trials", ("n", "m"))


def test_columns_of_a_file_with_text_are_taken_by_name(rows, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y, days = rows
    town = np.where(np.arange(800) % 3, "Bern", "Oslo")
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "town": town})
    pq.write_table(pa.table({**table, "y": y, "days": days}), tmp_path / "rows.parquet", row_group_size=300)
    both, names = np.column_stack([y, days]), ["y", "days"]
    model = MoERegressor(2, family="poisson", random_state=0).fit(tmp_path / "rows.parquet", names)
    plain = MoERegressor(2, family="poisson", random_state=0).fit(table, both)
    assert list(model.encoded_feature_names_) == ["a", "b", "town=Oslo"]
    assert_allclose(model.expert_coef_, plain.expert_coef_, rtol=1e-5)
    assert_allclose(model.log_density(tmp_path / "rows.parquet", names), plain.log_density(table, both), rtol=1e-5)
    with pytest.raises(TypeError, match=r"those of the fit, \['y', 'days'\]; got \['days', 'y'\]"):
        model.log_density(tmp_path / "rows.parquet", names[::-1])


def test_bounds_of_a_file_with_text_may_be_infinite(rows, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, noise = rows[0], np.random.default_rng(1).standard_normal(800)
    spend = 1 + X[:, 0] + 0.5 * noise
    low, high = np.where(spend < 0, -np.inf, spend), np.maximum(spend, 0)
    table = pd.DataFrame({"a": X[:, 0], "town": ["Bern", "Oslo"] * 400})
    pq.write_table(pa.table({**table, "low": low, "high": high}), tmp_path / "rows.parquet")
    model = MoERegressor(1, family="censored-gaussian").fit(tmp_path / "rows.parquet", ["low", "high"])
    plain = MoERegressor(1, family="censored-gaussian").fit(table, np.column_stack([low, high]))
    assert_allclose(model.expert_coef_, plain.expert_coef_, rtol=1e-5)
