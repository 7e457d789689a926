"""Recovery of two experts and their gate, as in tables 1 and 2 and the gate's path: the paper's choices, then ours."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from skmoe import MoERegressor, learn_experts, learn_gate, metrics

PAPER_CHOICES = {"moments": "plain", "decomposition": "orth-als"}  # averages, and Orth-ALS of all of T3
LIKELIHOOD = {"noise": "shared", "penalty": 0.0, "calibration": None}  # its maximum, as the methods beside it
PAPER_RADIUS = 1.0  # of the ball that the paper keeps gate vectors in
INSIDE_T2 = {"moments": "plain", "decomposition": "orth-als-t2"}  # averages, Orth-ALS in the leading space of T2: ours


def padded(coef: np.ndarray, k: int) -> np.ndarray:
    """Experts with zero rows for those that a decomposition did not find, so that they count as missed."""
    return np.vstack([coef, np.zeros((k - len(coef), coef.shape[1]))])


def two_stages(
    X: np.ndarray,
    y: np.ndarray,
    k: int,
    sigma: float,
    g: str,
    law: Any,
    seed: int,
    *,
    radius: float | None = None,
    **how: Any,
) -> Any:
    """Algorithms 1 and 2: the experts, and the gate with its path."""
    experts = learn_experts(X, y, k, activation=g, noise_scale=sigma, input_law=law, random_state=seed, **how)
    A = padded(experts.coef, k)
    return A, learn_gate(X, y, A, activation=g, noise_scale=sigma, radius=radius, random_state=seed)


def recover(
    X: np.ndarray, y: np.ndarray, truth: Any, law: Any, seed: int, *, radius: float, path: bool = False
) -> dict[str, Any]:
    """RegressorFit, GatingFit and seconds of the paper's choices, with the gate in a ball, and of three of ours."""
    k, sigma = len(truth.expert_coef), float(truth.noise_scale[0])
    found: dict[str, Any] = {}
    for name, how in (("paper", {**PAPER_CHOICES, "radius": radius}), ("orth-als-t2", INSIDE_T2), ("default", {})):
        begin = time.process_time()
        A, gate = two_stages(X, y, k, sigma, "linear", law, seed, **how)
        found[name] = _fits(A, gate.coef, truth, begin) | {"iterations": gate.n_iter}
        if path:
            found[name]["path"] = [metrics.gating_fit(W, truth.gate_coef) for W in gate.path]
    begin = time.process_time()
    model = MoERegressor(k, fit_intercept=False, **LIKELIHOOD, random_state=seed).fit(X, y)
    found["refined"] = _fits(model.expert_coef_, model.gate_coef_, truth, begin)
    return found


def _fits(A: np.ndarray, W: np.ndarray, truth: Any, begin: float) -> dict[str, Any]:
    return {
        "regressor_fit": metrics.regressor_fit(A, truth.expert_coef),
        "gating_fit": metrics.gating_fit(W, truth.gate_coef),
        "seconds": time.process_time() - begin,
    }
