import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from skmoe.inference.uncertainty import Summary, covariances, mixture_quantile, propagate, split_errors


@pytest.mark.parametrize("level", [1e-4, 0.05, 0.5, 0.95, 0.9999])
def test_quantiles_solve_the_mixtures_distribution_function(rng, level):
    P = rng.dirichlet(np.full(3, 0.5), 200)
    mean, sigma = 5 * rng.standard_normal((200, 3)), np.array([0.01, 1.0, 3.0])
    q = mixture_quantile(P, mean, sigma, level)
    reached = np.sum(P * stats.norm.cdf((q[:, None] - mean) / sigma), axis=1)
    np.testing.assert_allclose(reached, level, atol=1e-9)


def test_quantile_of_one_component_is_the_gaussians(rng):
    mean = rng.standard_normal((50, 1))
    q = mixture_quantile(np.ones((50, 1)), mean, np.array([2.0]), 0.9)
    np.testing.assert_allclose(q, stats.norm.ppf(0.9, mean[:, 0], 2.0), rtol=1e-12)


def test_quantile_agrees_with_a_root_finder(rng):
    P, mean, sigma = np.array([[0.3, 0.7]]), np.array([[-10.0, 10.0]]), np.array([0.1, 0.2])
    for level in (0.1, 0.2999, 0.3001, 0.8):
        root = optimize.brentq(lambda t, level=level: np.sum(P * stats.norm.cdf((t - mean) / sigma)) - level, -12, 12)
        found = mixture_quantile(P, mean, sigma, level)[0]
        assert np.sum(P * stats.norm.cdf((found - mean) / sigma)) == pytest.approx(level, abs=1e-9)
        assert found == pytest.approx(root, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.floats(1e-8, 1e8), st.floats(0.001, 0.999), st.integers(0, 10_000))
def test_quantiles_are_finite_and_ordered_for_any_scale(k, scale, level, seed):
    rng = np.random.default_rng(seed)
    P, mean = rng.dirichlet(np.full(k, 0.2), 20), scale * rng.standard_normal((20, k))
    sigma = scale * np.exp(3 * rng.standard_normal(k))
    low, high = (mixture_quantile(P, mean, sigma, q) for q in (level / 2, 1 - level / 2))
    assert np.all(np.isfinite(low))
    assert np.all(low <= high)


def test_covariances_skip_what_is_fixed(rng):
    M = rng.standard_normal((3, 3))
    information, outer = M @ M.T + np.eye(3), np.eye(3)
    free = np.array([True, True, False])
    model, sandwich = covariances(information, outer, free, 10.0)
    np.testing.assert_allclose(model[:2, :2], np.linalg.inv(information[:2, :2]) / 10)
    np.testing.assert_array_equal(model[2], 0)
    inverse = np.linalg.inv(information[:2, :2])
    np.testing.assert_allclose(sandwich[:2, :2], inverse @ inverse / 10)


def test_propagate_reads_an_affine_map(rng):
    M, c = rng.standard_normal((4, 3)), rng.standard_normal(4)
    np.testing.assert_allclose(propagate(lambda v: M @ v + c, rng.standard_normal(3)), M, atol=1e-12)


def test_errors_are_split_by_name():
    parts = split_errors(np.diag(np.arange(1.0, 15.0) ** 2), 2, 2)
    np.testing.assert_allclose(parts["expert_coef"], [[1, 2], [3, 4]])
    np.testing.assert_allclose(parts["expert_intercept"], [5, 6])
    np.testing.assert_allclose(parts["gate_coef"], [[7, 8], [9, 10]])
    np.testing.assert_allclose(parts["noise_scale"], [13, 14])


def test_summary_prints_and_turns_into_a_frame():
    table = Summary("title", ("name", "value"), [("a", 1.5), ("b", float("nan"))], ["note"])
    text = str(table)
    assert text.splitlines()[0] == "title"
    assert "1.5" in text
    assert "nan" not in text
    assert text.endswith("note")
    frame = table.to_frame()
    assert list(frame.columns) == ["name", "value"]
    assert len(frame) == 2
