import numpy as np
import pytest

from problems import standard_problem
from skmoe import make_moe
from skmoe.likelihood import Theta, mean_log_likelihood
from skmoe.search.compiled import make_optimiser
from skmoe.search.config import SearchConfig
from skmoe.search.finish import maximise
from skmoe.search.perturbations import grow_and_prune, prune, reweighted_restarts
from skmoe.search.records import StartKind
from skmoe.search.removal import removal_losses
from skmoe.search.starts import labelled_start, random_labels

CONFIG = SearchConfig()


def test_an_expert_more_is_pruned_again_and_the_experts_that_matter_are_kept(rng):
    X, y, truth = make_moe(1000, 3, 3, noise_scale=0.1, random_state=8)
    problem = standard_problem(X, y, 3)
    best = maximise(problem, problem.rows.map.from_parameters(truth))
    found = grow_and_prune(problem, best.theta, CONFIG, rng)
    assert {start.kind for start in found} == {StartKind.SPLIT}
    assert max(mean_log_likelihood(problem, start.theta) for start in found) > best.log_likelihood - 0.01


def test_pruning_without_steps_removes_the_least_useful():
    X, y, truth = make_moe(1000, 3, 4, noise_scale=0.1, random_state=8)
    problem = standard_problem(X, y, 4)
    theta = problem.rows.map.from_parameters(truth)
    kept = prune(problem.with_experts(3), make_optimiser(problem, Theta.stacked([theta])), 0).picked(0)
    gone = int(np.argmin(removal_losses(problem, Theta.stacked([theta]))[0]))
    np.testing.assert_allclose(kept.A, np.delete(theta.A, gone, axis=0), atol=1e-12)


def wave(rng, seed=1):
    """Rows of a curve that four lines follow in many ways, and an optimum of it."""
    X = rng.uniform(-2, 2, (300, 1))
    problem = standard_problem(
        X, np.sin(5 * X[:, 0]) + 0.1 * rng.standard_normal(300), 4, noise="per-expert", penalty=0.01
    )
    return problem, maximise(problem, labelled_start(problem, random_labels(problem, np.random.default_rng(seed))))


def levels(problem, starts):
    """Objectives where starts begin, in total over the rows."""
    return make_optimiser(problem, Theta.stacked([s.theta for s in starts]), exact=True).objective * problem.total


def test_nearly_equal_weights_leave_an_optimum_where_it_is(rng):
    problem, fit = wave(rng)
    starts = reweighted_restarts(
        problem, [fit.theta] * 3, CONFIG.changed("moves", weight_slope=(1e-9, 1e-9), softening=(1, 1)), rng
    )
    assert {start.kind for start in starts} == {StartKind.REWEIGHTED}
    np.testing.assert_allclose(levels(problem, starts), fit.objective * problem.total, atol=0.01)


def test_reweighted_rows_lead_to_better_optima(rng):
    gained, reached = 0, set()
    for seed in range(4):
        problem, fit = wave(rng, seed)
        starts = reweighted_restarts(problem, [fit.theta] * 16, CONFIG, rng)
        ends = np.array([maximise(problem, start.theta).objective for start in starts]) * problem.total
        gained += np.max(ends) > fit.objective * problem.total + 1
        reached |= set(np.round(ends))
    assert gained >= 2
    assert len(reached) > 4


@pytest.mark.parametrize(
    ("n", "penalty", "low", "high"), [(200, 0.0, 0.2, 0.4), (200, 0.3, 1.0, 1.0), (40, 0.0, 1.0, 1.0)]
)
def test_gates_begin_less_steep_on_reweighted_rows_where_no_penalty_keeps_them_so(rng, n, penalty, low, high):
    """But not where rows are fewer than twice the parameters, 23."""
    X, y, _ = make_moe(n, 3, 3, noise_scale=0.3, random_state=5)
    problem = standard_problem(X, y, 3, noise="per-expert", penalty=penalty)
    theta = labelled_start(problem, random_labels(problem, rng))
    config = CONFIG.changed("race", em_steps=0, warm_up=0).changed("moves", softening=(0.2, 0.4))
    factors = np.array(
        [start.theta.gate / theta.gate for start in reweighted_restarts(problem, [theta] * 9, config, rng)]
    )
    each = factors[:, :1, :1]
    np.testing.assert_allclose(factors, np.broadcast_to(each, factors.shape))
    assert np.all((each > low - 1e-9) & (each < high + 1e-9))
    assert np.unique(np.round(each, 9)).size == (9 if low < high else 1)


def test_reweighted_rows_weigh_as_much_as_all(rng):
    """Counts of repeated rows are kept: weights of rows counted twice are those of twice the rows."""
    X, y, _ = make_moe(200, 3, 2, noise_scale=0.3, random_state=5)
    once, twice = standard_problem(X, y, 2), standard_problem(X, y, 2, weight=np.full(200, 2.0))
    theta = labelled_start(once, random_labels(once, rng))
    seen = []
    one, two = (
        reweighted_restarts(problem, [theta] * 2, CONFIG, np.random.default_rng(3), seen.append)
        for problem in (once, twice)
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_allclose(a.theta.A, b.theta.A, atol=1e-3)
    for optimiser in seen:
        assert np.min(np.std(optimiser.per_model.weight, axis=0)) > 0.3
        np.testing.assert_allclose(np.mean(optimiser.per_model.weight, axis=0), 1.0)
