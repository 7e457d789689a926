from dataclasses import replace

import numpy as np
import pytest

from problems import random_problem, sums_of
from skmoe.arrays.namespaces import to_numpy
from skmoe.likelihood import MappedRows, Settings, derivatives, gradient, information, mean_gate, score_outer
from skmoe.likelihood.problem import Problem
from skmoe.model.activations import ACTIVATIONS, Activation

NOISES = ["shared", "per-expert", 0.7]


def differences(problem, theta, what, step=1e-6):
    """Central differences of a field of the gradient, one row per parameter."""
    vector = problem.pack(theta)

    def at(v):
        return getattr(gradient(problem, problem.unpack(v, theta)), what)

    return np.array([(at(vector + e) - at(vector - e)) / (2 * step) for e in step * np.eye(len(vector))])


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("g", list(ACTIVATIONS))
def test_derivatives_match_differences(rng, g, noise):
    problem, theta = random_problem(rng, g=g, noise=noise, intercept=True)
    here = information(problem, theta)
    np.testing.assert_allclose(here.gradient, differences(problem, theta, "objective"), atol=1e-7)
    np.testing.assert_allclose(here.information, -differences(problem, theta, "gradient"), atol=1e-7)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_derivatives_match_differences_with_separate_columns_and_a_map(rng, k):
    how = dict(center=rng.standard_normal(4), transform=rng.standard_normal((4, 3)), y_shift=0.4, y_scale=1.7)
    columns = dict(expert_columns=(0, 2), gate_columns=(1,))
    problem, theta = random_problem(rng, d=4, k=k, noise="per-expert", intercept=True, **how, **columns)
    here = information(problem, theta)
    np.testing.assert_allclose(here.gradient, differences(problem, theta, "objective"), atol=1e-7)
    np.testing.assert_allclose(here.information, -differences(problem, theta, "gradient"), atol=1e-7)


def test_gradient_alone_is_that_beside_the_information(rng):
    problem, theta = random_problem(rng, g="tanh", noise="per-expert", intercept=True)
    alone, beside = gradient(problem, theta), information(problem, theta)
    np.testing.assert_allclose(alone.gradient, beside.gradient, atol=1e-13)
    np.testing.assert_allclose(alone.share, beside.share, atol=1e-13)
    assert alone.objective == pytest.approx(beside.objective, abs=1e-13)
    assert alone.log_likelihood == pytest.approx(beside.log_likelihood, abs=1e-13)


def test_information_of_a_users_activation_is_exact_without_derivatives(rng):
    own = Activation(lambda z: z + 0.3 * np.sin(z))
    problem, theta = random_problem(rng, g=own)
    numeric = -differences(problem, theta, "gradient", step=1e-4)
    np.testing.assert_allclose(information(problem, theta).information, numeric, atol=1e-4)


def test_every_array_library_gives_the_same_sums(xp):
    results = []
    for library in (np, xp):
        rng = np.random.default_rng(3)
        how = dict(center=np.ones(3), transform=rng.standard_normal((3, 2)))
        problem, theta = random_problem(rng, g="tanh", noise="per-expert", xp=library, intercept=True, **how)
        part = problem.on(problem.rows.subset(np.arange(5, 60)))
        results.append(
            [
                information(part, theta).information,
                score_outer(part, theta),
                sums_of(part, theta).expert_gram,
                mean_gate(part, theta),
            ]
        )
    for ours, theirs in zip(*results, strict=True):
        np.testing.assert_allclose(to_numpy(theirs), ours, atol=1e-10)


@pytest.mark.parametrize("same", [True, False])
def test_integer_weights_are_repeated_rows(rng, same):
    columns = {} if same else dict(expert_columns=(0, 1), gate_columns=(1, 2))
    problem, theta = random_problem(rng, noise="per-expert", intercept=True, **columns)
    rows = problem.rows
    index = np.repeat(np.arange(problem.n), rows.weight.astype(int))
    again = MappedRows.of(rows.X[index], rows.y[index], rows.map)
    repeated = Problem(again, 3, problem.family, problem.settings, again.y_std())
    here, there = information(problem, theta), information(repeated, theta)
    assert here.objective == pytest.approx(there.objective, abs=1e-12)
    np.testing.assert_allclose(here.information, there.information, atol=1e-10)
    np.testing.assert_allclose(here.gradient, there.gradient, atol=1e-10)
    np.testing.assert_allclose(score_outer(problem, theta), score_outer(repeated, theta), atol=1e-10)
    assert problem.least_scale == pytest.approx(repeated.least_scale)
    assert problem.min_share == pytest.approx(repeated.min_share)


def test_sums_do_not_depend_on_the_blocks(rng):
    problem, theta = random_problem(rng, n=500, noise="per-expert")
    again = replace(problem)
    vars(again)["block_rows"] = 37  # as if it had been computed for a wide table
    assert again.block_rows == 37
    for sums in (lambda p: information(p, theta).information, lambda p: score_outer(p, theta)):
        np.testing.assert_allclose(sums(again), sums(problem), atol=1e-12)
    np.testing.assert_allclose(sums_of(again, theta).expert_gram, sums_of(problem, theta).expert_gram, atol=1e-12)


@pytest.mark.parametrize("columns", [{}, {"expert_columns": (0, 2), "gate_columns": (1,)}], ids=["same", "own columns"])
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("k", [1, 3])
def test_outer_products_are_taken_along_where_rows_are_many(rng, monkeypatch, k, noise, columns):
    problem, theta = random_problem(rng, k=k, noise=noise, **columns)
    alone = information(problem, theta)
    assert alone.outer is None
    monkeypatch.setattr(derivatives, "OUTER_ROWS", problem.n)
    together = information(problem, theta)
    np.testing.assert_allclose(together.outer, score_outer(problem, theta), atol=1e-13)
    np.testing.assert_allclose(together.information, alone.information, atol=1e-13)
    np.testing.assert_allclose(together.gradient, alone.gradient, atol=1e-13)


def test_score_outer_is_the_outer_product_of_one_rows_gradient(rng):
    no_penalty = Settings("per-expert", penalty=0.0, least_ridge=0.0)
    problem, theta = random_problem(rng, n=1, noise="per-expert", weighted=False, settings=no_penalty)
    slope = gradient(problem, theta).gradient
    np.testing.assert_allclose(score_outer(problem, theta), np.outer(slope, slope), atol=1e-12)
