import numpy as np
import pytest

from problems import standard_problem
from skmoe import MoERegressor, make_moe
from skmoe.likelihood import mean_log_likelihood
from skmoe.search.config import SearchConfig
from skmoe.search.finish import maximise
from skmoe.search.race import Search
from skmoe.search.records import Stage, Start, StartKind
from skmoe.search.results import run_all
from skmoe.search.starts import labelled_start


def regression_level(problem):
    """Mean log-likelihood of a single regression on the same rows."""
    one = problem.with_experts(1)
    return maximise(one, labelled_start(one, np.zeros(one.n, dtype=int))).log_likelihood


@pytest.mark.parametrize(
    ("g", "k", "sigma"), [("linear", 2, 0.1), ("linear", 6, 0.1), ("sigmoid", 2, 0.05), ("relu", 3, 0.2)]
)
def test_search_reaches_the_fit_started_at_the_truth(g, k, sigma):
    X, y, truth = make_moe(2000, 4, k, activation=g, noise_scale=sigma, random_state=11)
    problem = standard_problem(X, y, k, g)
    fit = Search(problem, np.random.default_rng(0)).run()
    from_truth = maximise(problem, problem.rows.map.from_parameters(truth))
    assert fit.log_likelihood > from_truth.log_likelihood - 1e-4
    assert fit.admissible


def test_same_seed_same_answer():
    X, y, _ = make_moe(1500, 3, 3, random_state=1)
    one, two = (Search(standard_problem(X, y, 3), np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.run().theta.A, two.run().theta.A)
    assert one.records == two.records


def test_records_tell_every_start_and_the_winner_reached_all_rows():
    X, y, truth = make_moe(1500, 3, 2, random_state=1)
    problem = standard_problem(X, y, 2)
    given = Start("truth", StartKind.SPECTRAL, problem.rows.map.from_parameters(truth))
    search = Search(problem, np.random.default_rng(0), starts=[given])
    fit = search.run()
    assert "truth" in {record.name for record in search.records}
    drawn = {StartKind.JOINT, StartKind.VORONOI, StartKind.RANDOM}
    assert drawn | {StartKind.SPECTRAL} <= {record.kind for record in search.records}
    finished = [r.log_likelihood for r in search.records if r.stage is Stage.ALL_ROWS]
    assert fit.log_likelihood == max(finished)
    assert search.agreement >= 2


NARROW = SearchConfig().changed("starts", random=1)


def test_a_start_of_the_callers_can_win():
    """Ten experts and hardly a step for one start: by itself the search ends far below a start near the optimum."""
    X, y, truth = make_moe(600, 2, 10, noise_scale=0.02, random_state=2)
    problem = standard_problem(X, y, 10)
    start = problem.rows.map.from_parameters(truth)
    hurried = NARROW.changed("moves", patience=0).changed("race", em_steps=1, warm_up=1, steps=8)
    level = maximise(problem, start).log_likelihood
    found = [
        Search(problem, np.random.default_rng(0), config=hurried, starts=starts).run().log_likelihood
        for starts in ([], [Start("given", StartKind.SPECTRAL, start)])
    ]
    assert found[0] < level - 0.05
    assert found[1] == pytest.approx(level, abs=1e-6)


def test_moves_leave_a_poor_optimum():
    """A search from one start, with rounds of perturbations after it, ends higher."""
    X, y, _ = make_moe(600, 2, 10, noise_scale=0.02, random_state=2)
    problem = standard_problem(X, y, 10)
    without, moved = (
        Search(problem, np.random.default_rng(0), config=NARROW.changed("moves", patience=patience))
        for patience in (0, 3)
    )
    assert moved.run().objective > without.run().objective + 0.05
    moves = {StartKind.SPLIT, StartKind.GROWN, StartKind.REWEIGHTED}
    assert any(r.kind in moves and r.stage is Stage.ALL_ROWS for r in moved.records)
    assert moved.agreement == 1  # perturbations that lead back to the best result do not count


def test_a_start_is_judged_by_the_end_it_comes_from():
    """Of two poor starts the one whose own cutoff is out of reach is stopped, the other is finished."""
    X, y, _ = make_moe(400, 3, 3, noise_scale=0.1, random_state=2)
    problem = standard_problem(X, y, 3)
    starts = [Start(f"{i}", StartKind.RANDOM, labelled_start(problem, np.arange(400) % 3)) for i in range(2)]
    results = run_all(problem, starts, SearchConfig(), groups=range(2), cutoff=np.array([-np.inf, 9.0]))
    assert {result.start.name: result.finished for result in results} == {"0": True, "1": False}


def test_a_search_ends_for_the_work_it_took():
    X, y, _ = make_moe(600, 2, 10, noise_scale=0.02, random_state=2)
    problem = standard_problem(X, y, 10)
    free, held = (
        Search(problem, np.random.default_rng(0), config=NARROW.changed("moves", work=work)) for work in (1e12, 1e8)
    )
    for search in (free, held):
        search.run()
    assert held.limited
    assert not free.limited
    assert 1e8 < held.work < free.work
    assert held.config.with_starts(2 * held.config.starts.random).moves.work == 2e8


@pytest.mark.parametrize("after", [1, 40, 400])
def test_interrupt_leaves_the_best_point_so_far(after):
    X, y, _ = make_moe(1500, 3, 3, noise_scale=0.5, random_state=2)
    calls = []

    def interrupt(search):
        calls.append(search.theta)
        if len(calls) == after:
            raise KeyboardInterrupt

    problem = standard_problem(X, y, 3)
    search = Search(problem, np.random.default_rng(0), on_step=interrupt)
    try:
        search.run()
    except KeyboardInterrupt:
        assert len(calls) == after
    assert search.theta is not None
    assert mean_log_likelihood(problem, search.theta) > regression_level(problem) - 0.05


def test_level_told_never_falls():
    X, y, _ = make_moe(1500, 3, 3, noise_scale=0.5, random_state=2)
    levels = []

    def note(search):
        levels.append((search.best is not None, search.objective))

    Search(standard_problem(X, y, 3), np.random.default_rng(0), on_step=note).run()
    for finished in (False, True):  # a subsample's level is another than that of all rows
        assert np.all(np.diff([level for on_all_rows, level in levels if on_all_rows is finished]) >= 0)
    assert {on_all_rows for on_all_rows, _ in levels} == {False, True}


def test_weak_signal_is_searched_on_more_rows():
    X, y, _ = make_moe(6000, 3, 2, activation="sigmoid", noise_scale=0.5, random_state=6)
    search = Search(standard_problem(X, y, 2, "sigmoid"), np.random.default_rng(0))
    before = search.rows
    search.run()
    assert search.rows > before
    strong = Search(standard_problem(*make_moe(6000, 3, 2, random_state=6)[:2], 2), np.random.default_rng(0))
    strong.run()
    assert strong.rows == before


@pytest.mark.parametrize("noise", ["shared", "per-expert"])
def test_search_on_awkward_tables_is_sound(rng, noise):
    X = np.round(rng.standard_normal((300, 2)), 0)  # few distinct rows, each many times
    X = np.column_stack([X, np.full(300, 2.0), X[:, 0]])
    y = X[:, 0] + 0.2 * rng.standard_normal(300)
    y[:30] = 1.0
    problem = standard_problem(X, y, 3, noise=noise)
    fit = Search(problem, np.random.default_rng(0)).run()
    assert np.isfinite(fit.log_likelihood)
    assert fit.log_likelihood > regression_level(problem)
    assert np.min(fit.share) > 0
    assert np.min(fit.theta.sigma) >= problem.least_scale


def test_one_expert_needs_no_search():
    X, y, _ = make_moe(200, 3, 2, random_state=0)
    search = Search(standard_problem(X, y, 1), np.random.default_rng(0))
    assert search.run().converged
    assert [(record.kind, record.stage) for record in search.records] == [(StartKind.REGRESSION, Stage.ALL_ROWS)]


def test_search_runs_on_every_array_library(xp):
    X, y, truth = make_moe(400, 2, 2, random_state=0)
    problem = standard_problem(xp.asarray(X), xp.asarray(y), 2, noise="per-expert")
    fit = Search(problem, np.random.default_rng(0)).run()
    assert fit.log_likelihood > np.mean(truth.log_density(X, y))


def test_experts_that_nothing_is_lost_without_are_replaced_together():
    """Ten regimes along one input: rounds that replaced one expert at a time left one of them without rows."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.uniform(-5, 5, 1000), rng.standard_normal(1000)])
    z = np.digitize(X[:, 0], np.arange(-4, 5))
    y = 10.0 * (5 * z % 12) + X[:, 1] * (-1.0) ** z + 0.2 * rng.standard_normal(1000)
    model = MoERegressor(10, penalty=0.3, calibration=None, random_state=1).fit(X, y)
    assert np.min(model.shares_) > 0.05
