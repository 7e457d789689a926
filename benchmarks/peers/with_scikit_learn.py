"""scikit-learn's GaussianMixture on the joined rows (x, y), read as the law of y given x.

Each component gives a linear regression of y on x with its own noise, and the components' densities of x make a gate
whose logits are quadratic in x. It is fitted to the density of x and y together, not to that of y given x.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import train_test_split

from . import Fitted, Method, packaged

STARTS = 10
SIZES = (1, 2, 3, 4, 5, 6, 8, 10, 12)
RIDGES = (1e-6, 1e-3, 1e-2)


def conditional(mixture: GaussianMixture) -> Fitted:
    """Read a mixture over (x, y), y last, with full covariances, as a regression."""
    means, S = mixture.means_, mixture.covariances_
    A = np.array([np.linalg.solve(C[:-1, :-1], C[:-1, -1]) for C in S])
    b = means[:, -1] - np.sum(A * means[:, :-1], axis=1)
    variance = S[:, -1, -1] - np.sum(A * S[:, :-1, -1], axis=1)

    def log_gate(X: np.ndarray) -> np.ndarray:
        terms = [multivariate_normal(m[:-1], C[:-1, :-1]).logpdf(X) for m, C in zip(means, S, strict=True)]
        logits = np.log(mixture.weights_) + np.column_stack(terms)
        return logits - logsumexp(logits, axis=1, keepdims=True)

    def predict(X: np.ndarray) -> np.ndarray:
        return np.sum(np.exp(log_gate(X)) * (X @ A.T + b), axis=1)

    def log_density(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        z = y[:, None] - X @ A.T - b
        return logsumexp(log_gate(X) - 0.5 * (z**2 / variance + np.log(2 * np.pi * variance)), axis=1)

    return Fitted(predict, log_density, A, len(means))


def fit(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    mixture = GaussianMixture(k, covariance_type="full", n_init=STARTS, max_iter=500, random_state=seed)
    return conditional(mixture.fit(np.column_stack([X, y])))


def fit_tuned(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    """Number of components and ridge by the density of y given x on a fifth of the rows, then all rows."""
    X_part, X_held, y_part, y_held = train_test_split(X, y, test_size=0.2, random_state=seed)

    def mixture(size: int, ridge: float, *rows: np.ndarray) -> Fitted:
        model = GaussianMixture(size, reg_covar=ridge, n_init=3, max_iter=500, random_state=seed)
        return conditional(model.fit(np.column_stack(rows)))

    def held_out(choice: tuple[int, float]) -> float:
        return float(np.mean(mixture(*choice, X_part, y_part).log_density(X_held, y_held)))

    best = max(((size, ridge) for size in SIZES for ridge in RIDGES), key=held_out)
    return mixture(*best, X, y)


PEER = packaged(
    "scikit-learn",
    {
        "GaussianMixture": Method(fit, f"k components, full covariances, best of {STARTS} k-means starts"),
        "GaussianMixture, tuned": Method(
            fit_tuned,
            "1 to 12 components and a ridge of 1e-6 to 1e-2 by a held-out fifth of the training rows, 3 starts each",
            tables_only=True,
        ),
    },
    "sklearn.mixture",
)
