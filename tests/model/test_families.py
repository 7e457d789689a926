"""Laws of experts: densities and distributions against SciPy's, derivatives by differences, scales by their slope."""

import numpy as np
import pytest
from scipy import stats

from skmoe.arrays.namespaces import to_numpy
from skmoe.model.families import FAMILIES, StudentFamily, get_family

STEP = 1e-5
LAWS = {
    "poisson": lambda mu, s: stats.poisson(mu),
    "negative-binomial": lambda mu, s: stats.nbinom(1 / s**2, 1 / (1 + s**2 * mu)),
    "gamma": lambda mu, s: stats.gamma(1 / s**2, scale=s**2 * mu),
    "lognormal": lambda mu, s: stats.lognorm(s, scale=mu),
    "binomial": lambda mu, s: stats.bernoulli(mu / (1 + mu)),
    "student": lambda mu, s: stats.t(4.0, np.log(mu), s),
}


def named(name):
    return StudentFamily(4.0) if name == "student" else FAMILIES[name]


@pytest.fixture(params=sorted(LAWS))
def family(request):
    return named(request.param)


@pytest.fixture(params=[name for name in sorted(LAWS) if named(name).base.has_scale])
def family_with_scale(request):
    return named(request.param)


def made(family, rng):
    """Outputs (b,), predictors (k, b) and logs of the scales (k, 1) of a law."""
    eta = rng.standard_normal((3, 60))
    tau = np.log(rng.uniform(0.3, 2.0, (3, 1)))
    return family.sample(eta[0], np.exp(tau[0]), rng), eta, tau


def at(family, y, eta, tau):
    return family.base.at(family.transform_response(y), eta, np.exp(tau))


def slope(function, x):
    return (function(x + STEP) - function(x - STEP)) / (2 * STEP)


def close(found, expected, tolerance=2e-6):
    np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected, atol=tolerance, rtol=tolerance)


def scipy_law(family, eta, tau):
    return LAWS[family.name](np.exp(eta), np.exp(tau))


def test_log_density_is_scipys(xp, family, rng):
    y, eta, tau = made(family, rng)
    t = xp.asarray(y)
    law = family.base.at(family.transform_response(t), xp.asarray(eta), xp.asarray(np.exp(tau)))
    law_of_y = scipy_law(family, eta, tau)
    expected = law_of_y.logpmf(y) if family.discrete else law_of_y.logpdf(y)
    found = to_numpy(law.log_density) + family.base.log_base + to_numpy(family.log_jacobian(t))
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_derivatives_are_those_of_the_log_density(family, rng):
    y, eta, tau = made(family, rng)
    law = at(family, y, eta, tau)
    close(law.score, slope(lambda e: at(family, y, e, tau).log_density, eta))
    close(law.curvature, -slope(lambda e: at(family, y, e, tau).score, eta))
    close(law.scale_score, slope(lambda t: at(family, y, eta, t).log_density, tau))
    close(law.scale_curvature, -slope(lambda t: at(family, y, eta, t).scale_score, tau))
    close(law.cross_curvature, -slope(lambda t: at(family, y, eta, t).score, tau))


def test_step_of_em_is_the_score_times_the_scale_of_steps(family, rng):
    y, eta, tau = made(family, rng)
    law = at(family, y, eta, tau)
    close(law.step_score, law.score * family.base.step_scale(np.exp(tau)), 1e-12)
    assert law.step_weight is None or np.all(law.step_weight >= 0)


def test_expected_curvature_is_the_mean_of_squared_scores(family, rng):
    eta, tau = np.full((1, 100_000), 0.4), np.log(np.full((1, 1), 0.6))
    y = family.sample(eta[0], np.exp(tau[0]), rng)
    law = at(family, y, eta, tau)
    squares = law.score**2
    error = np.std(squares - law.curvature) / np.sqrt(y.size)
    assert np.mean(squares) == pytest.approx(np.mean(np.broadcast_to(law.curvature, squares.shape)), abs=5 * error)


def test_scale_slope_is_the_sum_of_scale_scores(family_with_scale, rng):
    base = family_with_scale.base
    y, eta, tau = made(family_with_scale, rng)
    law, R = at(family_with_scale, y, eta, tau), rng.uniform(size=(3, 60))
    statistic, share = np.sum(R * law.scale_statistic, axis=1), np.sum(R, axis=1)
    expected = np.sum(R * law.scale_score, axis=1)
    np.testing.assert_allclose(base.scale_slope(statistic, share, np.exp(tau[:, 0])), expected, rtol=1e-9)


@pytest.mark.parametrize("dof", [0.0, 0.01, 2.0])
def test_updated_scales_make_the_slope_of_their_statistic_zero(family_with_scale, rng, dof):
    base = family_with_scale.base
    statistic, share = rng.uniform(0.01, 3.0, 4), rng.uniform(0.2, 1.0, 4)
    scales = base.updated_scales(statistic, share, dof, 0.6, 1e-9)
    slopes = base.scale_slope(statistic, share, scales) - dof * np.tanh(np.log(scales / 0.6))
    np.testing.assert_allclose(slopes, 0.0, atol=1e-9)
    assert np.all(base.updated_scales(statistic * 1e-12, share, dof, 0.6, 0.05) >= 0.05)


def test_distribution_is_scipys(family, rng):
    y, eta, tau = made(family, rng)
    law, scale = scipy_law(family, eta, tau), np.exp(tau)
    np.testing.assert_allclose(family.cdf(y, eta, scale), law.cdf(y), atol=1e-10)
    np.testing.assert_allclose(family.mean(eta, scale), np.broadcast_to(law.mean(), eta.shape), rtol=1e-10)
    np.testing.assert_allclose(family.variance(eta, scale), np.broadcast_to(law.var(), eta.shape), rtol=1e-10)


def test_draws_follow_the_distribution(family):
    n, rng = 20_000, np.random.default_rng(3)
    y = family.sample(np.full(n, 0.5), np.full(n, 0.6), rng)
    levels = family.cdf(y, np.full(n, 0.5), np.full(n, 0.6))
    if family.discrete:  # spread over the probability of each output, levels are uniform
        levels -= rng.random(n) * (levels - family.cdf(y - 1, np.full(n, 0.5), np.full(n, 0.6)))
    assert stats.kstest(levels, "uniform").pvalue > 1e-3
    assert not np.any(family.impossible(y))


def test_outputs_that_cannot_be_are_told(family):
    wrong = {"poisson": [-1.0, 0.5], "negative-binomial": [-1.0, 0.5], "gamma": [0.0, -2.0], "lognormal": [0.0, -2.0]}
    wrong |= {"binomial": [2.0, 0.5], "student": []}
    y = np.array([1.0, *wrong[family.name]])
    np.testing.assert_array_equal(family.impossible(y), [False] + [True] * (len(y) - 1))


def test_one_wild_predictor_leaves_sums_finite(family):
    y, eta = np.array([3.0, 1.0]) if family.name != "binomial" else np.array([1.0, 0.0]), np.array([[900.0, -900.0]])
    law = family.base.at(family.transform_response(y), eta, np.ones((1, 1)))
    for part in (law.log_density, law.score, law.curvature, law.scale_statistic):
        assert np.all(np.isfinite(part))


def test_get_family_refuses_what_is_none():
    with pytest.raises(ValueError, match="family must be one of"):
        get_family("weibull")
    with pytest.raises(ValueError, match="activation 'relu' is for the gaussian family"):
        get_family("poisson", "relu")
    assert get_family(StudentFamily(3.0)).dof == 3.0
    with pytest.raises(ValueError, match=r"dof must be a number of 0\.01 or more"):
        StudentFamily(-1.0)
