"""The paper's theory as tests: what its theorems say must be seen in samples, within standard errors."""

import numpy as np
import pytest
from scipy import integrate, linalg
from scipy.stats import norm

from skmoe import label_transform, learn_experts, learn_gate, make_moe, metrics, scores
from skmoe.model.activations import ACTIVATIONS
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.parameters import MoEParameters
from skmoe.spectral.gating.em import GateTask, gate_objective
from skmoe.spectral.gating.gradient import concavity
from skmoe.spectral.moments import score_moment
from tensors import rank_one_sum


def in_standard_errors(X, y, label, order, expected, parts=25):
    """Largest deviation of a sample moment from its limit, in standard errors over parts of the sample."""
    moments = [
        score_moment(X[rows], y[rows], lambda Z, t: label(t), scores.Gaussian(), order)
        for rows in np.array_split(np.arange(len(y)), parts)
    ]
    error = np.std(moments, axis=0, ddof=1) / np.sqrt(parts)
    return np.max(np.abs(np.mean(moments, axis=0) - expected) / error), np.max(np.abs(expected)) / np.median(error)


@pytest.mark.parametrize("activation", sorted(ACTIVATIONS))
def test_theorem_1_tensors_hold_the_experts_alone(activation):
    X, y, truth = make_moe(300_000, 6, 2, activation=activation, noise_scale=0.2, orthogonal_gate=True, random_state=5)
    t = label_transform(activation, 0.2)
    shares = truth.gate_proba(X).mean(axis=0)
    for label, order, c in ((t.quadratic, 2, t.c2), (t.cubic, 3, t.c3)):
        deviation, signal = in_standard_errors(X, y, label, order, c * rank_one_sum(shares, truth.expert_coef, order))
        assert deviation < 5.5  # the largest of up to 56 entries, with errors known from 25 parts
        assert signal > 20


def test_theorem_1_fails_with_the_papers_relu_constants():
    X, y, truth = make_moe(300_000, 6, 2, activation="relu", noise_scale=0.1, orthogonal_gate=True, random_state=0)
    y, _ = MoEParameters(truth.A, 2 * truth.W, 0.1, family="relu").sample(X, np.random.default_rng(1))
    shares = MoEParameters(truth.A, 2 * truth.W, 0.1).gate_proba(X).mean(axis=0)
    alpha, beta = -3 * np.sqrt(2 / np.pi), 3 * (4 / np.pi - 0.1**2 - 1)
    t = label_transform("relu", 0.1)

    def off(label, scale):
        """Deviation from a multiple of the experts' tensor, the multiple chosen in the label's favour."""
        pure = rank_one_sum(shares, truth.expert_coef, 3)
        found = score_moment(X, y, lambda Z, v: label(v), scores.Gaussian(), 3)
        factor = np.sum(found * pure) / np.sum(pure**2) if scale is None else scale
        return in_standard_errors(X, y, label, 3, factor * pure)[0]

    assert off(t.cubic, t.c3) < 5.5
    assert off(lambda v: v**3 + alpha * v**2 + beta * v, None) > 7


@pytest.mark.parametrize(("gate", "right"), [(0.0, True), (2.0, False)])
def test_plain_tensor_is_right_only_without_a_gate(gate, right):
    rng = np.random.default_rng(0)
    _, _, truth = make_moe(10, 6, 3, activation="tanh", noise_scale=0.1, orthogonal_gate=True, random_state=0)
    model = MoEParameters(truth.A, gate * truth.W, 0.1, family="tanh")
    X = rng.standard_normal((400_000, 6))
    y, _ = model.sample(X, rng)
    shares = model.gate_proba(X).mean(axis=0)
    third = integrate.quad(lambda z: (z**3 - 3 * z) * np.tanh(z) * norm.pdf(z), -12, 12)[0]
    deviation, _ = in_standard_errors(X, y, lambda v: v, 3, third * rank_one_sum(shares, truth.expert_coef, 3))
    assert deviation < 5.5 if right else deviation > 20


def test_concavity_constants_are_the_papers():
    """lambda = 0.1442 and mu = 0.25 for two experts, standard Gaussian inputs and the unit ball."""

    def curvature(length):
        def f1(z):
            p = 1 / (1 + np.exp(-length * z))
            return p * (1 - p)

        across = integrate.quad(lambda z: f1(z) * norm.pdf(z), -12, 12)[0]
        along = integrate.quad(lambda z: z * z * f1(z) * norm.pdf(z), -12, 12)[0]
        return across, along

    grid = [curvature(length) for length in np.linspace(0, 1, 21)]
    assert min(map(min, grid)) == pytest.approx(0.1442, abs=1e-4)
    assert max(map(max, grid)) == pytest.approx(0.25, abs=1e-12)

    X, y, truth = make_moe(400_000, 3, 2, random_state=0)
    objective = gate_objective(GateTask(X, y, None, truth.expert_coef, 0.1, GaussianFamily.linear()))
    rim = np.eye(1, 3)
    weakest, smooth = concavity(objective(0 * rim, 0 * rim)[1], objective(rim, rim)[1], 2)
    assert weakest == pytest.approx(0.1442, abs=2e-3)
    assert smooth == pytest.approx(0.25, abs=2e-3)


def observed_contraction(sigma, method="em"):
    """Ratio of successive distances to the fixed point, once the path is straight."""
    X, y, truth = make_moe(20_000, 5, 2, noise_scale=sigma, random_state=4)
    settings = {"noise_scale": sigma, "tol": 1e-11, "max_iter": 3000, "random_state": 0, "method": method}
    path = learn_gate(X, y, truth.expert_coef, **settings).path[:, 0]
    distance = np.linalg.norm(path - path[-1], axis=1)
    usable = distance > 1e-8
    return distance[1:][usable[1:]] / distance[:-1][usable[1:]]


def test_theorem_2_contraction_shrinks_with_the_noise():
    rates = [np.max(observed_contraction(sigma)[1:]) for sigma in (1.0, 0.5, 0.2, 0.1, 0.05)]
    assert np.all(np.diff(rates) < 0)
    assert rates[-1] < 0.15
    assert rates[0] < 1


@pytest.mark.parametrize("sigma", [0.1, 0.5])
def test_gradient_em_converges_geometrically(sigma):
    ratios = observed_contraction(sigma, "gradient")
    assert np.max(ratios) < 1
    tail = ratios[-8:]
    assert np.ptp(tail) < 0.02  # a constant ratio
    # slower than the bound without noise, 1 - 2 lambda / (mu + lambda), by what the noise takes
    assert tail[-1] > 0.5 * (1 - 2 * 0.1442 / (0.25 + 0.1442))


def test_theorem_2_additive_error_grows_with_that_of_the_experts():
    sigma, errors = 0.2, []
    X, y, truth = make_moe(50_000, 5, 2, noise_scale=sigma, random_state=0)
    rng = np.random.default_rng(0)
    shift = rng.standard_normal((2, 5))
    shift /= np.linalg.norm(shift, axis=1, keepdims=True)
    exact = learn_gate(X, y, truth.expert_coef, noise_scale=sigma, tol=1e-8, random_state=0).coef
    sizes = (0.25, 0.5, 1.0)
    for size in sizes:
        moved = truth.expert_coef + size * sigma**2 * shift
        found = learn_gate(X, y, moved, noise_scale=sigma, tol=1e-8, random_state=0).coef
        errors.append(np.linalg.norm(found - exact, axis=1).max())
    assert np.all(np.diff(errors) > 0)
    # the paper's bound kappa epsilon / (1 - kappa_sigma), kappa = (k - 1) sqrt(6 (2 + sigma^2)) / 2 divided by lambda
    kappa = np.sqrt(6 * (2 + sigma**2)) / 2
    assert np.all(np.array(errors) < kappa * np.array(sizes) / 0.1442)


@pytest.mark.parametrize(("orthogonal", "paper", "spread"), [(False, 0.90, 0.08), (True, 0.93, 0.03)])
def test_orth_als_on_all_of_t3_recovers_what_table_2_says(orthogonal, paper, spread):
    """RegressorFit within two standard errors of the difference; the paper's count of trials is taken to be ten."""
    fits = {"orth-als": [], "orth-als-t2": []}
    for seed in range(30):
        rng = np.random.default_rng([seed, 2])
        X, y, truth = make_moe(2000, 10, 2, noise_scale=0.1, orthogonal_gate=orthogonal, random_state=rng)
        for name, found in fits.items():
            how = {"moments": "plain", "decomposition": name, "random_state": seed}
            coef = learn_experts(X, y, 2, noise_scale=0.1, **how).coef
            found.append(metrics.regressor_fit(coef, truth.expert_coef))
    mean, error = np.mean(fits["orth-als"]), np.std(fits["orth-als"], ddof=1) / np.sqrt(30)
    assert abs(mean - paper) < 2 * np.hypot(error, spread / np.sqrt(10))
    # ours, inside the leading space of T2, is another estimate
    assert np.mean(fits["orth-als-t2"]) > mean + 2 * error


def test_moment_gate_converges_at_the_root_of_the_rows():
    sizes, angles = np.array([1000, 4000, 16_000, 64_000]), []
    for n in sizes:
        sines = []
        for seed in range(12):
            X, y, truth = make_moe(int(n), 5, 2, noise_scale=0.1, orthogonal_gate=True, random_state=seed)
            gate = learn_gate(X, y, truth.expert_coef, noise_scale=0.1, method="moments")
            fit = metrics.gating_fit(gate.coef, truth.gate_coef)
            sines.append(np.sqrt(1 - fit**2))
        angles.append(np.sqrt(np.mean(np.square(sines))))
    slope = linalg.lstsq(np.stack([np.log(sizes), np.ones(4)], axis=1), np.log(angles))[0][0]
    assert slope == pytest.approx(-0.5, abs=0.1)
