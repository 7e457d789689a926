"""Gaussian mixture input laws."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.spectral.scores.gaussian import Component, InputLaw, whitener

__all__ = ["GaussianMixture"]


class GaussianMixture(InputLaw):
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
