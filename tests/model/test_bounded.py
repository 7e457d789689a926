"""Censored and truncated laws, and trials: densities against SciPy's, derivatives by differences, EM's identities."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import betaln

from skmoe.arrays.namespaces import to_numpy
from skmoe.model.channels import outputs_first
from skmoe.model.families import (
    CensoredFamily,
    NegativeBinomialExposureFamily,
    PoissonExposureFamily,
    TrialsFamily,
    TruncatedFamily,
)

STEP = 1e-5
INF = np.inf
BOUNDS = np.array([[0.3, 0.3], [-INF, 0.4], [0.2, INF], [-0.5, 1.5], [2.0, 2.0], [6.0, INF], [-INF, -7.0]])
KEPT = np.array([[0.3, 0.0, INF], [1.0, -INF, 1.5], [0.2, -1.0, 1.0], [0.5, 0.4, 8.0], [9.0, 6.0, INF]])
RATES = np.array([[3.0, 0.5], [0.0, 5.0], [6.0, 2.0], [1.0, 1.0]])
CASES = {
    "censored": (CensoredFamily(), BOUNDS),
    "truncated": (TruncatedFamily(), KEPT),
    "poisson exposure": (PoissonExposureFamily(), RATES),
    "negative binomial exposure": (NegativeBinomialExposureFamily(), RATES),
    "trials": (TrialsFamily(), np.array([[3.0, 4.0], [0.0, 5.0], [6.0, 0.0], [1.5, 2.5]])),
}


@pytest.fixture(params=list(CASES))
def case(request, rng):
    family, y = CASES[request.param]
    eta = 0.7 * rng.standard_normal((3, len(y)))
    return family, y, eta, np.log(rng.uniform(0.5, 1.5, (3, 1)))


def at(family, y, eta, tau):
    return family.base.at(outputs_first(family.transform_response(y)), eta, np.exp(tau))


def slope(function, x):
    return (function(x + STEP) - function(x - STEP)) / (2 * STEP)


def close(found, expected):
    np.testing.assert_allclose(np.broadcast_to(found, expected.shape), expected, atol=1e-5, rtol=1e-5)


def probability(law, low, high):
    """Probability between bounds, by whichever tail has the digits."""
    return np.where(low > 0, law.sf(low) - law.sf(high), law.cdf(high) - law.cdf(low))


def expected_log_density(family, y, eta, scale):
    law = stats.norm(eta, scale)
    if isinstance(family, PoissonExposureFamily):
        return stats.poisson.logpmf(y[:, 0], y[:, 1] * np.exp(eta))
    if isinstance(family, NegativeBinomialExposureFamily):
        shape = 1 / scale**2
        return stats.nbinom.logpmf(y[:, 0], shape, shape / (shape + y[:, 1] * np.exp(eta)))
    if isinstance(family, TrialsFamily):
        p, n = 1 / (1 + np.exp(-eta)), y.sum(axis=1)
        ways = -betaln(y[:, 0] + 1, y[:, 1] + 1) - np.log(n + 1)
        return ways + y[:, 0] * np.log(p) + y[:, 1] * np.log1p(-p)
    if isinstance(family, TruncatedFamily):
        return law.logpdf(y[:, 0]) - np.log(probability(law, y[:, 1], y[:, 2]))
    between = probability(law, y[:, 0], y[:, 1])
    return np.where(y[:, 0] == y[:, 1], law.logpdf(y[:, 0]), np.log(np.where(between > 0, between, 1.0)))


def test_log_density_is_scipys(xp, case):
    family, y, eta, tau = case
    scale = np.exp(tau)
    law = family.base.at(outputs_first(family.transform_response(xp.asarray(y))), xp.asarray(eta), xp.asarray(scale))
    np.testing.assert_allclose(to_numpy(law.log_density), expected_log_density(family, y, eta, scale), rtol=1e-8)


def test_derivatives_are_those_of_the_log_density(case):
    family, y, eta, tau = case
    law = at(family, y, eta, tau)
    close(law.score, slope(lambda e: at(family, y, e, tau).log_density, eta))
    close(law.curvature, -slope(lambda e: at(family, y, e, tau).score, eta))
    close(law.scale_score, slope(lambda t: at(family, y, eta, t).log_density, tau))
    close(law.scale_curvature, -slope(lambda t: at(family, y, eta, t).scale_score, tau))
    close(law.cross_curvature, -slope(lambda t: at(family, y, eta, t).score, tau))


def test_statistics_of_censored_outputs_are_expected_residuals():
    """The M-step is that of the output behind the bounds: moments of a truncated Gaussian, by SciPy."""
    family, eta, scale = CensoredFamily(), 0.3, 0.8
    y = np.array([[-0.5, 1.5], [0.9, INF]])
    law = at(family, y, np.full((1, 2), eta), np.log([[scale]]))
    behind = stats.truncnorm((y[:, 0] - eta) / scale, (y[:, 1] - eta) / scale, eta, scale)
    np.testing.assert_allclose(law.step_score[0], behind.mean() - eta, rtol=1e-8)
    np.testing.assert_allclose(law.scale_statistic[0], behind.var() + (behind.mean() - eta) ** 2, rtol=1e-8)


def test_bounds_far_in_the_tails_keep_their_digits():
    law = at(CensoredFamily(), np.array([[30.0, INF], [-INF, -30.0], [30.0, 31.0]]), np.zeros((1, 3)), np.zeros((1, 1)))
    np.testing.assert_allclose(law.log_density[0], [stats.norm.logsf(30)] * 3, rtol=1e-6)
    np.testing.assert_allclose(law.score[0], [30.033, -30.033, 30.033], rtol=1e-3)
    assert np.all(np.isfinite(law.scale_curvature))


def test_constant_bounds_are_those_of_every_row():
    y = np.array([0.4, 1.0])
    constant, columns = TruncatedFamily(lower=0.0), TruncatedFamily()
    table = np.column_stack([y, np.zeros(2), np.full(2, INF)])
    np.testing.assert_array_equal(constant.transform_response(y), columns.transform_response(table))
    assert constant.columns == 1
    np.testing.assert_array_equal(constant.impossible(np.array([0.5, -0.5])), [False, True])


def test_lognormal_bounds_are_taken_by_their_logs():
    family, y = CensoredFamily(lognormal=True), np.array([[2.0, 2.0], [0.0, 3.0], [1.0, INF]])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(family.transform_response(y)[:, 0, :], np.log(y))
    np.testing.assert_allclose(family.log_jacobian(y), [-np.log(2.0), 0.0, 0.0])
    assert family.marginal.name == "lognormal"


@pytest.mark.parametrize("row", [[2.0, 1.0], [-INF, INF], [INF, INF], [np.nan, 1.0]])
def test_bounds_that_cannot_be_are_told(row):
    np.testing.assert_array_equal(CensoredFamily().impossible(np.array([[0.0, 1.0], row])), [False, True])


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ({"lower": 5.0, "upper": 1.0}, "the lower bound must be below the upper one"),
        ({"lower": np.inf}, "the lower bound must be below the upper one"),
        ({"upper": np.nan}, "bounds must be numbers or None"),
        ({"lower": "x"}, "bounds must be numbers or None"),
    ],
)
def test_bounds_that_hold_nothing_are_refused(bounds, words):
    with pytest.raises(ValueError, match=words):
        TruncatedFamily(**bounds)
