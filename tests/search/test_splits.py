import numpy as np
import pytest

from problems import standard_problem, sums_of
from skmoe import make_moe
from skmoe.likelihood import Theta, mean_log_likelihood
from skmoe.search.config import SearchConfig
from skmoe.search.finish import maximise
from skmoe.search.records import StartKind
from skmoe.search.removal import removal_losses
from skmoe.search.splits import drop_and_split, grown_starts, splits_of
from skmoe.search.starts import labelled_start

CONFIG = SearchConfig()


def one_does_all(y):
    """Two experts: one that is a constant for all rows, one far from all of them."""
    A = np.array([[0.0, 0.0, np.mean(y)], [0.0, 0.0, 9.0]])
    return Theta(A, np.array([[0.0, 0.0, 6.0], [0.0, 0.0, 0.0]]), np.full(2, np.std(y)))


def moves_from(problem, theta):
    return drop_and_split(problem, [theta], CONFIG, 100)


def losses(problem, theta):
    return removal_losses(problem, Theta.stacked([theta]))[0] / problem.total


def test_removal_loss_is_that_of_the_model_without_the_expert():
    X, y, truth = make_moe(300, 3, 4, noise_scale=0.3, random_state=5)
    problem = standard_problem(X, y, 4, intercept=False)
    theta = problem.rows.map.from_parameters(truth)
    for i, loss in enumerate(losses(problem, theta)):
        kept = [j for j in range(4) if j != i]
        rest = mean_log_likelihood(problem.with_experts(3), theta.picked(kept))
        assert loss == pytest.approx(mean_log_likelihood(problem, theta) - rest, rel=1e-9)


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_split_finds_a_bend_fitted_as_one_line(rng, slope):
    X = rng.standard_normal((2000, 2))
    side = X[:, 0] > 0
    y = slope * np.abs(X[:, 0]) + 0.1 * rng.standard_normal(2000)
    problem = standard_problem(X, y, 2)
    moves = moves_from(problem, one_does_all(y))
    assert {move.kind for move in moves} == {StartKind.SPLIT}
    moved = min((move.theta for move in moves), key=lambda theta: sums_of(problem, theta).statistic.sum())
    best = maximise(problem, labelled_start(problem, side.astype(int))).log_likelihood
    assert sums_of(problem, moved).statistic.sum() < 0.1 * np.var(y)  # the right halves on the right sides at once
    assert maximise(problem, moved).log_likelihood == pytest.approx(best, abs=1e-3)


def test_split_finds_two_laws_that_cross(rng):
    X = rng.standard_normal((2000, 2))
    y = np.where(rng.random(2000) < 0.5, 2.0, -2.0) * X[:, 1] + 0.1 * rng.standard_normal(2000)
    problem = standard_problem(X, y, 2)
    moves = moves_from(problem, one_does_all(y))
    moved = max((move.theta for move in moves), key=lambda theta: mean_log_likelihood(problem, theta))
    parameters = problem.rows.map.to_parameters(maximise(problem, moved).theta, problem.family)
    np.testing.assert_allclose(np.sort(parameters.A[:, 1]), [-2.0, 2.0], atol=0.02)


def test_the_cheapest_other_expert_is_the_one_replaced():
    X, y, truth = make_moe(1000, 3, 4, noise_scale=0.1, random_state=8)
    problem = standard_problem(X, y, 4)
    fit = maximise(problem, problem.rows.map.from_parameters(truth))
    loss = losses(problem, fit.theta)
    moves = moves_from(problem, fit.theta)
    assert len(moves) == 3 * 4  # each expert split in three ways
    for move in moves:
        changed = set(np.flatnonzero(np.any(np.abs(move.theta.A - fit.theta.A) > 1e-9, axis=1)))
        cheapest = {i: min((j for j in range(4) if j != i), key=lambda j: loss[j]) for i in range(4)}
        assert changed in [{i, j} for i, j in cheapest.items()]
    assert [move.name for move in drop_and_split(problem, [fit.theta], CONFIG, 5)] == [m.name for m in moves[:5]]


def test_splits_follow_the_moments_of_residuals():
    """Promises and shifts, computed again from responsibilities and residuals row by row."""
    X, y, truth = make_moe(300, 2, 2, noise_scale=0.3, random_state=5)
    problem = standard_problem(X, y, 2)
    theta = problem.rows.map.from_parameters(truth)
    U = problem.rows.map.lay_out(X).T
    R = truth.responsibilities(X, y)
    e = (y[:, None] - U @ theta.A.T) / theta.sigma
    for split in splits_of(problem, Theta.stacked([theta]), CONFIG)[0]:
        r, residual = R[:, split.expert], e[:, split.expert]
        G = np.einsum("n,nd,ne->de", r, U, U) / np.sum(r)
        values, vectors = np.linalg.eigh(G)
        white = vectors / np.sqrt(values)
        what = residual**2 - 1 if split.kind == "crossing" else residual
        M = white.T @ np.einsum("n,nd,ne->de", r * what, U, U) @ white / np.sum(r)
        sizes = np.linalg.eigvalsh(M)
        if split.kind == "crossing":
            expected = np.mean(r) * max(sizes[-1], 0.0) ** 2 / 4
        else:
            expected = np.mean(r) * np.sort(np.abs(sizes))[{"bend": -1, "second bend": -2}[split.kind]] ** 2
        assert split.promise == pytest.approx(expected, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
def test_grown_starts_have_one_expert_more_and_lead_upwards(intercept):
    X, y, _ = make_moe(1500, 3, 3, noise_scale=0.1, random_state=8)
    two, three = (standard_problem(X, y, k, intercept=intercept) for k in (2, 3))
    smaller = maximise(two, labelled_start(two, np.arange(1500) % 2))
    grown = grown_starts(three, [smaller.theta], CONFIG, np.random.default_rng(0), 100)
    assert len(grown) == 3 * 2  # each expert split in three ways
    assert {start.kind for start in grown} == {StartKind.GROWN}
    assert {start.theta.k for start in grown} == {3}
    best = max(maximise(three, start.theta).log_likelihood for start in grown)
    assert best > smaller.log_likelihood + 0.1


def test_several_experts_more_are_splits_of_different_ones():
    X, y, _ = make_moe(600, 3, 3, noise_scale=0.1, random_state=8)
    problem = standard_problem(X, y, 5)
    start = labelled_start(problem.with_experts(3), np.arange(600) % 3)
    grown = grown_starts(problem, [start], CONFIG, np.random.default_rng(0), 4)
    assert len(grown) == 4
    for found in grown:
        assert found.theta.k == 5
        kept = [np.any(np.all(np.abs(found.theta.A - a) < 1e-9, axis=1)) for a in start.A]
        assert sum(kept) == 1  # two of the three were split
