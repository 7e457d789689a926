import numpy as np
import pytest

from problems import random_problem
from skmoe.likelihood import Theta, em_sums, mean_gate
from skmoe.likelihood.em import gate_objective
from skmoe.model.activations import ACTIVATIONS
from skmoe.model.parameters import MoEParameters


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
    sums = em_sums(problem, theta)
    assert sums.log_likelihood == pytest.approx(w @ model.log_density(X, y), abs=1e-12)
    np.testing.assert_allclose(sums.share, w @ R, atol=1e-12)
    np.testing.assert_allclose(sums.statistic, w @ (R * residual**2), atol=1e-12)
    expected = np.einsum("n,nk,nk,nd->kd", w, R, residual * prime, U)
    np.testing.assert_allclose(sums.expert_gradient, expected, atol=1e-12)
    expected = np.einsum("n,nk,nk,nd,ne->kde", w, R, prime**2, U, U)
    np.testing.assert_allclose(sums.expert_gram, expected, atol=1e-12)
    np.testing.assert_allclose(mean_gate(problem, theta), w @ P, atol=1e-12)
    penalty = 0.3 / problem.total * (theta.W - theta.W.sum(axis=0) / 3)
    expected = np.einsum("n,nk,nd->kd", w, (R - P)[:, :-1], V) - penalty
    np.testing.assert_allclose(sums.gate.gradient, expected, atol=1e-12)


@pytest.mark.parametrize("same", [True, False])
def test_gate_objective_at_the_point_itself_is_that_of_the_step(rng, same):
    columns = {} if same else dict(expert_columns=(0, 2), gate_columns=(1,))
    problem, theta = random_problem(rng, intercept=True, **columns)
    here, there = em_sums(problem, theta).gate, gate_objective(problem, theta, theta.W)
    assert here.value == pytest.approx(there.value, abs=1e-12)
    np.testing.assert_allclose(here.gradient, there.gradient, atol=1e-12)
    np.testing.assert_allclose(here.information, there.information, atol=1e-12)


def test_labels_stand_in_for_responsibilities(rng):
    problem, theta = random_problem(rng)
    model = MoEParameters(theta.A, np.vstack([theta.W, np.zeros((1, 3))]), theta.sigma)
    R = model.responsibilities(problem.rows.X, problem.rows.y)
    own, given = em_sums(problem, theta), em_sums(problem, theta, R)
    for name in ("share", "statistic", "expert_gradient", "expert_gram"):
        np.testing.assert_allclose(getattr(own, name), getattr(given, name), atol=1e-12)
    hard = em_sums(problem, theta, np.eye(3)[np.arange(problem.n) % 3])
    weight = problem.rows.weight
    np.testing.assert_allclose(hard.share, [weight[i::3].sum() / weight.sum() for i in range(3)])


def test_one_expert_has_no_gate(rng):
    problem, _ = random_problem(rng, k=1)
    theta = Theta(rng.standard_normal((1, 3)), np.zeros((0, 3)), np.array([0.7]))
    sums = em_sums(problem, theta)
    np.testing.assert_allclose(sums.share, [1.0])
    assert sums.gate.gradient.shape == (0, 3)
