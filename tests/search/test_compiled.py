"""Compiled climbs take the steps of those by NumPy, and others are climbed by NumPy as before."""

import time

import numpy as np
import pytest

from skmoe import MoERegressor, make_moe
from skmoe.likelihood import InputMap, LaidOutRows, Problem, Settings, fused
from skmoe.likelihood.batch import ThetaBatch
from skmoe.model.activations import get_activation
from skmoe.model.gaussian import GaussianFamily
from skmoe.search import compiled
from skmoe.search.climb import BatchAscent, OwnRows
from skmoe.search.compiled import CompiledAscent, RoughAscent, batch_ascent

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
    return ThetaBatch(A, W - W.mean(axis=1, keepdims=True), np.full((models, problem.k), 0.7))


def assert_same(one, other, tolerance):
    for name in PARTS:
        got, want = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(got, want, atol=tolerance * np.max(np.abs(want), initial=1.0), err_msg=name)
    for name in ("A", "W", "sigma"):
        np.testing.assert_allclose(getattr(one.batch, name), getattr(other.batch, name), atol=100 * tolerance)


def climbed_beside(problem, batch, own=None):
    """Both climbs, compared on the way."""
    pair = CompiledAscent(problem, batch, own=own), BatchAscent(problem, batch, own=own)
    assert_same(*pair, 1e-12)
    for ascent in pair:
        ascent.em(3)
    assert_same(*pair, 1e-11)
    for ascent in pair:
        ascent.quasi_newton(7)
    assert_same(*pair, 1e-9)
    for ascent in pair:
        ascent.keep(np.array([0, len(batch) - 1]))
        ascent.quasi_newton(5)
    assert_same(*pair, 1e-7)


@pytest.mark.parametrize("penalty", [0.0, 0.3])
@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.5])
@pytest.mark.parametrize(("n", "d", "k"), [(200, 1, 2), (64, 2, 1), (257, 8, 4), (500, 5, 7)])
def test_steps_are_those_of_numpy(rng, n, d, k, noise, penalty):
    problem = problem_of(rng, n, d, k, noise=noise, penalty=penalty, pooled=rng.standard_normal(d + 1))
    climbed_beside(problem, batch_of(rng, problem, 4))


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
    climbed_beside(problem, batch)
    if k > 1:
        ascents = CompiledAscent(problem, batch), BatchAscent(problem, batch)
        np.testing.assert_allclose(*(ascent.removal_losses() for ascent in ascents), rtol=1e-7)


@pytest.mark.parametrize("noise", ["shared", "per-expert", 0.5])
@pytest.mark.parametrize(("n", "d", "k"), [(200, 1, 2), (64, 2, 1), (257, 8, 4), (500, 5, 7)])
def test_single_precision_climbs_to_the_same_levels(rng, n, d, k, noise):
    """Steps are the same to single precision, and levels are right to a thousandth in total."""
    problem = problem_of(rng, n, d, k, noise=noise, penalty=0.3, weight=rng.exponential(size=n))
    batch = batch_of(rng, problem, 4)
    rough, exact = RoughAscent(problem, batch), BatchAscent(problem, batch)
    for ascent in (rough, exact):
        ascent.em(3)
        ascent.quasi_newton(4)
    np.testing.assert_allclose(rough.objective, exact.objective, rtol=1e-5)
    np.testing.assert_allclose(rough.share, exact.share, atol=1e-4)
    rough.quasi_newton(100)
    there = BatchAscent(problem, rough.batch)
    np.testing.assert_allclose(rough.objective * problem.total, there.objective * problem.total, atol=1e-3)


def test_rows_are_laid_out_once(rng):
    problem = problem_of(rng)
    first, again = (batch_ascent(problem, batch_of(rng, problem, 2)) for _ in range(2))
    assert first.U is again.U
    other = batch_ascent(problem.on(problem.rows.with_response(lambda y: 2 * y)), batch_of(rng, problem, 2))
    np.testing.assert_allclose(other.y, 2 * first.y, rtol=1e-6)


def test_weights_of_rows_and_of_models_count(rng):
    weight = rng.exponential(size=300)
    for problem in (problem_of(rng, penalty=1.0), problem_of(rng, penalty=1.0, weight=weight)):
        own = OwnRows((rng.random((300, 4)) < 0.8).astype(float), rng.standard_normal((4, problem.De)))
        climbed_beside(problem, batch_of(rng, problem, 4), own)


def test_each_model_may_have_outputs_of_its_own(rng):
    problem = problem_of(rng, outputs=4)
    climbed_beside(problem, batch_of(rng, problem, 4))


def test_scales_stay_on_their_floor(rng):
    """An expert through two rows alone: its noise falls until it may not."""
    problem = problem_of(rng, 100, 1, 2, least_scale=0.2)
    climbed_beside(problem, batch_of(rng, problem, 3))
    ascent = batch_ascent(problem, batch_of(rng, problem, 3))
    ascent.quasi_newton(60)
    assert np.min(ascent.batch.sigma) >= 0.2


def test_a_step_that_is_no_number_is_not_taken(rng):
    problem = problem_of(rng)
    batch = batch_of(rng, problem, 2)
    ascent = batch_ascent(problem, batch)
    ascent.direction[0] = np.nan
    ascent.direction[1] = 1e200
    before = ascent.objective.copy()
    ascent.quasi_newton(30)
    assert np.all(np.isfinite(ascent.vector))
    assert np.all(ascent.objective >= before)


def test_threads_change_no_digit(rng, monkeypatch):
    problem = problem_of(rng, 400, 5, 4)
    batch = batch_of(rng, problem, 7)
    monkeypatch.setattr(compiled, "SHARED_WORK", 0.0)
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(compiled, "threads_allowed", lambda threads=threads: threads)
        ascent = batch_ascent(problem, batch)
        ascent.em(3)
        ascent.quasi_newton(20)
        found.append(ascent.vector)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_long_climbs_are_told_of_on_the_way(rng, monkeypatch):
    problem = problem_of(rng)
    seen = []
    ascent = batch_ascent(problem, batch_of(rng, problem, 2), on_step=lambda a: seen.append((a.work, a.objective)))
    each = BatchAscent.work.fget(ascent)
    monkeypatch.setattr(compiled, "AT_ONCE", 3 * each)
    ascent.quasi_newton(8)
    assert [work / each for work, _ in seen] == [3, 3, 2]
    assert np.all(np.diff([level for _, level in seen], axis=0) >= 0)


def test_levels_told_before_are_not_changed(rng):
    problem = problem_of(rng)
    ascent = batch_ascent(problem, batch_of(rng, problem, 2))
    before = ascent.objective
    kept = before.copy()
    ascent.quasi_newton(5)
    np.testing.assert_array_equal(before, kept)
    assert np.all(ascent.objective > before)


def test_other_climbs_are_not_compiled(rng, monkeypatch):
    wide, few = problem_of(rng, 100, 60, 2), problem_of(rng)
    assert type(batch_ascent(few, batch_of(rng, few, 1))) is RoughAscent
    assert type(batch_ascent(wide, batch_of(rng, wide, 1))) is BatchAscent
    bent = problem_of(rng, g=GaussianFamily(get_activation("relu")))
    assert type(batch_ascent(bent, batch_of(rng, bent, 1))) is BatchAscent
    monkeypatch.setattr(compiled, "MOST_DOUBLES", 300 * few.De - 1)
    assert type(batch_ascent(few, batch_of(rng, few, 1))) is BatchAscent
    monkeypatch.undo()
    monkeypatch.setattr(compiled, "VERSION", compiled.VERSION + 1)
    compiled._library.cache_clear()
    try:
        assert type(batch_ascent(few, batch_of(rng, few, 1))) is BatchAscent
    finally:
        monkeypatch.undo()
        compiled._library.cache_clear()


def test_fits_with_and_without_compiled_climbs_agree(monkeypatch):
    X, y, _ = make_moe(500, 3, 3, noise_scale=0.3, random_state=1)
    with_it = MoERegressor(3, random_state=0).fit(X, y)
    monkeypatch.setattr(compiled, "_library", lambda: None)
    without = MoERegressor(3, random_state=0).fit(X, y)
    assert with_it.log_likelihood_ == pytest.approx(without.log_likelihood_, abs=500 * 1e-9)
    np.testing.assert_allclose(with_it.expert_coef_, without.expert_coef_, atol=1e-6)


def test_single_precision_is_for_rows_it_can_hold(rng):
    plain = problem_of(rng)
    assert type(batch_ascent(plain, batch_of(rng, plain, 1), exact=True)) is CompiledAscent
    for problem, kind in (
        (problem_of(rng, noise=0.01), RoughAscent),
        (problem_of(rng, noise=1e-6), CompiledAscent),
        (problem_of(rng, weight=np.full(300, 1e3)), RoughAscent),
        (problem_of(rng, weight=np.where(np.arange(300) == 7, 1e9, 1.0)), CompiledAscent),
    ):
        assert type(batch_ascent(problem, batch_of(rng, problem, 1))) is kind


@pytest.mark.parametrize(("n", "d", "k"), [(200, 1, 2), (64, 2, 1), (257, 8, 4), (500, 5, 7)])
@pytest.mark.parametrize("sharpness", [1.0, 30.0])
def test_losses_without_an_expert_are_those_of_numpy(rng, n, d, k, sharpness):
    problem = problem_of(rng, n, d, k, weight=rng.exponential(size=n))
    batch = batch_of(rng, problem, 4)
    batch = ThetaBatch(batch.A, sharpness * batch.W, batch.sigma)
    exact, rough = CompiledAscent(problem, batch), RoughAscent(problem, batch)
    for ascent in (exact, rough):
        ascent.em(2)
    there = BatchAscent(problem, exact.batch)
    np.testing.assert_allclose(exact.removal_losses(), there.removal_losses(), rtol=1e-6, atol=1e-4)
    there = BatchAscent(problem, rough.batch)
    np.testing.assert_allclose(rough.removal_losses(), there.removal_losses(), rtol=1e-4, atol=1e-3)


def test_models_that_are_kept_keep_their_rows(rng):
    """Outputs and weights that each model has of its own are those of the models that are left."""
    problem = problem_of(rng, outputs=4)
    own = OwnRows((rng.random((300, 4)) < 0.8).astype(float), rng.standard_normal((4, problem.De)))
    batch, kept = batch_of(rng, problem, 4), np.array([1, 3])
    ascent = CompiledAscent(problem, batch, own=own)
    ascent.keep(kept)
    np.testing.assert_array_equal(ascent.own.weight, own.weight[:, kept])
    there = BatchAscent(problem.on(problem.rows.for_models(kept)), batch.picked(kept), own=own.picked(kept))
    np.testing.assert_allclose(ascent.removal_losses(), there.removal_losses())


def test_losses_are_those_of_the_rows_as_they_are(rng):
    problem = problem_of(rng)
    batch, own = batch_of(rng, problem, 4), OwnRows(np.full((300, 4), 0.5), np.zeros((4, problem.De)))
    tilted, plain = (batch_ascent(problem, batch, own=rows).removal_losses() for rows in (own, None))
    np.testing.assert_allclose(tilted, plain, rtol=1e-4)


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
        batch = ThetaBatch(np.tile(truth, (4, k, 1)), steepness * W, np.full((4, k), 1e-3))
        runs = []
        for _ in range(7):
            ascent = RoughAscent(problem, batch)
            begin = time.process_time()
            ascent.quasi_newton(4)
            runs.append(time.process_time() - begin)
        seconds[steepness] = min(runs)
    assert seconds[100.0] < 2 * seconds[0.1]
