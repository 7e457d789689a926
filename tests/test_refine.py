import numpy as np
import pytest
from scipy import optimize
from sklearn.linear_model import LinearRegression

from skmoe import joint_em, make_moe, metrics
from skmoe.model.activations import get_activation
from skmoe.likelihood.joint import JointLikelihood, Settings, Theta
from skmoe.search.refine import Ascent, maximise, solve_each, two_loop
from skmoe.search.starts import labelled_start
from skmoe.search.whitening import whitening_map


def started(X, y, k, seed=0, g="linear", **settings):
    center, transform = whitening_map(X)
    likelihood = JointLikelihood(
        X,
        y,
        get_activation(g),
        k,
        intercept=True,
        center=center,
        transform=transform,
        settings=Settings(**settings),
    )
    return likelihood, labelled_start(likelihood, np.random.default_rng(seed).integers(k, size=len(y)))


def assert_sound(fit, start):
    """What every ascent owes: it never falls, never ends below its start, never gives NaN or an empty expert."""
    assert np.all(np.diff(fit.trace) >= 0)
    assert fit.log_likelihood >= start - 1e-9
    assert all(np.all(np.isfinite(part)) for part in (fit.theta.A, fit.theta.W, fit.theta.sigma))
    assert np.all(np.isfinite(fit.curvature.information))
    assert np.min(fit.share) > 0


@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.3])
def test_maximise_agrees_with_scipy(noise):
    X, y, _ = make_moe(300, 2, 2, noise_scale=0.3, random_state=3)
    likelihood, start = started(X, y, 2, noise=noise, gate_penalty=1e-3)
    fit = maximise(likelihood, start)

    def loss(vector):
        here = likelihood.gradient(likelihood.unpack(vector, start))
        return -here.objective, -here.gradient

    nearby = likelihood.pack(fit.theta) + 0.05
    reference = optimize.minimize(loss, nearby, jac=True, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-9})
    assert fit.converged
    assert fit.identified
    assert fit.objective == pytest.approx(-reference.fun, abs=1e-9)
    np.testing.assert_allclose(likelihood.pack(fit.theta), reference.x, atol=1e-3)


@pytest.mark.parametrize("g", ["linear", "sigmoid", "relu", "tanh", "softplus"])
@pytest.mark.parametrize("seed", range(3))
def test_maximise_never_lowers_the_likelihood(g, seed):
    X, y, _ = make_moe(400, 3, 3, activation=g, noise_scale=0.2, random_state=seed)
    likelihood, start = started(X, y, 3, seed, g=g)
    seen = []  # the points themselves: the trace could hide a fall
    fit = maximise(likelihood, start, max_iter=100, callback=lambda ascent: seen.append(ascent.theta))
    levels = [likelihood.gradient(theta).objective for theta in [start, *seen]]
    assert np.min(np.diff(levels)) > -1e-11
    np.testing.assert_allclose(fit.trace, levels, atol=1e-11)
    assert_sound(fit, likelihood.value(start))


def test_maximise_stops_within_a_hundredth_of_a_standard_error():
    X, y, _ = make_moe(3000, 3, 3, noise_scale=0.7, random_state=1)  # experts overlap: EM alone crawls
    likelihood, start = started(X, y, 3)
    fit = maximise(likelihood, start)
    exact = maximise(likelihood, fit.theta, tol=1e-16, near=True)
    information = likelihood.total * exact.curvature.information
    away = likelihood.pack(fit.theta) - likelihood.pack(exact.theta)
    assert fit.converged
    assert away @ information @ away < 1e-4


def test_many_rows_by_subsample_reach_the_same_optimum():
    X, y, truth = make_moe(30000, 3, 2, noise_scale=0.5, random_state=2)
    likelihood, _ = started(X, y, 2)
    start = likelihood.from_parameters(truth)
    assert likelihood.n > 3 * max(100 * likelihood.n_parameters, 2000)  # or the test does not show what it says
    fit = maximise(likelihood, start)
    ascent = Ascent(likelihood.subset(), start)
    ascent.em_until(0.0, most=15)
    while ascent.newton()[0] > 1e-12:
        pass
    assert fit.converged
    assert fit.objective == pytest.approx(ascent.trace[-1], abs=1e-8)
    assert_sound(fit, likelihood.value(start))


def test_many_rows_see_their_own_hessian_twice_at_most(monkeypatch):
    X, y, _ = make_moe(30000, 3, 2, noise_scale=0.5, random_state=2)
    likelihood, start = started(X, y, 2)
    rows, plain = [], JointLikelihood.information
    monkeypatch.setattr(JointLikelihood, "information", lambda self, t: rows.append(self.n) or plain(self, t))
    assert maximise(likelihood, start).converged
    assert rows.count(30000) <= 2  # the last one, for standard errors, and at most one step


def test_weights_equal_repeated_rows():
    X, y, truth = make_moe(500, 2, 2, random_state=0)
    weight = np.random.default_rng(1).integers(0, 4, 500)
    rows = np.repeat(np.arange(500), weight)
    how = dict(intercept=True, settings=Settings("per-expert"))
    weighted = JointLikelihood(X, y, truth.g, 2, weight=weight, **how)
    repeated = JointLikelihood(X[rows], y[rows], truth.g, 2, **how)
    start = weighted.from_parameters(truth)
    one, two = maximise(weighted, start), maximise(repeated, start)
    assert one.theta.distance(two.theta) < 1e-8
    np.testing.assert_allclose(one.curvature.information, two.curvature.information, atol=1e-8)


def test_one_expert_is_ordinary_regression():
    X, y, _ = make_moe(200, 4, 2, random_state=0)
    likelihood, start = started(X, y, 1)
    parameters = likelihood.to_parameters(maximise(likelihood, start).theta)
    reference = LinearRegression().fit(X, y)
    np.testing.assert_allclose(parameters.A[0], reference.coef_, atol=1e-8)
    assert parameters.b[0] == pytest.approx(reference.intercept_, abs=1e-8)
    assert parameters.sigma[0] == pytest.approx(np.std(y - reference.predict(X)), rel=1e-6)


def test_penalty_costs_nothing_on_ordinary_problems():
    X, y, _ = make_moe(2000, 5, 3, noise_scale=0.1, random_state=4)
    likelihood, start = started(X, y, 3)
    fit = maximise(likelihood, start)
    assert 0 <= (fit.log_likelihood - fit.objective) * 2000 < 0.01


def test_separable_gate_stays_finite(rng):
    X = rng.standard_normal((400, 2))
    y = np.where(X[:, 0] > 0, 5 + X[:, 1], -5 - X[:, 1]) + 0.1 * rng.standard_normal(400)
    likelihood, _ = started(X, y, 2)
    fit = maximise(likelihood, labelled_start(likelihood, (X[:, 0] > 0).astype(int)))
    assert fit.converged
    assert 10 < np.max(np.abs(fit.theta.W)) < 1e6
    assert_sound(fit, -np.inf)


@pytest.mark.parametrize("seed", range(5))
def test_ties_in_the_output_meet_the_noise_floor_and_it_is_said(rng, seed):
    X = rng.standard_normal((400, 2))
    y = X @ [1.0, -1.0] + 0.3 * rng.standard_normal(400)
    y[:40] = 0.25
    likelihood, start = started(X, y, 3, seed, noise="per-expert")
    fit = maximise(likelihood, start)
    assert_sound(fit, likelihood.value(start))
    assert np.min(fit.theta.sigma) >= likelihood.noise_floor
    assert np.any(fit.at_floor) == bool(np.any(fit.theta.sigma <= likelihood.noise_floor * 1.001))
    assert not (fit.admissible and np.any(fit.at_floor))


def test_duplicate_rows_and_a_constant_column_do_no_harm():
    X, y, _ = make_moe(150, 2, 2, random_state=5)
    X, y = np.tile(np.column_stack([X, np.full(150, 3.0)]), (4, 1)), np.tile(y, 4)
    likelihood, start = started(X, y, 2)
    fit = maximise(likelihood, start)
    assert fit.converged
    assert_sound(fit, likelihood.value(start))


def test_a_constant_column_without_a_map_leaves_the_flat_direction_alone():
    X, y, _ = make_moe(300, 2, 2, random_state=5)
    X = np.column_stack([X, np.full(300, 3.0)])  # the same as the intercept
    likelihood = JointLikelihood(X, y, get_activation("linear"), 2, intercept=True)
    fit = maximise(likelihood, labelled_start(likelihood, np.arange(300) % 2), max_iter=60)
    assert_sound(fit, -np.inf)
    assert not fit.identified


def test_more_experts_than_there_are_stays_sound():
    X, y, _ = make_moe(500, 3, 2, noise_scale=0.3, random_state=6)
    for noise in ("shared", "per-expert"):
        likelihood, start = started(X, y, 5, noise=noise)
        fit = maximise(likelihood, start, max_iter=200)
        assert_sound(fit, likelihood.value(start))


def test_known_noise_is_not_touched():
    X, y, _ = make_moe(400, 3, 2, noise_scale=0.3, random_state=7)
    likelihood, start = started(X, y, 2, noise=0.3)
    fit = maximise(likelihood, start)
    np.testing.assert_array_equal(fit.theta.sigma, [0.3, 0.3])
    assert fit.at_floor.size == 0


def test_callback_sees_every_iteration():
    X, y, _ = make_moe(400, 3, 2, random_state=7)
    likelihood, start = started(X, y, 2)
    seen = []
    fit = maximise(likelihood, start, callback=lambda ascent: seen.append(ascent.trace[-1]))
    assert seen == fit.trace[1:]


def test_rescaled_inputs_give_the_same_fit():
    X, y, _ = make_moe(500, 3, 2, random_state=8)
    scale, shift = np.array([1e-6, 1.0, 1e5]), np.array([3.0, -2.0, 1e4])
    fits = []
    for inputs in (X, X * scale + shift):
        likelihood, start = started(inputs, y, 2)
        fits.append((maximise(likelihood, start), likelihood))
    (one, plain), (two, scaled) = fits
    assert one.log_likelihood == pytest.approx(two.log_likelihood, abs=1e-7)
    A, B = plain.to_parameters(one.theta).A, scaled.to_parameters(two.theta).A
    np.testing.assert_allclose(B * scale, A, atol=1e-4)


def test_two_loop_solves_a_quadratic_after_as_many_pairs_as_dimensions(rng):
    H = np.diag([1.0, 4.0, 9.0])
    pairs = [(e, H @ e, 1 / (e @ H @ e)) for e in np.eye(3)]  # conjugate directions carry the whole inverse
    gradient = rng.standard_normal(3)
    np.testing.assert_allclose(two_loop(gradient, pairs, lambda v: v.copy()), np.linalg.solve(H, gradient))


def test_solve_each_leaves_uninformed_directions_alone(rng):
    grams = np.stack([np.diag([2.0, 1.0]), np.diag([3.0, 0.0])])
    np.testing.assert_allclose(solve_each(grams, np.array([[2.0, 1.0], [3.0, 0.0]])), [[1.0, 1.0], [1.0, 0.0]])


def test_joint_em_never_lowers_the_likelihood_and_finds_the_truth():
    X, y, truth = make_moe(2000, 5, 2, random_state=0)
    fit = joint_em(X, y, 2, random_state=0)
    assert np.all(np.diff(fit.trace) >= 0)
    assert len(fit.trace) == len(fit.path) == fit.n_iter + 1
    assert fit.converged
    assert metrics.regressor_fit(fit.expert_coef, truth.expert_coef) > 0.99


def test_joint_em_starts_where_it_is_told():
    X, y, truth = make_moe(500, 4, 3, random_state=1)
    fit = joint_em(X, y, 3, init=(truth.A, truth.W), noise_scale=0.1, max_iter=1)
    np.testing.assert_allclose(fit.path[0][0], truth.A)
    assert fit.noise_scale == 0.1


def test_theta_moves_part_of_the_way():
    here = Theta(np.zeros((1, 1)), np.zeros((0, 1)), np.array([1.0]))
    there = Theta(np.ones((1, 1)), np.zeros((0, 1)), np.array([4.0]))
    half = here.moved(there, 0.5)
    assert half.A[0, 0] == 0.5
    assert half.sigma[0] == pytest.approx(2.0)


def test_the_problems_own_seed_is_not_a_start_at_its_truth():
    X, y, truth = make_moe(500, 4, 3, random_state=7)
    start = joint_em(X, y, 3, random_state=7).path[0]
    assert metrics.parameter_error(start[0], start[1], truth.expert_coef, truth.gate_coef) > 0.5
