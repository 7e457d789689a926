"""Sums of an EM step: by their definition, and of many models at once."""

from dataclasses import replace

import numpy as np
import pytest

from problems import random_problem, sums_of
from skmoe.likelihood import Theta, mean_gate
from skmoe.likelihood.batch import batch_sums
from skmoe.model.activations import ACTIVATIONS


def other_points(rng, theta, count):
    return [
        Theta(
            theta.A + 0.3 * rng.standard_normal(theta.A.shape),
            theta.W + 0.3 * rng.standard_normal(theta.W.shape),
            theta.sigma * np.exp(0.2 * rng.standard_normal(theta.sigma.shape)),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("g", list(ACTIVATIONS))
@pytest.mark.parametrize("same", [True, False])
def test_sums_match_their_definition(rng, g, same):
    columns = {} if same else dict(expert_columns=(0, 2), gate_columns=(1,))
    problem, theta = random_problem(rng, g=g, noise="per-expert", intercept=True, **columns)
    X, y, w = problem.rows.X, problem.rows.y, problem.rows.weight / problem.total
    model = problem.rows.map.to_parameters(theta, problem.family)
    R, P = model.responsibilities(X, y), model.gate_proba(X)
    ones = np.ones((len(y), 1))
    U, V = (np.hstack([X if c is None else X[:, c], ones]) for c in (columns or {"e": None, "g": None}).values())
    eta = U @ theta.A.T
    residual, prime = y[:, None] - problem.family.g(eta), problem.family.g.prime(eta)
    sums = sums_of(problem, theta)
    assert sums.log_likelihood == pytest.approx(w @ model.log_density(X, y), abs=1e-12)
    np.testing.assert_allclose(sums.share, w @ R, atol=1e-12)
    np.testing.assert_allclose(sums.statistic, w @ (R * residual**2), atol=1e-12)
    expected = np.einsum("n,nk,nk,nd->kd", w, R, residual * prime, U)
    np.testing.assert_allclose(sums.expert_gradient, expected, atol=1e-12)
    expected = np.einsum("n,nk,nk,nd,ne->kde", w, R, prime**2, U, U)
    np.testing.assert_allclose(sums.expert_gram, expected, atol=1e-12)
    np.testing.assert_allclose(mean_gate(problem, theta), w @ P, atol=1e-12)
    expected = np.einsum("n,nk,nd->kd", w, R - P, V)
    np.testing.assert_allclose(sums.gate_gradient, expected, atol=1e-12)


def test_one_expert_has_a_gate_without_slopes(rng):
    problem, _ = random_problem(rng, k=1)
    sums = sums_of(problem, Theta(rng.standard_normal((1, 3)), np.zeros((1, 3)), np.array([0.7])))
    np.testing.assert_allclose(sums.share, [1.0])
    np.testing.assert_allclose(sums.gate_gradient, 0.0, atol=1e-15)


@pytest.mark.parametrize("g", ["linear", "sigmoid", "relu"])
@pytest.mark.parametrize(
    "how", [{}, {"expert_columns": (0, 2), "gate_columns": (1,)}], ids=["same columns", "own columns"]
)
@pytest.mark.parametrize("weighted", [True, False])
def test_sums_of_a_batch_are_those_of_each_model(rng, xp, g, how, weighted):
    problem, theta = random_problem(rng, g=g, noise="per-expert", xp=xp, weighted=weighted, **how)
    points = other_points(rng, theta, 3)
    batch = batch_sums(problem, Theta.stacked(points))
    for s, point in enumerate(points):
        one = sums_of(problem, point)
        assert batch.log_likelihood[s] == pytest.approx(one.log_likelihood, rel=1e-10)
        np.testing.assert_allclose(batch.share[s], one.share, atol=1e-12)
        np.testing.assert_allclose(batch.statistic[s], one.statistic, atol=1e-10)
        np.testing.assert_allclose(batch.expert_gradient[s], one.expert_gradient, atol=1e-10)
        np.testing.assert_allclose(batch.expert_gram[s], one.expert_gram, atol=1e-10)


def test_gate_sums_of_a_batch_match_their_definition(rng):
    problem, theta = random_problem(rng, noise="per-expert")
    V = np.asarray(problem.rows.X).T
    W = theta.W
    P = np.exp(W @ V)
    P /= P.sum(axis=0)
    weight = problem.rows.weight / problem.total
    sums = batch_sums(problem, Theta.stacked([theta]))
    expected = np.einsum("kn,dn,en->kde", P * (1 - P) * weight, V, V)
    np.testing.assert_allclose(sums.gate_gram[0], expected, atol=1e-12)
    np.testing.assert_allclose(sums.gate_gradient[0].sum(axis=0), 0.0, atol=1e-12)


def test_each_model_may_have_row_weights_of_its_own(rng):
    problem, theta = random_problem(rng, noise="per-expert")
    points = other_points(rng, theta, 2)
    own = rng.integers(0, 3, (problem.n, 2)).astype(float)
    batch = batch_sums(problem, Theta.stacked(points), own)
    for s, point in enumerate(points):
        rows = replace(problem.rows, weight=problem.rows.weight * own[:, s])
        one = sums_of(problem.on(rows), point)
        assert batch.log_likelihood[s] == pytest.approx(one.log_likelihood, rel=1e-10)
        np.testing.assert_allclose(batch.expert_gram[s], one.expert_gram, atol=1e-10)


def test_each_model_may_have_outputs_of_its_own(rng, xp):
    problem, theta = random_problem(rng, noise="per-expert", xp=xp)
    points = other_points(rng, theta, 3)
    tables = xp.asarray(rng.standard_normal((problem.n, 3)))
    several = problem.on(replace(problem.rows, y=tables))
    batch = batch_sums(several, Theta.stacked(points))
    for s, point in enumerate(points):
        one = sums_of(problem.on(replace(problem.rows, y=tables[:, s])), point)
        assert batch.log_likelihood[s] == pytest.approx(one.log_likelihood, rel=1e-10)
        np.testing.assert_allclose(batch.statistic[s], one.statistic, atol=1e-10)
        np.testing.assert_allclose(batch.expert_gradient[s], one.expert_gradient, atol=1e-10)
    some = several.on(several.rows.for_models(np.array([2, 0])))
    picked = batch_sums(some, Theta.stacked([points[2], points[0]]))
    np.testing.assert_allclose(picked.log_likelihood, batch.log_likelihood[[2, 0]], rtol=1e-12)
    assert problem.rows.for_models(np.array([0])) is problem.rows  # outputs that all share


def test_blocks_do_not_matter(rng, monkeypatch):
    problem, theta = random_problem(rng, n=500, noise="per-expert")
    batch = Theta.stacked(other_points(rng, theta, 3))
    one = batch_sums(problem, batch)
    monkeypatch.setattr("skmoe.likelihood.batch.BLOCK_DOUBLES", 64 * 9)
    many = batch_sums(problem, batch)
    np.testing.assert_allclose(many.expert_gram, one.expert_gram, atol=1e-12)
    np.testing.assert_allclose(many.log_likelihood, one.log_likelihood, rtol=1e-12)


def test_batches_are_taken_apart_and_put_together(rng):
    _, theta = random_problem(rng)
    points = other_points(rng, theta, 3)
    batch = Theta.stacked(points)
    for i, point in enumerate(points):
        assert batch.picked(i).distance(point) < 1e-12
    some = batch.picked([2, 0])
    assert some.picked(0).distance(points[2]) < 1e-12
    assert len(some) == 2
