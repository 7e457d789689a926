"""Simulated tables for each family of experts: directions of experts and gate at random, moderate overlap."""

from __future__ import annotations

import numpy as np

from skmoe.model.families import FAMILIES, MultinomialFamily, StudentFamily
from skmoe.model.family import Family
from skmoe.model.parameters import MoEParameters

__all__ = ["NAMES", "law_of", "simulated"]

NAMES = ("poisson", "binomial", "gamma", "negative-binomial", "lognormal", "student", "censored-gaussian", "classes")


def law_of(name: str) -> Family:
    """The law that outputs are drawn from."""
    if name == "classes":
        return MultinomialFamily(3)
    return StudentFamily(4.0) if name == "student" else FAMILIES[name]


def _truth(name: str, d: int, k: int, rng: np.random.Generator) -> MoEParameters:
    family = law_of(name)
    m = family.predictors
    A = rng.standard_normal((k, m, d))
    A /= np.linalg.norm(A, axis=2, keepdims=True)
    b = rng.uniform(-1, 1, (k, m))
    W = rng.standard_normal((k, d))
    W *= 2 / np.linalg.norm(W, axis=1, keepdims=True)
    scale = rng.uniform(0.3, 0.7, k) if family.has_scale else np.ones(k)
    if name in ("poisson", "negative-binomial"):
        A, b = 0.7 * A, b + 1.5
    if name in ("binomial", "classes"):
        A = 3 * A
    if m == 1:
        A, b = A[:, 0], b[:, 0]
    return MoEParameters(A, W - W[-1], scale, b=b, family=family)


def simulated(
    name: str, n: int, d: int, k: int, seed: int, truth_seed: int | None = None
) -> tuple[np.ndarray, np.ndarray, MoEParameters]:
    """Inputs, outputs as the estimator takes them, and the truth; one truth for many seeds where its own is given."""
    truth = _truth(name, d, k, np.random.default_rng([seed if truth_seed is None else truth_seed, k, 0]))
    rng = np.random.default_rng([seed, k, 1])
    X = rng.standard_normal((n, d))
    if name == "classes":
        P = truth.predict_proba(X)
        return X, (rng.random((n, 1)) > np.cumsum(P, axis=1)).sum(axis=1).astype(float), truth
    y = np.asarray(truth.sample(X, rng)[0])
    if name == "censored-gaussian":  # a third of the outputs is known to be below a limit only
        limit = float(np.quantile(y, 1 / 3))
        y = np.column_stack([np.where(y < limit, -np.inf, y), np.maximum(y, limit)])
    return X, y, truth
