"""The paper's theory for two, three and four experts, linear, sigmoid and ReLU, orthogonal and free gates."""

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm

from skmoe import label_transform, learn_gate, make_moe, metrics, scores
from skmoe.spectral import (
    concavity_constants,
    em_operator,
    noise_threshold,
    ratio,
    robustness_constant,
    stability_constant,
)
from skmoe.spectral.moments import score_moment
from tensors import rank_one_sum

NOISE, BEYOND = 5.5, 7.0  # standard errors of the largest of up to 56 entries, known from 25 parts
ACTIVATIONS = ("linear", "sigmoid", "relu")


def deviation(k, activation, label, order, constant, *, orthogonal, rows=300_000, sigma=0.1, seed=3):
    """Largest deviation of a moment from theorem 1, in standard errors over parts of a sample."""
    X, y, truth = make_moe(
        rows, 6, k, activation=activation, noise_scale=sigma, orthogonal_gate=orthogonal, random_state=seed
    )
    moments = [
        score_moment(X[part], y[part], lambda Z, t: label(t), scores.Gaussian(), order)
        for part in np.array_split(np.arange(rows), 25)
    ]
    expected = constant * rank_one_sum(truth.gate_proba(X).mean(axis=0), truth.expert_coef, order)
    error = np.std(moments, axis=0, ddof=1) / 5
    return np.max(np.abs(np.mean(moments, axis=0) - expected) / error)


def deviations(k, activation, **how):
    t = label_transform(activation, 0.1)
    return [
        deviation(k, activation, label, order, c, **how)
        for label, order, c in ((t.quadratic, 2, t.c2), (t.cubic, 3, t.c3))
    ]


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_theorem_1_holds_with_an_orthogonal_gate(k, activation):
    assert max(deviations(k, activation, orthogonal=True)) < NOISE


@pytest.mark.parametrize("activation", ["linear", "sigmoid", "tanh"])
def test_theorem_1_holds_by_parity_with_any_gate_of_two_experts_odd_up_to_a_constant(activation):
    assert max(deviations(2, activation, orthogonal=False)) < NOISE


@pytest.mark.parametrize(("k", "activation"), [(2, "relu"), (3, "linear"), (4, "linear"), (3, "relu")])
def test_theorem_1_fails_with_a_free_gate_elsewhere(k, activation):
    assert max(deviations(k, activation, orthogonal=False, rows=600_000)) > BEYOND


def test_polynomial_of_degree_four_gives_the_same_tensor():
    """P3 is not unique: y^4 - 6 (1 + sigma^2) y^2 has no Hermite moment of order one to three."""
    t = label_transform("linear", 0.1)

    def quartic(y):
        return t.cubic(y) + 0.5 * (y**4 - 6 * (1 + 0.1**2) * y**2)

    assert deviation(3, "linear", quartic, 3, t.c3, orthogonal=True) < NOISE


def test_sigmoid_system_of_the_paper_solves_condition_1_to_its_digits():
    t = label_transform("sigmoid", 0.3)
    printed = np.linalg.solve([[0.2066, 0.2066], [0.0624, -0.0001]], [-0.1755 - 0.6199 * 0.3**2, -0.0936])
    assert printed == pytest.approx([t.alpha, t.beta], abs=5e-3)
    assert t.alpha == pytest.approx(-1.5, abs=1e-10)


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_true_gate_is_a_fixed_point(k, activation):
    """Self-consistency: E[(p - P) x] is zero, and M(w*) is w* but for the sample."""
    X, y, truth = make_moe(100_000, 5, k, activation=activation, noise_scale=0.2, random_state=1)
    surplus = (truth.responsibilities(X, y) - truth.gate_proba(X))[:, :-1]
    parts = [surplus[part].T @ X[part] / len(part) for part in np.array_split(np.arange(len(y)), 25)]
    error = np.std(parts, axis=0, ddof=1) / 5
    assert np.max(np.abs(np.mean(parts, axis=0)) / error) < NOISE
    step = em_operator(X, y, truth.expert_coef, truth.gate_coef, noise_scale=0.2, activation=activation)
    assert np.max(np.linalg.norm(step - truth.gate_coef, axis=1)) < 0.05


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("orthogonal", [True, False])
def test_em_contracts_from_a_random_start(k, activation, orthogonal):
    """Theorem 2 and lemma 3, in the paper's norm, the largest over gate vectors."""
    X, y, truth = make_moe(
        4000, 6, k, activation=activation, noise_scale=0.1, orthogonal_gate=orthogonal, random_state=2
    )
    how = {"activation": activation, "noise_scale": 0.1, "tol": 1e-8, "max_iter": 2000, "random_state": 0}
    path = learn_gate(X, y, truth.expert_coef, **how).path
    distance = np.linalg.norm(path - path[-1], axis=2).max(axis=1)
    usable = distance[1:] > 1e-3
    assert np.max((distance[1:] / distance[:-1])[usable]) < 1


def test_rate_of_relu_experts_does_not_vanish_with_the_noise():
    """Where both indices are negative two ReLU experts agree, however small the noise."""
    _, _, truth = make_moe(10, 5, 2, random_state=0)
    A, W = truth.expert_coef, truth.gate_coef
    linear, relu = (
        [stability_constant(A, W, noise_scale=s, activation=g) for s in (1e-3, 0.1)] for g in ("linear", "relu")
    )
    assert linear[0] < 0.2 * linear[1]
    assert relu[0] > 0.5 * relu[1]


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_wrong_experts_move_a_step_by_less_than_kappa(k, activation):
    """Lemma 4, whose proof gives kappa epsilon / lambda: what is seen is below kappa epsilon."""
    sigma = 0.2
    X, y, truth = make_moe(10_000, 5, k, activation=activation, noise_scale=sigma, random_state=5)
    rng = np.random.default_rng(0)
    shift, W = (M / np.linalg.norm(M, axis=1, keepdims=True) for M in rng.standard_normal((2, k, 5)))
    W[-1] = 0.0
    moved = [
        em_operator(X, y, A, W, noise_scale=sigma, activation=activation)
        for A in (truth.expert_coef, truth.expert_coef + sigma**2 * shift)
    ]
    assert np.max(np.linalg.norm(moved[1] - moved[0], axis=1)) < robustness_constant(k, sigma)


def test_gamma_falls_as_the_root_of_the_noise():
    """Below the paper's order, the fourth root, for two linear experts; sigma_0 is where it reaches lambda."""
    _, _, truth = make_moe(10, 5, 2, random_state=0)
    A, W = truth.expert_coef, truth.gate_coef
    sigmas = np.array([0.005, 0.02, 0.08])
    gammas = [stability_constant(A, W, noise_scale=s) for s in sigmas]
    assert np.polyfit(np.log(sigmas), np.log(gammas), 1)[0] == pytest.approx(0.5, abs=0.1)
    at = stability_constant(A, W, noise_scale=noise_threshold(A, W))
    assert at == pytest.approx(concavity_constants(2)[0], rel=0.02)


def test_moment_of_theorem_3_points_against_the_gate():
    X, y, truth = make_moe(200_000, 5, 2, noise_scale=0.1, orthogonal_gate=True, random_state=0)
    A, w = truth.expert_coef, truth.gate_coef[0]
    moment = np.mean((ratio(X, y, A) <= 0.5)[:, None] * X, axis=0)
    f, gap = expit(X @ w), np.abs(X @ (A[0] - A[1]))
    alpha = np.mean(f * (1 - f) * (1 - 2 * norm.cdf(gap / 0.2)))
    assert alpha < 0
    assert moment == pytest.approx(alpha * w, abs=0.01)


def test_fits_see_neither_sign_nor_length():
    """E(A, W) near 0 makes fits near 1, and not the other way round."""
    _, _, truth = make_moe(10, 5, 3, random_state=0)
    A, W = truth.expert_coef, truth.gate_coef
    assert metrics.regressor_fit(-A, A) == pytest.approx(1)
    assert metrics.gating_fit(3 * W, W) == pytest.approx(1)
    assert metrics.parameter_error(-A, 3 * W, A, W) > 5
