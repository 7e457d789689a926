"""Parameters of a model in the coordinates it is fitted in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Theta"]


@dataclass(frozen=True)
class Theta:
    """Experts A (k, De), gate W (k-1, Dg) without its zero row, scales sigma (k,)."""

    A: np.ndarray
    W: np.ndarray
    sigma: np.ndarray

    @property
    def k(self) -> int:
        """Number of experts."""
        return len(self.A)

    def towards(self, goal: Theta, fraction: float) -> Theta:
        """Go a fraction of the way to `goal`; scales move geometrically, so that they stay positive."""
        return Theta(
            self.A + fraction * (goal.A - self.A),
            self.W + fraction * (goal.W - self.W),
            self.sigma * (goal.sigma / self.sigma) ** fraction,
        )

    def distance(self, other: Theta) -> float:
        """Return the largest difference of any entry."""
        differences = (self.A - other.A, self.W - other.W, self.sigma - other.sigma)
        return max((float(np.max(np.abs(p))) for p in differences if p.size), default=0.0)
