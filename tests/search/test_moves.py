import numpy as np
import pytest

from problems import standard_problem
from skmoe import make_moe
from skmoe.likelihood import Theta, em_sums, mean_log_likelihood
from skmoe.search.config import SearchConfig
from skmoe.search.finish import maximise
from skmoe.search.moves import grown_starts, prune, removal_losses, remove_and_split, split_moments, union
from skmoe.search.records import StartKind
from skmoe.search.starts import labelled_start, random_labels

CONFIG = SearchConfig()


def one_does_all(y):
    """Two experts: one that is a constant for all rows, one far from all of them."""
    A = np.array([[0.0, 0.0, np.mean(y)], [0.0, 0.0, 9.0]])
    return Theta(A, np.array([[0.0, 0.0, 6.0]]), np.full(2, np.std(y)))


def moves_from(problem, theta):
    return list(remove_and_split(problem, theta, em_sums(problem, theta).share, CONFIG))


def test_removal_loss_is_that_of_the_model_without_the_expert():
    X, y, truth = make_moe(300, 3, 4, noise_scale=0.3, random_state=5)
    problem = standard_problem(X, y, 4, intercept=False)
    theta = problem.rows.map.from_parameters(truth)
    W = np.vstack([theta.W, np.zeros((1, 3))])
    for i, loss in enumerate(removal_losses(problem, theta)):
        kept = [j for j in range(4) if j != i]
        V = (W[kept] - W[kept[-1]])[:-1]
        rest = mean_log_likelihood(problem.with_experts(3), Theta(theta.A[kept], V, theta.sigma[kept]))
        assert loss == pytest.approx(mean_log_likelihood(problem, theta) - rest, rel=1e-9)


@pytest.mark.parametrize("slope", [2.0, -2.0])
def test_split_finds_a_bend_fitted_as_one_line(rng, slope):
    X = rng.standard_normal((2000, 2))
    side = X[:, 0] > 0
    y = slope * np.abs(X[:, 0]) + 0.1 * rng.standard_normal(2000)
    problem = standard_problem(X, y, 2)
    moves = moves_from(problem, one_does_all(y))
    assert {move.kind for move in moves} == {StartKind.SPLIT}
    moved = min((move.theta for move in moves), key=lambda theta: em_sums(problem, theta).statistic.sum())
    best = maximise(problem, labelled_start(problem, side.astype(int))).log_likelihood
    assert em_sums(problem, moved).statistic.sum() < 0.1 * np.var(y)  # the right halves on the right sides at once
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
    loss = removal_losses(problem, fit.theta)
    moves = moves_from(problem, fit.theta)
    assert len(moves) == 2 * 4  # each expert split in two ways
    for move, split in zip(moves, np.repeat(np.arange(4), 2), strict=True):
        changed = np.flatnonzero(np.any(move.theta.A != fit.theta.A, axis=1))
        cheapest = min((j for j in range(4) if j != split), key=lambda j: loss[j])
        assert set(changed) == {split, cheapest}


def test_split_moments_match_their_definition(rng):
    X, y, truth = make_moe(300, 2, 2, noise_scale=0.3, random_state=5)
    problem = standard_problem(X, y, 2)
    theta = problem.rows.map.from_parameters(truth)
    U = problem.rows.map.lay_out(X).T
    R = truth.responsibilities(X, y)
    e = (y[:, None] - U @ theta.A.T) / theta.sigma
    found = split_moments(problem, theta)
    for part, weight in zip(found, (R, R * (e**2 - 1), R * e), strict=True):
        np.testing.assert_allclose(part, np.einsum("nk,nd,ne->kde", weight, U, U) / 300, atol=1e-10)


def test_grown_starts_have_one_expert_more_and_lead_upwards():
    X, y, _ = make_moe(1500, 3, 3, noise_scale=0.1, random_state=8)
    two, three = (standard_problem(X, y, k) for k in (2, 3))
    smaller = maximise(two, labelled_start(two, np.arange(1500) % 2))
    grown = grown_starts(three, smaller.theta, CONFIG)
    assert len(grown) == 2 * 2
    assert {start.kind for start in grown} == {StartKind.GROWN}
    assert {start.theta.k for start in grown} == {3}
    best = max(maximise(three, start.theta).log_likelihood for start in grown)
    assert best > smaller.log_likelihood + 0.1


def test_models_without_intercepts_are_not_grown():
    X, y, _ = make_moe(300, 3, 3, random_state=8)
    problem = standard_problem(X, y, 3, intercept=False)
    start = labelled_start(problem.with_experts(2), np.arange(300) % 2)
    assert grown_starts(problem, start, CONFIG) == []


def test_prune_keeps_the_experts_that_matter(rng):
    X, y, truth = make_moe(1000, 3, 3, noise_scale=0.1, random_state=8)
    problem = standard_problem(X, y, 3)
    best = maximise(problem, problem.rows.map.from_parameters(truth))
    poor = labelled_start(problem, random_labels(problem, rng))
    pooled = union(poor, best.theta)
    assert pooled.k == 6
    kept = prune(problem, pooled)
    assert kept.k == 3
    assert mean_log_likelihood(problem, kept) > best.log_likelihood - 0.01


def test_union_leaves_each_model_its_own_gate(rng):
    one, other = (Theta(rng.standard_normal((3, 2)), rng.standard_normal((2, 2)), np.ones(3)) for _ in range(2))
    W = np.vstack([union(one, other).W, np.zeros((1, 2))])
    np.testing.assert_allclose((W[:3] - W[2])[:-1], one.W)
    np.testing.assert_allclose((W[3:] - W[5])[:-1], other.W)
