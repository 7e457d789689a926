"""Theorem 1 and what stands around it: tensors, label transforms, the plain tensor method, orthogonality, dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate
from scipy.stats import norm

from skmoe import label_transform, learn_experts, learn_gate, metrics, plain_tensor_method
from skmoe.model.activations import get_activation
from skmoe.spectral.decomposition import power_method
from skmoe.spectral.labels import activation_moments

from ..recovery import padded
from .draws import ACTIVATIONS, GATES, draw_model, draw_rows, in_standard_errors, rank_one_sum, score_average

Setting = dict[str, Any]
Found = dict[str, Any]


def tensor_error(setting: Setting, rng: np.random.Generator) -> Found:
    """Theorem 1: relative error of the plain T3 against rows, orthogonal gate."""
    model = draw_model(6, 3, setting["sigma"], setting["g"], 1.0, rng)
    t = label_transform(setting["g"], setting["sigma"])
    pure = rank_one_sum(model, rng.standard_normal((setting["limit_rows"], 6)), 3)
    errors = []
    for n in setting["sizes"]:
        X, y = draw_rows(model, n, rng)
        errors.append(np.linalg.norm(score_average(X, y, t.cubic) / t.c3 - pure) / np.linalg.norm(pure))
    return {"error": errors}


def tensor_bias(setting: Setting, rng: np.random.Generator) -> Found:
    """Theorem 1 with and without an orthogonal gate: deviation of T2 and T3 in standard errors, by activation.

    For two experts and g odd up to a constant the deviation must be noise with any gate: f(w.x) is odd up to a
    constant, P3(y) given the index is odd, P2(y) even, so that every mixed term is the mean of an odd function.
    """
    found: Found = {}
    for gate, orthogonal in GATES.items():
        for g in setting["activations"]:
            model = draw_model(6, setting["k"], 0.1, g, setting["length"], rng, orthogonal=orthogonal)
            X, y = draw_rows(model, setting["rows"], rng)
            t = label_transform(g, 0.1)
            for order, label, c in ((2, t.quadratic, t.c2), (3, t.cubic, t.c3)):
                expected = c * rank_one_sum(model, X, order)
                found[f"T{order}, {g}, {gate}"] = in_standard_errors(X, y, label, order, expected)
    return found


def plain_tensor(setting: Setting, rng: np.random.Generator) -> Found:
    """Equations 3 and 4: 1 - RegressorFit of E[y S3] and of `learn_experts`, tanh experts."""
    k = setting["k"]
    model = draw_model(6, k, 0.1, "tanh", setting["length"], rng)
    plain, ours = [], []
    for n in setting["tensor_sizes"]:
        X, y = draw_rows(model, n, rng)
        found = plain_tensor_method(X, y, k, activation="tanh", random_state=rng)
        plain.append(1 - metrics.regressor_fit(padded(found.components, k), model.A))
        experts = learn_experts(X, y, k, activation="tanh", noise_scale=0.1, random_state=rng)
        ours.append(1 - metrics.regressor_fit(padded(experts.coef, k), model.A))
    return {"plain": plain, "learn_experts": ours}


def relu_constants(setting: Setting, rng: np.random.Generator) -> Found:
    """Stage 1 for ReLU with the printed and with the corrected constants: error of T3 and 1 - RegressorFit."""
    sigma = setting["sigma"]
    model = draw_model(6, 3, sigma, "relu", setting["length"], rng, orthogonal=setting["orthogonal"])
    t, pure = label_transform("relu", sigma), rank_one_sum(model, rng.standard_normal((setting["limit_rows"], 6)), 3)
    alpha, beta = -3 * np.sqrt(2 / np.pi), 3 * (4 / np.pi - sigma**2 - 1)
    labels = {"corrected": t.cubic, "printed": lambda v: v * (v * (v + alpha) + beta)}
    found: Found = {f"{what}, {name}": [] for what in ("tensor", "experts") for name in labels}
    for n in setting["sizes"]:
        X, y = draw_rows(model, n, rng)
        T2 = score_average(X, y, t.quadratic, 2) / t.c2
        for name, label in labels.items():
            T3 = score_average(X, y, label)
            T3 *= np.sum(T3 * pure) / np.sum(T3**2)  # a common factor is forgiven
            experts = padded(power_method(T2, T3, 3, rng).components, 3)
            found[f"tensor, {name}"].append(np.linalg.norm(T3 - pure) / np.linalg.norm(pure))
            found[f"experts, {name}"].append(1 - metrics.regressor_fit(experts, model.A))
    return found | {"alpha": [t.alpha, alpha], "beta": [t.beta, beta], "phi(0)": float(norm.pdf(0))}


def sigmoid_system(setting: Setting, rng: np.random.Generator) -> Found:
    """Appendix C, example 2: alpha and beta of the printed system and exactly, and what Condition 1 is short of."""
    printed = np.array([[0.2066, 0.2066], [0.0624, -0.0001]])
    m = activation_moments("sigmoid")
    found: Found = {"printed": [], "exact": [], "E[S3'], E[S3'']": []}
    for sigma in setting["sigmas"]:
        alpha, beta = np.linalg.solve(printed, [-0.1755 - 0.6199 * sigma**2, -0.0936])
        t = label_transform("sigmoid", sigma)
        found["printed"].append([alpha, beta])
        found["exact"].append([t.alpha, t.beta])
        short = [m[3, r] + alpha * m[2, r] + (beta + 3 * sigma**2) * m[1, r] for r in (1, 2)]
        found["E[S3'], E[S3'']"].append(short)
    return found | {"E[g'']": float(m[1, 2])}


def third_derivative(setting: Setting, rng: np.random.Generator) -> Found:
    """E[g'''(Z)], without which the plain tensor method has nothing to decompose."""
    return {g: float(activation_moments(g)[1, 3]) for g in ("linear", "sigmoid", "relu", "tanh", "softplus")}


def _label_moment(g: str, sigma: float, power: int, order: int) -> float:
    """E[He_order(Z) Y^power] for Y = g(Z) + sigma N, by quadrature."""
    activation, hermite = get_activation(g), np.polynomial.hermite_e.HermiteE.basis(order)
    nodes, weights = np.polynomial.hermite_e.hermegauss(power + 2)

    def integrand(z: float) -> float:
        value = float(np.asarray(activation(np.array([z])))[0])
        return float(hermite(z) * norm.pdf(z) * np.sum(weights * (value + sigma * nodes) ** power) / weights.sum())

    return float(sum(integrate.quad(integrand, *ends)[0] for ends in ((-12, 0), (0, 12))))


def uniqueness(setting: Setting, rng: np.random.Generator) -> Found:
    """Section 2.1: how many polynomials of y qualify for T3, by degree; the cubic beside one of degree four.

    A polynomial qualifies where E[He_1(Z) P(Y)] = E[He_2(Z) P(Y)] = 0. For linear experts the fourth Hermite
    polynomial of y may be added: it has no moment of order one to three.
    """
    sigma, found = 0.2, {}
    for g in ACTIVATIONS:
        moments = np.array(
            [[_label_moment(g, sigma, j, r) for j in range(1, max(setting["degrees"]) + 1)] for r in (1, 2)]
        )
        moments /= np.abs(moments).max(axis=0)  # powers in units of their own
        found[g] = [int(m - np.linalg.matrix_rank(moments[:, :m], tol=1e-8)) for m in setting["degrees"]]
    model = draw_model(6, 3, sigma, "linear", 1.0, rng)
    X, y = draw_rows(model, setting["rows"], rng)
    t, pure = label_transform("linear", sigma), rank_one_sum(model, X, 3)
    labels = {"cubic": t.cubic, "quartic": lambda v: t.cubic(v) + 0.5 * (v**4 - 6 * (1 + sigma**2) * v**2)}
    return found | {name: in_standard_errors(X, y, label, 3, t.c3 * pure) for name, label in labels.items()}


def orthogonality(setting: Setting, rng: np.random.Generator) -> Found:
    """Assumption 3: 1 - RegressorFit of plain moments and of our default, with an orthogonal and with a free gate."""
    how = {"plain": {"moments": "plain", "decomposition": "power"}, "default": {}}
    found: Found = {}
    k = setting["k"]
    for gate, orthogonal in GATES.items():
        model = draw_model(6, k, 0.1, setting["g"], 1.0, rng, orthogonal=orthogonal)
        for n in setting["sizes"]:
            X, y = draw_rows(model, n, rng)
            for name, choices in how.items():
                experts = learn_experts(X, y, k, activation=setting["g"], noise_scale=0.1, random_state=rng, **choices)
                miss = 1 - metrics.regressor_fit(padded(experts.coef, k), model.A)
                found.setdefault(f"{name}, {gate}", []).append(miss)
    return found


def dimension(setting: Setting, rng: np.random.Generator) -> Found:
    """Section 1's 2k - 1 < d: 1 - RegressorFit, and GatingFit at the most rows, as k nears d; orthogonal gate."""
    choices = {"moments": "plain", "decomposition": "matching"}
    found: Found = {}
    for k in setting["experts"]:
        model = draw_model(setting["d"], k, 0.1, "linear", 1.0, rng)
        for n in setting["sizes"]:
            X, y = draw_rows(model, n, rng)
            experts = learn_experts(X, y, k, noise_scale=0.1, random_state=rng, **choices)
            A = padded(experts.coef, k)
            found.setdefault(f"k = {k}", []).append(1 - metrics.regressor_fit(A, model.A))
        gate = learn_gate(X, y, A, noise_scale=0.1, random_state=rng)
        found[f"GatingFit, k = {k}"] = metrics.gating_fit(gate.coef, model.W)
    return found
