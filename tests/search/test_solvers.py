import numpy as np
import pytest

from skmoe.search.solvers import cholesky, saddle_step


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
