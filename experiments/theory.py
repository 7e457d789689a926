"""The theorems in samples: rates, floors, constants. Each kind of check is a function below, its settings are data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from skmoe import label_transform, learn_experts, learn_gate, make_moe, metrics, plain_tensor_method, scores
from skmoe.model.parameters import MoEParameters
from skmoe.spectral.decomposition import power_method
from skmoe.spectral.labels import activation_moments
from skmoe.spectral.moments import score_moment

from .recovery import padded

TITLE = "Theory: theorems 1 and 2, the moment gate, gradient EM and the ReLU constants in samples"
TRIALS = 10
SIZES = [1000, 4000, 16_000, 64_000, 256_000]
SIGMAS = [0.05, 0.1, 0.2, 0.5, 1.0]
SETTINGS: dict[str, dict[str, Any]] = {
    **{
        f"tensor error, {g}": {"kind": "tensor error", "g": g, "sigma": 0.2, "sizes": SIZES, "limit_rows": 400_000}
        for g in ("linear", "sigmoid", "relu")
    },
    **{
        f"plain tensor, k = {k}, gate {length:g}": {
            "kind": "plain tensor",
            "k": k,
            "length": length,
            "tensor_sizes": SIZES[1:],
        }
        for k, length in ((3, 0.0), (3, 2.0), (2, 2.0))
    },
    **{f"contraction, d = {d}": {"kind": "contraction", "d": d, "sigmas": SIGMAS, "rows": 20_000} for d in (5, 20)},
    "additive error": {"kind": "additive error", "sigma": 0.2, "epsilons": [0.125, 0.25, 0.5, 1.0], "rows": 50_000},
    "global start": {"kind": "global start", "sigmas": SIGMAS, "rows": 5000, "starts": 10},
    "moment gate": {"kind": "moment gate", "sizes": SIZES[:4]},
    "gradient EM": {"kind": "gradient EM", "sigmas": [0.05, 0.1, 0.2, 0.5], "rows": 20_000},
    **{
        f"ReLU constants, {gate} gate": {
            "kind": "ReLU constants",
            "sigma": 0.1,
            "length": length,
            "orthogonal": gate == "orthogonal",
            "sizes": SIZES[1:],
            "limit_rows": 400_000,
        }
        for gate, length in (("orthogonal", 2.0), ("free", 1.0))
    },
    **{
        f"orthogonality, {g}": {"kind": "orthogonality", "g": g, "sizes": SIZES[2:]}
        for g in ("linear", "sigmoid", "relu")
    },
    "E[g''']": {"kind": "third derivative"},
}
QUICK = {
    "sizes": [500, 1000],
    "tensor_sizes": [4000],
    "sigmas": [0.1, 0.5],
    "rows": 1500,
    "starts": 2,
    "limit_rows": 10_000,
}
LAMBDA, MU = 0.1442, 0.25  # concavity and smoothness of Q for two experts and the unit ball, checked in the tests


def _model(d: int, k: int, sigma: float, g: str, length: float, rng: Any, *, orthogonal: bool = True) -> MoEParameters:
    _, _, truth = make_moe(k + d, d, k, noise_scale=sigma, activation=g, orthogonal_gate=orthogonal, random_state=rng)
    return MoEParameters(truth.A, length * truth.W, sigma, family=g)


def _rows(model: MoEParameters, n: int, rng: Any) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, model.A.shape[1]))
    return X, model.sample(X, rng)[0]


def _pure(model: MoEParameters, rows: int, rng: Any) -> np.ndarray:
    """The limit of T3 by theorem 1, in units of shares, which are averages over so many rows."""
    shares = model.gate_proba(rng.standard_normal((rows, model.A.shape[1]))).mean(axis=0)
    return np.einsum("i,ia,ib,ic->abc", shares, model.A, model.A, model.A)


def _third(X: np.ndarray, y: np.ndarray, label: Any, order: int = 3) -> np.ndarray:
    return score_moment(X, y, lambda Z, t: label(t), scores.Gaussian(), order)


def tensor_error(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Theorem 1: relative error of the plain T3 against rows, orthogonal gate."""
    model = _model(6, 3, setting["sigma"], setting["g"], 1.0, rng)
    t, pure = label_transform(setting["g"], setting["sigma"]), _pure(model, setting["limit_rows"], rng)
    errors = []
    for n in setting["sizes"]:
        X, y = _rows(model, n, rng)
        errors.append(np.linalg.norm(_third(X, y, t.cubic) / t.c3 - pure) / np.linalg.norm(pure))
    return {"error": errors}


def plain_tensor(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Equations 3 and 4: 1 - RegressorFit of E[y S3] and of `learn_experts`, tanh experts."""
    k = setting["k"]
    model = _model(6, k, 0.1, "tanh", setting["length"], rng)
    plain, ours = [], []
    for n in setting["tensor_sizes"]:
        X, y = _rows(model, n, rng)
        found = plain_tensor_method(X, y, k, activation="tanh", random_state=rng)
        plain.append(1 - metrics.regressor_fit(padded(found.components, k), model.A))
        experts = learn_experts(X, y, k, activation="tanh", noise_scale=0.1, random_state=rng)
        ours.append(1 - metrics.regressor_fit(experts.coef, model.A))
    return {"plain": plain, "learn_experts": ours}


def _ratios(X: np.ndarray, y: np.ndarray, model: MoEParameters, rng: Any, method: str) -> np.ndarray:
    """Successive distances to the fixed point, each over the one before, above rounding."""
    path = learn_gate(
        X, y, model.A, noise_scale=model.sigma[0], tol=1e-11, max_iter=2000, random_state=rng, method=method
    ).path[:, 0]
    distance = np.linalg.norm(path - path[-1], axis=1)
    usable = distance > 1e-8
    return (distance[1:] / np.maximum(distance[:-1], 1e-300))[usable[1:]]


def contraction(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Theorem 2: the largest ratio of successive distances after the first step, against the noise."""
    rates = []
    for sigma in setting["sigmas"]:
        model = _model(setting["d"], 2, sigma, "linear", 1.0, rng, orthogonal=False)
        X, y = _rows(model, setting["rows"], rng)
        rates.append(float(np.max(_ratios(X, y, model, rng, "em")[1:], initial=0.0)))
    return {"rate": rates}


def additive_error(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Theorem 2: how far wrong experts move the gate, |a_i - a_i*| = sigma^2 epsilon, and the bound kappa."""
    sigma = setting["sigma"]
    model = _model(5, 2, sigma, "linear", 1.0, rng, orthogonal=False)
    X, y = _rows(model, setting["rows"], rng)
    shift = rng.standard_normal((2, 5))
    shift /= np.linalg.norm(shift, axis=1, keepdims=True)
    how = {"noise_scale": sigma, "tol": 1e-8, "init": model.W}
    exact = learn_gate(X, y, model.A, **how).coef
    moved = [learn_gate(X, y, model.A + e * sigma**2 * shift, **how).coef for e in setting["epsilons"]]
    return {"error": [np.linalg.norm(W - exact, axis=1).max() for W in moved], "kappa": np.sqrt(6 * (2 + sigma**2)) / 2}


def global_start(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Theorem 2: largest distance between ends of the gate's EM from random starts, three experts known."""
    spread = []
    for sigma in setting["sigmas"]:
        model = _model(5, 3, sigma, "linear", 1.0, rng, orthogonal=False)
        X, y = _rows(model, setting["rows"], rng)
        ends = [
            learn_gate(X, y, model.A, noise_scale=sigma, random_state=rng, max_iter=2000, tol=1e-6).coef
            for _ in range(setting["starts"])
        ]
        spread.append(max(np.linalg.norm(end - ends[0], axis=1).max() for end in ends))
    return {"spread": spread}


def moment_gate(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Theorem 3: sine of the angle to the true gate against rows, experts known."""
    model = _model(5, 2, 0.1, "linear", 1.0, rng)
    sines = []
    for n in setting["sizes"]:
        X, y = _rows(model, n, rng)
        gate = learn_gate(X, y, model.A, noise_scale=0.1, method="moments")
        sines.append(np.sqrt(max(1 - metrics.gating_fit(gate.coef, model.W) ** 2, 0.0)))
    return {"sine": sines}


def gradient_em(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Gradient EM's rate, beside 1 - (2 lambda - 2 gamma) / (mu + lambda) and the paper's, with a plus before gamma."""
    found: dict[str, Any] = {"rate": [], "corrected": [], "printed": []}
    for sigma in setting["sigmas"]:
        model = _model(5, 2, sigma, "linear", 1.0, rng, orthogonal=False)
        X, y = _rows(model, setting["rows"], rng)
        r = model.responsibilities(X, y)[:, 0]
        gamma = np.linalg.eigvalsh((X.T * (r * (1 - r))) @ X / len(X))[-1]  # of the posterior, at the truth
        found["rate"].append(float(np.median(_ratios(X, y, model, rng, "gradient")[-8:])))
        found["corrected"].append(1 - (2 * LAMBDA - 2 * gamma) / (MU + LAMBDA))
        found["printed"].append(1 - (2 * LAMBDA + 2 * gamma) / (MU + LAMBDA))
    return found


def relu_constants(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Stage 1 for ReLU with the printed and with the corrected constants: error of T3 and 1 - RegressorFit."""
    sigma = setting["sigma"]
    model = _model(6, 3, sigma, "relu", setting["length"], rng, orthogonal=setting["orthogonal"])
    t, pure = label_transform("relu", sigma), _pure(model, setting["limit_rows"], rng)
    alpha, beta = -3 * np.sqrt(2 / np.pi), 3 * (4 / np.pi - sigma**2 - 1)
    labels = {"corrected": t.cubic, "printed": lambda v: v * (v * (v + alpha) + beta)}
    found: dict[str, Any] = {f"{what}, {name}": [] for what in ("tensor", "experts") for name in labels}
    for n in setting["sizes"]:
        X, y = _rows(model, n, rng)
        T2 = _third(X, y, t.quadratic, 2) / t.c2
        for name, label in labels.items():
            T3 = _third(X, y, label)
            T3 *= np.sum(T3 * pure) / np.sum(T3**2)  # a common factor is forgiven
            experts = padded(power_method(T2, T3, 3, rng).components, 3)
            found[f"tensor, {name}"].append(np.linalg.norm(T3 - pure) / np.linalg.norm(pure))
            found[f"experts, {name}"].append(1 - metrics.regressor_fit(experts, model.A))
    return found | {"alpha": [t.alpha, alpha], "beta": [t.beta, beta], "phi(0)": float(norm.pdf(0))}


def orthogonality(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Assumption 3: 1 - RegressorFit of plain moments and of our default, with an orthogonal and with a free gate."""
    how = {"plain": {"moments": "plain", "decomposition": "power"}, "default": {}}
    found: dict[str, Any] = {}
    for gate, orthogonal in (("orthogonal", True), ("free", False)):
        model = _model(6, 3, 0.1, setting["g"], 1.0, rng, orthogonal=orthogonal)
        for n in setting["sizes"]:
            X, y = _rows(model, n, rng)
            for name, choices in how.items():
                experts = learn_experts(X, y, 3, activation=setting["g"], noise_scale=0.1, random_state=rng, **choices)
                miss = 1 - metrics.regressor_fit(padded(experts.coef, 3), model.A)
                found.setdefault(f"{name}, {gate} gate", []).append(miss)
    return found


def third_derivative(setting: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """E[g'''(Z)], without which the plain tensor method has nothing to decompose."""
    return {g: float(activation_moments(g)[1, 3]) for g in ("linear", "sigmoid", "relu", "tanh", "softplus")}


KINDS = {
    "tensor error": tensor_error,
    "plain tensor": plain_tensor,
    "contraction": contraction,
    "additive error": additive_error,
    "global start": global_start,
    "moment gate": moment_gate,
    "gradient EM": gradient_em,
    "ReLU constants": relu_constants,
    "orthogonality": orthogonality,
    "third derivative": third_derivative,
}


def trial(setting: dict[str, Any], seed: int) -> dict[str, Any]:
    """One draw of the check that the setting names."""
    return KINDS[setting["kind"]](setting, np.random.default_rng([seed, 7]))
