"""Sums over rows for laws other than the Gaussian: derivatives by differences, batches and array libraries alike."""

from dataclasses import replace

import numpy as np
import pytest

from problems import random_problem
from skmoe.likelihood import Settings, em_sums, gradient, information, score_outer
from skmoe.likelihood.batch import ThetaBatch, batch_sums
from skmoe.model.families import FAMILIES, StudentFamily
from skmoe.rows.arrays import to_numpy
from skmoe.search.ascent import Ascent, Point

NAMES = ["poisson", "binomial", "gamma", "negative-binomial", "student"]


def problem_of(name, rng, xp=np, **how):
    """A random point of a problem whose outputs the law can give."""
    family = StudentFamily(3.0) if name == "student" else FAMILIES[name]
    noise = "per-expert" if family.has_scale else 1.0
    settings = Settings(noise=noise, penalty=0.3)
    problem, theta = random_problem(rng, noise=noise, settings=settings, xp=xp, intercept=True, **how)
    y = family.sample(0.5 * rng.standard_normal(problem.n), np.full(problem.n, 0.7), rng)
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
    batch, one = batch_sums(problem, ThetaBatch.of([theta, theta])), em_sums(plain, theta)
    for part in ("share", "statistic", "expert_gradient", "expert_gram"):
        expected = getattr(one, part)
        np.testing.assert_allclose(to_numpy(getattr(batch, part))[1], expected, rtol=1e-9, atol=1e-11)
    assert batch.log_likelihood[0] == pytest.approx(one.log_likelihood, rel=1e-12)
    np.testing.assert_allclose(score_outer(problem, theta), score_outer(plain, theta), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_em_never_lowers_the_likelihood(rng, name):
    problem, theta = problem_of(name, rng, n=200)
    ascent = Ascent(Point(problem, theta))
    for _ in range(20):
        ascent.em()
    assert np.all(np.diff(ascent.trace) >= 0)
    assert ascent.trace[-1] > ascent.trace[0] + 0.01
