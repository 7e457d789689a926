"""The test of k experts against k + 1: its ratio, its p value, its level and power, and the rows it takes."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from skmoe import MoERegressor, make_moe
from skmoe.arrays.threads import threads_allowed
from skmoe.inference import ExpertsTest, likelihood_ratio
from skmoe.search import SearchConfig


@pytest.fixture(scope="module")
def two():
    X, y, _ = make_moe(300, 2, 2, noise_scale=0.2, random_state=1)
    return X, y


@pytest.fixture(scope="module")
def fitted(two):
    return MoERegressor(2, random_state=0).fit(*two)


def ask(model, X, y, draws=7, seed=0):
    return model.test_n_experts(X, y, n_bootstrap=draws, random_state=seed)


# -- the result -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ratio", "p"), [(0.5, 1.0), (3.0, 3 / 5), (3.5, 2 / 5), (9.0, 1 / 5)])
def test_p_value_counts_the_rows_themselves_and_ties(ratio, p):
    assert ExpertsTest(2, ratio, np.array([1.0, 2.0, 3.0, 4.0])).p_value == pytest.approx(p)


def test_result_tells_in_words_what_it_found():
    drawn = np.arange(1.0, 100.0)
    text = str(ExpertsTest(1, 200.0, drawn))
    assert "1 expert against 2" in text
    assert "the rows ask for more" in text
    assert "99 tables" in text
    assert "the rows do not ask for more" in repr(ExpertsTest(3, 10.0, drawn))
    assert dict(row[:2] for row in ExpertsTest(3, 10.0, drawn).summary().rows)["p value"] == pytest.approx(0.91)


# -- the ratio --------------------------------------------------------------------------------------------------------


def test_ratio_of_one_expert_is_that_of_least_squares_and_the_fit_with_two(two):
    X, y = two
    residual = y - LinearRegression().fit(X, y).predict(X)
    least_squares = -0.5 * len(y) * (np.log(2 * np.pi * np.mean(residual**2)) + 1)
    more = MoERegressor(2, penalty=0, calibration=None, random_state=0).fit(X, y).log_likelihood_
    test = ask(MoERegressor(1).fit(X, y), X, y)
    assert test.ratio == pytest.approx(2 * (more - least_squares), abs=0.1)
    assert test.p_value == 1 / 8


def test_batches_of_tables_do_not_matter(two, fitted, monkeypatch):
    together = ask(fitted, *two)
    assert np.all(together.bootstrap_ratios >= 0)
    monkeypatch.setattr(likelihood_ratio, "TABLES", 1)
    alone = ask(fitted, *two)
    assert alone.ratio == pytest.approx(together.ratio, rel=1e-6)
    np.testing.assert_allclose(alone.bootstrap_ratios, together.bootstrap_ratios, rtol=1e-3)


@pytest.mark.parametrize(
    ("tables", "n", "sizes"), [(99, 500, [20, 20, 19, 20, 20]), (3, 10**6, [1, 1, 1]), (1, 9, [1])]
)
def test_batches_are_of_about_one_size_and_smaller_for_many_rows(tables, n, sizes, monkeypatch):
    monkeypatch.setattr(likelihood_ratio, "MOST_DOUBLES", 2**22)
    found = [len(batch) for batch in likelihood_ratio._batches([None] * tables, n)]
    assert sorted(found) == sorted(sizes)


def test_units_do_not_matter(two, fitted):
    X, y = two
    other, z = X @ [[20.0, 1.0], [0.0, 0.01]] + [5.0, -3.0], 100 * y - 7
    test, expected = ask(MoERegressor(2, random_state=0).fit(other, z), other, z), ask(fitted, X, y)
    assert test.ratio == pytest.approx(expected.ratio, abs=0.1)
    # starts are drawn in standardised inputs, whose axes differ: most tables end at the same optimum, not all
    assert abs(np.median(test.bootstrap_ratios) - np.median(expected.bootstrap_ratios)) < 10


def test_penalty_and_method_of_the_model_do_not_matter(two, fitted):
    for settings in ({"penalty": 20.0}, {"method": "joint-em", "max_iter": 2000}):
        model = MoERegressor(2, random_state=0, **settings).fit(*two)
        assert ask(model, *two, draws=1).ratio == pytest.approx(ask(fitted, *two, draws=1).ratio, abs=0.1)


def test_fits_that_do_not_count_gain_nothing():
    """A tenth of the rows follows another law; the second expert that finds them has fewer than are asked for."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 1))
    y = np.where(np.arange(200) < 20, -3 * X[:, 0] + 4, X[:, 0]) + 0.1 * rng.standard_normal(200)
    model, config = MoERegressor(1).fit(X, y), SearchConfig()
    problem = likelihood_ratio._problem(model, X, y, config)
    near = problem.rows.map.from_parameters(model.parameters_)
    found = []
    for share in (0.005, 0.3):
        strict = replace(problem, settings=replace(problem.settings, least_share=share))
        rngs = [np.random.default_rng(0)]
        found.append(likelihood_ratio._ratios(strict, problem.rows.y[:, None], near, rngs, config)[0][0])
    assert found[0] > 100
    assert found[1] < found[0] / 2


# -- level and power --------------------------------------------------------------------------------------------------


def test_p_values_are_uniform_where_the_number_is_right():
    found, draws, tables = [], 19, 32
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((60, 1))
        y = X[:, 0] + rng.standard_normal(60)
        found.append(ask(MoERegressor(1).fit(X, y), X, y, draws, seed).p_value)
    levels = np.arange(1, draws + 2) / (draws + 1)
    assert abs(np.mean(found) - levels.mean()) < 3 * levels.std() / np.sqrt(tables)
    rejected = np.mean(np.array(found) <= 0.1)
    assert abs(rejected - 0.1) < 3 * np.sqrt(0.1 * 0.9 / tables)


def test_a_number_that_is_too_small_is_rejected():
    for seed in range(4):
        X, y, _ = make_moe(400, 2, 3, noise_scale=0.1, random_state=seed + 10)
        assert ask(MoERegressor(2, random_state=0).fit(X, y), X, y, 19, seed).p_value <= 0.1


# -- models and rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"noise": "shared"},
        {"noise": 0.2},
        {"fit_intercept": False},
        {"expert_features": [0], "gate_features": [1]},
        {"activation": "tanh"},
    ],
    ids=["shared noise", "known noise", "no intercept", "own columns", "tanh"],
)
def test_models_of_every_shape_are_tested(two, settings):
    model = MoERegressor(2, random_state=0, **settings).fit(*two)
    test = ask(model, *two, draws=3)
    assert np.isfinite(test.ratio)
    assert np.all(np.isfinite(test.bootstrap_ratios))
    assert test.n_experts == 2


def test_rows_of_every_kind_give_the_same(two, fitted, tmp_path):
    pd, torch = pytest.importorskip("pandas"), pytest.importorskip("torch", exc_type=ImportError)
    pytest.importorskip("pyarrow")
    X, y = two
    expected = ask(fitted, X, y, draws=3)
    frame = pd.DataFrame(X, columns=["a", "b"])
    named = MoERegressor(2, random_state=0).fit(frame, y)
    path = tmp_path / "rows.parquet"
    frame.assign(y=y).to_parquet(path)
    for model, rows, outputs in (
        (named, frame, y),
        (named, path, "y"),
        (fitted, torch.asarray(X), torch.asarray(y)),
    ):
        test = ask(model, rows, outputs, draws=3)
        assert test.ratio == pytest.approx(expected.ratio, rel=1e-5)
        np.testing.assert_allclose(test.bootstrap_ratios, expected.bootstrap_ratios, rtol=1e-3)


def test_many_streamed_rows_are_refused(two, tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = tmp_path / "rows.parquet"
    pd.DataFrame(two[0], columns=["a", "b"]).assign(y=two[1]).to_parquet(path)
    model = MoERegressor(1).fit(path, "y")
    monkeypatch.setattr(MoERegressor, "_search_config", SearchConfig().changed("rows", sample_rows=299))
    with pytest.raises(ValueError, match=r"300 rows, more than 299: hand in a sample"):
        ask(model, path, "y")


def test_bad_calls_are_refused(two, fitted):
    X, y = two
    with pytest.raises(NotFittedError):
        ask(MoERegressor(2), X, y)
    for draws in (0, 2.5, "many"):
        with pytest.raises(ValueError, match="n_bootstrap must be a whole number of at least 1"):
            ask(fitted, X, y, draws=draws)
    with pytest.raises(ValueError, match="y is None"):
        ask(fitted, X, None)
    with pytest.raises(ValueError, match="15 rows of 2 columns support 2"):
        ask(fitted, X[:15], y[:15])


def test_interruption_leaves_the_model_as_it_was(two, fitted, monkeypatch):
    calls, run_all, before = [], likelihood_ratio.run_all, vars(fitted).copy()

    def interrupted(*args, **how):
        calls.append(args)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return run_all(*args, **how)

    threads = threads_allowed()
    monkeypatch.setattr(likelihood_ratio, "run_all", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ask(fitted, *two)
    assert vars(fitted) == before
    assert threads_allowed() == threads
    monkeypatch.undo()
    assert np.isfinite(ask(fitted, *two, draws=1).ratio)
