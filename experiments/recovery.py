"""Recovery of two experts and their gate, as in tables 1 and 2 and figure 2a, by three methods."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from skmoe import MoERegressor, learn_experts, learn_gate, metrics

PAPER_CHOICES = {"moments": "plain", "decomposition": "orth-als"}


def padded(coef: np.ndarray, k: int) -> np.ndarray:
    """Experts with zero rows for those that a decomposition did not find, so that they count as missed."""
    return np.vstack([coef, np.zeros((k - len(coef), coef.shape[1]))])


def two_stages(X: np.ndarray, y: np.ndarray, k: int, sigma: float, g: str, law: Any, seed: int, **how: Any) -> Any:
    """Algorithms 1 and 2: the experts, and the gate with its path."""
    experts = learn_experts(X, y, k, activation=g, noise_scale=sigma, input_law=law, random_state=seed, **how)
    A = padded(experts.coef, k)
    return A, learn_gate(X, y, A, activation=g, noise_scale=sigma, random_state=seed)


def recover(X: np.ndarray, y: np.ndarray, truth: Any, law: Any, seed: int, *, path: bool = False) -> dict[str, Any]:
    """RegressorFit, GatingFit and seconds of the paper's algorithm, of ours, and of the refined fit."""
    k, sigma = len(truth.expert_coef), float(truth.noise_scale[0])
    found: dict[str, Any] = {}
    for name, how in (("paper", PAPER_CHOICES), ("default", {})):
        begin = time.process_time()
        A, gate = two_stages(X, y, k, sigma, "linear", law, seed, **how)
        found[name] = _fits(A, gate.coef, truth, begin) | {"iterations": gate.n_iter}
        if path:
            found[name]["path"] = [metrics.gating_fit(W, truth.gate_coef) for W in gate.path]
    begin = time.process_time()
    model = MoERegressor(k, fit_intercept=False, noise="shared", random_state=seed).fit(X, y)
    found["refined"] = _fits(model.expert_coef_, model.gate_coef_, truth, begin)
    return found


def _fits(A: np.ndarray, W: np.ndarray, truth: Any, begin: float) -> dict[str, Any]:
    return {
        "regressor_fit": metrics.regressor_fit(A, truth.expert_coef),
        "gating_fit": metrics.gating_fit(W, truth.gate_coef),
        "seconds": time.process_time() - begin,
    }
