"""Compiled sums are those of the Array API's kernels, and nothing but time is lost where they cannot be compiled."""

import importlib.util
import platform
import shutil
import sys
import sysconfig
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from problems import random_problem
from skmoe import MoERegressor, make_moe
from skmoe.likelihood import InputMap, LaidOutRows, Problem, Settings, Theta, fused, gradient
from skmoe.likelihood.batch import batch_sums, has_compiled_sums
from skmoe.model.gaussian import GaussianFamily
from skmoe.search import compiled as search_compiled

ROOT = Path(__file__).parents[2]

compiled = pytest.mark.skipif(not fused.is_library_built(), reason="skmoe was installed without a C compiler")


@pytest.fixture
def by_numpy(monkeypatch):
    """A function that calls another one as if nothing had been compiled."""

    def call(function, *args, **kwargs):
        with monkeypatch.context() as patch:
            patch.setattr(fused, "_library", lambda: None)
            return function(*args, **kwargs)

    return call


def rows_of(X, y, weight=None):
    design = np.column_stack([X, np.ones(len(X))])
    total = float(len(X) if weight is None else weight.sum())
    return LaidOutRows(design, y, weight, InputMap.identity(X.shape[1], intercept=True), total)


def problem_of(rng, n=333, d=4, k=3, weight=None, outputs=None):
    X, y = rng.standard_normal((n, d)), rng.standard_normal(n if outputs is None else (n, outputs))
    return Problem(rows_of(X, y, weight), k, GaussianFamily.linear(), Settings(noise="per-expert"), 1.0)


def batch_of(rng, models, k, D, size=1.0, noise=1.0):
    A, W = size * rng.standard_normal((2, models, k, D))
    return Theta(A, W, noise * np.exp(0.5 * rng.standard_normal((models, k))))


def assert_same(got, want, rtol=1e-11):
    for name, part in vars(want).items():
        scale = np.max(np.abs(part), initial=1e-300)
        np.testing.assert_allclose(getattr(got, name), part, rtol=rtol, atol=1e-13 * scale, err_msg=name)


@compiled
@pytest.mark.parametrize("grams", [True, False])
@pytest.mark.parametrize(
    ("n", "models", "k"), [(1, 1, 2), (63, 2, 1), (64, 3, 3), (65, 1, 7), (1000, 5, 4), (3000, 40, 2)]
)
def test_compiled_sums_are_numpys(rng, by_numpy, n, models, k, grams):
    problem, batch = problem_of(rng, n, k=k), batch_of(rng, models, k, 5)
    assert has_compiled_sums(problem)
    assert_same(batch_sums(problem, batch, grams=grams), by_numpy(batch_sums, problem, batch, grams=grams))


@compiled
@pytest.mark.parametrize("grams", [True, False])
@pytest.mark.parametrize(("experts", "gate"), [((0, 2), (1,)), (None, ()), ((), None), ((), ()), ((0, 1, 2, 3), None)])
def test_experts_and_gate_may_see_other_columns(rng, by_numpy, experts, gate, grams):
    problem = problem_of(rng)
    map = replace(problem.rows.map, expert_columns=experts, gate_columns=gate)
    problem = problem.on(replace(problem.rows, map=map))
    batch = Theta(
        *(rng.standard_normal((5, 3, D)) for D in (problem.De, problem.Dg)), np.exp(rng.standard_normal((5, 3)))
    )
    assert has_compiled_sums(problem)
    assert_same(batch_sums(problem, batch, grams=grams), by_numpy(batch_sums, problem, batch, grams=grams))


@compiled
def test_weights_of_rows_and_of_models(rng, by_numpy):
    weight = rng.exponential(size=333)
    weight[::7] = 0.0
    own = rng.integers(0, 3, size=(333, 4)).astype(float)
    for problem in (problem_of(rng), problem_of(rng, weight=weight)):
        batch = batch_of(rng, 4, 3, 5)
        for mine in (None, own, np.asfortranarray(own)):
            assert_same(batch_sums(problem, batch, mine), by_numpy(batch_sums, problem, batch, mine))


@compiled
def test_outputs_of_each_model_by_itself(rng, by_numpy):
    batch = batch_of(rng, 4, 3, 5)
    for outputs in (1, 4):  # one column serves all models
        problem = problem_of(rng, outputs=outputs)
        assert_same(batch_sums(problem, batch), by_numpy(batch_sums, problem, batch))
    with pytest.raises(ValueError, match=r"4 models cannot be of shape \(333, 3\)"):
        batch_sums(problem_of(rng, outputs=3), batch)


@compiled
@pytest.mark.parametrize(("size", "noise"), [(1e-8, 1.0), (300.0, 1.0), (1.0, 1e-3), (1.0, 1e4), (1e5, 1e-5)])
def test_sharp_gates_and_small_noise(rng, by_numpy, size, noise):
    """Probabilities near 0 and 1, and experts thousands of standard deviations away from an output."""
    problem, batch = problem_of(rng), batch_of(rng, 6, 3, 5, size, noise)
    assert_same(batch_sums(problem, batch), by_numpy(batch_sums, problem, batch), rtol=1e-9)


@compiled
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200, 1e308])
@pytest.mark.parametrize("part", ["A", "W"])
def test_wild_parameters_are_seen_as_by_numpy(rng, by_numpy, bad, part):
    """A step that overflows is refused by its likelihood, which must not come out finite."""
    problem, batch = problem_of(rng), batch_of(rng, 2, 3, 5)
    getattr(batch, part)[1, 0, 0] = bad
    with np.errstate(all="ignore"):
        got, want = batch_sums(problem, batch), by_numpy(batch_sums, problem, batch)
    assert np.isfinite(got.log_likelihood[0])
    np.testing.assert_allclose(got.log_likelihood, want.log_likelihood, rtol=1e-11)
    if np.isnan(bad):
        assert np.isnan(got.log_likelihood[1])


@compiled
def test_gradient_is_that_of_the_kernels(rng, by_numpy):
    for noise in ("shared", "per-expert", 0.4):
        problem, theta = random_problem(rng, noise=noise)
        got, want = gradient(problem, theta), by_numpy(gradient, problem, theta)
        assert got.log_likelihood == pytest.approx(want.log_likelihood, rel=1e-12)
        np.testing.assert_allclose(got.gradient, want.gradient, atol=1e-12)


@compiled
def test_threads_do_not_share_what_they_write_to(rng):
    tasks = [(problem_of(rng, n, k=k), batch_of(rng, 8, k, 5)) for n in (200, 700) for k in (2, 3, 5)] * 4
    alone = [batch_sums(*task) for task in tasks]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda task: batch_sums(*task), tasks))
    for got, want in zip(together, alone, strict=True):
        assert_same(got, want, rtol=0)


@pytest.mark.parametrize("n_experts", [2, 3])
def test_a_fit_needs_no_compiled_code(by_numpy, n_experts):
    X, y, _ = make_moe(400, 3, n_experts, noise_scale=0.3, random_state=0)
    fit = MoERegressor(n_experts, random_state=0)
    model, plain = fit.fit(X, y), by_numpy(MoERegressor(n_experts, random_state=0).fit, X, y)
    assert model.log_likelihood_ == pytest.approx(plain.log_likelihood_, abs=400 * 1e-9)
    np.testing.assert_allclose(model.expert_coef_, plain.expert_coef_, atol=1e-6)


def test_other_experts_and_libraries_are_not_compiled(rng, xp):
    linear, _ = random_problem(rng)
    assert has_compiled_sums(linear) == fused.is_library_built()
    assert not has_compiled_sums(random_problem(rng, g="relu")[0])
    if xp is not np and type(xp.zeros(1)) is not np.ndarray:
        assert not has_compiled_sums(random_problem(rng, xp=xp)[0])


# -- building -------------------------------------------------------------------------------------------------------


@pytest.fixture
def hook():
    path = ROOT / "hatch_build.py"
    if not path.exists():
        pytest.skip("not in a checkout of the repository")
    spec = importlib.util.spec_from_file_location("hatch_build", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_library_is_compiled_once_and_again_when_its_source_changes(hook, tmp_path, monkeypatch):
    monkeypatch.delenv("CC", raising=False)
    library, sources = tmp_path / "libfused.so", (*hook.SOURCES, *hook.HEADERS)
    for number, source in enumerate(sources):  # in the place of ours, which take a while
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / source).write_text(f"int number_{number}(void) {{ return {number}; }}\n")
    assert hook.compiled(tmp_path, library)
    for source in sources:
        before = library.stat()
        assert hook.compiled(tmp_path, library)
        assert library.stat().st_ino == before.st_ino
        (tmp_path / source).touch()
        assert hook.compiled(tmp_path, library)
        assert library.stat().st_ino != before.st_ino
    assert sorted(path.name for path in tmp_path.iterdir()) == ["libfused.so", "src"]


def test_wheel_for_mac_is_of_the_processor_that_the_compiler_compiles_for(hook, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(sysconfig, "get_platform", lambda: "macosx-10.13-universal2")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("14.2", ("", "", ""), "arm64"))
    assert hook.platform_tag() == "macosx_14_0_arm64"


@pytest.mark.parametrize("compiler", ["no-such-compiler", "false"])
def test_without_a_compiler_nothing_is_compiled(hook, tmp_path, monkeypatch, compiler):
    monkeypatch.setenv("CC", compiler)
    assert not hook.compiled(ROOT, tmp_path / "libfused.so")
    assert not list(tmp_path.iterdir())


@compiled
def test_library_of_another_version_is_not_called(monkeypatch):
    fused._library.cache_clear()
    monkeypatch.setattr(fused, "VERSION", fused.VERSION + 1)
    try:
        assert fused._library() is None
    finally:
        fused._library.cache_clear()


def test_library_that_cannot_be_loaded_is_said_once_and_numpy_does_the_work(monkeypatch, tmp_path):
    def forget():
        for function in (fused.loaded, fused._library, search_compiled._library):
            function.cache_clear()

    X, y = make_moe(200, 2, 2, random_state=0)[:2]
    path = tmp_path / "libfused.so"
    path.write_bytes(b"not of this machine")
    for module in (fused, search_compiled):
        monkeypatch.setattr(module, "LIBRARY", path)
    forget()
    try:
        with pytest.warns(RuntimeWarning, match="compiled code of skmoe cannot be loaded") as said:
            model = MoERegressor(2, random_state=0).fit(X, y)
        assert len(said) == 1
        assert np.isfinite(model.log_likelihood_)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.fit(X, y)
    finally:
        monkeypatch.undo()
        forget()


def test_theta_of_one_model_is_what_a_batch_holds(rng):
    theta = Theta(rng.standard_normal((2, 3)), rng.standard_normal((2, 3)), np.ones(2))
    again = Theta.stacked([theta]).picked(0)
    np.testing.assert_allclose(again.gate, theta.gate, atol=1e-15)
