import numpy as np
import pytest

from problems import family
from skmoe import make_moe
from skmoe.arrays.table_moments import table_moments
from skmoe.likelihood import Theta, mean_log_likelihood
from skmoe.search.config import SearchConfig
from skmoe.search.records import Control
from skmoe.search.task import ModelSpec, most_experts, prepare
from skmoe.tables.inputs import RowsToFit

CONFIG = SearchConfig()


def spec(g="linear", **how):
    return ModelSpec(family(g), **{"noise": "per-expert", "penalty": 1e-5, "intercept": True} | how)


def prepared(X, y, weight=None, k=2, config=CONFIG, **how):
    rows = RowsToFit(X, y, weight, None)
    return prepare(rows, spec(**how), k, np.random.default_rng(0), Control(), config)


@pytest.fixture
def table():
    X, y, _ = make_moe(500, 3, 2, random_state=0)
    return X * [1.0, 100.0, 0.01] + 5, 40 + 7 * y


def test_order_of_rows_does_not_matter(table):
    X, y = table
    order = np.random.default_rng(1).permutation(500)
    one, two = (prepared(X[rows], y[rows]) for rows in (np.arange(500), order))
    np.testing.assert_array_equal(one.rows.y, two.rows.y)
    np.testing.assert_array_equal(one.rows.X, two.rows.X)


@pytest.mark.parametrize("counted", [False, True], ids=["no weights", "weights"])
def test_moments_are_the_same_to_the_last_digit_in_any_order(table, counted):
    X, y = table
    X, y = np.concatenate([X, X[:50]]), np.concatenate([y, y[:50]])  # rows that are there twice, with other weights
    weight = np.random.default_rng(2).random(550) if counted else None
    first = prepared(X, y, weight)
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(550)
        other = prepared(X[order], y[order], None if weight is None else weight[order])
        for name in ("mean", "covariance", "cross", "y_mean", "y_std", "total"):
            np.testing.assert_array_equal(getattr(first.moments, name), getattr(other.moments, name), err_msg=name)
        np.testing.assert_array_equal(first.rows.X, other.rows.X)


def test_repeated_rows_become_weights(table):
    X, y = table
    counts = np.random.default_rng(1).integers(1, 4, 500)
    rows = np.repeat(np.arange(500), counts)
    repeated, weighted = prepared(X[rows], y[rows]), prepared(X, y, counts.astype(float))
    assert repeated.rows.n == weighted.rows.n == 500
    assert repeated.rows.total == weighted.rows.total == counts.sum()
    np.testing.assert_array_equal(repeated.rows.weight, weighted.rows.weight)
    np.testing.assert_allclose(repeated.rows.X, weighted.rows.X, atol=1e-12)
    assert repeated.n_rows == counts.sum()  # as the caller counts them
    assert weighted.n_rows == 500


def test_large_tables_are_searched_on_a_sample(table):
    X, y = table
    task = prepared(X, y, config=CONFIG.changed("rows", sample_rows=100, rows_per_coefficient=1))
    assert task.sampled
    assert (task.rows.n, task.searched.n) == (500, 100)
    assert task.searched.map is task.map
    seen = np.round(np.column_stack([task.rows.X, task.rows.y]), 9).tolist()
    assert all(row in seen for row in np.round(np.column_stack([task.searched.X, task.searched.y]), 9).tolist())
    assert not prepared(X, y).sampled


@pytest.mark.parametrize(("columns", "least"), [(3, 40 * 2 * 4), (1, 40 * 2 * 2)])
def test_sample_can_tell_experts_apart(rng, columns, least):
    X = rng.standard_normal((2000, columns))
    task = prepared(X, rng.standard_normal(2000), config=CONFIG.changed("rows", sample_rows=10))
    assert task.searched.n == least


def test_standardised_problem_has_the_callers_likelihood(table):
    X, y = table
    task, rng = prepared(X, y), np.random.default_rng(0)
    theta = Theta(rng.standard_normal((2, 4)), rng.standard_normal((2, 4)), np.array([0.5, 1.0]))
    problem = task.problem(2)
    model = task.map.to_parameters(theta, problem.family)
    inner = task.in_callers_units(mean_log_likelihood(problem, theta))
    assert inner == pytest.approx(np.mean(model.log_density(X, y)), abs=1e-10)
    assert problem.y_std == pytest.approx(1.0)


def test_known_noise_is_taken_to_the_standardised_scale(table):
    X, y = table
    problem = prepared(X, y, noise=3.5).problem(2)
    assert problem.settings.noise == pytest.approx(3.5 / np.std(y))


@pytest.mark.parametrize(
    ("n", "how", "most"),
    [(40, {}, 5), (40, {"intercept": False}, 6), (40, {"expert_columns": [0]}, 10), (2, {}, 1)],
)
def test_experts_that_rows_can_carry(rng, n, how, most):
    X, y = rng.standard_normal((n, 3)), rng.standard_normal(n)
    assert most_experts(spec(**how), table_moments(X, y), CONFIG) == most


def test_weights_that_count_rows_support_as_many_experts_as_the_rows(rng):
    X, y, counts = rng.standard_normal((20, 3)), rng.standard_normal(20), np.full(20, 3.0)
    repeated = table_moments(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    weighted = table_moments(X, y, counts)
    assert most_experts(spec(), weighted, CONFIG) == most_experts(spec(), repeated, CONFIG) == 7
