"""Table 1: inputs from a mixture of two Gaussians with means on the unit sphere (paper: section 4.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe import make_moe, scores

from .recovery import PAPER_RADIUS, recover

TITLE = "Table 1: RegressorFit and GatingFit when inputs come from two Gaussians"
TRIALS = 50
SETTINGS = {
    f"p = {p}": {"p": p, "rows": 2000, "d": 10, "k": 2, "sigma": 0.1, "radius": PAPER_RADIUS}
    for p in (0.1, 0.3, 0.5, 0.7, 0.9)
}
QUICK: dict[str, Any] = {}
PAPER = {  # mean and deviation; the paper does not say over how many trials
    "p = 0.1": {"regressor_fit": (0.93, 0.06), "gating_fit": (0.90, 0.10)},
    "p = 0.3": {"regressor_fit": (0.94, 0.02), "gating_fit": (0.97, 0.01)},
    "p = 0.5": {"regressor_fit": (0.92, 0.04), "gating_fit": (0.93, 0.04)},
    "p = 0.7": {"regressor_fit": (0.92, 0.02), "gating_fit": (0.96, 0.03)},
    "p = 0.9": {"regressor_fit": (0.91, 0.06), "gating_fit": (0.97, 0.01)},
}


def trial(setting: dict[str, Any], seed: int) -> dict[str, Any]:
    """One problem: the law of the inputs is known, as in the paper; the gate is not orthogonal."""
    rng = np.random.default_rng([seed, 1])
    means = rng.standard_normal((2, setting["d"]))
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    law = scores.GaussianMixture([setting["p"], 1 - setting["p"]], means)
    X, y, truth = make_moe(
        setting["rows"], setting["d"], setting["k"], noise_scale=setting["sigma"], input_law=law, random_state=rng
    )
    return recover(X, y, truth, law, seed, radius=setting["radius"])
