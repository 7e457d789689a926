import numpy as np
import pytest

from skmoe.arrays.namespaces import to_numpy
from skmoe.arrays.table_moments import table_moments
from skmoe.search.standardise import standardised, whitening


def test_inputs_get_unit_covariance_and_outputs_unit_variance(xp, rng):
    X, y = 5 + rng.standard_normal((200, 3)) @ rng.standard_normal((3, 3)), 40 + 7 * rng.standard_normal(200)
    map = standardised(table_moments(xp.asarray(X), xp.asarray(y)), intercept=True, outputs=True)
    Z = to_numpy(map.lay_out(xp.asarray(X)))[:-1]
    np.testing.assert_allclose(Z @ Z.T / 200, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(Z.mean(axis=1), 0, atol=1e-9)
    seen = to_numpy(map.outputs(xp.asarray(y)))
    assert (seen.mean(), seen.std()) == (pytest.approx(0, abs=1e-12), pytest.approx(1, rel=1e-12))


def test_constant_and_repeated_columns_are_dropped_whatever_their_units(rng, xp):
    base = rng.standard_normal((300, 3))
    X = np.column_stack([base * [1e-6, 1.0, 1e6], np.full(300, 7e5), base[:, 0] - 2 * base[:, 1]])
    center, transform = whitening(table_moments(xp.asarray(X)))
    assert transform.shape == (5, 3)
    Z = (X - center) @ transform
    np.testing.assert_allclose(Z.T @ Z / 300, np.eye(3), atol=1e-6)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)


def test_origin_is_kept_without_an_intercept(rng):
    X, y = 3 + rng.standard_normal((200, 3)), 4 + rng.standard_normal(200)
    map = standardised(table_moments(X, y), intercept=False, outputs=True)
    np.testing.assert_array_equal(map.center, 0)
    Z = X @ map.transform
    np.testing.assert_allclose(Z.T @ Z / 200, np.eye(3), atol=1e-10)
    assert map.y_shift == 0
    assert np.mean((y / map.y_scale) ** 2) == pytest.approx(1.0)


def test_weights_are_repeated_rows(rng):
    X, y, weight = rng.standard_normal((100, 3)), rng.standard_normal(100), rng.integers(0, 4, 100)
    rows = np.repeat(np.arange(100), weight)
    one, two = table_moments(X, y, weight.astype(float)), table_moments(X[rows], y[rows])
    for name in ("total", "mean", "covariance", "y_mean", "y_std"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-12)
    assert one.rows == np.sum(weight > 0)


def test_experts_and_gate_are_whitened_apart_where_they_see_other_columns(rng):
    X, y = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4)), rng.standard_normal(200)
    how = {"expert_columns": [0, 1], "gate_columns": [1, 2, 3]}
    map = standardised(table_moments(X, y), intercept=True, outputs=False, **how)
    U, V = map.split(map.lay_out(X))
    assert (len(U), len(V)) == (3, 4)
    for Z in (U[:-1], V[:-1]):
        np.testing.assert_allclose(Z @ Z.T / 200, np.eye(len(Z)), atol=1e-9)
    moved = X.copy()
    moved[:, 0] += rng.standard_normal(200)  # what the gate does not see
    np.testing.assert_array_equal(map.split(map.lay_out(moved))[1], V)
