"""Theorems 2, 3 and 5 and lemmas 3 and 4: EM on the gate with the experts known, the paper's constants, gradient EM."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from skmoe import learn_gate, metrics
from skmoe.model.parameters import MoEParameters
from skmoe.spectral import (
    concavity_constants,
    em_operator,
    noise_threshold,
    ratio,
    robustness_constant,
    stability_constant,
)

from .draws import ACTIVATIONS, GATES, PARTS, draw_model, draw_rows, gate_distance

Setting = dict[str, Any]
Found = dict[str, Any]
LAMBDA, MU = 0.1442, 0.25  # the paper's concavity and smoothness of Q for two experts and the unit ball


def _ratios(X: np.ndarray, y: np.ndarray, model: MoEParameters, g: str, rng: Any, method: str = "em") -> np.ndarray:
    """Distances to the fixed point over the ones before, from a random start down to a thousandth of a unit gate."""
    settings = {"activation": g, "noise_scale": model.sigma[0], "tol": 1e-8, "max_iter": 3000, "random_state": rng}
    path = learn_gate(X, y, model.A, method=method, **settings).path
    distance = gate_distance(path, path[-1])
    return (distance[1:] / np.maximum(distance[:-1], 1e-300))[distance[1:] > 1e-3]


def contraction(setting: Setting, rng: np.random.Generator) -> Found:
    """Theorem 2 and lemma 3: the largest ratio of successive distances against the noise."""
    found: Found = {}
    for gate in setting["gates"]:
        for g in setting["activations"]:
            rates = []
            for sigma in setting["sigmas"]:
                model = draw_model(setting["d"], setting["k"], sigma, g, 1.0, rng, orthogonal=GATES[gate])
                X, y = draw_rows(model, setting["rows"], rng)
                rates.append(float(np.max(_ratios(X, y, model, g, rng), initial=0.0)))
            found[f"{g}, {gate}"] = rates
    return found


def self_consistency(setting: Setting, rng: np.random.Generator) -> Found:
    """Remark 1, M(w*) = w*: how far one step moves the true gate, against rows, and E[(p - P) x] in standard errors."""
    found: Found = {}
    for g in ACTIVATIONS:
        model = draw_model(5, setting["k"], 0.2, g, 1.0, rng, orthogonal=False)
        moves = []
        for n in setting["sizes"]:
            X, y = draw_rows(model, n, rng)
            step = em_operator(X, y, model.A, model.W, noise_scale=0.2, activation=g)
            moves.append(float(gate_distance(step, model.W)))
        surplus = (model.responsibilities(X, y) - model.gate_proba(X))[:, :-1]
        parts = [surplus[rows].T @ X[rows] / len(rows) for rows in np.array_split(np.arange(len(y)), PARTS)]
        error = np.std(parts, axis=0, ddof=1) / np.sqrt(PARTS)
        found[g] = moves
        if setting["k"] == 2:
            found[f"printed Q, {g}"] = _printed_maximiser(X, model.responsibilities(X, y)[:, 0]) @ model.W[0]
        found[f"score, {g}"] = float(np.max(np.abs(np.mean(parts, axis=0)) / error))
    return found


def _printed_maximiser(X: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Where equation 8 as printed, E[p w.x - (1 + exp(w.x))], is largest: by Newton's method, two experts."""
    w = np.zeros(X.shape[1])
    for _ in range(20):
        e = np.exp(X @ w)
        w = w + np.linalg.solve((X.T * e) @ X, X.T @ (p - e))
    return w


def robustness(setting: Setting, rng: np.random.Generator) -> Found:
    """Lemma 4 and theorem 2: what experts wrong by sigma^2 epsilon do to a step of EM and to its end, over epsilon."""
    k, sigma = setting["k"], setting["sigma"]
    found: Found = {"kappa": robustness_constant(k, sigma), "lambda": concavity_constants(k)[0]}
    for gate, orthogonal in GATES.items():
        for g in ACTIVATIONS:
            model = draw_model(5, k, sigma, g, 1.0, rng, orthogonal=orthogonal)
            X, y = draw_rows(model, setting["rows"], rng)
            how = {"noise_scale": sigma, "activation": g}
            shift, W = (rng.standard_normal((k, 5)) for _ in range(2))
            shift /= np.linalg.norm(shift, axis=1, keepdims=True)
            W /= np.linalg.norm(W, axis=1, keepdims=True)
            W[-1] = 0.0
            step = em_operator(X, y, model.A, W, **how)
            end = learn_gate(X, y, model.A, init=model.W, tol=1e-8, max_iter=2000, **how).coef
            for e in setting["epsilons"]:
                A = model.A + e * sigma**2 * shift
                moved = gate_distance(em_operator(X, y, A, W, **how), step)
                last = learn_gate(X, y, A, init=end, tol=1e-8, max_iter=2000, **how).coef
                found.setdefault(f"one step, {g}, {gate}", []).append(float(moved) / e)
                found.setdefault(f"end, {g}, {gate}", []).append(float(gate_distance(last, end)) / e)
    return found


def global_start(setting: Setting, rng: np.random.Generator) -> Found:
    """Theorem 2: largest distance between ends of the gate's EM in the unit ball from random starts, experts known."""
    spread = []
    for sigma in setting["sigmas"]:
        model = draw_model(5, setting["k"], sigma, setting["g"], 1.0, rng, orthogonal=False)
        X, y = draw_rows(model, setting["rows"], rng)
        how = {"noise_scale": sigma, "activation": setting["g"], "radius": 1.0, "max_iter": 3000, "tol": 1e-6}
        ends = [learn_gate(X, y, model.A, random_state=rng, **how).coef for _ in range(setting["starts"])]
        spread.append(max(float(gate_distance(end, ends[0])) for end in ends))
    return {"spread": spread}


def stability(setting: Setting, rng: np.random.Generator) -> Found:
    """Appendix F: gamma_sigma by its definition against the noise, sigma_0, and for two linear experts the bound.

    ``bound`` is the last but two line of the proof, with its constant: sqrt(6 sqrt(2) e^4) (4 |a1 - a2|^2 / sigma^2 +
    1)^(-1/8). ``local`` is the largest eigenvalue of E[R x x'] at the true gate, by which EM contracts near it.
    """
    k = setting["k"]
    found: Found = dict(zip(("lambda", "mu"), concavity_constants(k), strict=True))
    for g in ACTIVATIONS:
        model = draw_model(5, k, 0.1, g, 1.0, rng, orthogonal=False)
        how = {"activation": g, "n_samples": setting["rows"], "random_state": int(rng.integers(2**31))}
        found[g] = [stability_constant(model.A, model.W, noise_scale=s, **how) for s in setting["sigmas"]]
        found[f"sigma_0, {g}"] = noise_threshold(model.A, model.W, **how)
        if k == 2 and g == "linear":
            gap = np.sum((model.A[0] - model.A[1]) ** 2)
            sigmas = np.array(setting["sigmas"])
            found["bound"] = np.sqrt(6 * np.sqrt(2) * np.exp(4)) * (4 * gap / sigmas**2 + 1) ** (-1 / 8)
            found["local"] = [local_gamma(model, s, setting["rows"], rng) for s in sigmas]
    return found


def local_gamma(model: MoEParameters, sigma: float, rows: int, rng: Any) -> float:
    """Largest eigenvalue of E[p (1 - p) x x'] of the posterior at the true gate, two experts."""
    model = MoEParameters(model.A, model.W, sigma, family=model.family)
    X, y = draw_rows(model, rows, rng)
    r = model.responsibilities(X, y)[:, 0]
    return float(np.linalg.eigvalsh((X.T * (r * (1 - r))) @ X / len(X))[-1])


def gradient_em(setting: Setting, rng: np.random.Generator) -> Found:
    """Theorem 5: gradient EM's rate beside 1 - (2 lambda ∓ 2 gamma) / (mu + lambda), corrected and as printed.

    With the paper's gamma_sigma, which holds over the whole ball, and with the local one, which holds at the truth.
    """
    names = [f"{which}, {gamma}" for gamma in ("gamma_sigma", "local gamma") for which in ("corrected", "printed")]
    found: Found = {"rate": []} | {name: [] for name in names}
    for sigma in setting["sigmas"]:
        model = draw_model(5, 2, sigma, "linear", 1.0, rng, orthogonal=False)
        X, y = draw_rows(model, setting["rows"], rng)
        found["rate"].append(float(np.max(_ratios(X, y, model, "linear", rng, "gradient"))))
        seed = int(rng.integers(2**31))
        whole = stability_constant(model.A, model.W, noise_scale=sigma, n_samples=setting["rows"], random_state=seed)
        for gamma, value in (("gamma_sigma", whole), ("local gamma", local_gamma(model, sigma, setting["rows"], rng))):
            found[f"corrected, {gamma}"].append(1 - (2 * LAMBDA - 2 * value) / (MU + LAMBDA))
            found[f"printed, {gamma}"].append(1 - (2 * LAMBDA + 2 * value) / (MU + LAMBDA))
    return found


def moment_gate(setting: Setting, rng: np.random.Generator) -> Found:
    """Theorem 3: sine of the angle to the true gate against rows, experts known; cosine of the moment itself; alpha.

    ``alpha`` is what the theorem's formula gives, ``multiple`` the moment's component along w, both at the most rows.
    """
    found: Found = {}
    for gate, orthogonal in GATES.items():
        model = draw_model(5, 2, 0.1, "linear", 1.0, rng, orthogonal=orthogonal)
        w, sines = model.W[0], []
        for n in setting["sizes"]:
            X, y = draw_rows(model, n, rng)
            coef = learn_gate(X, y, model.A, noise_scale=0.1, method="moments").coef
            sines.append(float(np.sqrt(max(1 - metrics.gating_fit(coef, model.W) ** 2, 0.0))))
        moment = np.mean((ratio(X, y, model.A) <= 0.5)[:, None] * X, axis=0)
        gap, f = np.abs(X @ (model.A[0] - model.A[1])), expit(X @ w)
        found[f"sine, {gate}"] = sines
        found[f"cosine, {gate}"] = float(moment @ w / np.linalg.norm(moment))
        found[f"multiple, {gate}"] = float(moment @ w / (w @ w))
        found[f"alpha, {gate}"] = float(np.mean(f * (1 - f) * (1 - 2 * norm.cdf(gap / (2 * 0.1)))))
    return found
