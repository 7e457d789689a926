"""The law of an expert: its derivatives by differences, its distribution against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from skmoe.arrays.namespaces import to_numpy
from skmoe.model.activations import ACTIVATIONS, Activation
from skmoe.model.gaussian import GaussianFamily, as_family

STEP = 1e-5


@pytest.fixture(params=sorted(ACTIVATIONS))
def family(request):
    return as_family(request.param)


@pytest.fixture
def point(rng):
    """Outputs (b,), predictors (k, b) off the kinks, logs of the scales (k, 1)."""
    eta = rng.standard_normal((3, 50))
    return rng.standard_normal(50), np.where(np.abs(eta) < 0.01, 0.5, eta), np.log(rng.uniform(0.3, 2.0, (3, 1)))


def log_density(family, y, eta, tau):
    return family.at(y, eta, np.exp(tau)).log_density


def slope(function, at):
    return (function(at + STEP) - function(at - STEP)) / (2 * STEP)


def close(found, expected):
    np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected, atol=1e-6, rtol=1e-6)


def test_log_density_is_scipys(xp, family, point):
    y, eta, tau = point
    law = family.at(xp.asarray(y), xp.asarray(eta), xp.asarray(np.exp(tau)))
    expected = stats.norm.logpdf(y, np.asarray(family.mean(eta, np.exp(tau))), np.exp(tau))
    np.testing.assert_allclose(to_numpy(law.log_density) + family.log_base, expected, atol=1e-12)


def test_score_is_the_derivative_over_the_predictor(family, point):
    y, eta, tau = point
    close(family.at(y, eta, np.exp(tau)).score, slope(lambda e: log_density(family, y, e, tau), eta))


def test_curvature_is_the_second_derivative_over_the_predictor(family, point):
    y, eta, tau = point
    close(family.at(y, eta, np.exp(tau)).curvature, -slope(lambda e: family.at(y, e, np.exp(tau)).score, eta))


def test_scale_score_is_the_derivative_over_the_log_scale(family, point):
    y, eta, tau = point
    close(family.at(y, eta, np.exp(tau)).scale_score, slope(lambda t: log_density(family, y, eta, t), tau))


def test_scale_curvature_is_the_second_derivative_over_the_log_scale(family, point):
    y, eta, tau = point
    close(
        family.at(y, eta, np.exp(tau)).scale_curvature, -slope(lambda t: family.at(y, eta, np.exp(t)).scale_score, tau)
    )


def test_cross_curvature_is_the_mixed_derivative(family, point):
    y, eta, tau = point
    law = family.at(y, eta, np.exp(tau))
    close(law.cross_curvature, -slope(lambda t: family.at(y, eta, np.exp(t)).score, tau))
    close(law.cross_curvature, -slope(lambda e: family.at(y, e, np.exp(tau)).scale_score, eta))


def test_step_is_that_of_least_squares(family, point):
    """Right side and weights of the M-step are the gradient and the Gauss-Newton curvature of squared residuals."""
    y, eta, tau = point
    law = family.at(y, eta, np.exp(tau))
    close(law.step_score, -0.5 * slope(lambda e: family.at(y, e, np.exp(tau)).scale_statistic, eta))
    weight = np.ones_like(eta) if law.step_weight is None else law.step_weight
    close(weight, slope(lambda e: family.mean(e, np.exp(tau)), eta) ** 2)


def test_scale_maximises_the_likelihood_given_the_statistic(family, point):
    y, eta, tau = point
    statistic = float(np.sum(family.at(y, eta[0], np.exp(tau[0])).scale_statistic))
    best = float(np.log(family.updated_scales(np.array([statistic]), np.array([float(len(y))]), 0.0, 1.0, 1e-9))[0])

    def total(t):
        return np.sum(log_density(family, y, eta[0], np.array([t])))

    assert abs(slope(total, best)) < 1e-6
    assert total(best) > max(total(best - 0.1), total(best + 0.1))


@pytest.mark.parametrize("dof", [0.0, 0.01, 0.4, 5.0])
def test_prior_draws_scales_to_the_spread(family, dof):
    """The scales of the M-step are where the penalised objective has no slope, and none is below the floor."""
    statistic, share, spread = np.array([0.5, 20.0, 1e-9, 0.0]), np.array([0.2, 0.5, 0.3, 1e-12]), 1.7
    scales = family.updated_scales(statistic, share, dof, spread, 1e-9)
    slopes = family.scale_slope(statistic, share, scales) - dof * np.tanh(np.log(scales / spread))
    np.testing.assert_allclose(slopes[:3], 0.0, atol=1e-9)
    free = family.updated_scales(statistic, share, 0.0, spread, 1e-9)
    assert np.all(np.abs(np.log(scales / spread)) <= np.abs(np.log(free / spread)) + 1e-12)
    assert np.min(family.updated_scales(statistic, share, 0.0, spread, 0.3)) == pytest.approx(0.3)


def test_distribution_is_scipys(family, point):
    y, eta, tau = point
    law = stats.norm(np.asarray(family.mean(eta, np.exp(tau))), np.exp(tau))
    np.testing.assert_allclose(family.cdf(y, eta, np.exp(tau)), law.cdf(y), atol=1e-14)
    np.testing.assert_allclose(family.variance(eta, np.exp(tau)), np.broadcast_to(law.var(), eta.shape), rtol=1e-12)


def test_sample_has_mean_and_scale(family):
    draws = family.sample(np.full(100_000, 0.7), np.full(100_000, 0.4), np.random.default_rng(0))
    error = 0.4 / np.sqrt(100_000)
    assert np.mean(draws) == pytest.approx(float(family.mean(np.array([0.7]), np.array([0.4]))[0]), abs=5 * error)
    assert np.std(draws) == pytest.approx(0.4, abs=5 * error)


def test_start_is_exact_for_linear_experts_and_has_the_right_sign_for_others(family, rng):
    eta = rng.standard_normal(500)
    back = np.asarray(family.start_response(np.asarray(family.mean(eta, 1.0))))
    if family.location_scale:
        np.testing.assert_array_equal(back, eta)
    assert np.corrcoef(back, eta)[0, 1] > 0.8
    assert family.start_scale(np.array([0.3]))[0] > 0


def test_family_is_made_from_an_activation_or_kept():
    own = Activation(np.sin, name="sine")
    assert as_family("relu") == GaussianFamily(ACTIVATIONS["relu"])
    assert as_family(own).g is own
    assert as_family(as_family(own)).g is own
    assert [as_family(g).smooth for g in ("relu", "tanh")] == [False, True]
    with pytest.raises(ValueError, match="activation must be one of"):
        as_family("swish")
