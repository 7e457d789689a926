import numpy as np
import pytest
from scipy import optimize
from sklearn.linear_model import LinearRegression

import skmoe.search.optimiser
from problems import family, standard_problem, started
from skmoe import make_moe
from skmoe.likelihood import InputMap, MappedRows, Problem, Settings, gradient, information, mean_log_likelihood
from skmoe.search.config import SearchConfig
from skmoe.search.finish import Fit, extend, maximise, polish
from skmoe.search.joint_em import run_em
from skmoe.search.optimiser import Optimiser, Point
from skmoe.search.records import Control
from skmoe.search.starts import labelled_start


def assert_sound(fit, start):
    """What every optimiser owes: it never falls, never ends below its start, never gives NaN or an empty expert."""
    assert np.all(np.diff(fit.trace) >= 0)
    assert fit.log_likelihood >= start - 1e-9
    assert all(np.all(np.isfinite(part)) for part in (fit.theta.A, fit.theta.W, fit.theta.sigma))
    assert np.all(np.isfinite(fit.curvature.information))
    assert np.min(fit.share) > 0


@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.3])
def test_maximise_agrees_with_scipy(noise):
    X, y, _ = make_moe(300, 2, 2, noise_scale=0.3, random_state=3)
    problem, start = started(X, y, 2, noise=noise, penalty=1e-3)
    fit = maximise(problem, start)

    def loss(vector):
        here = gradient(problem, problem.unpack(vector, start))
        return -here.objective, -here.gradient

    nearby = problem.pack(fit.theta) + 0.05
    reference = optimize.minimize(loss, nearby, jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    assert fit.converged
    assert fit.identified
    assert fit.objective == pytest.approx(-reference.fun, abs=1e-9)
    np.testing.assert_allclose(problem.pack(fit.theta), reference.x, atol=1e-3)


@pytest.mark.parametrize("g", ["linear", "sigmoid", "relu", "tanh", "softplus"])
@pytest.mark.parametrize("seed", range(3))
def test_maximise_never_lowers_the_likelihood(g, seed):
    X, y, _ = make_moe(400, 3, 3, activation=g, noise_scale=0.2, random_state=seed)
    problem, start = started(X, y, 3, seed, g=g)
    seen = [start]  # the points themselves: the trace could hide a fall

    def note(optimiser):
        if optimiser.point.theta is not seen[-1]:
            seen.append(optimiser.point.theta)

    fit = maximise(problem, start, Control(max_iter=100), on_step=note)
    levels = [gradient(problem, theta).objective for theta in seen]
    assert np.min(np.diff(levels)) > -1e-11
    np.testing.assert_allclose(fit.trace, levels, atol=1e-11)
    assert_sound(fit, mean_log_likelihood(problem, start))


def test_maximise_stops_within_a_hundredth_of_a_standard_error():
    X, y, _ = make_moe(3000, 3, 3, noise_scale=0.7, random_state=1)  # experts overlap: EM alone crawls
    problem, start = started(X, y, 3)
    fit = maximise(problem, start)
    exact = maximise(problem, fit.theta, Control(tol=1e-16), near=True)
    information = problem.total * exact.curvature.information
    away = problem.pack(fit.theta) - problem.pack(exact.theta)
    assert fit.converged
    assert away @ information @ away < 1e-4


def test_many_rows_by_subsample_reach_the_same_optimum():
    X, y, truth = make_moe(30000, 3, 2, noise_scale=0.5, random_state=2)
    problem, _ = started(X, y, 2)
    start = problem.rows.map.from_parameters(truth)
    assert problem.n > 3 * max(100 * problem.n_parameters, 2000)  # or the test does not show what it says
    fit = maximise(problem, start)
    here = run_em(problem, start, max_iter=15, tol=1e-9).points[-1]
    optimiser = Optimiser(Point(problem.on(problem.rows.subset()), here))
    while optimiser.newton()[0] > 1e-12:
        pass
    assert fit.converged
    assert fit.objective == pytest.approx(optimiser.trace[-1], abs=1e-8)
    assert_sound(fit, mean_log_likelihood(problem, start))


def test_many_rows_see_their_own_hessian_twice_at_most(monkeypatch):
    X, y, _ = make_moe(30000, 3, 2, noise_scale=0.5, random_state=2)
    problem, start = started(X, y, 2)
    rows = []
    monkeypatch.setattr(skmoe.search.optimiser, "information", lambda p, t: rows.append(p.n) or information(p, t))
    assert maximise(problem, start).converged
    assert 0 < min(rows) < 30000  # a subsample was used
    assert rows.count(30000) <= 2  # the last one, for standard errors, and at most one step


def test_weights_equal_repeated_rows():
    X, y, truth = make_moe(500, 2, 2, random_state=0)
    weight = np.random.default_rng(1).integers(0, 4, 500)
    rows = np.repeat(np.arange(500), weight)
    weighted = standard_problem(X, y, 2, weight=weight.astype(float), noise="per-expert")
    repeated = standard_problem(X[rows], y[rows], 2, noise="per-expert")
    start = weighted.rows.map.from_parameters(truth)
    one, two = maximise(weighted, start), maximise(repeated, start)
    assert one.theta.distance(two.theta) < 1e-8
    np.testing.assert_allclose(one.curvature.information, two.curvature.information, atol=1e-8)


def test_one_expert_is_ordinary_regression():
    X, y, _ = make_moe(200, 4, 2, random_state=0)
    problem, start = started(X, y, 1)
    parameters = problem.rows.map.to_parameters(maximise(problem, start).theta, problem.family)
    reference = LinearRegression().fit(X, y)
    np.testing.assert_allclose(parameters.A[0], reference.coef_, atol=1e-8)
    assert parameters.b[0] == pytest.approx(reference.intercept_, abs=1e-8)
    assert parameters.sigma[0] == pytest.approx(np.std(y - reference.predict(X)), rel=1e-6)


def test_penalty_costs_nothing_on_ordinary_problems():
    X, y, _ = make_moe(2000, 5, 3, noise_scale=0.1, random_state=4)
    problem, start = started(X, y, 3)
    fit = maximise(problem, start)
    assert 0 <= (fit.log_likelihood - fit.objective) * 2000 < 0.01


def test_separable_gate_stays_finite(rng):
    X = rng.standard_normal((400, 2))
    y = np.where(X[:, 0] > 0, 5 + X[:, 1], -5 - X[:, 1]) + 0.1 * rng.standard_normal(400)
    problem, _ = started(X, y, 2)
    fit = maximise(problem, labelled_start(problem, (X[:, 0] > 0).astype(int)))
    assert fit.converged
    assert 10 < np.max(np.abs(fit.theta.W)) < 1e6
    assert_sound(fit, -np.inf)


@pytest.mark.parametrize("seed", range(5))
def test_ties_in_the_output_meet_the_noise_floor_and_it_is_said(rng, seed):
    X = rng.standard_normal((400, 2))
    y = X @ [1.0, -1.0] + 0.3 * rng.standard_normal(400)
    y[:40] = 0.25
    problem, start = started(X, y, 3, seed, noise="per-expert")
    fit = maximise(problem, start)
    assert_sound(fit, mean_log_likelihood(problem, start))
    assert np.min(fit.theta.sigma) >= problem.least_scale
    assert np.any(fit.at_floor) == bool(np.any(fit.theta.sigma <= problem.least_scale * 1.001))
    assert not (fit.admissible and np.any(fit.at_floor))


def test_duplicate_rows_and_a_constant_column_do_no_harm():
    X, y, _ = make_moe(150, 2, 2, random_state=5)
    X, y = np.tile(np.column_stack([X, np.full(150, 3.0)]), (4, 1)), np.tile(y, 4)
    problem, start = started(X, y, 2)
    fit = maximise(problem, start)
    assert fit.converged
    assert_sound(fit, mean_log_likelihood(problem, start))


def test_a_constant_column_without_a_map_leaves_the_flat_direction_alone():
    X, y, _ = make_moe(300, 2, 2, random_state=5)
    X = np.column_stack([X, np.full(300, 3.0)])  # the same as the intercept
    rows = MappedRows.of(X, y, InputMap.identity(3, intercept=True))
    problem = Problem(rows, 2, family("linear"), Settings(), rows.y_std())
    fit = maximise(problem, labelled_start(problem, np.arange(300) % 2), Control(max_iter=60))
    assert_sound(fit, -np.inf)
    assert not fit.identified


def test_more_experts_than_there_are_stays_sound():
    X, y, _ = make_moe(500, 3, 2, noise_scale=0.3, random_state=6)
    for noise in ("shared", "per-expert"):
        problem, start = started(X, y, 5, noise=noise)
        fit = maximise(problem, start, Control(max_iter=200))
        assert_sound(fit, mean_log_likelihood(problem, start))


def test_known_noise_is_not_touched():
    X, y, _ = make_moe(400, 3, 2, noise_scale=0.3, random_state=7)
    problem, start = started(X, y, 2, noise=0.3)
    fit = maximise(problem, start)
    np.testing.assert_array_equal(fit.theta.sigma, [0.3, 0.3])
    assert fit.at_floor.size == 0


def test_callback_sees_every_iteration():
    X, y, _ = make_moe(400, 3, 2, random_state=7)
    problem, start = started(X, y, 2)
    seen = []
    fit = maximise(problem, start, on_step=lambda optimiser: seen.append(optimiser.trace[-1]))
    assert seen == sorted(seen)
    assert set(seen) == set(fit.trace)  # while first-order steps are under way, too
    assert len(seen) > len(fit.trace)


def test_rescaled_inputs_give_the_same_fit():
    X, y, _ = make_moe(500, 3, 2, random_state=8)
    scale, shift = np.array([1e-6, 1.0, 1e5]), np.array([3.0, -2.0, 1e4])
    fits = []
    for inputs in (X, X * scale + shift):
        problem, start = started(inputs, y, 2)
        fit = maximise(problem, start)
        fits.append((fit.log_likelihood, problem.rows.map.to_parameters(fit.theta, problem.family).A))
    (one, A), (two, B) = fits
    assert one == pytest.approx(two, abs=1e-7)
    np.testing.assert_allclose(B * scale, A, atol=1e-4)


# -- from a part of the rows to all -----------------------------------------------------------------------------------


def test_optimum_of_a_sample_is_carried_to_all_rows_in_few_passes():
    X, y, _ = make_moe(20000, 3, 2, noise_scale=0.3, random_state=2)
    whole, _ = started(X, y, 2)
    part = whole.sample(2000, np.random.default_rng(0))
    near = maximise(part, labelled_start(part, np.arange(2000) % 2))
    whole.rows.passes.count = 0
    fit = extend(whole, Point(part, near.theta, near.curvature), Control(), SearchConfig())
    assert whole.rows.passes.count < 15
    assert fit.converged
    assert fit.objective == pytest.approx(maximise(whole, near.theta, Control(tol=1e-14)).objective, abs=1e-12)
    assert np.max(np.abs(fit.curvature.gradient)) < 1e-7


def test_polish_brings_the_gradient_down_to_rounding():
    X, y, _ = make_moe(1000, 3, 2, noise_scale=0.5, random_state=2)
    problem, start = started(X, y, 2)
    best = maximise(problem, start)
    near = problem.unpack(problem.pack(best.theta) + 1e-4, best.theta)
    rough = Fit.of(Optimiser(Point(problem, near)), converged=True)
    fine = polish(problem, rough)
    assert np.max(np.abs(fine.curvature.gradient)) < 1e-9 < np.max(np.abs(rough.curvature.gradient))
    assert fine.trace == rough.trace
    assert fine.converged


def test_polish_leaves_experts_with_kinks_where_they_are():
    X, y, _ = make_moe(1000, 3, 2, activation="relu", noise_scale=0.3, random_state=2)
    problem, start = started(X, y, 2, g="relu")
    fit = maximise(problem, start)
    assert polish(problem, fit).theta.distance(fit.theta) == 0
