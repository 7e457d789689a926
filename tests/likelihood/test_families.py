"""Sums over rows for laws other than the Gaussian: derivatives by differences, batches and array libraries alike."""

from dataclasses import replace

import numpy as np
import pytest

from problems import random_problem, sums_of
from skmoe.arrays.namespaces import to_numpy
from skmoe.likelihood import Settings, Theta, gradient, information, score_outer
from skmoe.likelihood.batch import batch_sums
from skmoe.model.families import FAMILIES, MultinomialFamily, StudentFamily
from skmoe.search.joint_em import run_em

NAMES = ["poisson", "binomial", "gamma", "negative-binomial", "student", "student, dof each"]


def problem_of(name, rng, xp=np, **how):
    """A random point of a problem whose outputs the law can give."""
    students = {"student": StudentFamily(3.0), "student, dof each": StudentFamily(expert_dof=(1.5, 5.0, 40.0))}
    family = students.get(name) or FAMILIES[name]
    noise = "per-expert" if family.has_scale else 1.0
    settings = Settings(noise=noise, penalty=0.3)
    problem, theta = random_problem(rng, noise=noise, settings=settings, xp=xp, intercept=True, **how)
    y = family.any_experts.sample(0.5 * rng.standard_normal(problem.n), np.full(problem.n, 0.7), rng)
    return replace(problem, rows=replace(problem.rows, y=xp.asarray(y)), family=family), theta


def differences(problem, theta, what, step=1e-5):
    vector = problem.pack(theta)

    def at(v):
        return getattr(gradient(problem, problem.unpack(v, theta)), what)

    return np.array([(at(vector + e) - at(vector - e)) / (2 * step) for e in step * np.eye(len(vector))])


@pytest.mark.parametrize("name", NAMES)
def test_derivatives_match_differences(rng, name):
    problem, theta = problem_of(name, rng)
    here = information(problem, theta)
    size = 1 + np.max(np.abs(here.information))
    np.testing.assert_allclose(here.gradient, differences(problem, theta, "objective"), atol=1e-7 * size)
    np.testing.assert_allclose(here.information, -differences(problem, theta, "gradient"), atol=1e-7 * size)


@pytest.mark.parametrize("name", NAMES)
def test_sums_of_a_batch_are_those_of_each_model_in_any_array_library(xp, name):
    problem, theta = problem_of(name, np.random.default_rng(1), xp)
    plain, _ = problem_of(name, np.random.default_rng(1))
    batch, one = batch_sums(problem, Theta.stacked([theta, theta])), sums_of(plain, theta)
    for part in ("share", "statistic", "expert_gradient", "expert_gram"):
        expected = getattr(one, part)
        np.testing.assert_allclose(to_numpy(getattr(batch, part))[1], expected, rtol=1e-9, atol=1e-11)
    assert batch.log_likelihood[0] == pytest.approx(one.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(score_outer(problem, theta), score_outer(plain, theta), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_em_never_lowers_the_likelihood(rng, name):
    problem, theta = problem_of(name, rng, n=200)
    run = run_em(problem, theta, max_iter=20, tol=0)
    values = [gradient(problem, point).objective for point in run.points]  # taken afresh: the trace could hide a fall
    assert np.min(np.diff(values)) > -1e-12
    assert values[-1] > values[0] + 0.01


def classes_of(rng, xp=np, k=3, **how):
    """A random point of a problem with four classes, three predictors an expert."""
    family = MultinomialFamily(4)
    problem, theta = random_problem(rng, k=k, noise=1.0, settings=Settings(noise=1.0, penalty=0.3), xp=xp, **how)
    y = xp.asarray(rng.integers(4, size=problem.n).astype(float))
    A = rng.standard_normal((k, 3 * problem.rows.map.De))
    return replace(problem, rows=replace(problem.rows, y=y), family=family), replace(theta, A=A)


@pytest.mark.parametrize(
    "how",
    [{"intercept": True}, {"expert_columns": (0, 2), "gate_columns": (1,)}, {"k": 1}],
    ids=["same columns", "own columns", "one expert"],
)
def test_derivatives_of_several_predictors_match_differences(rng, how):
    problem, theta = classes_of(rng, **how)
    here = information(problem, theta)
    np.testing.assert_allclose(here.gradient, differences(problem, theta, "objective"), atol=1e-7)
    np.testing.assert_allclose(here.information, -differences(problem, theta, "gradient"), atol=1e-7)


def test_sums_of_several_predictors_are_alike_in_batches_and_array_libraries(xp):
    problem, theta = classes_of(np.random.default_rng(1), xp, intercept=True)
    plain, _ = classes_of(np.random.default_rng(1), intercept=True)
    batch, one = batch_sums(problem, Theta.stacked([theta, theta])), sums_of(plain, theta)
    for part in ("share", "expert_gradient", "expert_gram"):
        np.testing.assert_allclose(getattr(batch, part)[1], getattr(one, part), atol=1e-12)
    np.testing.assert_allclose(score_outer(problem, theta), score_outer(plain, theta), atol=1e-12)


def test_expert_gram_of_classes_is_the_information_of_one_expert(rng):
    problem, theta = classes_of(rng, k=1)
    free = replace(problem, settings=replace(problem.settings, penalty=0.0))
    np.testing.assert_allclose(sums_of(free, theta).expert_gram[0], information(free, theta).information, atol=1e-12)
