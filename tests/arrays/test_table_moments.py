"""One pass over a table: counts, means and covariance, and what is refused on the way."""

import numpy as np
import pytest

from skmoe.arrays.table_moments import table_moments


def test_moments_are_those_of_numpy(xp, rng):
    X, y = rng.standard_normal((5000, 3)) @ rng.standard_normal((3, 3)) + [1.0, -2.0, 30.0], rng.standard_normal(5000)
    found = table_moments(xp.asarray(X), xp.asarray(y))
    assert (found.rows, found.total) == (5000, 5000.0)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.covariance, np.cov(X.T, bias=True), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose([found.y_mean, found.y_std], [y.mean(), y.std()], rtol=1e-10)
    assert found.y_second == pytest.approx(np.sqrt(np.mean(y**2)))


@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e300])
def test_weights_are_repeated_rows_at_any_scale(xp, rng, scale):
    X, y = rng.standard_normal((400, 2)), rng.standard_normal(400)
    count = rng.integers(0, 4, size=400)
    repeated = table_moments(np.repeat(X, count, axis=0), np.repeat(y, count))
    found = table_moments(xp.asarray(X), xp.asarray(y), xp.asarray(count * scale))
    assert found.rows == np.sum(count > 0)
    assert found.total == pytest.approx(np.sum(count) * scale, rel=1e-12)
    np.testing.assert_allclose(found.mean, repeated.mean, rtol=1e-10)
    np.testing.assert_allclose(found.covariance, repeated.covariance, rtol=1e-10, atol=1e-13)
    assert (found.y_mean, found.y_std) == pytest.approx((repeated.y_mean, repeated.y_std), rel=1e-10)


def test_far_origin_costs_no_digits(rng):
    X, y = rng.standard_normal((3000, 2)), rng.standard_normal(3000)
    near, far = table_moments(X, y), table_moments(X + 2.0**30, y - 2.0**25)
    # 2^30 leaves 23 of the 53 bits to the values
    np.testing.assert_allclose(far.covariance, near.covariance, atol=1e-6)
    assert far.y_std == pytest.approx(near.y_std, abs=1e-6)


def test_moments_of_a_file_are_those_of_its_array(rng):
    pa = pytest.importorskip("pyarrow")
    from skmoe.tables import open_table

    X, y = rng.standard_normal((1000, 2)), rng.standard_normal(1000)
    table = open_table(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y}))
    found, expected = table_moments(table.columns(["a", "b"]), table.column("y")), table_moments(X, y)
    np.testing.assert_allclose(found.covariance, expected.covariance, rtol=1e-12)
    np.testing.assert_allclose(found.mean, expected.mean, rtol=1e-12)


def test_inputs_alone_have_moments_too(rng):
    X = rng.standard_normal((50, 2))
    found = table_moments(X)
    np.testing.assert_allclose(found.mean, X.mean(axis=0), rtol=1e-12)
    assert (found.y_mean, found.y_std) == (0.0, 0.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_are_refused_by_their_columns(rng, bad):
    X, y = rng.standard_normal((100, 3)), rng.standard_normal(100)
    X[[0, 50], 2] = bad
    with pytest.raises(ValueError, match=r"X contains NaN, missing values or infinity in columns \[2\] \(2 such"):
        table_moments(X, y)
    with pytest.raises(ValueError, match=r"in columns \['c'\]"):
        table_moments(X, y, names=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"y contains NaN, missing values or infinity \(2 found\)"):
        table_moments(X[:, :2], X[:, 2])


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        ([1.0, -1.0, -2.0, 1.0], "sample_weight has 2 negative values"),
        ([1.0, np.nan, 1.0, 1.0], r"sample_weight contains NaN, missing values or infinity \(1 found\)"),
        ([1.0, 0.0, 0.0, 0.0], "there are 1 rows with weight; at least two are needed"),
        ([0.0] * 4, "there are 0 rows with weight"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(weight, words):
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(ValueError, match=words):
        table_moments(X, X[:, 0], np.array(weight))


def test_constant_output_is_refused(xp):
    X = xp.asarray(np.arange(8.0).reshape(4, 2))
    with pytest.raises(ValueError, match=r"y is constant \(7 in every row\)"):
        table_moments(X, xp.asarray(np.full(4, 7.0)))


def test_rows_without_weight_do_not_count(xp, rng):
    X, y = rng.standard_normal((500, 2)), rng.standard_normal(500)
    weight = np.ones(500)
    weight[:100], y[:100] = 0.0, 1e9
    found = table_moments(*map(xp.asarray, (X, y, weight)))
    assert found.rows == 400
    assert found.y_std == pytest.approx(y[100:].std(), rel=1e-10)  # and not the digits of a far row
    y[100:] = 7.0
    with pytest.raises(ValueError, match=r"y is constant \(7 in every row\)"):
        table_moments(*map(xp.asarray, (X, y, weight)))


def test_range_is_that_of_the_rows_with_weight(xp, rng):
    X, weight = rng.standard_normal((3000, 2)) * [1e-8, 1e8] + [1.0, 0.0], (rng.random(3000) < 0.5) * 1.0
    plain, weighted = table_moments(xp.asarray(X)), table_moments(xp.asarray(X), None, xp.asarray(weight))
    for found, rows in ((plain, X), (weighted, X[weight > 0])):
        np.testing.assert_array_equal(found.low, rows.min(axis=0))
        np.testing.assert_array_equal(found.high, rows.max(axis=0))
