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

    def towards(self, goal: Theta, part: float) -> Theta:
        """Go part of the way to `goal`; scales move geometrically, so that they stay positive."""
        return Theta(
            self.A + part * (goal.A - self.A),
            self.W + part * (goal.W - self.W),
            self.sigma * (goal.sigma / self.sigma) ** part,
        )

    def distance(self, other: Theta) -> float:
        """Largest difference of any entry."""
        parts = (self.A - other.A, self.W - other.W, self.sigma - other.sigma)
        return max((float(np.max(np.abs(p))) for p in parts if p.size), default=0.0)
