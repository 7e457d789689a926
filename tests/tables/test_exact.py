"""Exact relations among columns of numbers."""

import numpy as np
import pytest

from skmoe.tables.exact import function_of, is_monotone, linear_in, repeated_pairs


@pytest.fixture
def table(rng):
    return rng.normal(size=(300, 6)) * [1.0, 1e3, 1e-3, 1.0, 1.0, 1.0] + [0.0, 5e3, 0.0, 0.0, 1e6, 0.0]


@pytest.mark.parametrize(
    ("columns", "slopes", "constant"),
    [([1], [2.54], 3.0), ([0, 3], [1.0, 1.0], 0.0), ([0, 3, 5], [1.0, -2.0, 0.25], -7.0), ([4], [1.0], 0.0)],
)
def test_a_linear_function_of_few_inputs_is_found_with_its_slopes(table, columns, slopes, constant):
    X = table
    found = linear_in(X, X[:, columns] @ slopes + constant)
    assert found.columns == columns
    np.testing.assert_allclose(found.slopes, slopes, rtol=1e-6)
    np.testing.assert_allclose(found.constant, constant, atol=1e-5)
    assert found.error < 1e-6 * np.std(X[:, columns] @ slopes)


def test_rounded_outputs_are_exact_and_noisy_ones_are_not(table, rng):
    X = table
    y = 100 * (X[:, 0] + X[:, 3])
    found = linear_in(X, y.round(1))
    assert found.columns == [0, 3]
    assert 0.04 < found.error < 0.051
    assert linear_in(X, y + rng.normal(size=300)) is None


def test_inputs_that_repeat_others_do_not_hide_a_relation(table):
    X = table
    wide = np.column_stack([X, X[:, 0] + X[:, 3], X[:, 5]])
    assert linear_in(wide, X[:, 0] + X[:, 3]).columns == [6]
    assert linear_in(wide, X[:, 0] - X[:, 3] + X[:, 5]).columns in ([0, 3, 5], [0, 3, 7])


def test_a_function_of_many_inputs_or_of_few_rows_is_not_told(rng):
    X = rng.normal(size=(300, 30))
    assert linear_in(X, X @ np.ones(30)) is None
    assert linear_in(X[:40], X[:40] @ rng.normal(size=30)) is None
    assert linear_in(X[:32], rng.normal(size=32)) is None


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (np.log, "log"),
        (np.exp, "exp"),
        (np.square, "square"),
        (np.sqrt, "square root"),
        (lambda x: 1 / x, "reciprocal"),
    ],
)
def test_functions_of_an_input_are_named(rng, function, name):
    x = rng.uniform(1, 5, size=300)
    y = 3 * function(x).round(7) - 2
    assert is_monotone(x, y)
    assert function_of(x, y) == name


def test_order_alone_is_told_but_trends_and_ties_are_not(rng):
    x = rng.normal(size=300)
    assert is_monotone(x, np.tanh(x))
    assert is_monotone(x.round(1), -(x.round(1) ** 3))
    assert function_of(x, np.tanh(x)) == ""
    assert not is_monotone(x, x + 0.01 * rng.normal(size=300))
    years, grown = np.arange(1950.0, 2010), np.cumsum(rng.random(60))
    assert not is_monotone(years, grown)
    assert not is_monotone(grown, years)
    assert is_monotone(years, np.log(years))
    coarse = np.repeat(np.arange(15.0), 20)
    assert not is_monotone(coarse, 10 * coarse + rng.normal(size=300))
    mostly_zero = np.where(x > 1, x, 0.0)
    assert not is_monotone(mostly_zero, x.clip(-9, 9) + 20 * (x > 1) * mostly_zero)
    assert not is_monotone(x, (x > 0).astype(float))


def test_repeated_columns_are_paired_with_the_first(table):
    X = table
    wide = np.column_stack([X, -3 * X[:, 1] + 2, np.ones(300), X[:, 1], X[:, 4] * (1 + 1e-3 * X[:, 0])])
    assert repeated_pairs(wide) == [(1, 6), (1, 8)]


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_extreme_sizes_do_not_hide_relations(table, size):
    X = table
    assert linear_in(X * size, size * X[:, 0]).columns == [0]
    assert repeated_pairs(np.column_stack([X[:, 0] * size, X[:, 3], X[:, 0]])) == [(0, 2)]
