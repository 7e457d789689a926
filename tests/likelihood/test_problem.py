from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from problems import random_problem
from skmoe.likelihood import Settings, Theta, information, mean_log_likelihood
from skmoe.likelihood.penalty import noise_dof, noise_penalty, penalty_at, penalty_information
from skmoe.model.families import NegativeBinomialFamily, PoissonFamily, StudentFamily
from skmoe.model.parameters import MoEParameters


def test_value_is_the_mean_log_density_of_the_model(rng):
    problem, theta = random_problem(rng, weighted=False)
    model = MoEParameters(theta.A, theta.W, theta.sigma)
    density = model.log_density(problem.rows.X, problem.rows.y)
    assert mean_log_likelihood(problem, theta) == pytest.approx(np.mean(density), abs=1e-13)


def test_rows_laid_out_in_memory_change_nothing(rng):
    how = dict(center=rng.standard_normal(3), transform=rng.standard_normal((3, 3)), y_shift=0.3, y_scale=2.0)
    problem, theta = random_problem(rng, intercept=True, **how)
    held = problem.in_memory()
    assert held.rows is not problem.rows
    assert held.laid_out() is held.rows
    for sums in (lambda p: information(p, theta).information, lambda p: mean_log_likelihood(p, theta)):
        np.testing.assert_allclose(sums(held), sums(problem), atol=1e-12)
    assert held.rows.y_std() == pytest.approx(problem.rows.y_std(), rel=1e-12)


def test_sample_is_of_rows_that_have_weight(rng):
    problem, theta = random_problem(rng)
    problem.rows.weight[:60] = 0.0
    part = problem.sample(50, np.random.default_rng(0))
    assert part.n == 20
    assert part.total == pytest.approx(np.sum(problem.rows.weight))
    assert np.isfinite(mean_log_likelihood(part, theta))
    few = problem.sample(5, np.random.default_rng(0))
    assert few.n == 5
    assert (few.k, few.De, few.y_std) == (problem.k, problem.De, problem.y_std)


def test_scaled_weights_are_the_same_weights(rng):
    """Weights of streamed rows are scaled as they are read."""
    problem, theta = random_problem(rng, noise="per-expert")
    rows = replace(problem.rows, weight=problem.rows.weight / 1e6, weight_scale=1e6)
    there = information(problem.on(rows), theta)
    np.testing.assert_allclose(there.information, information(problem, theta).information, rtol=1e-9, atol=1e-12)
    assert problem.on(rows).sample(40, np.random.default_rng(0)).total == pytest.approx(
        problem.sample(40, np.random.default_rng(0)).total
    )


def test_passes_over_rows_are_counted(rng):
    problem, theta = random_problem(rng)
    before = problem.rows.passes.count
    information(problem, theta)
    mean_log_likelihood(problem.with_experts(3), theta)
    assert problem.rows.passes.count == before + 2


@pytest.mark.parametrize(("noise", "count"), [("shared", 1), ("per-expert", 3), (0.7, 0)])
def test_packing_comes_back(rng, noise, count):
    problem, theta = random_problem(rng, noise=noise, intercept=True, gate_columns=(0,))
    vector = problem.pack(theta)
    assert len(vector) == problem.n_parameters == 3 * 4 + 2 * 2 + count
    assert problem.unpack(vector, theta).distance(theta) < 1e-14


def test_noise_is_held_above_its_floor(rng):
    problem, theta = random_problem(rng, noise="per-expert")
    vector = problem.pack(theta)
    vector[-1] = -50.0
    low = problem.unpack(vector, theta)
    assert low.sigma[-1] == problem.least_scale
    assert list(problem.at_least_scale(low)) == [False, False, True]
    assert not problem.is_admissible(low, np.full(3, 1 / 3))
    assert problem.is_admissible(theta, np.full(3, 1 / 3))


@pytest.mark.parametrize(("penalty", "may"), [(0.0, False), (0.01, False), (0.03, True), (3.0, True)])
def test_an_expert_may_fade_where_the_penalty_charges_it_in_full(rng, penalty, may):
    problem, theta = random_problem(rng, settings=Settings(noise="per-expert", penalty=penalty), noise="per-expert")
    assert problem.is_admissible(theta, np.array([0.5, 0.5, 0.0])) is may
    poisson = replace(problem, family=PoissonFamily(), settings=replace(problem.settings, noise=1.0))  # no noise
    assert not poisson.is_admissible(theta, np.array([0.5, 0.5, 0.0]))


def test_an_expert_of_gross_errors_alone_is_not_admissible_where_tails_are_heavy(rng):
    problem, theta = random_problem(rng, noise="per-expert")
    apart = replace(theta, sigma=np.array([0.1, 0.1, 2.5]))
    assert problem.is_admissible(apart, np.full(3, 1 / 3))
    student = replace(problem, family=StudentFamily(4.0))
    assert not student.is_admissible(apart, np.full(3, 1 / 3))
    faded = replace(theta, sigma=np.array([0.01, 0.01, 0.9 * problem.y_std]))
    assert student.is_admissible(faded, np.array([0.5, 0.5, 0.0]))


def penalised(rng, noise, tau):
    settings = Settings(noise=noise, penalty=tau, pooled=rng.standard_normal(3), least_ridge=0.2)
    return random_problem(rng, noise=noise, settings=settings)


@pytest.mark.parametrize("tau", [0.0, 0.7])
def test_penalty_does_not_depend_on_the_order_of_experts(rng, tau):
    problem, theta = penalised(rng, "per-expert", tau)
    there = theta.picked([2, 0, 1])
    here = penalty_at(problem, theta).cost
    assert penalty_at(problem, there).cost == pytest.approx(here, rel=1e-12)
    assert here > 0


@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.7])
@pytest.mark.parametrize("tau", [0.0, 0.7])
def test_penalty_has_its_gradient_and_curvature(rng, noise, tau):
    problem, theta = penalised(rng, noise, tau)
    vector, step = problem.pack(theta), 1e-6

    def at(v):
        cost, *slopes = penalty_at(problem, problem.unpack(v, theta))
        return cost, np.concatenate([part.ravel() for part in slopes])

    moves = step * np.eye(len(vector))
    slopes = [(at(vector + e)[0] - at(vector - e)[0]) / (2 * step) for e in moves]
    np.testing.assert_allclose(at(vector)[1], slopes, atol=1e-9)
    curves = [(at(vector + e)[1] - at(vector - e)[1]) / (2 * step) for e in moves]
    np.testing.assert_allclose(penalty_information(problem, theta), curves, atol=1e-9)


def test_penalty_is_zero_where_all_experts_are_the_pooled_one_and_explain_nothing(rng):
    problem, theta = penalised(rng, "per-expert", 0.7)
    flat = Theta(np.tile(problem.settings.pooled, (3, 1)), np.zeros_like(theta.W), np.full(3, problem.y_std))
    assert penalty_at(problem, flat).cost == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("noise", ["shared", "per-expert"])
def test_penalised_noise_is_that_of_rows_left_out(rng, noise):
    """Where it is small beside the spread, the variance is RSS / (N - charge D) of each expert, or of all."""
    problem, _ = penalised(rng, noise, 0.7)
    dof = noise_dof(problem) * problem.total
    assert dof == problem.settings.dof_correction * problem.De == 6.0
    rows, left = np.array([100.0, 30.0, 50.0]), np.array([1e-6, 3e-6, 2e-6])
    found = problem.family.updated_scales(left, rows, dof, 1.0, 1e-9)
    np.testing.assert_allclose(found**2, left / (rows - 6), rtol=1e-5)
    # fewer rows than that, and the noise is of the size of the spread
    assert problem.family.updated_scales(left, np.array([5.0, 1.0, 0.1]), dof, 1.0, 1e-9).min() > 0.25


def test_f_distribution_is_the_prior_of_noise():
    """The log density of log(sigma^2 / s^2), sigma^2 / s^2 being F(nu, nu), is the penalty but for a constant."""
    nu, scales = 7.0, np.array([0.01, 0.3, 1.0, 2.0, 50.0])
    ratio = (scales / 0.4) ** 2
    log_density = stats.f(nu, nu).logpdf(ratio) + np.log(ratio)
    costs = nu * noise_penalty(scales, 0.4)[0]
    np.testing.assert_allclose(log_density + costs, np.full(5, (log_density + costs)[0]), rtol=1e-10)


def test_a_law_without_spikes_is_not_charged(rng):
    """Counts have no density: their variation is drawn like other parameters, with the strength of the penalty."""
    problem, _ = penalised(rng, "per-expert", 0.7)
    counts = replace(problem, family=NegativeBinomialFamily())
    assert noise_dof(counts) * problem.total == pytest.approx(0.7)
    weak = replace(problem, settings=replace(problem.settings, penalty=0.003))
    assert noise_dof(weak) * problem.total == pytest.approx(0.6)
    np.testing.assert_allclose(noise_dof(problem, np.array([0.0, 0.015, 9.0])) * problem.total, [0.0, 3.0, 6.0])


def test_without_a_penalty_a_ridge_is_left_on_the_gate_alone(rng):
    problem, theta = penalised(rng, "per-expert", 0.0)
    slopes = penalty_at(problem, theta)
    W = theta.W
    expected = 0.5 * 0.2 * np.sum((W - W.mean(axis=0)) ** 2) / problem.total
    assert slopes.cost == pytest.approx(expected, rel=1e-12)
    assert not np.any(slopes.experts)
    assert not np.any(slopes.noise)


def test_theta_goes_part_of_the_way_towards_a_goal():
    here = Theta(np.zeros((1, 1)), np.zeros((1, 1)), np.array([1.0]))
    there = Theta(np.ones((1, 1)), np.zeros((1, 1)), np.array([4.0]))
    half = here.towards(there, 0.5)
    assert half.A[0, 0] == 0.5
    assert half.sigma[0] == pytest.approx(2.0)
    assert here.towards(there, 1.0).distance(there) == 0
    assert here.distance(there) == 3.0
