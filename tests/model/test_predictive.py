import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, stats

from skmoe.model.gaussian import GaussianFamily
from skmoe.model.parameters import MoEParameters
from skmoe.model.predictive import cdf, interval, mixture_quantile
from skmoe.rows.arrays import to_numpy

GAUSSIAN = GaussianFamily.linear()


@pytest.mark.parametrize("level", [1e-4, 0.05, 0.5, 0.95, 0.9999])
def test_quantiles_solve_the_mixtures_distribution_function(rng, level):
    P = rng.dirichlet(np.full(3, 0.5), 200)
    mean, sigma = 5 * rng.standard_normal((200, 3)), np.array([0.01, 1.0, 3.0])
    q = mixture_quantile(GAUSSIAN, P, mean, sigma, level)
    reached = np.sum(P * stats.norm.cdf((q[:, None] - mean) / sigma), axis=1)
    np.testing.assert_allclose(reached, level, atol=1e-9)


def test_quantile_of_one_component_is_the_gaussians(rng):
    mean = rng.standard_normal((50, 1))
    q = mixture_quantile(GAUSSIAN, np.ones((50, 1)), mean, np.array([2.0]), 0.9)
    np.testing.assert_allclose(q, stats.norm.ppf(0.9, mean[:, 0], 2.0), rtol=1e-12)


def test_quantile_agrees_with_a_root_finder(rng):
    P, mean, sigma = np.array([[0.3, 0.7]]), np.array([[-10.0, 10.0]]), np.array([0.1, 0.2])
    for level in (0.1, 0.2999, 0.3001, 0.8):
        root = optimize.brentq(lambda t, level=level: np.sum(P * stats.norm.cdf((t - mean) / sigma)) - level, -12, 12)
        found = mixture_quantile(GAUSSIAN, P, mean, sigma, level)[0]
        assert np.sum(P * stats.norm.cdf((found - mean) / sigma)) == pytest.approx(level, abs=1e-9)
        assert found == pytest.approx(root, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.floats(1e-8, 1e8), st.floats(0.001, 0.999), st.integers(0, 10_000))
def test_quantiles_are_finite_and_ordered_for_any_scale(k, scale, level, seed):
    rng = np.random.default_rng(seed)
    P, mean = rng.dirichlet(np.full(k, 0.2), 20), scale * rng.standard_normal((20, k))
    sigma = scale * np.exp(3 * rng.standard_normal(k))
    low, high = (mixture_quantile(GAUSSIAN, P, mean, sigma, q) for q in (level / 2, 1 - level / 2))
    assert np.all(np.isfinite(low))
    assert np.all(low <= high)


@pytest.fixture(params=["linear", "tanh"])
def model(request):
    return MoEParameters(
        [[1.0, -2.0], [0.5, 3.0]], [[2.0, 0.0], [0.0, 0.0]], [0.1, 0.6], b=[0.3, -1.0], family=request.param
    )


@pytest.mark.parametrize("coverage", [0.1, 0.9, 0.999])
def test_interval_leaves_equal_tails(xp, rng, model, coverage):
    X = rng.standard_normal((40, 2))
    low, high = to_numpy(interval(model, coverage, xp.asarray(X))).T
    np.testing.assert_allclose(cdf(model, X, low), (1 - coverage) / 2, atol=1e-9)
    np.testing.assert_allclose(cdf(model, X, high), (1 + coverage) / 2, atol=1e-9)


def test_interval_does_not_depend_on_the_blocks(monkeypatch, rng, model):
    X = rng.standard_normal((100, 2))
    whole = interval(model, 0.9, X)
    monkeypatch.setattr("skmoe.model.predictive.block_rows_for", lambda channels: 7)
    np.testing.assert_array_equal(interval(model, 0.9, X), whole)


def test_cdf_is_the_integral_of_the_density(model):
    x, y = np.array([[0.3, -0.7]]), np.linspace(-15, 1.3, 20001)
    density = np.exp(model.log_density(np.repeat(x, len(y), axis=0), y))
    assert cdf(model, x, y[-1:])[0] == pytest.approx(np.trapezoid(density, y), abs=1e-7)


def test_cdf_of_the_models_own_outputs_is_uniform(rng, model):
    X = rng.standard_normal((5000, 2))
    y, _ = model.sample(X, rng)
    assert stats.kstest(cdf(model, X, y), "uniform").pvalue > 1e-3
