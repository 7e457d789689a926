"""Continuous ranked probability scores beside plain numerical integration of (F(z) - 1{z >= y})^2."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from skmoe.model.calibration import Calibration
from skmoe.model.crps import integrated_crps
from skmoe.model.exponentiated import Exponentiated
from skmoe.model.families import get_family
from skmoe.model.family_mixture import FamilyMixture
from skmoe.model.mixture import Mixture

DOF = np.array([3.0, np.inf, 12.5])
KINDS = {
    "gaussian": (None, None),
    "student": (DOF, None),
    "gaussian, calibrated": (None, Calibration(0.2, 1.3, 5.0)),
    "student, calibrated": (DOF, Calibration(-0.1, 0.8)),
}
FAMILIES = ["poisson", "negative-binomial", "binomial", "gamma"]


def gaussians(n=12, seed=0):
    rng = np.random.default_rng(seed)
    weights, centers = rng.dirichlet(np.full(3, 0.7), n), 3 * rng.standard_normal((n, 3))
    return weights, centers, np.exp(rng.standard_normal((n, 3)) - 1)


def by_quadrature(law, i, y, low, high):
    """Integral by SciPy's adaptive rule from quantile to quantile."""
    one = law.take([i])
    inner = one.quantile(np.concatenate([np.geomspace(1e-7, 0.005, 8), np.linspace(0.01, 0.99, 50)]))[0]
    inner = np.append(inner, one.quantile(1 - np.geomspace(1e-7, 0.005, 8))[0])
    points = np.unique(np.concatenate([inner, [low, y, high]]))
    points = points[(points >= low) & (points <= high)]

    def square(z, above):
        return (one.cdf(np.array([z]))[0] - above) ** 2

    return sum(integrate.quad(square, a, b, args=(float(a >= y),), epsrel=1e-10)[0] for a, b in pairwise(points))


@pytest.mark.parametrize("kind", KINDS)
def test_mixtures_score_as_plain_integration_does(kind, rng):
    law = Mixture(*gaussians(), *KINDS[kind])
    y = law.sample(rng) + np.linspace(-4, 4, len(law))
    found = law.crps(y)
    for i, (low, high) in enumerate(law.bounds(1e-9)):
        expected = by_quadrature(law, i, y[i], min(low, y[i]), max(high, y[i]))
        assert found[i] == pytest.approx(expected, rel=1e-7)


def test_lognormal_mixtures_score_as_plain_integration_does_without_heavier_tails(rng):
    weights, centers, scales = gaussians(6)
    plain = Exponentiated(Mixture(weights, 0.3 * centers, scales))
    y = plain.sample(rng)
    heavy = Exponentiated(Mixture(weights, 0.3 * centers, scales, DOF, Calibration(0.2, 1.3, 5.0)))
    np.testing.assert_array_equal(heavy.crps(y), plain.crps(y))
    for i, (_, high) in enumerate(plain.bounds(1e-9)):
        assert plain.crps(y)[i] == pytest.approx(by_quadrature(plain, i, y[i], 0.0, max(high, y[i])), rel=1e-6)
    np.testing.assert_allclose(plain.crps(y - 100 - y), plain.crps(0 * y) + 100)  # it has no outputs below zero


@pytest.mark.parametrize("name", FAMILIES)
def test_other_families_score_as_sums_and_integrals_do(name, rng):
    family = get_family(name)
    weights, eta, scales = gaussians(8)
    law = FamilyMixture(family, weights, 0.5 * eta + 1, scales)
    y = law.sample(rng)
    found = law.crps(y)
    if family.discrete:
        steps = np.arange(100000.0)
        below = law.cdf(np.broadcast_to(steps, (len(law), len(steps))))
        expected = np.sum((below - (steps >= y[:, None])) ** 2, axis=1)
        np.testing.assert_allclose(law.crps(y - 1)[y == 0], expected[y == 0] + 1)  # no outputs below zero
    else:
        highs = law.bounds(1e-9)[:, 1]
        expected = [by_quadrature(law, i, y[i], 0.0, max(high, y[i])) for i, high in enumerate(highs)]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_outputs_of_zero_and_one_have_the_brier_score(rng):
    eta = rng.standard_normal((5, 1))
    law = FamilyMixture(get_family("binomial"), np.ones((5, 1)), eta, np.ones(1))
    chance = 1 / (1 + np.exp(-eta[:, 0]))
    for y in (0.0, 1.0):
        np.testing.assert_allclose(law.crps(np.full(5, y)), (y - chance) ** 2)


def test_counts_between_whole_numbers_have_the_score_of_the_integral():
    law = FamilyMixture(get_family("poisson"), np.ones((1, 1)), np.log([[3.0]]), np.ones(1))
    below, at, above = (law.crps(np.array([y]))[0] for y in (2.0, 2.25, 3.0))
    assert at == pytest.approx(0.75 * below + 0.25 * above)


def test_wide_counts_beside_narrow_ones_are_scored_as_sums(rng):
    weights, eta = np.array([[0.7, 0.3]]), np.log([[2.0, 30000.0]])
    law = FamilyMixture(get_family("negative-binomial"), weights, eta, np.array([0.5, 0.3]))
    steps = np.arange(300000.0)
    below = law.cdf(steps[None, :])[0]
    for y in (3.0, 25000.0, 90000.0):
        expected = np.sum((below - (steps >= y)) ** 2)
        assert law.crps(np.array([y]))[0] == pytest.approx(expected, rel=1e-5)


def test_a_narrow_component_far_from_the_others_is_found():
    law = Mixture(np.array([[0.9, 0.1]]), np.array([[0.0, 1.0]]), np.array([[1.0, 1e-7]]))
    for y in (-2.0, 1.0, 5.0):
        low, high = np.minimum(-8.0, [y]), np.maximum(8.0, [y])
        found = integrated_crps(lambda rows, z: law.take(rows).cdf(z), np.array([y]), low, high)
        assert found[0] == pytest.approx(law.crps(np.array([y]))[0], rel=1e-7)


def test_a_step_beside_the_end_of_a_panel_is_found():
    def cdf(rows, z):
        return np.where(z >= 1e-3, 0.9, np.where(z > 0, 0.1, 0.0)) + np.where(z >= 1.0, 0.1, 0.0)

    found = integrated_crps(cdf, np.zeros(1), np.zeros(1), np.ones(1))
    assert found[0] == pytest.approx(1e-3 * 0.81 + (1 - 1e-3) * 0.01, rel=1e-6)


def test_one_gaussian_has_the_textbooks_score_and_a_point_the_absolute_error():
    y = np.array([0.3, -2.0, 9.0])
    law = Mixture(np.ones((3, 1)), np.ones((3, 1)), np.array([2.0]))
    z = (y - 1) / 2
    textbook = 2 * (z * (2 * stats.norm.cdf(z) - 1) + 2 * stats.norm.pdf(z) - 1 / np.sqrt(np.pi))
    np.testing.assert_allclose(law.crps(y), textbook)
    point = Mixture(np.ones((3, 1)), np.ones((3, 1)), np.array([1e-12]), np.array([4.0]))
    np.testing.assert_allclose(point.crps(y), np.abs(y - 1), rtol=1e-9)


def test_bounds_that_are_infinite_give_an_infinite_score():
    found = integrated_crps(lambda rows, z: 0.5 + 0 * z, np.zeros(2), np.array([-1.0, -np.inf]), np.ones(2))
    assert found.tolist() == [0.5, np.inf]
