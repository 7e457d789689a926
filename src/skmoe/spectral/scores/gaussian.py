"""Laws of the inputs, as mixtures of Gaussian components, and the Gaussian one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from skmoe.arrays.namespaces import Array, array_namespace, to_device
from skmoe.model.gate import log_sum_exp

__all__ = ["Component", "Gaussian", "InputLaw", "symmetric_placements", "weighted_logs", "whitener"]

SINGULAR = 1e-10  # smallest over largest eigenvalue of a covariance, below which it counts as singular


@dataclass(frozen=True)
class Component:
    """A Gaussian N(mean, covariance) by its mean (d,) and whitener V (d, d): z = V (x - mean) is standard."""

    weight: float
    mean: np.ndarray
    whitener: np.ndarray

    @property
    def precision(self) -> np.ndarray:
        """Inverse covariance (d, d)."""
        return self.whitener.T @ self.whitener

    @property
    def root(self) -> np.ndarray:
        """Inverse of the whitener (d, d): x = mean + root z."""
        return linalg.inv(self.whitener)

    @property
    def covariance(self) -> np.ndarray:
        """Covariance (d, d)."""
        return self.root @ self.root.T

    def standardise(self, Z: Array) -> Array:
        """Standardise a block of inputs.

        Parameters
        ----------
        Z : (d, b) array
            Block of inputs, channels by rows.

        Returns
        -------
        (d, b) array
            Inputs of zero mean and unit covariance, if they follow this component.
        """
        return to_device(self.whitener, Z) @ (Z - to_device(self.mean, Z)[:, None])


class InputLaw:
    """A law of the inputs: a mixture of Gaussian components, from which all else follows."""

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
        raise NotImplementedError

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
        components = self.components(d)
        weights, means = np.array([c.weight for c in components]), np.stack([c.mean for c in components])
        mean = weights @ means
        within = sum(c.weight * c.covariance for c in components)
        return mean, within + ((means - mean).T * weights) @ (means - mean)

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
        return log_sum_exp(weighted_logs(self.components(Z.shape[0]), Z))[1]

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
        components, X = self.components(d), np.empty((n, d))
        weights = np.array([c.weight for c in components])
        label = rng.choice(len(weights), size=n, p=weights / weights.sum()) if len(weights) > 1 else np.zeros(n)
        for j, component in enumerate(components):
            rows = label == j
            X[rows] = component.mean + rng.standard_normal((int(rows.sum()), d)) @ component.root.T
        return X


def weighted_logs(components: Sequence[Component], Z: Array) -> Array:
    """Return the log of each component's weight times its density at a block, less a shared constant, (m, b)."""
    xp, logs = array_namespace(Z), []
    for c in components:
        constant = np.log(c.weight) + np.linalg.slogdet(c.whitener)[1]
        logs.append(float(constant) - 0.5 * xp.sum(c.standardise(Z) ** 2, axis=0))
    return xp.stack(logs)


def symmetric_placements(v: np.ndarray, M: np.ndarray) -> np.ndarray:
    """Sum of the three placements of the outer products of vectors with a symmetric matrix: (..., m, m, m)."""
    outer = v[..., :, None, None] * M
    return outer + np.moveaxis(outer, -3, -2) + np.moveaxis(outer, -3, -1)


def whitener(covariance: np.ndarray, name: str) -> np.ndarray:
    """Return a matrix V with V covariance V' = I; refuse a singular covariance, in any units of the columns.

    V is the symmetric inverse square root, or, where units are so far apart that small eigenvalues of the covariance
    are lost in rounding, that of the correlation matrix times the inverse deviations.
    """
    covariance = np.asarray(covariance, dtype=np.float64)
    if covariance.ndim != 2 or covariance.shape[0] != covariance.shape[1]:
        raise ValueError(f"input_law: {name} must be a square matrix; got shape {covariance.shape}")
    finite = bool(np.all(np.isfinite(covariance)))
    # relative to the largest entry: entries that are zero but for rounding may differ
    if not finite or np.max(np.abs(covariance - covariance.T)) > 1e-8 * np.max(np.abs(covariance)):
        raise ValueError(f"input_law: {name} must be finite and symmetric")
    values, vectors = linalg.eigh(covariance)
    if values[0] > SINGULAR * values[-1]:
        return (vectors / np.sqrt(values)) @ vectors.T
    variance = np.maximum(np.diag(covariance), 0.0)
    deviation = np.sqrt(np.where(variance > 0, variance, 1.0))
    values, vectors = linalg.eigh(covariance / np.outer(deviation, deviation))
    if values[0] <= SINGULAR * values[-1]:
        rank = int(np.sum(values > SINGULAR * max(values[-1], 0.0)))
        raise ValueError(
            f"input_law: {name} is singular (rank {rank} of {len(values)}): some columns of X are constant or repeat "
            "others; drop them before using the moment method"
        )
    return (vectors / np.sqrt(values)) @ vectors.T / deviation


class Gaussian(InputLaw):
    """Gaussian inputs; standard ones (the paper's assumption) by default.

    Parameters
    ----------
    mean : (d,) array, default 0
    covariance : (d, d) array, default the identity
    """

    def __init__(self, mean: Any = None, covariance: Any = None) -> None:
        self.mean = None if mean is None else np.array(mean, dtype=np.float64)
        self.covariance = None if covariance is None else np.array(covariance, dtype=np.float64)
        if self.mean is not None and self.mean.ndim != 1:
            raise ValueError(f"input_law: mean must be a vector; got shape {self.mean.shape}")
        self._whitener = None if self.covariance is None else whitener(self.covariance, "covariance")
        if self.mean is not None and self._whitener is not None and len(self.mean) != len(self._whitener):
            raise ValueError(f"input_law: mean has {len(self.mean)} entries but covariance {self._whitener.shape}")

    def __repr__(self) -> str:
        return f"Gaussian(mean={self.mean}, covariance={self.covariance})"

    def components(self, d: int) -> list[Component]:
        """Return the Gaussian itself as the only component.

        Parameters
        ----------
        d : int
            Number of inputs.

        Returns
        -------
        list of Component
            One, of weight one.
        """
        for given in (self.mean, self._whitener):
            if given is not None and len(given) != d:
                raise ValueError(f"input_law is over {len(given)} inputs, but X has {d} columns")
        mean = np.zeros(d) if self.mean is None else self.mean
        V = np.eye(d) if self._whitener is None else self._whitener
        return [Component(1.0, mean, V)]
