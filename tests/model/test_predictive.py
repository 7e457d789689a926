from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from skmoe.arrays.namespaces import to_numpy
from skmoe.model.calibration import Calibration
from skmoe.model.exponentiated import Exponentiated
from skmoe.model.parameters import MoEParameters
from skmoe.model.predictive import Correction, Mixture, PredictiveDistribution

STUDENT = np.array([3.0, np.inf, 12.5])
KINDS = {
    "gaussian": (None, None),
    "student": (STUDENT, None),
    "gaussian-calibrated": (None, Calibration(0.2, 1.3, 5.0)),
    "student-calibrated": (STUDENT, Calibration(0.2, 1.3)),
}


def mixture(kind, n=40, seed=0):
    rng = np.random.default_rng(seed)
    weights, centers = rng.dirichlet(np.full(3, 0.7), n), 3 * rng.standard_normal((n, 3))
    return Mixture(weights, centers, np.exp(rng.standard_normal((n, 3)) - 1), *KINDS[kind])


@pytest.fixture(params=list(KINDS))
def laws(request):
    return mixture(request.param)


# -- density, probability, quantiles ----------------------------------------------------------------------------------


def test_density_integrates_to_one(laws):
    ends = laws.bounds(1e-7)
    for i in range(5):
        one = laws.take([i])
        points = np.unique(np.concatenate([one.quantile(np.linspace(0.02, 0.98, 25))[0], one.centers[0], ends[i]]))
        total = sum(integrate.quad(lambda t, one=one: one.pdf(np.array([t]))[0], a, b)[0] for a, b in pairwise(points))
        assert total == pytest.approx(1, abs=1e-6)


def test_density_is_the_slope_of_the_distribution_function(laws):
    y = laws.quantile(0.3)
    h = 1e-5 * np.min(laws.scales, axis=1)
    np.testing.assert_allclose(laws.pdf(y), (laws.cdf(y + h) - laws.cdf(y - h)) / (2 * h), rtol=1e-5)


@pytest.mark.parametrize("level", [1e-8, 1e-4, 0.05, 0.5, 0.95, 0.9999])
def test_quantiles_invert_the_distribution_function(laws, level):
    np.testing.assert_allclose(laws.cdf(laws.quantile(level)), level, rtol=1e-9)


@pytest.mark.parametrize("tail", [1e-60, 1e-20, 1e-3])
def test_bounds_leave_equal_tails_however_small(laws, tail):
    low, high = laws.bounds(tail).T
    np.testing.assert_allclose(laws.log_tails(low)[0], np.log(tail), atol=1e-8)
    np.testing.assert_allclose(laws.log_tails(high)[1], np.log(tail), atol=1e-8)


def test_several_levels_are_columns(laws):
    found = laws.quantile([0.1, 0.5])
    np.testing.assert_array_equal(found, np.stack([laws.quantile(0.1), laws.quantile(0.5)], axis=1))


def test_levels_outside_zero_and_one_are_refused(laws):
    with pytest.raises(ValueError, match="between 0 and 1"):
        laws.quantile(1.2)


def test_one_component_is_scipys_law():
    centers, y = np.array([[1.0], [-2.0]]), np.array([2.5, 0.1])
    for dof, law in ((None, stats.norm), (np.array([4.0]), stats.t)):
        one = Mixture(np.ones((2, 1)), centers, np.array([2.0]), dof)
        truth = law(*(() if dof is None else (4.0,)), loc=centers[:, 0], scale=2.0)
        np.testing.assert_allclose(one.logpdf(y), truth.logpdf(y), rtol=1e-12)
        np.testing.assert_allclose(one.cdf(y), truth.cdf(y), rtol=1e-12)
        np.testing.assert_allclose(one.quantile(0.9), truth.ppf(0.9), rtol=1e-12)
        np.testing.assert_allclose(one.std(), truth.std(), rtol=1e-12)
        np.testing.assert_allclose(one.mean(), truth.mean(), rtol=1e-12)


def test_quantile_between_far_modes_agrees_with_a_root_finder():
    P, mean, sigma = np.array([[0.3, 0.7]]), np.array([[-10.0, 10.0]]), np.array([0.1, 0.2])
    one = Mixture(P, mean, sigma)
    for level in (0.1, 0.2999, 0.3001, 0.8):
        root = optimize.brentq(lambda t, level=level: np.sum(P * stats.norm.cdf((t - mean) / sigma)) - level, -12, 12)
        found = one.quantile(level)[0]
        assert np.sum(P * stats.norm.cdf((found - mean) / sigma)) == pytest.approx(level, abs=1e-9)
        assert found == pytest.approx(root, abs=1e-3)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 4), st.floats(1e-8, 1e8), st.floats(0.001, 0.999), st.integers(0, 10_000), st.booleans())
def test_quantiles_are_finite_and_ordered_for_any_scale(k, scale, level, seed, heavy):
    rng = np.random.default_rng(seed)
    P, mean = rng.dirichlet(np.full(k, 0.2), 20), scale * rng.standard_normal((20, k))
    sigma = scale * np.exp(3 * rng.standard_normal(k))
    laws = Mixture(P, mean, sigma, np.full(k, 2.5) if heavy else None)
    low, high = laws.bounds(level / 2).T
    assert np.all(np.isfinite(low))
    assert np.all(low <= high)


def test_densities_of_several_outputs_are_those_of_each(laws):
    y = np.stack([laws.quantile(level) for level in (0.1, 0.6)], axis=1)
    for name in ("logpdf", "cdf", "normal_scores"):
        function = getattr(laws, name)
        np.testing.assert_allclose(function(y), np.stack([function(y[:, 0]), function(y[:, 1])], axis=1), rtol=1e-12)


# -- far out ----------------------------------------------------------------------------------------------------------


def test_far_outputs_have_finite_scores_and_densities(laws):
    for far in (-1e9, -1e4, 1e4, 1e9):
        y = np.full(len(laws), far)
        z = laws.normal_scores(y)
        assert np.all(np.isfinite(z))
        assert np.all(np.sign(z) == np.sign(far))
        assert np.all(np.isfinite(laws.logpdf(y)))
        assert np.all((laws.cdf(y) >= 0) & (laws.cdf(y) <= 1))


def test_normal_scores_of_a_gaussian_are_its_standardised_outputs():
    one = Mixture(np.ones((5, 1)), np.zeros((5, 1)), np.array([2.0]))
    z = np.array([-900.0, -36.0, 0.3, 38.2, 500.0])
    np.testing.assert_allclose(one.normal_scores(2 * z), z, rtol=1e-9)


def test_heavy_calibration_far_out_is_undone_by_its_quantiles():
    one = Mixture(np.ones((1, 1)), np.zeros((1, 1)), np.ones(1), None, Calibration(0.0, 2.0, 2.1))
    np.testing.assert_allclose(one.quantile(1e-6), 2 * stats.t.ppf(1e-6, 2.1), rtol=1e-8)
    student = Mixture(np.ones((1, 1)), np.zeros((1, 1)), np.ones(1), np.array([300.0]), Calibration(0.0, 2.0, 2.1))
    np.testing.assert_allclose(student.cdf(student.quantile(1e-4)), 1e-4, rtol=1e-6)


def test_heavy_tails_on_heavy_tails_stay_finite():
    one = Mixture(np.ones((1, 1)), np.zeros((1, 1)), np.ones(1), np.array([3.0]), Calibration(0.0, 2.0, 2.1))
    for level in (1e-4, 1e-12, 1 - 1e-6):
        assert np.isfinite(one.quantile(level))


# -- moments ----------------------------------------------------------------------------------------------------------


def test_std_of_a_calibrated_law_is_that_of_its_draws(rng):
    laws = mixture("gaussian-calibrated", n=3)
    draws = laws.take(np.repeat([0, 1, 2], 100_000)).sample(rng).reshape(3, -1)
    spread = np.sqrt(np.mean((draws - laws.mean()[:, None]) ** 2, axis=1))
    np.testing.assert_allclose(laws.std(), spread, rtol=0.02)


def test_std_by_quadrature_agrees_with_the_formula():
    plain = mixture("gaussian")
    same = Mixture(plain.weights, plain.centers, plain.scales, None, Calibration())
    np.testing.assert_allclose(same.std(), plain.std(), rtol=1e-3)


def test_std_of_one_calibrated_gaussian_is_that_of_its_scores():
    one = Mixture(np.ones((1, 1)), np.full((1, 1), 7.0), np.array([3.0]), None, Calibration(0.0, 1.4, 9.0))
    assert one.std()[0] == pytest.approx(3 * 1.4 * np.sqrt(9 / 7), rel=1e-3)


def test_std_is_finite_without_a_variance():
    one = Mixture(np.ones((1, 1)), np.zeros((1, 1)), np.ones(1), np.array([1.5]))
    assert 1 < one.std()[0] < 1e4


# -- smallest sets ----------------------------------------------------------------------------------------------------


def content(laws, sets):
    return np.array(
        [
            np.sum(laws.take([i] * len(s)).cdf(s[:, 1]) - laws.take([i] * len(s)).cdf(s[:, 0]))
            for i, s in enumerate(sets)
        ]
    )


@pytest.mark.parametrize("coverage", [0.1, 0.5, 0.9, 0.999])
def test_region_has_its_probability_and_is_no_longer_than_the_interval(laws, coverage):
    sets = laws.region(coverage)
    np.testing.assert_allclose(content(laws, sets), coverage, atol=1e-8)
    length = np.array([np.sum(s[:, 1] - s[:, 0]) for s in sets])
    low, high = laws.interval(coverage).T
    assert np.all(length <= (high - low) * (1 + 1e-9))


def test_density_is_the_same_at_all_ends_of_a_region_and_higher_inside(laws):
    for i, s in enumerate(laws.region(0.8)):
        one = laws.take([i])
        ends = one.logpdf(s.reshape(1, -1))
        np.testing.assert_allclose(ends, ends[0, 0], atol=1e-8)
        inside = np.concatenate([np.linspace(a, b, 102)[1:-1] for a, b in s])
        assert np.all(one.logpdf(inside[None, :]) > ends[0, 0] - 1e-8)


def test_region_of_two_far_humps_is_two_intervals():
    one = Mixture(np.array([[0.5, 0.5]]), np.array([[-10.0, 10.0]]), np.ones(2))
    (sets,) = one.region(0.9)
    half = stats.norm.ppf(0.95)
    np.testing.assert_allclose(sets, [[-10 - half, -10 + half], [10 - half, 10 + half]], atol=1e-6)


def test_region_of_a_narrow_hump_on_a_wide_one_finds_it():
    one = Mixture(np.array([[0.97, 0.03]]), np.array([[0.0, 6.0]]), np.array([1.0, 1e-4]))
    (sets,) = one.region(0.9)
    assert len(sets) == 2
    assert np.any((sets[:, 0] < 6) & (sets[:, 1] > 6))


def test_region_of_one_symmetric_component_is_the_interval():
    one = Mixture(np.ones((2, 1)), np.array([[0.0], [5.0]]), np.array([2.0]), np.array([3.0]))
    np.testing.assert_allclose(np.concatenate(one.region(0.95)), one.interval(0.95), rtol=1e-7)


def test_region_of_a_shoulder_that_turns_between_nodes_has_its_probability():
    one = Mixture(
        np.array([[0.78320771, 0.21679229]]), np.array([[1.40904421, 0.57422841]]), np.array([0.28276845, 0.28307103])
    )
    for coverage in np.linspace(0.79, 0.81, 6):
        np.testing.assert_allclose(content(one, one.region(coverage)), coverage, atol=1e-6)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_region_of_outputs_whose_logs_have_heavy_tails_leaves_out_what_is_near_zero(coverage, rng):
    """The density rises without bound towards zero, with next to no probability there."""
    n = 60
    weights, centers = rng.dirichlet(np.ones(2), n), rng.standard_normal((n, 2))
    logs = Mixture(weights, centers, 0.3 * np.exp(0.3 * rng.standard_normal((n, 2))), None, Calibration(0, 1.1, 4.0))
    law = Exponentiated(logs)
    regions = law.region(coverage)
    np.testing.assert_allclose(content(law, regions), coverage, atol=1e-6)
    lengths = np.array([np.sum(np.diff(region, axis=1)) for region in regions])
    assert np.all(lengths <= np.diff(law.interval(coverage), axis=1)[:, 0] * (1 + 1e-9))
    ends = np.array([region[-1, 1] for region in regions])
    np.testing.assert_allclose(np.exp(law.log_less_likely(ends)), 1 - coverage, rtol=1e-6)


def test_central_bounds_have_the_scores_asked_for(laws):
    low, high = laws.central(2.5).T
    np.testing.assert_allclose(laws.standard_scores(low), -2.5, rtol=1e-8)
    np.testing.assert_allclose(laws.standard_scores(high), 2.5, rtol=1e-8)


def test_region_with_nothing_outside_is_the_whole_line(laws):
    assert all(np.array_equal(s, [[-np.inf, np.inf]]) for s in laws.sets(-np.inf))


def test_less_likely_is_what_a_region_that_ends_there_leaves_out(laws):
    for outside in (1e-10, 0.05, 0.6):
        ends = np.array([s[0, 0] for s in laws.sets(np.log(outside))])
        np.testing.assert_allclose(laws.log_less_likely(ends), np.log(outside), atol=1e-6)


@pytest.mark.parametrize("outside", [1e-30, 1e-300])
def test_region_that_leaves_next_to_nothing_out_is_finite_or_all(laws, outside):
    for part in laws.sets(np.log(outside)):
        if laws.calibration is None:
            assert np.all(np.isfinite(part))
            assert np.all(np.diff(part.ravel()) > 0)
        else:
            np.testing.assert_array_equal(part, [[-np.inf, np.inf]])


def test_less_likely_at_own_draws_is_uniform(rng):
    laws = mixture("student-calibrated", n=400)
    assert stats.kstest(np.exp(laws.log_less_likely(laws.sample(rng))), "uniform").pvalue > 1e-3


def test_results_do_not_depend_on_the_blocks(monkeypatch, laws):
    laws = laws.take(slice(8))
    y = laws.quantile(0.2)
    whole = laws.std(), laws.log_less_likely(y), np.concatenate(laws.region(0.7))
    monkeypatch.setattr("skmoe.model.mixture.WORK", 400)
    for found, expected in zip(
        (laws.std(), laws.log_less_likely(y), np.concatenate(laws.region(0.7))), whole, strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-7)


# -- drawing ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(KINDS))
def test_own_draws_fall_evenly_in_the_law(rng, kind):
    laws = mixture(kind, n=4000)
    assert stats.kstest(laws.cdf(laws.sample(rng)), "uniform").pvalue > 1e-3


# -- laws of models ---------------------------------------------------------------------------------------------------


@pytest.fixture(params=["linear", "tanh"])
def model(request):
    return MoEParameters(
        [[1.0, -2.0], [0.5, 3.0]], [[2.0, 0.0], [0.0, 0.0]], [0.1, 0.6], b=[0.3, -1.0], family=request.param
    )


@pytest.fixture
def other(model):
    return MoEParameters(
        [[0.0, 1.0], [2.0, 1.0], [1.0, 1.0]], np.zeros((3, 2)), [0.4, 1.0, 2.0], b=[0.0, 1.0, 5.0], family=model.family
    )


@pytest.mark.parametrize("coverage", [0.1, 0.9, 0.999])
def test_interval_of_a_model_leaves_equal_tails(xp, rng, model, coverage):
    X = rng.standard_normal((40, 2))
    law = PredictiveDistribution.of(model)
    low, high = to_numpy(law.interval(xp.asarray(X), coverage)).T
    np.testing.assert_allclose(law.cdf(X, low), (1 - coverage) / 2, atol=1e-9)
    np.testing.assert_allclose(law.cdf(X, high), (1 + coverage) / 2, atol=1e-9)


def test_interval_of_a_model_does_not_depend_on_the_blocks(monkeypatch, rng, model):
    X, law = rng.standard_normal((100, 2)), PredictiveDistribution.of(model)
    whole = law.interval(X, 0.9)
    monkeypatch.setattr("skmoe.model.predictive.block_rows_for", lambda channels: 7)
    np.testing.assert_allclose(law.interval(X, 0.9), whole, rtol=1e-12)


def test_law_of_a_model_has_its_density_and_mean(rng, model):
    X = rng.standard_normal((30, 2))
    y = model.sample(X, rng)[0]
    at = PredictiveDistribution.of(model).at(X)
    np.testing.assert_allclose(at.logpdf(y), model.log_density(X, y), rtol=1e-10)
    np.testing.assert_allclose(at.mean(), model.predict(X), rtol=1e-12)


def test_cdf_of_the_models_own_outputs_is_uniform(rng, model):
    X = rng.standard_normal((5000, 2))
    y, _ = model.sample(X, rng)
    assert stats.kstest(PredictiveDistribution.of(model).cdf(X, y), "uniform").pvalue > 1e-3


def test_density_of_several_members_is_their_weighted_mean(xp, rng, model, other):
    law = PredictiveDistribution((model, other), np.array([0.3, 0.7]))
    X = rng.standard_normal((25, 2))
    y = model.sample(X, rng)[0]
    density = 0.3 * np.exp(model.log_density(X, y)) + 0.7 * np.exp(other.log_density(X, y))
    rows = xp.asarray(X), xp.asarray(y)
    np.testing.assert_allclose(to_numpy(law.log_density(*rows)), np.log(density), rtol=1e-10)
    np.testing.assert_allclose(law.at(X).pdf(y), density, rtol=1e-10)
    np.testing.assert_allclose(to_numpy(law.mean(rows[0])), 0.3 * model.predict(X) + 0.7 * other.predict(X))
    np.testing.assert_allclose(law.at(X).mean(), to_numpy(law.mean(rows[0])))


def test_calibrated_law_keeps_the_mean_and_widens_the_interval(rng, model):
    X, plain = rng.standard_normal((20, 2)), PredictiveDistribution.of(model)
    wider = PredictiveDistribution((model,), np.ones(1), Calibration(0.0, 1.5))
    np.testing.assert_allclose(wider.mean(X), plain.mean(X), rtol=1e-12)
    inside, around = plain.interval(X, 0.9), wider.interval(X, 0.9)
    assert np.all((around[:, 0] < inside[:, 0]) & (around[:, 1] > inside[:, 1]))
    y = plain.evaluate(lambda law: law.quantile(0.4), X)
    np.testing.assert_allclose(wider.log_density(X, y), wider.at(X).logpdf(y))


# -- corrections ------------------------------------------------------------------------------------------------------


def test_one_corrected_expert_gives_the_textbooks_prediction_interval(rng):
    n, d = 23, 3
    X, new = rng.standard_normal((n, d)), 4 * rng.standard_normal((9, d))
    y = X @ np.array([1.0, -2.0, 0.5]) + 3 + rng.standard_normal(n)
    Z, Z_new = np.column_stack([X, np.ones(n)]), np.column_stack([new, np.ones(9)])
    beta, (rss,), *_ = np.linalg.lstsq(Z, y)
    freedom = n - d - 1
    variance = rss / freedom
    C = variance * np.linalg.inv(Z.T @ Z)
    member = MoEParameters(beta[None, :-1], np.zeros((1, d)), np.sqrt(rss / n), b=beta[-1:])
    correction = Correction(np.array([np.sqrt(variance)]), np.array([float(freedom)]), C[None])
    law = PredictiveDistribution((member,), np.ones(1), corrections=(correction,))
    half = stats.t.ppf(0.975, freedom) * np.sqrt(variance * (1 + np.sum((Z_new @ np.linalg.inv(Z.T @ Z)) * Z_new, 1)))
    expected = np.stack([Z_new @ beta - half, Z_new @ beta + half], axis=1)
    np.testing.assert_allclose(law.interval(new, 0.95), expected, rtol=1e-8)
    np.testing.assert_allclose(law.mean(new), Z_new @ beta, rtol=1e-10)


def test_uncertain_predictors_widen_experts_by_the_slope_of_the_activation(rng, model):
    X, h = rng.standard_normal((6, 2)), 1e-6
    C = np.stack([np.diag([0.1, 0.2, 0.3]), np.diag([0.0, 0.0, 0.5])])
    at = PredictiveDistribution((model,), np.ones(1), corrections=(Correction(expert_covariance=C),)).at(X)
    eta = model.predictors(X)
    slope = (model.g(eta + h) - model.g(eta - h)) / (2 * h)
    spread = np.stack([0.1 * X[:, 0] ** 2 + 0.2 * X[:, 1] ** 2 + 0.3, np.full(6, 0.5)], axis=1)
    np.testing.assert_allclose(at.scales**2, model.sigma**2 + slope**2 * spread, rtol=1e-6)


def test_uncertain_gate_is_drawn_towards_equal_weights(rng, model):
    X = rng.standard_normal((50, 2))
    sure, unsure = (
        PredictiveDistribution(
            (model,), np.ones(1), corrections=(Correction(gate_covariance=v * np.ones((2, 3, 3))),)
        ).at(X)
        for v in (0.0, 3.0)
    )
    np.testing.assert_allclose(sure.weights, model.gate_proba(X), rtol=1e-10)
    assert np.all(np.abs(unsure.weights - 0.5) <= np.abs(sure.weights - 0.5) + 1e-12)
    v = 3 * np.sum(np.column_stack([X, np.ones(50)]), axis=1) ** 2
    logit = 2 * X[:, 0] / np.sqrt(1 + np.pi * v / 8)
    np.testing.assert_allclose(unsure.weights[:, 0], 1 / (1 + np.exp(-logit)), rtol=1e-10)
