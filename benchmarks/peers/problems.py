"""The problems that all peers are given: rows to fit, new rows to be judged on, and the truth where there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import train_test_split

from skmoe import make_moe
from skmoe.datasets import load_airfoil, load_concrete
from skmoe.metrics.recovery import match_experts
from skmoe.model.parameters import MoEParameters

__all__ = ["PROBLEMS", "Problem", "coefficient_error"]

NEW_ROWS = 2000


@dataclass(frozen=True)
class Problem:
    """Rows in the units of a table, and how many experts are asked for."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray
    k: int
    truth: MoEParameters | None = None


def coefficient_error(coef: np.ndarray, truth: np.ndarray, spread: np.ndarray) -> float:
    """Frobenius error of the experts' coefficients over their norm, in the best order, columns at unit spread."""
    A, A_true = coef * spread, truth * spread
    return float(np.linalg.norm(A[match_experts(A, A_true)] - A_true) / np.linalg.norm(A_true))


def made(n: int, d: int, k: int, sigma: float) -> Callable[[int], Problem]:
    """Draw the paper's model: standard Gaussian inputs, unit experts, no intercepts."""

    def draw(seed: int) -> Problem:
        X, y, truth = make_moe(n + NEW_ROWS, d, k, noise_scale=sigma, random_state=seed)
        return Problem(X[:n], y[:n], X[n:], y[n:], k, truth)

    return draw


def in_units(n: int, d: int, k: int, sigma: float) -> Callable[[int], Problem]:
    """Draw experts and gates with intercepts over columns with means and scales of their own."""

    def draw(seed: int) -> Problem:
        rng = np.random.default_rng(seed)
        Z, _, plain = make_moe(n + NEW_ROWS, d, k, noise_scale=sigma, random_state=rng)
        scale = 10 ** rng.uniform(-2, 3, d)
        shift = 10 * scale * rng.standard_normal(d)
        A, W = 20 * plain.A / scale, plain.W / scale
        b, c = 50 + 20 * rng.standard_normal(k), 0.5 * rng.standard_normal(k)
        truth = MoEParameters(A, W - W[-1], 20 * sigma, b=b - A @ shift, c=(c - c[-1]) - (W - W[-1]) @ shift)
        X = Z * scale + shift
        y, _ = truth.sample(X, rng)
        return Problem(X[:n], y[:n], X[n:], y[n:], k, truth)

    return draw


def table(load: Callable[..., tuple[np.ndarray, np.ndarray]], k: int) -> Callable[[int], Problem]:
    """Hold out a random quarter of a real table."""

    def draw(seed: int) -> Problem:
        X, X_new, y, y_new = train_test_split(*load(return_X_y=True), test_size=0.25, random_state=seed)
        return Problem(X, y, X_new, y_new, k)

    return draw


PROBLEMS: dict[str, Callable[[int], Problem]] = {
    "n=2000, d=5, k=2, sigma 0.1": made(2000, 5, 2, 0.1),
    "n=5000, d=10, k=3, sigma 0.5": made(5000, 10, 3, 0.5),
    "n=2000, d=5, k=3, sigma 0.1, intercepts and units": in_units(2000, 5, 3, 0.1),
    "concrete, k=3": table(load_concrete, 3),
    "airfoil, k=3": table(load_airfoil, 3),
}
