"""Models optimised side by side reach what each would by itself."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from problems import standard_problem
from skmoe import make_moe
from skmoe.likelihood import Theta, gradient
from skmoe.likelihood.batch import batch_sums
from skmoe.search.batch_em import PenaltyStrengths, em_step_of_batch
from skmoe.search.batch_optimiser import BatchOptimiser
from skmoe.search.compiled import make_optimiser
from skmoe.search.config import SearchConfig
from skmoe.search.finish import maximise
from skmoe.search.lbfgs import Memory
from skmoe.search.records import Start, StartKind
from skmoe.search.results import distinct, run_all
from skmoe.search.starts import drawn_starts, labelled_start


def problem_and_batch(count=3, k=3, g="linear", d=3, **settings):
    X, y, _ = make_moe(600, d, k, activation=g, noise_scale=0.3, random_state=3)
    problem = standard_problem(X, y, k, g, **settings)
    starts = drawn_starts(problem, [StartKind.VORONOI] * count, 0, np.random.default_rng(0), SearchConfig())
    return problem, starts, Theta.stacked([start.theta for start in starts])


@pytest.fixture(params=[BatchOptimiser, partial(make_optimiser, exact=True)], ids=["numpy", "compiled"])
def new_optimiser(request):
    """An optimiser in NumPy, and in compiled code where there is some, in double precision."""
    return request.param


@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.3])
@pytest.mark.parametrize("g", ["linear", "sigmoid"])
def test_no_step_goes_down(new_optimiser, g, noise):
    problem, _, batch = problem_and_batch(g=g, noise=noise)
    levels = []
    optimiser = new_optimiser(problem, batch, on_step=lambda a: levels.append(a.objective))
    for _ in range(4):
        optimiser.em(1)
    for _ in range(20):
        optimiser.quasi_newton(1)
    assert len(levels) == 24
    assert np.all(np.diff(levels, axis=0) >= 0)
    for s in range(3):
        there = gradient(problem, optimiser.batch.picked(s))
        assert optimiser.objective[s] == pytest.approx(there.objective, rel=1e-9)
        assert optimiser.log_likelihood[s] == pytest.approx(there.log_likelihood, rel=1e-9)
        np.testing.assert_allclose(optimiser.share[s], there.share, atol=1e-9)


@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("noise", ["shared", "per-expert"])
def test_long_run_ends_at_an_optimum(new_optimiser, noise, penalty):
    problem, _, batch = problem_and_batch(noise=noise, penalty=penalty)
    optimiser = new_optimiser(problem, batch)
    optimiser.em(4)
    optimiser.quasi_newton(150)
    for s in range(3):
        theta = optimiser.batch.picked(s)
        assert np.linalg.norm(gradient(problem, theta).gradient) < 1e-5
        assert maximise(problem, theta, near=True).objective == pytest.approx(optimiser.objective[s], abs=1e-8)


@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.3])
def test_single_precision_ends_at_the_same_optimum(noise):
    """What is left to gain is far below the difference by which results are distinguished."""
    problem, _, batch = problem_and_batch(noise=noise)
    optimiser = make_optimiser(problem, batch)
    optimiser.em(4)
    optimiser.quasi_newton(150)
    for s in range(3):
        best = maximise(problem, optimiser.batch.picked(s), near=True).objective
        assert best * problem.total == pytest.approx(optimiser.objective[s] * problem.total, abs=0.003)


def test_direction_at_the_start_is_that_of_an_em_step(new_optimiser):
    problem, _, batch = problem_and_batch(count=2, noise="per-expert")
    optimiser = new_optimiser(problem, batch)
    goal = optimiser._unpack(optimiser.vector + optimiser.direction)
    moved = em_step_of_batch(problem, batch, batch_sums(problem, batch), PenaltyStrengths.of(problem, 2))
    np.testing.assert_allclose(goal.A, moved.A, atol=1e-6)
    np.testing.assert_allclose(goal.sigma, moved.sigma, rtol=1e-6)


def test_each_model_may_have_a_penalty_of_its_own(new_optimiser):
    problem, starts, _ = problem_and_batch(count=1, noise="per-expert")
    strengths = np.array([0.0, 5.0, 500.0])
    optimiser = new_optimiser(problem, Theta.stacked([starts[0].theta] * 3), penalties=strengths)
    optimiser.em(4)
    optimiser.quasi_newton(100)
    sizes = np.linalg.norm(optimiser.batch.W - optimiser.batch.W.mean(axis=1, keepdims=True), axis=(1, 2))
    assert sizes[0] > sizes[1] > sizes[2]
    for s, tau in enumerate(strengths):
        own = replace(problem, settings=replace(problem.settings, penalty=tau))
        assert gradient(own, optimiser.batch.picked(s)).objective == pytest.approx(optimiser.objective[s], rel=1e-9)


def test_models_move_the_same_alone_and_in_company(new_optimiser):
    problem, _, batch = problem_and_batch(count=4, noise="per-expert")
    together, alone = new_optimiser(problem, batch), new_optimiser(problem, batch.picked([2]))
    for optimiser in (together, alone):
        optimiser.em(3)
        optimiser.quasi_newton(10)
    assert together.objective[2] == pytest.approx(alone.objective[0], rel=1e-9)
    together.keep(np.array([2]))
    together.quasi_newton(30)
    alone.quasi_newton(30)
    assert together.objective[0] == pytest.approx(alone.objective[0], rel=1e-6)


def test_many_columns_are_optimised_without_gram_matrices():
    problem, _, batch = problem_and_batch(k=2, d=60, count=2)
    optimiser = BatchOptimiser(problem, batch)
    before = optimiser.objective
    optimiser.em(4)
    optimiser.quasi_newton(60)
    assert np.all(optimiser.objective > before + 0.1)
    best = maximise(problem, optimiser.batch.picked(int(np.argmax(optimiser.objective))), near=True)
    assert best.objective - np.max(optimiser.objective) < 0.05


def test_every_start_is_returned_and_the_best_is_finished():
    problem, starts, _ = problem_and_batch(count=12, noise="per-expert")
    results = run_all(problem, starts, SearchConfig())
    assert sorted(result.start.name for result in results) == sorted(start.name for start in starts)
    best = max(results, key=lambda result: result.rank)
    assert best.finished
    assert maximise(problem, best.start.theta, near=True).objective == pytest.approx(best.objective, abs=1e-4)
    assert sum(not result.finished for result in results) >= 3  # poor ones are stopped early


def test_starts_far_below_a_cutoff_are_stopped():
    problem, starts, _ = problem_and_batch(count=4, noise="per-expert")
    config = SearchConfig().changed("race", gain=0.0)
    assert not any(result.finished for result in run_all(problem, starts, config, cutoff=10.0))


def test_only_models_of_one_penalty_are_compared():
    problem, starts, _ = problem_and_batch(count=6, noise="per-expert")
    results = run_all(problem, starts, SearchConfig(), [0.0] * 3 + [100.0] * 3)
    assert {result.penalty for result in results if result.finished} == {0.0, 100.0}


def test_models_of_several_tables_move_as_each_table_alone():
    problem, starts, _ = problem_and_batch(count=4, noise="per-expert")
    rows = problem.laid_out()
    tables = np.column_stack([rows.y, np.random.default_rng(1).permutation(rows.y)])
    groups = np.repeat([0, 1], 4)
    both = problem.on(replace(rows, y=tables[:, groups]))
    together = run_all(both, [*starts, *starts], SearchConfig(), groups=groups)
    for group in (0, 1):
        alone = run_all(problem.on(replace(rows, y=tables[:, group])), starts, SearchConfig())
        mine = sorted(
            (result.finished, result.start.name, result.objective) for result in together if result.group == group
        )
        expected = sorted((result.finished, result.start.name, result.objective) for result in alone)
        assert [result[:2] for result in mine] == [result[:2] for result in expected]
        np.testing.assert_allclose([result[2] for result in mine], [result[2] for result in expected], rtol=1e-6)


def test_distinct_ends_are_one_of_each_optimum_and_admissible_ones_come_first():
    problem, starts, _ = problem_and_batch(count=1)
    (result,) = run_all(problem, starts, SearchConfig())
    levels = [(-1.0, True), (-1.0001, True), (-1.5, True), (-0.5, False)]
    results = [replace(result, objective=level, admissible=fine) for level, fine in levels]
    found = distinct(results, 0.01)
    assert [(e.objective, e.admissible) for e in found] == [(-1.0, True), (-1.5, True), (-0.5, False)]


def test_an_expert_keeps_some_rows(new_optimiser):
    """A start with an expert far away, whose next step would leave it none."""
    problem, starts, _ = problem_and_batch(count=1, noise="per-expert")
    theta = labelled_start(problem, np.zeros(problem.n, dtype=int), 0.999)
    optimiser = new_optimiser(problem, Theta.stacked([theta, starts[0].theta]))
    optimiser.em(5)
    optimiser.quasi_newton(30)
    assert np.all(optimiser.share * problem.total >= 0.5 - 1e-9)
    assert isinstance(starts[0], Start)


@pytest.mark.parametrize("size", [1e-150, 1e60])
def test_directions_do_not_depend_on_how_long_steps_were(rng, size):
    steps, falls = (rng.standard_normal((6, 4, 5)) for _ in range(2))
    falls = steps + 0.3 * falls
    gradient, found = rng.standard_normal((4, 5)), []
    for scale in (1.0, size):
        memory = Memory(3, (4, 5))
        for step, fall in zip(steps, falls, strict=True):
            memory.remember(np.arange(4), scale * step, scale * fall)
        found.append(memory.direction(gradient, lambda vector: vector))
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
    np.testing.assert_allclose(np.vecdot(memory.steps, memory.falls), 1.0)
