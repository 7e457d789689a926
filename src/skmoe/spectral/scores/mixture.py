"""Gaussian mixture input laws."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.gate import log_sum_exp
from skmoe.spectral.scores.gaussian import Component, whitener

__all__ = ["GaussianMixture"]


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
        """Return the Gaussian components.

        Parameters
        ----------
        d : int
            Number of inputs.

        Returns
        -------
        list of Component
            The components; their weights add up to one.
        """
        if self.means.shape[1] != d:
            raise ValueError(f"input_law is over {self.means.shape[1]} inputs, but X has {d} columns")
        return self._components

    def mean_and_covariance(self, d: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean and covariance of the law.

        Parameters
        ----------
        d : int
            Number of inputs.

        Returns
        -------
        (d,) array
            Mean.
        (d, d) array
            Covariance.
        """
        means = np.stack([c.mean for c in self.components(d)])
        mean = self.weights @ means
        deviations = means - mean
        return mean, np.tensordot(self.weights, self.covariances, axes=1) + (deviations.T * self.weights) @ deviations

    def responsibilities(self, Z: Array) -> Array:
        """Return the posterior probability of each component.

        Parameters
        ----------
        Z : (d, b) array
            Block of inputs, channels by rows.

        Returns
        -------
        (components, b) array
            Probabilities, which add up to one in each column.
        """
        xp = array_namespace(Z)
        logs = [
            float(log_norm) - 0.5 * xp.sum(component.standardise(Z) ** 2, axis=0)
            for log_norm, component in zip(self._log_norm, self._components, strict=True)
        ]
        return log_sum_exp(xp.stack(logs))[1]

    def sample(self, n: int, d: int, rng: np.random.Generator) -> np.ndarray:
        """Draw rows.

        Parameters
        ----------
        n : int
            Number of rows.
        d : int
            Number of inputs.
        rng : numpy Generator
            Source of randomness.

        Returns
        -------
        (n, d) array
            Inputs.
        """
        X = np.empty((n, d))
        label = rng.choice(len(self.weights), size=n, p=self.weights / self.weights.sum())
        for j, component in enumerate(self.components(d)):
            rows = label == j
            X[rows] = component.mean + rng.standard_normal((int(rows.sum()), d)) @ component.root.T
        return X
