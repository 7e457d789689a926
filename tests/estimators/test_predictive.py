import numpy as np
import pytest
from scipy import stats

from skmoe import MoERegressor, Predictive, make_moe
from skmoe.arrays.namespaces import to_numpy

LEVELS = [0.05, 0.5, 0.8]


@pytest.fixture(scope="module")
def problem():
    X, y, _ = make_moe(600, 3, 2, noise_scale=0.3, random_state=1)
    return X, y, MoERegressor(2, n_init=2, random_state=0).fit(X, y)


def everything(law, y):
    return {
        "mean": law.mean(),
        "std": law.std(),
        "pdf": law.pdf(y),
        "logpdf": law.logpdf(y),
        "cdf": law.cdf(y),
        "crps": law.crps(y),
        "quantile": law.quantile(0.3),
        "quantiles": law.quantile(LEVELS),
        "interval": law.interval(0.8),
    }


def test_methods_of_the_model_are_those_of_its_distribution(problem):
    X, y, model = problem
    law = model.predictive(X)
    assert isinstance(law, Predictive)
    np.testing.assert_array_equal(law.mean(), model.predict(X))
    np.testing.assert_array_equal(law.interval(0.7), model.predict_interval(X, coverage=0.7))
    np.testing.assert_array_equal(law.logpdf(y), model.log_density(X, y))
    np.testing.assert_array_equal(law.sample(3), model.sample(X, random_state=3))


def test_results_agree_with_each_other(problem):
    X, y, model = problem
    law = model.predictive(X)
    np.testing.assert_allclose(law.pdf(y), np.exp(law.logpdf(y)))
    for i, level in enumerate(LEVELS):
        np.testing.assert_allclose(law.cdf(law.quantile(level)), level, rtol=1e-9)
        np.testing.assert_array_equal(law.quantile(LEVELS)[:, i], law.quantile(level))
    np.testing.assert_allclose(law.interval(0.9), law.quantile([0.05, 0.95]))
    P, means = model.gate_proba(X), model.expert_predict(X)
    spread = np.sum(P * (model.noise_scale_**2 + means**2), axis=1) - law.mean() ** 2
    np.testing.assert_allclose(law.std(), np.sqrt(spread), rtol=0.1)  # but for what held-out rows correct
    h = 1e-6
    np.testing.assert_allclose((law.cdf(y + h) - law.cdf(y - h)) / (2 * h), law.pdf(y), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("how", [{}, {"averaging": 3}, {"family": "student"}, {"calibration": None}], ids=str)
def test_crps_is_the_integral_of_squared_distances_to_the_output(problem, how):
    X, y, _ = problem
    model = MoERegressor(2, random_state=0, **how).fit(X[:200], y[:200])
    found = model.predictive(X[200:205]).crps(y[200:205])
    for i, (low, high) in enumerate(model.predictive(X[200:205]).quantile([1e-6, 1 - 1e-6])):
        below, above = (np.linspace(min(low, y[200 + i]), y[200 + i], 20001), np.linspace(y[200 + i], high, 20001))
        rows = model.predictive(np.broadcast_to(X[200 + i], (20001, 3)))
        expected = np.trapezoid(rows.cdf(below) ** 2, below) + np.trapezoid((1 - rows.cdf(above)) ** 2, above)
        assert found[i] == pytest.approx(expected, rel=1e-5)


def test_one_output_for_all_rows_is_the_same_as_repeating_it(problem):
    X, _, model = problem
    law = model.predictive(X)
    for method in (law.pdf, law.logpdf, law.cdf, law.crps):
        np.testing.assert_array_equal(method(0.4), method(np.full(len(X), 0.4)))


def test_draws_fall_evenly(problem):
    X, _, model = problem
    law = model.predictive(np.repeat(X, 5, axis=0))
    assert stats.kstest(law.cdf(law.sample(0)), "uniform").pvalue > 1e-3


def test_region_holds_its_share_and_is_no_longer_than_the_interval(problem):
    X, _, model = problem
    law = model.predictive(X)
    sets, (low, high) = law.region(0.8), law.interval(0.8).T
    assert len(sets) == len(X)
    assert np.all([np.sum(s[:, 1] - s[:, 0]) for s in sets] <= (high - low) * (1 + 1e-9))
    assert max(len(s) for s in sets) == 2
    content = sum(
        np.nan_to_num(law.cdf(_end(sets, j, 1)) - law.cdf(_end(sets, j, 0))) * [j < len(s) for s in sets]
        for j in range(2)
    )
    np.testing.assert_allclose(content, 0.8, atol=1e-8)


def _end(sets, j, side):
    return np.array([s[min(j, len(s) - 1), side] for s in sets])


# -- kinds of rows ----------------------------------------------------------------------------------------------------


def test_other_array_libraries_give_the_same(xp, problem):
    X, y, model = problem
    X, y = X[:50], y[:50]
    expected = everything(model.predictive(X), y)
    law = model.predictive(xp.asarray(X))
    for name, value in everything(law, xp.asarray(y)).items():
        assert type(value) is type(xp.asarray(X)), name
        np.testing.assert_allclose(to_numpy(value), expected[name], rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(np.concatenate(law.region()), np.concatenate(model.predictive(X).region()), rtol=1e-9)
    assert type(law.sample(0)) is type(xp.asarray(X))
    np.testing.assert_allclose(to_numpy(law.cdf(0.1)), model.predictive(X).cdf(0.1))


def test_dask_is_lazy_and_gives_the_same(problem):
    da = pytest.importorskip("dask.array")
    X, y, model = problem
    rows = da.from_array(X[:60], chunks=(25, 3))
    law, expected = model.predictive(rows), everything(model.predictive(X[:60]), y[:60])
    for name, value in everything(law, da.from_array(y[:60], chunks=25)).items():
        assert isinstance(value, da.Array), name
        np.testing.assert_allclose(value.compute(), expected[name], rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(
        np.concatenate(law.region()), np.concatenate(model.predictive(X[:60]).region()), rtol=1e-9
    )
    np.testing.assert_array_equal(law.sample(0), model.predictive(X[:60]).sample(0))
    np.testing.assert_allclose(law.cdf(0.1).compute(), model.predictive(X[:60]).cdf(0.1))


def test_files_give_the_same(problem, tmp_path):
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    X, y, _ = problem
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y})
    parquet.write_table(table, tmp_path / "rows.parquet")
    model = MoERegressor(2, n_init=2, random_state=0).fit(tmp_path / "rows.parquet", "y")
    law, there = model.predictive(tmp_path / "rows.parquet"), PlainRows(model, X)
    for name, value in everything(law, "y").items():
        np.testing.assert_allclose(value, everything(there.law, y)[name], rtol=1e-9, err_msg=name)
    np.testing.assert_allclose(law.cdf(0.1), there.law.cdf(0.1))
    np.testing.assert_allclose(np.concatenate(law.region()), np.concatenate(there.law.region()), rtol=1e-9)


class PlainRows:
    """The same rows as a table in memory with the names of the file's columns."""

    def __init__(self, model, X):
        pd = pytest.importorskip("pandas")
        self.law = model.predictive(pd.DataFrame(X, columns=list(model.feature_names_in_)))


def test_single_precision_in_single_precision_out(problem):
    X, _, model = problem
    law = model.predictive(X[:5].astype(np.float32))
    for value in (law.mean(), law.std(), law.quantile(0.2), law.interval(), law.sample(0)):
        assert value.dtype == np.float32


# -- held-out rows ----------------------------------------------------------------------------------------------------


def wrong_rows(rng, n):
    """Noise that grows with the inputs and has heavy tails: one expert of constant noise is wrong about it."""
    X = rng.standard_normal((n, 2))
    return X, X[:, 0] ** 2 + np.exp(X[:, 1]) * rng.standard_t(3, n)


@pytest.fixture(scope="module")
def wrong():
    X, y = wrong_rows(np.random.default_rng(0), 80)
    return MoERegressor(2, noise=0.2, calibration=None, n_init=1, max_iter=30, random_state=0).fit(X, y)


@pytest.mark.parametrize("kind", ["interval", "region"])
def test_held_out_rows_give_coverage_for_a_wrong_model(wrong, kind):
    coverage, m, rng, inside, uncalibrated = 0.8, 24, np.random.default_rng(1), [], []
    for _ in range(40):
        (X, y), held_out = wrong_rows(rng, 20), wrong_rows(rng, m)
        for law, found in ((wrong.predictive(X, held_out=held_out), inside), (wrong.predictive(X), uncalibrated)):
            sets = law.interval(coverage)[:, None, :] if kind == "interval" else law.region(coverage)
            found.append(np.mean([np.any((s[:, 0] <= t) & (t <= s[:, 1])) for s, t in zip(sets, y, strict=True)]))
    error = np.std(inside) / np.sqrt(len(inside))
    assert coverage - 3 * error <= np.mean(inside) <= coverage + 1 / (m + 1) + 3 * error
    assert np.mean(uncalibrated) < 0.6


@pytest.mark.parametrize("kind", ["interval", "region"])
def test_held_out_rows_are_inside_as_often_as_promised(wrong, kind):
    X, y = wrong_rows(np.random.default_rng(2), 39)
    law = wrong.predictive(X, held_out=(X, y))
    for coverage in (0.5, 0.9):
        sets = law.interval(coverage)[:, None, :] if kind == "interval" else law.region(coverage)
        inside = sum(bool(np.any((s[:, 0] <= t) & (t <= s[:, 1]))) for s, t in zip(sets, y, strict=True))
        assert inside == int(np.ceil(40 * coverage))


def test_too_few_held_out_rows_give_infinite_bounds(wrong):
    X, y = wrong_rows(np.random.default_rng(3), 9)
    enough, few = (wrong.predictive(X, held_out=(X[:n], y[:n])) for n in (9, 8))
    assert np.all(np.isfinite(enough.interval(0.9)))
    assert np.all(np.isinf(few.interval(0.9)))
    assert all(np.all(np.isfinite(s)) for s in enough.region(0.9))
    assert all(np.array_equal(s, [[-np.inf, np.inf]]) for s in few.region(0.9))


def test_held_out_rows_leave_the_density_alone(problem):
    X, y, model = problem
    plain, calibrated = model.predictive(X), model.predictive(X, held_out=(X[:100], y[:100]))
    np.testing.assert_array_equal(calibrated.quantile(0.2), plain.quantile(0.2))
    np.testing.assert_array_equal(calibrated.logpdf(y), plain.logpdf(y))


def test_held_out_rows_of_dask_give_the_same(problem):
    da = pytest.importorskip("dask.array")
    X, y, model = problem
    held_out = da.from_array(X[:50], chunks=(20, 3)), da.from_array(y[:50], chunks=20)
    np.testing.assert_allclose(
        model.predictive(X[:5], held_out=held_out).interval(),
        model.predictive(X[:5], held_out=(X[:50], y[:50])).interval(),
    )


# -- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coverage", [0, 1, -0.1, "0.9", None])
def test_impossible_coverage_is_refused(problem, coverage):
    X, _, model = problem
    for method in (model.predictive(X).interval, model.predictive(X).region):
        with pytest.raises(ValueError, match="coverage must be between 0 and 1"):
            method(coverage)


@pytest.mark.parametrize("level", [0.0, 1.0, [0.1, 1.2], [[0.5]]])
def test_impossible_levels_are_refused(problem, level):
    X, _, model = problem
    with pytest.raises(ValueError, match="levels must be between 0 and 1"):
        model.predictive(X).quantile(level)


def test_held_out_rows_must_be_a_pair(problem):
    X, _, model = problem
    with pytest.raises(ValueError, match="pair"):
        model.predictive(X, held_out=X)


def test_unfitted_models_have_no_distribution():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        MoERegressor().predictive(np.zeros((2, 2)))
