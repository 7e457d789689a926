import numpy as np
import pytest

from skmoe.search.solvers import cholesky, saddle_step, solve_each, two_loop


def test_two_loop_solves_a_quadratic_after_as_many_pairs_as_dimensions(rng):
    H = np.diag([1.0, 4.0, 9.0])
    pairs = [(e, H @ e, 1 / (e @ H @ e)) for e in np.eye(3)]  # conjugate directions carry the whole inverse
    gradient = rng.standard_normal(3)
    np.testing.assert_allclose(two_loop(gradient, pairs, lambda v: v.copy()), np.linalg.solve(H, gradient))


def test_solve_each_leaves_uninformed_directions_alone(rng):
    grams = np.stack([np.diag([2.0, 1.0]), np.diag([3.0, 0.0])])
    np.testing.assert_allclose(solve_each(grams, np.array([[2.0, 1.0], [3.0, 0.0]])), [[1.0, 1.0], [1.0, 0.0]])


def test_solve_each_solves_one_system_and_several(rng):
    M = rng.standard_normal((3, 4, 4))
    grams, right = M @ M.transpose(0, 2, 1) + np.eye(4), rng.standard_normal((3, 4))
    for some in (slice(0, 1), slice(None)):
        found = solve_each(grams[some], right[some])
        np.testing.assert_allclose(np.einsum("mij,mj->mi", grams[some], found), right[some], atol=1e-10)


@pytest.mark.parametrize("units", [1.0, 1e-9, 1e9])
def test_cholesky_does_not_depend_on_units(rng, units):
    M = rng.standard_normal((4, 4))
    scale = np.array([1.0, units, 1.0, units**0.5])
    H = (M @ M.T + np.eye(4)) * np.outer(scale, scale)
    factor, lower = cholesky(H)
    assert lower
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, H, rtol=1e-12, atol=0)
    singular = np.outer(M[0], M[0]) * np.outer(scale, scale)
    assert cholesky(singular) is None
    assert cholesky(-H) is None
    assert cholesky(np.full((2, 2), np.nan)) is None


def test_saddle_step_climbs_where_the_curvature_has_the_wrong_sign(rng):
    H = np.diag([2.0, -1.0, 0.5])
    gradient = rng.standard_normal(3)
    step = saddle_step(H, gradient)
    assert gradient @ step > 0
    np.testing.assert_allclose(step, gradient / np.abs(np.diag(H)))
