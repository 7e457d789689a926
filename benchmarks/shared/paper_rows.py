"""Rows drawn from one of the paper's synthetic settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe import make_moe, scores

__all__ = ["draw"]


def draw(setting: Any, seed: int | np.random.Generator) -> tuple[np.ndarray, np.ndarray, Any, Any]:
    """Rows, outputs, truth and input law.

    A setting has ``n``, ``d``, ``k``, ``sigma``, ``activation``, ``orthogonal`` (whether the gate is orthogonal to the
    experts) and ``p``: the share of the first of two Gaussians the inputs come from, as in table 1, or None for a
    standard Gaussian.
    """
    rng = np.random.default_rng(seed)
    law: Any = scores.Gaussian()
    if setting.p is not None:
        means = rng.standard_normal((2, setting.d))
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        law = scores.GaussianMixture([setting.p, 1 - setting.p], means)
    X, y, truth = make_moe(
        setting.n,
        setting.d,
        setting.k,
        activation=setting.activation,
        noise_scale=setting.sigma,
        orthogonal_gate=setting.orthogonal,
        input_law=law,
        random_state=rng,
    )
    return X, y, truth, law
