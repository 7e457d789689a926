"""The constants of theorem 2, against quadrature, sampling and the paper's own numbers."""

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

from skmoe import make_moe
from skmoe.model.gate import softmax
from skmoe.model.parameters import MoEParameters
from skmoe.spectral import concavity_constants, noise_threshold, robustness_constant, stability_constant


def test_two_experts_have_the_papers_constants():
    assert concavity_constants(2) == pytest.approx((0.1442, 0.25), abs=1e-4)


@pytest.mark.parametrize("radius", [0.5, 1.0, 2.0])
def test_concavity_of_two_experts_is_that_of_the_logistic(radius):
    """The two eigenvalues E[f'] and E[Z^2 f'] by adaptive quadrature, at the boundary."""

    def slope(z):
        return 1 / (2 + 2 * np.cosh(radius * z))

    across = integrate.quad(lambda z: slope(z) * norm.pdf(z), -12, 12)[0]
    along = integrate.quad(lambda z: z * z * slope(z) * norm.pdf(z), -12, 12)[0]
    assert concavity_constants(2, radius=radius)[0] == pytest.approx(min(across, along), abs=1e-6)


@pytest.mark.parametrize("k", [3, 4])
def test_no_gate_in_the_ball_has_curvature_beyond_the_constants(k):
    weakest, smooth = concavity_constants(k)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 40_000))
    for _ in range(12):
        W = rng.standard_normal((k, 5))
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        W[-1] = 0
        P = softmax(W @ X)[0][:-1]
        blocks = [[(X * (P[i] * ((i == j) - P[j]))) @ X.T / X.shape[1] for j in range(k - 1)] for i in range(k - 1)]
        values = np.linalg.eigvalsh(np.block(blocks))
        assert values[0] > weakest - 0.003  # sampling noise
        assert values[-1] < smooth + 0.01
    assert 0 < weakest < 0.1442
    assert smooth >= 1 / k - 1e-9  # what it is at the origin


def test_constants_are_for_few_experts():
    with pytest.raises(ValueError, match="The 'n_experts' parameter of concavity_constants must be"):
        concavity_constants(5)


def test_robustness_is_the_papers_formula():
    assert robustness_constant(3, 0.5) == pytest.approx(2 * np.sqrt(6 * 2.25) / 2)


def test_stability_of_two_experts_is_the_papers_integral():
    """At the true gate alone: sqrt(3 E[(p (1 - p))^2]), p the posterior probability, on rows of its own."""
    _, _, truth = make_moe(10, 5, 2, random_state=0)
    A, W, sigma = truth.A, truth.W, 0.2
    rng = np.random.default_rng(7)
    X = rng.standard_normal((200_000, 5))
    model = MoEParameters(A, W, sigma)
    p = model.responsibilities(X, model.sample(X, rng)[0])[:, 0]
    at_truth = np.sqrt(3 * np.mean((p * (1 - p)) ** 2))
    found = stability_constant(A, W, noise_scale=sigma, n_samples=50_000)
    assert at_truth < found * 1.02  # the largest over gates is no less
    assert found < 1.3 * at_truth


def test_stability_grows_with_the_noise_and_experts():
    _, _, truth = make_moe(10, 5, 3, random_state=0)
    A, W = truth.A, truth.W
    values = [stability_constant(A, W, noise_scale=sigma) for sigma in (0.01, 0.05, 0.2, 1.0)]
    assert np.all(np.diff(values) > 0)
    assert stability_constant(A[:2], W[[0, 2]], noise_scale=0.2) < values[2]


@pytest.mark.parametrize("activation", ["linear", "sigmoid"])
def test_threshold_is_where_the_contraction_reaches_one(activation):
    _, _, truth = make_moe(10, 5, 2, activation=activation, random_state=0)
    how = {"activation": activation, "n_samples": 5000}
    sigma = noise_threshold(truth.A, truth.W, **how)
    below, above = (stability_constant(truth.A, truth.W, noise_scale=f * sigma, **how) for f in (0.99, 1.01))
    assert below < concavity_constants(2)[0] < above


def test_relu_has_no_threshold():
    """Where both indices are negative both experts say 0, and y tells nothing of the gate, however little the noise."""
    _, _, truth = make_moe(10, 5, 2, activation="relu", random_state=0)
    assert noise_threshold(truth.A, truth.W, activation="relu", n_samples=5000) == 0.0
    X = np.random.default_rng(0).standard_normal((50_000, 5))
    p = truth.gate_proba(X)[:, 0]
    both = np.all(X @ truth.A.T < 0, axis=1)
    least = np.sqrt(3 * np.mean(both * (p * (1 - p)) ** 2))
    assert least > concavity_constants(2)[0]
    found = stability_constant(truth.A, truth.W, noise_scale=1e-6, activation="relu")
    assert least < 1.05 * found


def test_constants_refuse_what_does_not_fit():
    with pytest.raises(ValueError, match="gate_coef must have shape"):
        stability_constant(np.eye(2, 4), np.zeros((3, 4)), noise_scale=0.1)
