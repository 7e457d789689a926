import numpy as np
import pytest

import skmoe.search.optimiser
from problems import standard_problem, started
from skmoe import make_moe
from skmoe.likelihood import Theta, information, mean_log_likelihood
from skmoe.search.optimiser import Optimiser, Point
from skmoe.search.starts import labelled_start


@pytest.fixture
def problem():
    X, y, _ = make_moe(400, 3, 3, noise_scale=0.2, random_state=1)
    return started(X, y, 3, noise="per-expert")


def test_newton_is_exact_on_a_quadratic():
    """One expert of known noise has a quadratic likelihood: one step ends at the optimum, as far away as it said."""
    X, y, _ = make_moe(300, 3, 2, random_state=0)
    problem = standard_problem(X, y, 1, noise=0.5)
    start = Theta(np.zeros((1, 4)), np.zeros((1, 4)), np.array([0.5]))
    optimiser = Optimiser(Point(problem, start))
    before = mean_log_likelihood(problem, start)
    distance, gain = optimiser.newton()
    assert np.max(np.abs(optimiser.point.curvature.gradient)) < 1e-12
    assert gain == pytest.approx(mean_log_likelihood(problem, optimiser.point.theta) - before, abs=1e-12)
    assert distance == pytest.approx(2 * problem.total * gain, rel=1e-9)
    assert optimiser.newton(enough=1e-10)[1] == 0.0  # near enough: not moved


def test_newton_leaves_a_saddle_only_when_asked():
    X, y, _ = make_moe(400, 3, 2, noise_scale=0.2, random_state=1)
    problem = standard_problem(X, y, 2)
    one = labelled_start(problem.with_experts(1), np.zeros(400, dtype=int))
    same = Theta(np.vstack([one.A, one.A + 1e-3]), np.zeros((2, 4)), np.repeat(one.sigma, 2))
    optimiser = Optimiser(Point(problem, same))
    assert optimiser.newton() == (np.inf, 0.0)
    assert optimiser.point.theta is same
    distance, gain = optimiser.newton(saddles=True)
    assert distance == np.inf
    assert gain > 0


def test_sums_are_taken_once_at_a_point(monkeypatch, problem):
    problem, start = problem
    calls = []

    def counted(p, theta):
        calls.append(theta)
        return information(p, theta)

    monkeypatch.setattr(skmoe.search.optimiser, "information", counted)
    point = Point(problem, start).with_sums("curvature")
    assert point.gradient is point.curvature
    assert point.objective == point.curvature.objective
    assert point.log_likelihood == point.curvature.log_likelihood
    np.testing.assert_array_equal(point.share, point.curvature.share)
    assert len(calls) == 1


def test_steps_that_empty_an_expert_are_refused(problem):
    problem, start = problem
    optimiser = Optimiser(Point(problem, start))
    far = np.zeros((3, 4))
    far[2, -1] = 1e3
    empty = Theta(start.A + far, start.W, start.sigma)
    there = Point(problem, empty)
    assert np.min(there.share) < 1e-6
    assert not optimiser.allows(there, gain=-np.inf)
    assert optimiser.allows(Point(problem, start))


def test_callers_exception_ends_the_run_where_it_stands(problem):
    problem, start = problem

    def stop(optimiser):
        if len(optimiser.trace) == 4:
            raise KeyboardInterrupt

    optimiser = Optimiser(Point(problem, start), stop)

    def run():
        while True:
            optimiser.newton(saddles=True)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert len(optimiser.trace) == 4
    assert optimiser.point.objective == pytest.approx(optimiser.trace[-1])


def test_noise_on_its_floor_is_not_free(rng):
    X = rng.standard_normal((200, 2))
    problem = standard_problem(X, X @ [1.0, 2.0], 1, noise="per-expert")  # a perfect line
    theta = labelled_start(problem, np.zeros(200, dtype=int))
    point = Point(problem, theta)
    assert theta.sigma[0] == pytest.approx(problem.least_scale)
    assert not point.admissible
    assert list(point.free()) == [True, True, True, False]
