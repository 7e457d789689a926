"""Models climbed side by side end where each would end by itself."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from problems import standard_problem
from skmoe import make_moe
from skmoe.likelihood import em_sums, gradient
from skmoe.likelihood.batch import ThetaBatch
from skmoe.search.climb import BatchAscent
from skmoe.search.compiled import batch_ascent
from skmoe.search.config import SearchConfig
from skmoe.search.ends import climb_all, distinct
from skmoe.search.finish import maximise
from skmoe.search.lbfgs import Memory
from skmoe.search.records import Start, StartKind
from skmoe.search.starts import drawn_starts, labelled_start


def problem_and_batch(count=3, k=3, g="linear", d=3, **settings):
    X, y, _ = make_moe(600, d, k, activation=g, noise_scale=0.3, random_state=3)
    problem = standard_problem(X, y, k, g, **settings)
    starts = drawn_starts(problem, [StartKind.VORONOI] * count, 0, np.random.default_rng(0), SearchConfig())
    return problem, starts, ThetaBatch.of([start.theta for start in starts])


@pytest.fixture(params=[BatchAscent, partial(batch_ascent, exact=True)], ids=["numpy", "compiled"])
def climb(request):
    """A climb by NumPy, and by compiled code where there is some, in double precision."""
    return request.param


@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.3])
@pytest.mark.parametrize("g", ["linear", "sigmoid"])
def test_no_step_goes_down(climb, g, noise):
    problem, _, batch = problem_and_batch(g=g, noise=noise)
    levels = []
    ascent = climb(problem, batch, on_step=lambda a: levels.append(a.objective))
    for _ in range(4):
        ascent.em(1)
    for _ in range(20):
        ascent.quasi_newton(1)
    assert len(levels) == 24
    assert np.all(np.diff(levels, axis=0) >= 0)
    for s in range(3):
        there = em_sums(problem, ascent.batch.theta(s))
        assert ascent.objective[s] == pytest.approx(there.objective, rel=1e-9)
        assert ascent.log_likelihood[s] == pytest.approx(there.log_likelihood, rel=1e-9)
        np.testing.assert_allclose(ascent.share[s], there.share, atol=1e-9)


@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("noise", ["shared", "per-expert"])
def test_long_climb_ends_at_an_optimum(climb, noise, penalty):
    problem, _, batch = problem_and_batch(noise=noise, penalty=penalty)
    ascent = climb(problem, batch)
    ascent.em(4)
    ascent.quasi_newton(150)
    for s in range(3):
        theta = ascent.batch.theta(s)
        assert np.linalg.norm(gradient(problem, theta).gradient) < 1e-5
        assert maximise(problem, theta, near=True).objective == pytest.approx(ascent.objective[s], abs=1e-8)


@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.3])
def test_single_precision_ends_at_the_same_optimum(noise):
    """What is left to gain is far below the difference by which ends are told apart."""
    problem, _, batch = problem_and_batch(noise=noise)
    ascent = batch_ascent(problem, batch)
    ascent.em(4)
    ascent.quasi_newton(150)
    for s in range(3):
        best = maximise(problem, ascent.batch.theta(s), near=True).objective
        assert best * problem.total == pytest.approx(ascent.objective[s] * problem.total, abs=0.003)


def test_em_step_is_that_of_a_single_model_but_for_the_gate(climb):
    problem, starts, batch = problem_and_batch(count=2, noise="per-expert")
    from skmoe.search.ascent import em_step

    ascent = climb(problem, batch)
    goal = ascent._unpack(ascent.vector + ascent.direction)
    for s, start in enumerate(starts):
        one = em_step(problem, start.theta, em_sums(problem, start.theta))
        np.testing.assert_allclose(goal.A[s], one.A, atol=1e-6)
        np.testing.assert_allclose(goal.sigma[s], one.sigma, rtol=1e-6)


def test_each_model_may_have_a_penalty_of_its_own(climb):
    problem, starts, _ = problem_and_batch(count=1, noise="per-expert")
    strengths = np.array([0.0, 5.0, 500.0])
    ascent = climb(problem, ThetaBatch.of([starts[0].theta] * 3), penalties=strengths)
    ascent.em(4)
    ascent.quasi_newton(100)
    sizes = np.linalg.norm(ascent.batch.W - ascent.batch.W.mean(axis=1, keepdims=True), axis=(1, 2))
    assert sizes[0] > sizes[1] > sizes[2]
    for s, tau in enumerate(strengths):
        own = replace(problem, settings=replace(problem.settings, penalty=tau))
        assert em_sums(own, ascent.batch.theta(s)).objective == pytest.approx(ascent.objective[s], rel=1e-9)


def test_models_climb_the_same_alone_and_in_company(climb):
    problem, _, batch = problem_and_batch(count=4, noise="per-expert")
    together, alone = climb(problem, batch), climb(problem, batch.picked([2]))
    for ascent in (together, alone):
        ascent.em(3)
        ascent.quasi_newton(10)
    assert together.objective[2] == pytest.approx(alone.objective[0], rel=1e-9)
    together.keep(np.array([2]))
    together.quasi_newton(30)
    alone.quasi_newton(30)
    assert together.objective[0] == pytest.approx(alone.objective[0], rel=1e-6)


def test_many_columns_are_climbed_without_gram_matrices():
    problem, _, batch = problem_and_batch(k=2, d=60, count=2)
    ascent = BatchAscent(problem, batch)
    before = ascent.objective
    ascent.em(4)
    ascent.quasi_newton(60)
    assert np.all(ascent.objective > before + 0.1)
    best = maximise(problem, ascent.batch.theta(int(np.argmax(ascent.objective))), near=True)
    assert best.objective - np.max(ascent.objective) < 0.05


def test_every_start_is_told_and_the_best_is_finished():
    problem, starts, _ = problem_and_batch(count=12, noise="per-expert")
    ends = climb_all(problem, starts, SearchConfig())
    assert sorted(end.start.name for end in ends) == sorted(start.name for start in starts)
    best = max(ends, key=lambda end: end.rank)
    assert best.finished
    assert maximise(problem, best.start.theta, near=True).objective == pytest.approx(best.objective, abs=1e-4)
    assert sum(not end.finished for end in ends) >= 3  # poor ones are dropped on the way


def test_starts_far_below_a_known_level_are_dropped():
    problem, starts, _ = problem_and_batch(count=4, noise="per-expert")
    assert not any(
        end.finished for end in climb_all(problem, starts, SearchConfig().changed("race", gain=0.0), bar=10.0)
    )


def test_only_models_of_one_penalty_are_compared():
    problem, starts, _ = problem_and_batch(count=6, noise="per-expert")
    ends = climb_all(problem, starts, SearchConfig(), [0.0] * 3 + [100.0] * 3)
    assert {end.penalty for end in ends if end.finished} == {0.0, 100.0}


def test_models_of_several_tables_climb_as_each_table_alone():
    problem, starts, _ = problem_and_batch(count=4, noise="per-expert")
    rows = problem.laid_out()
    tables = np.column_stack([rows.y, np.random.default_rng(1).permutation(rows.y)])
    groups = np.repeat([0, 1], 4)
    both = problem.on(replace(rows, y=tables[:, groups]))
    together = climb_all(both, [*starts, *starts], SearchConfig(), groups=groups)
    for group in (0, 1):
        alone = climb_all(problem.on(replace(rows, y=tables[:, group])), starts, SearchConfig())
        mine = sorted((end.finished, end.start.name, end.objective) for end in together if end.group == group)
        expected = sorted((end.finished, end.start.name, end.objective) for end in alone)
        assert [end[:2] for end in mine] == [end[:2] for end in expected]
        np.testing.assert_allclose([end[2] for end in mine], [end[2] for end in expected], rtol=1e-6)


def test_distinct_ends_are_one_of_each_optimum_and_admissible_ones_come_first():
    problem, starts, _ = problem_and_batch(count=1)
    (end,) = climb_all(problem, starts, SearchConfig())
    levels = [(-1.0, True), (-1.0001, True), (-1.5, True), (-0.5, False)]
    ends = [replace(end, objective=level, admissible=fine) for level, fine in levels]
    found = distinct(ends, 0.01)
    assert [(e.objective, e.admissible) for e in found] == [(-1.0, True), (-1.5, True), (-0.5, False)]


def test_an_expert_keeps_some_rows(climb):
    """A start with an expert far away, whose next step would leave it none."""
    problem, starts, _ = problem_and_batch(count=1, noise="per-expert")
    theta = labelled_start(problem, np.zeros(problem.n, dtype=int), 0.999)
    ascent = climb(problem, ThetaBatch.of([theta, starts[0].theta]))
    ascent.em(5)
    ascent.quasi_newton(30)
    assert np.all(ascent.share * problem.total >= 0.5 - 1e-9)
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
