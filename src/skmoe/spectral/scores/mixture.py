"""Gaussian mixture input laws, given or fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from skmoe.rows.arrays import Array, array_namespace, columns, to_device, to_numpy
from skmoe.rows.blocks import sum_over_blocks, take_rows
from skmoe.spectral.scores.gaussian import Component, Gaussian, InputLaw, whitener

__all__ = ["GaussianMixture", "fit_law"]

FIT_ROWS = 20_000  # a mixture is fitted on at most this many rows: its own error is far below that of the moments
MAX_COMPONENTS = 5


class GaussianMixture:
    """Inputs from a mixture of Gaussians.

    Parameters
    ----------
    weights : (m,) array, positive, adding up to one
    means : (m, d) array
    covariances : (m, d, d) array, default identities
    """

    def __init__(self, weights: Any, means: Any, covariances: Any = None) -> None:
        self.weights = np.array(weights, dtype=np.float64)
        self.means = np.array(means, dtype=np.float64)
        if self.weights.ndim != 1 or self.means.ndim != 2 or len(self.weights) != len(self.means):
            raise ValueError(
                "input_law: weights must have shape (m,) and means (m, d); "
                f"got {self.weights.shape} and {self.means.shape}"
            )
        if np.any(self.weights <= 0) or not np.isclose(self.weights.sum(), 1.0):
            raise ValueError(f"input_law: weights must be positive and add up to one; got {self.weights}")
        m, d = self.means.shape
        self.covariances = np.broadcast_to(np.eye(d) if covariances is None else covariances, (m, d, d)).astype(float)
        self._components = [
            Component(float(w), mean, whitener(cov, f"covariances[{j}]"))
            for j, (w, mean, cov) in enumerate(zip(self.weights, self.means, self.covariances, strict=True))
        ]
        self._log_norm = np.array([np.log(c.weight) + np.linalg.slogdet(c.whitener)[1] for c in self._components])

    def __repr__(self) -> str:
        return f"GaussianMixture(weights={self.weights}, means=array{self.means.shape})"

    def components(self, d: int) -> list[Component]:
        """The components; d must be the mixture's own dimension."""
        if self.means.shape[1] != d:
            raise ValueError(f"input_law is over {self.means.shape[1]} inputs, but X has {d} columns")
        return self._components

    def mean_and_covariance(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Mean (d,) and covariance (d, d) of the whole mixture."""
        means = np.stack([c.mean for c in self.components(d)])
        mean = self.weights @ means
        spread = means - mean
        return mean, np.tensordot(self.weights, self.covariances, axes=1) + (spread.T * self.weights) @ spread

    def responsibilities(self, Z: Array) -> Array:
        """Posterior probability of each component for a block (d, b): (m, b)."""
        xp = array_namespace(Z)
        logs = [
            float(log_norm) - 0.5 * xp.sum(component.standardise(Z) ** 2, axis=0)
            for log_norm, component in zip(self._log_norm, self._components, strict=True)
        ]
        L = xp.stack(logs)
        E = xp.exp(L - xp.max(L, axis=0))
        return E / xp.sum(E, axis=0)

    def sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        """Draw n rows."""
        X = np.empty((n, d))
        label = rng.choice(len(self.weights), size=n, p=self.weights / self.weights.sum())
        for j, component in enumerate(self.components(d)):
            rows = label == j
            X[rows] = component.mean + rng.standard_normal((int(rows.sum()), d)) @ linalg.inv(component.whitener)
        return X


def fit_law(
    X: Array,
    kind: str,
    random_state: int | np.random.Generator | None = None,
    *,
    max_components: int = MAX_COMPONENTS,
    n_init: int = 2,
) -> InputLaw:
    """Fit an input law to rows: "gaussian" by mean and covariance, "mixture" by scikit-learn, components by BIC."""
    if kind == "gaussian":
        return _fit_gaussian(X)
    if kind != "mixture":
        raise ValueError(
            f'input_law must be "gaussian", "mixture", None or a law of skmoe.spectral.scores; got {kind!r}'
        )
    from sklearn.mixture import GaussianMixture as Fitter  # slow to import, needed here alone

    gaussian = _fit_gaussian(X)  # refuses singular inputs with our words
    rng = np.random.default_rng(random_state)
    n = X.shape[0]
    rows = np.sort(rng.choice(n, size=FIT_ROWS, replace=False)) if n > FIT_ROWS else np.arange(n)
    sample = to_numpy(take_rows((X,), rows)[0]).astype(np.float64)
    (whole,) = gaussian.components(X.shape[1])
    standard = (sample - whole.mean) @ whole.whitener
    fits = [
        Fitter(m, n_init=n_init, random_state=int(rng.integers(2**31)), reg_covar=1e-6).fit(standard)
        for m in range(1, max_components + 1)
        if n >= 2 * m * (X.shape[1] + 1) ** 2
    ]
    best = min(fits, key=lambda fit: fit.bic(standard)) if fits else None
    if best is None or best.n_components == 1:
        return gaussian
    color = linalg.inv(whole.whitener)
    return GaussianMixture(
        best.weights_ / best.weights_.sum(),
        whole.mean + best.means_ @ color,
        color @ best.covariances_ @ color,
    )


def _fit_gaussian(X: Array) -> Gaussian:
    n, d = X.shape
    if n <= d:
        raise ValueError(
            f"input_law: {n} rows do not determine the covariance of {d} columns; at least {d + 1} are needed"
        )

    def total(x: Array) -> tuple[Array]:
        xp = array_namespace(x)
        return (xp.sum(xp.astype(x, xp.float64), axis=0),)

    mean = to_numpy(sum_over_blocks(total, X, block_rows=16384)[0]) / n

    def scatter(x: Array) -> tuple[Array]:
        centred = columns(x) - to_device(mean, x)[:, None]
        return (centred @ centred.T,)

    return Gaussian(mean, to_numpy(sum_over_blocks(scatter, X, block_rows=16384)[0]) / n)
