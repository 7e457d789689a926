"""Compiled optimisers take the steps of those in NumPy, which serve all other problems."""

import time

import numpy as np
import pytest

from skmoe import MoERegressor, make_moe
from skmoe.likelihood import InputMap, LaidOutRows, Problem, Settings, Theta, fused
from skmoe.model.activations import get_activation
from skmoe.model.gaussian import GaussianFamily
from skmoe.search import compiled
from skmoe.search.batch_optimiser import BatchOptimiser, PerModelRows
from skmoe.search.compiled import CompiledOptimiser, Float32Optimiser, make_optimiser

pytestmark = pytest.mark.skipif(not fused.is_library_built(), reason="skmoe was installed without a C compiler")
PARTS = ("objective", "log_likelihood", "share", "gradient", "vector", "size")


def problem_of(rng, n=300, d=4, k=3, weight=None, outputs=None, g=None, experts=None, gate=None, **settings):
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] > 0, X @ rng.standard_normal(d), X @ rng.standard_normal(d)) + 0.3 * rng.standard_normal(n)
    if outputs is not None:
        y = y[:, None] + 0.1 * rng.standard_normal((n, outputs))
    total = float(n if weight is None else weight.sum())
    map = InputMap(np.zeros(d), intercept=True, expert_columns=experts, gate_columns=gate)
    rows = LaidOutRows(np.column_stack([X, np.ones(n)]), y, weight, map, total)
    return Problem(rows, k, g or GaussianFamily.linear(), Settings(**{"noise": "per-expert", **settings}), 1.0)


def batch_of(rng, problem, models):
    A, W = (rng.standard_normal((models, problem.k, D)) for D in (problem.De, problem.Dg))
    return Theta(A, W - W.mean(axis=1, keepdims=True), np.full((models, problem.k), 0.7))


def assert_same(one, other, tolerance):
    for name in PARTS:
        got, want = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(got, want, atol=tolerance * np.max(np.abs(want), initial=1.0), err_msg=name)
    for name in ("A", "W", "sigma"):
        np.testing.assert_allclose(getattr(one.batch, name), getattr(other.batch, name), atol=100 * tolerance)


def compare_to_numpy(problem, batch, per_model=None):
    """Return both optimisers, compared after each step."""
    pair = CompiledOptimiser(problem, batch, per_model=per_model), BatchOptimiser(problem, batch, per_model=per_model)
    assert_same(*pair, 1e-12)
    for optimiser in pair:
        optimiser.em(3)
    assert_same(*pair, 1e-11)
    for optimiser in pair:
        optimiser.quasi_newton(7)
    assert_same(*pair, 1e-9)
    for optimiser in pair:
        optimiser.keep(np.array([0, len(batch) - 1]))
        optimiser.quasi_newton(5)
    assert_same(*pair, 1e-7)


@pytest.mark.parametrize("penalty", [0.0, 0.3])
@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.5])
@pytest.mark.parametrize(("n", "d", "k"), [(200, 1, 2), (64, 2, 1), (257, 8, 4), (500, 5, 7)])
def test_steps_are_those_of_numpy(rng, n, d, k, noise, penalty):
    problem = problem_of(rng, n, d, k, noise=noise, penalty=penalty, pooled=rng.standard_normal(d + 1))
    compare_to_numpy(problem, batch_of(rng, problem, 4))


@pytest.mark.parametrize("penalty", [0.0, 0.3])
@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize(
    ("experts", "gate"),
    [((0, 2), (1,)), (None, ()), ((), None), ((), ()), ((0, 1), (1, 2, 3, 4, 5, 6, 7)), ((0,), None)],
)
def test_experts_and_gate_may_see_other_columns(rng, experts, gate, k, penalty):
    d = 8
    De = 1 + (d if experts is None else len(experts))
    columns = {"experts": experts, "gate": gate}
    problem = problem_of(rng, 257, d, k, **columns, penalty=penalty, pooled=rng.standard_normal(De))
    batch = batch_of(rng, problem, 4)
    compare_to_numpy(problem, batch)


@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.5])
@pytest.mark.parametrize(("n", "d", "k"), [(200, 1, 2), (64, 2, 1), (257, 8, 4), (500, 5, 7)])
def test_single_precision_reaches_the_same_objectives(rng, n, d, k, noise):
    """Steps are the same to single precision, and levels are right to a thousandth in total."""
    problem = problem_of(rng, n, d, k, noise=noise, penalty=0.3, weight=rng.exponential(size=n))
    batch = batch_of(rng, problem, 4)
    rough, exact = Float32Optimiser(problem, batch), BatchOptimiser(problem, batch)
    for optimiser in (rough, exact):
        optimiser.em(3)
        optimiser.quasi_newton(4)
    np.testing.assert_allclose(rough.objective, exact.objective, rtol=1e-5)
    np.testing.assert_allclose(rough.share, exact.share, atol=1e-4)
    rough.quasi_newton(100)
    there = BatchOptimiser(problem, rough.batch)
    np.testing.assert_allclose(rough.objective * problem.total, there.objective * problem.total, atol=1e-3)


def test_rows_are_laid_out_once(rng):
    problem = problem_of(rng)
    first, again = (make_optimiser(problem, batch_of(rng, problem, 2)) for _ in range(2))
    assert first.U is again.U
    other = make_optimiser(problem.on(problem.rows.with_response(lambda y: 2 * y)), batch_of(rng, problem, 2))
    np.testing.assert_allclose(other.y, 2 * first.y, rtol=1e-6)


def test_weights_of_rows_and_of_models_count(rng):
    weight = rng.exponential(size=300)
    for problem in (problem_of(rng, penalty=1.0), problem_of(rng, penalty=1.0, weight=weight)):
        own = PerModelRows((rng.random((300, 4)) < 0.8).astype(float), rng.standard_normal((4, problem.De)))
        compare_to_numpy(problem, batch_of(rng, problem, 4), own)


def test_each_model_may_have_outputs_of_its_own(rng):
    problem = problem_of(rng, outputs=4)
    compare_to_numpy(problem, batch_of(rng, problem, 4))


def test_scales_stay_on_their_floor(rng):
    """An expert through two rows alone: its noise falls until it may not."""
    problem = problem_of(rng, 100, 1, 2, least_scale=0.2)
    compare_to_numpy(problem, batch_of(rng, problem, 3))
    optimiser = make_optimiser(problem, batch_of(rng, problem, 3))
    optimiser.quasi_newton(60)
    assert np.min(optimiser.batch.sigma) >= 0.2


def test_a_step_that_is_no_number_is_not_taken(rng):
    problem = problem_of(rng)
    batch = batch_of(rng, problem, 2)
    optimiser = make_optimiser(problem, batch)
    optimiser.direction[0] = np.nan
    optimiser.direction[1] = 1e200
    before = optimiser.objective.copy()
    optimiser.quasi_newton(30)
    assert np.all(np.isfinite(optimiser.vector))
    assert np.all(optimiser.objective >= before)


def test_threads_change_no_digit(rng, monkeypatch):
    problem = problem_of(rng, 400, 5, 4)
    batch = batch_of(rng, problem, 7)
    monkeypatch.setattr(compiled, "SHARED_WORK", 0.0)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(compiled, "threads_allowed", lambda threads=threads: threads)
        optimiser = make_optimiser(problem, batch)
        optimiser.em(3)
        optimiser.quasi_newton(20)
        found.append(optimiser.vector)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_long_runs_report_on_the_way(rng, monkeypatch):
    problem = problem_of(rng)
    seen = []
    optimiser = make_optimiser(problem, batch_of(rng, problem, 2), on_step=lambda a: seen.append((a.work, a.objective)))
    each = BatchOptimiser.work.fget(optimiser)
    monkeypatch.setattr(compiled, "AT_ONCE", 3 * each)
    optimiser.quasi_newton(8)
    assert [work / each for work, _ in seen] == [3, 3, 2]
    assert np.all(np.diff([level for _, level in seen], axis=0) >= 0)


def test_levels_told_before_are_not_changed(rng):
    problem = problem_of(rng)
    optimiser = make_optimiser(problem, batch_of(rng, problem, 2))
    before = optimiser.objective
    kept = before.copy()
    optimiser.quasi_newton(5)
    np.testing.assert_array_equal(before, kept)
    assert np.all(optimiser.objective > before)


def test_other_problems_are_not_compiled(rng, monkeypatch):
    wide, few = problem_of(rng, 100, 60, 2), problem_of(rng)
    assert type(make_optimiser(few, batch_of(rng, few, 1))) is Float32Optimiser
    assert type(make_optimiser(wide, batch_of(rng, wide, 1))) is BatchOptimiser
    bent = problem_of(rng, g=GaussianFamily(get_activation("relu")))
    assert type(make_optimiser(bent, batch_of(rng, bent, 1))) is BatchOptimiser
    monkeypatch.setattr(compiled, "MOST_DOUBLES", 300 * few.De - 1)
    assert type(make_optimiser(few, batch_of(rng, few, 1))) is BatchOptimiser
    monkeypatch.undo()
    monkeypatch.setattr(compiled, "VERSION", compiled.VERSION + 1)
    compiled._library.cache_clear()
    try:
        assert type(make_optimiser(few, batch_of(rng, few, 1))) is BatchOptimiser
    finally:
        monkeypatch.undo()
        compiled._library.cache_clear()


def test_fits_with_and_without_compiled_code_agree(monkeypatch):
    X, y, _ = make_moe(500, 3, 3, noise_scale=0.3, random_state=1)
    with_it = MoERegressor(3, random_state=0).fit(X, y)
    monkeypatch.setattr(compiled, "_library", lambda: None)
    without = MoERegressor(3, random_state=0).fit(X, y)
    assert with_it.log_likelihood_ == pytest.approx(without.log_likelihood_, abs=500 * 1e-9)
    np.testing.assert_allclose(with_it.expert_coef_, without.expert_coef_, atol=1e-6)


def test_single_precision_is_for_rows_it_can_hold(rng):
    plain = problem_of(rng)
    assert type(make_optimiser(plain, batch_of(rng, plain, 1), exact=True)) is CompiledOptimiser
    for problem, kind in (
        (problem_of(rng, noise=0.01), Float32Optimiser),
        (problem_of(rng, noise=1e-6), CompiledOptimiser),
        (problem_of(rng, weight=np.full(300, 1e3)), Float32Optimiser),
        (problem_of(rng, weight=np.where(np.arange(300) == 7, 1e9, 1.0)), CompiledOptimiser),
    ):
        assert type(make_optimiser(problem, batch_of(rng, problem, 1))) is kind


def test_models_that_are_kept_keep_their_rows(rng):
    """Outputs and weights that each model has of its own are those of the models that are left."""
    problem = problem_of(rng, outputs=4)
    own = PerModelRows((rng.random((300, 4)) < 0.8).astype(float), rng.standard_normal((4, problem.De)))
    batch, kept = batch_of(rng, problem, 4), np.array([1, 3])
    optimiser = CompiledOptimiser(problem, batch, per_model=own)
    optimiser.keep(kept)
    np.testing.assert_array_equal(optimiser.per_model.weight, own.weight[:, kept])
    there = BatchOptimiser(problem.on(problem.rows.for_models(kept)), batch.picked(kept), per_model=own.picked(kept))
    for one in (optimiser, there):
        one.em(2)
    np.testing.assert_allclose(optimiser.objective, there.objective)


def test_steep_gates_take_no_longer(rng):
    """Residuals times what is left of the probability of an expert far away are no subnormal numbers, which are slow.

    With e^-80 left in single precision, steep gates took nine times as long.
    """
    n, d, k = 2000, 8, 4
    U, truth = np.column_stack([rng.standard_normal((n, d)), np.ones(n)]), rng.standard_normal(d + 1)
    y = U @ truth + 1e-3 * rng.standard_normal(n)
    rows = LaidOutRows(U, y, None, InputMap.identity(d, intercept=True), float(n))
    problem = Problem(rows, k, GaussianFamily.linear(), Settings(noise="per-expert"), 1.0)
    W, seconds = rng.standard_normal((4, k, d + 1)), {}
    for steepness in (0.1, 100.0):
        batch = Theta(np.tile(truth, (4, k, 1)), steepness * W, np.full((4, k), 1e-3))
        runs = []
        for _ in range(7):
            optimiser = Float32Optimiser(problem, batch)
            begin = time.process_time()
            optimiser.quasi_newton(4)
            runs.append(time.process_time() - begin)
        seconds[steepness] = min(runs)
    assert seconds[100.0] < 2 * seconds[0.1]
