"""Parameters of a model, or of several, in the coordinates they are fitted in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Theta"]


@dataclass(frozen=True)
class Theta:
    """Experts A (..., k, De), gate W (..., k, Dg), scales sigma (..., k), on the host; several models come first.

    Only differences between a model's gate vectors count.
    """

    A: np.ndarray
    W: np.ndarray
    sigma: np.ndarray

    def __len__(self) -> int:
        return len(self.A)

    @property
    def k(self) -> int:
        """Number of experts."""
        return self.sigma.shape[-1]

    @property
    def gate(self) -> np.ndarray:
        """Gate vectors less that of the last expert, which is left out, (..., k - 1, Dg)."""
        return (self.W - self.W[..., -1:, :])[..., :-1, :]

    @classmethod
    def stacked(cls, thetas: Sequence[Theta]) -> Theta:
        """Put models of one shape together, each gate about its mean."""
        W = np.array([theta.W - theta.W[-1] for theta in thetas])  # a model read twice has the same digits
        W -= np.mean(W, axis=1, keepdims=True)
        return cls(np.array([t.A for t in thetas]), W, np.array([t.sigma for t in thetas]))

    def picked(self, rows: Any) -> Theta:
        """Return one of the models, or some."""
        return Theta(self.A[rows], self.W[rows], self.sigma[rows])

    def towards(self, goal: Theta, fraction: float) -> Theta:
        """Go a fraction of the way to `goal`; scales move geometrically, so that they stay positive."""
        return Theta(
            self.A + fraction * (goal.A - self.A),
            self.W + fraction * (goal.W - self.W),
            self.sigma * (goal.sigma / self.sigma) ** fraction,
        )

    def distance(self, other: Theta) -> float:
        """Return the largest difference of any entry."""
        differences = (self.A - other.A, self.gate - other.gate, self.sigma - other.sigma)
        return max((float(np.max(np.abs(p))) for p in differences if p.size), default=0.0)
