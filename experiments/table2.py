"""Table 2: a gate free of, or orthogonal to, the experts (paper: section 4.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe import make_moe

from .recovery import PAPER_RADIUS, recover

TITLE = "Table 2: RegressorFit and GatingFit with and without an orthogonal gate"
TRIALS = 50
SETTINGS = {
    "non-orthogonal": {"orthogonal": False, "rows": 2000, "d": 10, "k": 2, "sigma": 0.1, "radius": PAPER_RADIUS},
    "orthogonal": {"orthogonal": True, "rows": 2000, "d": 10, "k": 2, "sigma": 0.1, "radius": PAPER_RADIUS},
}
QUICK: dict[str, Any] = {}
PAPER = {
    "non-orthogonal": {"regressor_fit": (0.90, 0.08), "gating_fit": (0.96, 0.02)},
    "orthogonal": {"regressor_fit": (0.93, 0.03), "gating_fit": (0.96, 0.03)},
}


def trial(setting: dict[str, Any], seed: int, *, path: bool = False) -> dict[str, Any]:
    """One problem with standard Gaussian inputs."""
    X, y, truth = make_moe(
        setting["rows"],
        setting["d"],
        setting["k"],
        noise_scale=setting["sigma"],
        orthogonal_gate=setting["orthogonal"],
        random_state=np.random.default_rng([seed, 2]),
    )
    return recover(X, y, truth, None, seed, radius=setting["radius"], path=path)
