from itertools import pairwise

import numpy as np
import pytest
from scipy import optimize, stats

from skmoe import learn_gate, make_moe, metrics
from skmoe.arrays.namespaces import to_numpy
from skmoe.model.parameters import MoEParameters
from skmoe.spectral import em_objective, em_operator, ratio


def mean_log_likelihood(X, y, A, sigma, g):
    def value(w):
        W = np.vstack([w.reshape(len(A) - 1, -1), np.zeros((1, A.shape[1]))])
        return float(np.mean(MoEParameters(A, W, sigma, family=g).log_density(X, y)))

    return value


@pytest.mark.parametrize("activation", ["linear", "sigmoid", "relu"])
@pytest.mark.parametrize("k", [2, 3])
def test_em_ends_at_the_maximum_of_the_likelihood(k, activation):
    X, y, truth = make_moe(1500, 4, k, noise_scale=0.2, activation=activation, random_state=k)
    A = truth.expert_coef
    gate = learn_gate(X, y, A, activation=activation, noise_scale=0.2, tol=1e-7, random_state=0, max_iter=1000)
    value = mean_log_likelihood(X, y, A, 0.2, activation)
    fit = optimize.minimize(lambda w: -value(w), gate.coef[:-1].ravel(), method="BFGS", options={"gtol": 1e-7})
    assert gate.converged
    assert gate.log_likelihood[-1] == pytest.approx(value(gate.coef[:-1].ravel()), abs=1e-12)
    assert -fit.fun <= gate.log_likelihood[-1] + 1e-8
    np.testing.assert_allclose(gate.coef[:-1].ravel(), fit.x, atol=1e-3)


@pytest.mark.parametrize("radius", [None, 0.5])
def test_em_never_lowers_the_likelihood(radius):
    X, y, truth = make_moe(2000, 5, 4, noise_scale=0.5, random_state=3)
    gate = learn_gate(X, y, truth.expert_coef, noise_scale=0.5, radius=radius, random_state=1, tol=1e-6, max_iter=500)
    assert np.min(np.diff(gate.log_likelihood)) > -1e-12
    assert gate.path.shape == (gate.n_iter + 1, 4, 5)
    np.testing.assert_array_equal(gate.path[:, -1], 0)
    if radius is not None:
        assert np.max(np.linalg.norm(gate.path, axis=2)) <= radius * (1 + 1e-9)


@pytest.mark.parametrize("radius", [None, 0.5])
def test_gradient_em_ends_where_em_does(radius):
    X, y, truth = make_moe(3000, 4, 3, noise_scale=0.2, random_state=5)
    settings = {"noise_scale": 0.2, "radius": radius, "tol": 1e-8, "max_iter": 5000}
    full = learn_gate(X, y, truth.expert_coef, random_state=0, **settings)
    step = learn_gate(X, y, truth.expert_coef, random_state=1, method="gradient", **settings)
    assert full.converged
    assert step.converged
    assert step.n_iter > full.n_iter
    np.testing.assert_allclose(step.coef, full.coef, atol=1e-5)


def test_every_library_gives_the_same_gate(xp):
    X, y, truth = make_moe(1000, 3, 3, random_state=0)
    expected = learn_gate(X, y, truth.expert_coef, noise_scale=0.1, random_state=0)
    for method in ("em", "gradient"):
        expected = learn_gate(X, y, truth.expert_coef, noise_scale=0.1, random_state=0, method=method)
        found = learn_gate(
            xp.asarray(X), xp.asarray(y), truth.expert_coef, noise_scale=0.1, random_state=0, method=method
        )
        np.testing.assert_allclose(found.coef, expected.coef, atol=1e-12)
    two = truth.expert_coef[:2]
    expected = learn_gate(X, y, two, noise_scale=0.1, method="moments")
    found = learn_gate(xp.asarray(X), xp.asarray(y), two, noise_scale=0.1, method="moments")
    np.testing.assert_allclose(found.coef, expected.coef, atol=1e-12)


@pytest.mark.parametrize("method", ["em", "gradient"])
def test_integer_weights_are_repeated_rows(xp, method):
    X, y, truth = make_moe(800, 3, 3, random_state=0)
    weight = np.random.default_rng(1).integers(0, 4, 800)
    rows = np.repeat(np.arange(800), weight)
    how = {"noise_scale": 0.1, "method": method, "tol": 1e-8, "max_iter": 2000, "random_state": 0}
    repeated = learn_gate(X[rows], y[rows], truth.expert_coef, **how)
    weighted = learn_gate(
        *map(xp.asarray, (X, y)), truth.expert_coef, sample_weight=xp.asarray(weight.astype(float)), **how
    )
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-9)
    assert weighted.log_likelihood[-1] == pytest.approx(repeated.log_likelihood[-1], abs=1e-12)


def test_integer_weights_are_repeated_rows_by_moments():
    X, y, truth = make_moe(800, 3, 2, random_state=0)
    weight = np.random.default_rng(1).integers(0, 4, 800)
    rows = np.repeat(np.arange(800), weight)
    how = {"noise_scale": 0.1, "method": "moments"}
    repeated = learn_gate(X[rows], y[rows], truth.expert_coef, **how)
    weighted = learn_gate(X, y, truth.expert_coef, sample_weight=weight, **how)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=1e-12)


def test_same_seed_same_gate_and_any_start_the_same_end():
    X, y, truth = make_moe(2000, 5, 3, random_state=2)
    fits = [learn_gate(X, y, truth.expert_coef, noise_scale=0.1, random_state=s, tol=1e-8) for s in (0, 0, 1, 2)]
    np.testing.assert_array_equal(fits[0].coef, fits[1].coef)
    for other in fits[2:]:
        np.testing.assert_allclose(other.coef, fits[0].coef, atol=1e-6)


def test_init_is_used_up_to_its_gauge():
    X, y, truth = make_moe(1000, 3, 3, random_state=2)
    W = np.arange(9.0).reshape(3, 3) / 10
    gate = learn_gate(X, y, truth.expert_coef, noise_scale=0.1, init=W)
    np.testing.assert_allclose(gate.path[0], W - W[-1])


def test_iterations_of_em_are_the_operator():
    X, y, truth = make_moe(1000, 3, 3, noise_scale=0.2, random_state=2)
    for radius in (None, 0.5):
        path = learn_gate(X, y, truth.expert_coef, noise_scale=0.2, radius=radius, random_state=0, max_iter=3).path
        for here, there in pairwise(path):
            moved = em_operator(X, y, truth.expert_coef, here, noise_scale=0.2, radius=radius)
            np.testing.assert_allclose(moved, there, atol=1e-9)


@pytest.mark.parametrize("activation", ["linear", "sigmoid"])
def test_operator_maximises_the_objective_as_the_paper_writes_it(activation):
    X, y, truth = make_moe(500, 3, 3, noise_scale=0.3, activation=activation, random_state=0)
    A, W = truth.expert_coef, np.vstack([np.random.default_rng(0).standard_normal((2, 3)), np.zeros((1, 3))])
    how = {"noise_scale": 0.3, "activation": activation}
    P = MoEParameters(A, W, 0.3, family=activation).responsibilities(X, y)

    def Q(flat):  # noqa: N802
        V = flat.reshape(2, 3)
        linear = np.sum(P[:, :2] * (X @ V.T), axis=1)
        return float(np.mean(linear - np.log(1 + np.exp(X @ V.T).sum(axis=1))))

    other = np.vstack([np.random.default_rng(1).standard_normal((2, 3)), np.zeros((1, 3))])
    assert em_objective(X, y, A, other, W, **how) == pytest.approx(Q(other[:2].ravel()), abs=1e-12)
    best = optimize.minimize(lambda flat: -Q(flat), W[:2].ravel(), method="BFGS", options={"gtol": 1e-9}).x
    np.testing.assert_allclose(em_operator(X, y, A, W, **how)[:2].ravel(), best, atol=1e-6)


def test_true_gate_is_a_fixed_point_of_the_operator():
    """Self-consistency: M(w*) = w*, within standard errors of the sample."""
    X, y, truth = make_moe(200_000, 4, 3, noise_scale=0.3, random_state=0)
    parts = [
        em_operator(X[rows], y[rows], truth.expert_coef, truth.gate_coef, noise_scale=0.3)[:-1] - truth.gate_coef[:-1]
        for rows in np.array_split(np.arange(len(y)), 20)
    ]
    error = np.std(parts, axis=0, ddof=1) / np.sqrt(20)
    assert np.max(np.abs(np.mean(parts, axis=0)) / error) < 4.5
    assert np.max(error) < 0.02


def test_operator_of_one_expert_is_zero():
    X, y, truth = make_moe(50, 3, 1, random_state=0)
    np.testing.assert_array_equal(em_operator(X, y, truth.expert_coef, np.ones((1, 3)), noise_scale=0.1), 0)
    assert em_objective(X, y, truth.expert_coef, np.ones((1, 3)), np.ones((1, 3)), noise_scale=0.1) == 0


def test_small_steps_of_gradient_em_follow_the_gradient():
    X, y, truth = make_moe(2000, 3, 2, noise_scale=0.3, random_state=0)
    how = {"noise_scale": 0.3, "method": "gradient", "init": np.zeros((2, 3)), "max_iter": 1}
    moves = {size: learn_gate(X, y, truth.expert_coef, step_size=size, **how).coef[0] for size in (0.5, 1.0)}
    np.testing.assert_allclose(2 * moves[0.5], moves[1.0], atol=1e-12)
    posterior = MoEParameters(truth.A, np.zeros((2, 3)), 0.3).responsibilities(X, y)[:, 0]
    np.testing.assert_allclose(moves[1.0], X.T @ (posterior - 0.5) / len(y), atol=1e-12)


def test_gradient_em_ends_at_the_same_gate_whatever_the_step():
    X, y, truth = make_moe(2000, 3, 2, noise_scale=0.2, random_state=0)
    how = {"noise_scale": 0.2, "method": "gradient", "tol": 1e-9, "max_iter": 5000, "random_state": 0}
    ends = [learn_gate(X, y, truth.expert_coef, step_size=size, **how) for size in (None, 1.0, 3.0)]
    assert len({end.n_iter for end in ends}) == 3
    for end in ends[1:]:
        np.testing.assert_allclose(end.coef, ends[0].coef, atol=1e-6)


def test_ratio_is_a_cauchy_variable_around_its_expert(xp):
    """In rows of the first expert around 1, of the second around 0, as wide as the noise beside |a1 - a2|."""
    rng = np.random.default_rng(0)
    X, A, sigma = rng.standard_normal((5000, 4)), np.array([[1.0, 0, 0, 0], [0, 0.6, 0.8, 0]]), 0.3
    for expert, centre in ((0, 1.0), (1, 0.0)):
        y = X @ A[expert] + sigma * rng.standard_normal(5000)
        found = to_numpy(ratio(xp.asarray(X), xp.asarray(y), A))
        law = stats.cauchy(centre, sigma / np.linalg.norm(A[0] - A[1]))
        assert stats.kstest(found, law.cdf).pvalue > 0.01


def test_ratio_is_for_two_experts():
    with pytest.raises(ValueError, match="two linear experts; expert_coef has 3 rows"):
        ratio(np.eye(3), np.ones(3), np.eye(3))


def test_one_expert_needs_no_gate():
    X, y, truth = make_moe(50, 3, 1, random_state=0)
    np.testing.assert_array_equal(learn_gate(X, y, truth.expert_coef, noise_scale=0.1).coef, np.zeros((1, 3)))


def test_moment_gate_has_unit_length_and_the_right_direction():
    X, y, truth = make_moe(50_000, 6, 2, noise_scale=0.1, orthogonal_gate=True, random_state=0)
    gate = learn_gate(X, y, truth.expert_coef, noise_scale=0.1, method="moments")
    assert np.linalg.norm(gate.coef[0]) == pytest.approx(1.0)
    assert gate.coef[0] @ truth.gate_coef[0] > 0.99
    assert metrics.gating_fit(gate.coef, truth.gate_coef) > 0.99


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"method": "newton"}, "The 'method' parameter of learn_gate must be"),
        ({"radius": -1.0}, "The 'radius' parameter of learn_gate must be"),
        ({"tol": 0.0}, "The 'tol' parameter of learn_gate must be"),
        ({"method": "gradient", "step_size": 0.0}, "The 'step_size' parameter of learn_gate must be"),
        ({"step_size": 1.0}, "step_size is for method=\"gradient\"; method is 'em'"),
        ({"max_iter": 1.5}, "The 'max_iter' parameter of learn_gate must be an int"),
        ({"noise_scale": 0.0}, "The 'noise_scale' parameter of learn_gate must be"),
        ({"init": np.zeros((3, 3))}, "init must have shape"),
        ({"method": "moments", "activation": "relu"}, "two linear experts"),
        ({"expert_coef": np.eye(3)[:, :2]}, "expert_coef must have shape"),
        ({"expert_coef": np.full((2, 3), np.nan)}, "expert_coef contains NaN"),
        ({"activation": "gelu"}, "activation must be one of"),
        ({"sample_weight": np.full(100, np.nan)}, "sample_weight contains NaN"),
        ({"sample_weight": np.full(100, -1.0)}, "sample_weight has 100 negative values"),
    ],
)
def test_bad_settings_are_refused(change, why):
    X, y, truth = make_moe(100, 3, 2, random_state=0)
    arguments = {"expert_coef": truth.expert_coef, "noise_scale": 0.1} | change
    with pytest.raises(ValueError, match=why):
        learn_gate(X, y, **arguments)


def test_too_few_rows_are_refused():
    X, y, truth = make_moe(10, 5, 3, random_state=0)
    with pytest.raises(ValueError, match="10 rows, too few"):
        learn_gate(X, y, truth.expert_coef, noise_scale=0.1)
