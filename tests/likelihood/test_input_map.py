import numpy as np
import pytest

from problems import standard_problem
from skmoe.arrays.namespaces import to_numpy
from skmoe.likelihood import InputMap, MappedRows, Theta, mean_log_likelihood


def random_map(rng, intercept=True, **how):
    return InputMap(rng.standard_normal(4), rng.standard_normal((4, 3)), intercept, **how)


@pytest.mark.parametrize("intercept", [True, False])
def test_rows_are_seen_as_the_map_says(xp, rng, intercept):
    X, map = rng.standard_normal((20, 4)), random_map(rng, intercept)
    Z = (X - map.center) @ map.transform
    expected = np.column_stack([Z, np.ones(20)]) if intercept else Z
    np.testing.assert_allclose(to_numpy(map.lay_out(xp.asarray(X))).T, expected, atol=1e-12)
    assert map.shared
    assert map.De == map.Dg == 3 + intercept


def test_experts_and_gate_see_their_own_columns(xp, rng):
    X, map = rng.standard_normal((20, 4)), random_map(rng, expert_columns=(0, 2), gate_columns=(1,))
    Z, ones = (X - map.center) @ map.transform, np.ones((20, 1))
    U, V = map.split(map.lay_out(xp.asarray(X)))
    np.testing.assert_allclose(to_numpy(U).T, np.hstack([Z[:, [0, 2]], ones]), atol=1e-12)
    np.testing.assert_allclose(to_numpy(V).T, np.hstack([Z[:, [1]], ones]), atol=1e-12)
    assert not map.shared
    assert (map.De, map.Dg) == (3, 2)


def test_identity_leaves_rows_as_they_are(rng):
    X, y = rng.standard_normal((20, 4)), rng.standard_normal(20)
    rows = MappedRows.of(X, y, InputMap.identity(4))
    block = rows.block(X, y, None)
    np.testing.assert_array_equal(block.U, X.T)
    np.testing.assert_array_equal(block.y, y)
    assert block.U is block.V


@pytest.mark.parametrize("columns", [{}, {"expert_columns": (0, 2), "gate_columns": (1,)}])
def test_parameters_in_the_callers_units_give_the_same_density(rng, columns):
    """Up to the Jacobian of the outputs' scale."""
    X, y = rng.standard_normal((50, 4)), rng.standard_normal(50)
    map = random_map(rng, y_shift=3.0, y_scale=2.5, **columns)
    problem = standard_problem(X, y, 3).on(MappedRows.of(X, y, map))
    theta = Theta(rng.standard_normal((3, map.De)), rng.standard_normal((3, map.Dg)), np.array([0.5, 1.0, 2.0]))
    parameters = map.to_parameters(theta, problem.family)
    seen = mean_log_likelihood(problem, theta) - np.log(2.5)
    assert np.mean(parameters.log_density(X, y)) == pytest.approx(seen, abs=1e-10)


def test_parameters_come_back_through_standardised_inputs(rng):
    X, y = 50 + rng.standard_normal((100, 4)) @ rng.standard_normal((4, 4)), rng.standard_normal(100)
    problem = standard_problem(X, y, 3)
    theta = Theta(rng.standard_normal((3, 5)), rng.standard_normal((3, 5)), np.array([0.5, 1.0, 2.0]))
    parameters = problem.rows.map.to_parameters(theta, problem.family)
    assert np.mean(parameters.log_density(X, y)) == pytest.approx(mean_log_likelihood(problem, theta), abs=1e-9)
    assert problem.rows.map.from_parameters(parameters).distance(theta) < 1e-9


def test_gates_zero_row_is_made_zero_on_the_way_in(rng):
    map = InputMap.identity(2, intercept=True)
    problem = standard_problem(rng.standard_normal((30, 2)), rng.standard_normal(30), 2)
    theta = Theta(rng.standard_normal((2, 3)), rng.standard_normal((2, 3)), np.ones(2))
    parameters = map.to_parameters(theta, problem.family)
    shifted = type(parameters)(parameters.A, parameters.W + 7.0, 1.0, b=parameters.b, c=parameters.c - 3.0)
    assert map.from_parameters(shifted).distance(theta) < 1e-12
