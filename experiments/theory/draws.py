"""What the checks of the theory share: models, rows from them, and distances in standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe import make_moe, scores
from skmoe.model.parameters import MoEParameters
from skmoe.spectral.moments import score_moment

ACTIVATIONS = ("linear", "sigmoid", "relu")
GATES = {"orthogonal gate": True, "free gate": False}
PARTS = 25  # of a sample, from which standard errors are taken


def draw_model(
    d: int, k: int, sigma: float, g: str, length: float, rng: Any, *, orthogonal: bool = True
) -> MoEParameters:
    """The paper's model with gate vectors of the given length."""
    _, _, truth = make_moe(k + d, d, k, noise_scale=sigma, activation=g, orthogonal_gate=orthogonal, random_state=rng)
    return MoEParameters(truth.A, length * truth.W, sigma, family=g)


def draw_rows(model: MoEParameters, n: int, rng: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows with standard Gaussian inputs."""
    X = rng.standard_normal((n, model.A.shape[1]))
    return X, model.sample(X, rng)[0]


def rank_one_sum(model: MoEParameters, X: np.ndarray, order: int) -> np.ndarray:
    """The limit of T2 or T3 by theorem 1, in units of shares, which are averages over the rows."""
    shares = model.gate_proba(X).mean(axis=0)
    letters = "abc"[:order]
    return np.einsum(",".join(["i", *(f"i{c}" for c in letters)]) + f"->{letters}", shares, *[model.A] * order)


def score_average(X: np.ndarray, y: np.ndarray, label: Any, order: int = 3) -> np.ndarray:
    """The average over rows of label(y) S_order(x)."""
    return score_moment(X, y, lambda Z, t: label(t), scores.Gaussian(), order)


def in_standard_errors(X: np.ndarray, y: np.ndarray, label: Any, order: int, expected: np.ndarray) -> float:
    """Largest deviation over entries of a moment from its limit, in standard errors over parts of the sample."""
    parts = np.array_split(np.arange(len(y)), PARTS)
    moments = [score_average(X[rows], y[rows], label, order) for rows in parts]
    error = np.std(moments, axis=0, ddof=1) / np.sqrt(PARTS)
    return float(np.max(np.abs(np.mean(moments, axis=0) - expected) / error))


def gate_distance(W: np.ndarray, V: np.ndarray) -> Any:
    """The paper's distance between gates, the largest over their vectors: over the last two axes."""
    return np.linalg.norm(W - V, axis=-1).max(axis=-1)
