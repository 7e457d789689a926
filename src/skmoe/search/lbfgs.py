"""What L-BFGS remembers of many models that climb in lockstep."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["Memory"]


class Memory:
    """The last pairs (step, fall of the gradient) of each of S models; a pair of weight zero is forgotten.

    Parameters
    ----------
    pairs : int
        How many pairs of a model are kept.
    shape : (S, P)
        Models and parameters of each.
    """

    def __init__(self, pairs: int, shape: tuple[int, ...]) -> None:
        self.steps, self.falls = np.zeros((pairs, *shape)), np.zeros((pairs, *shape))
        self.rho = np.zeros((pairs, shape[0]))

    def keep(self, rows: np.ndarray) -> None:
        """Go on with some of the models only."""
        self.steps, self.falls, self.rho = self.steps[:, rows], self.falls[:, rows], self.rho[:, rows]

    def forget(self, rows: np.ndarray) -> None:
        """Forget all pairs of some models."""
        self.rho[:, rows] = 0.0

    def remember(self, rows: np.ndarray, step: np.ndarray, fall: np.ndarray) -> None:
        """New pairs of the models `rows`; a model whose curvature is wrong forgets all."""
        product = np.sum(step * fall, axis=1)
        right = product > 1e-10 * np.linalg.norm(step, axis=1) * np.linalg.norm(fall, axis=1)
        self.forget(rows[~right])
        rows = rows[right]
        for store, new in ((self.steps, step[right]), (self.falls, fall[right]), (self.rho, 1.0 / product[right])):
            store[:-1, rows] = store[1:, rows]
            store[-1, rows] = new

    def direction(self, gradient: np.ndarray, precondition: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Directions of ascent (S, P) by the two-loop recursion."""
        q, used = gradient.copy(), np.zeros_like(self.rho)
        for m in range(len(self.rho) - 1, -1, -1):
            used[m] = self.rho[m] * np.sum(self.steps[m] * q, axis=1)
            q -= used[m][:, None] * self.falls[m]
        r = precondition(q)
        for m in range(len(self.rho)):
            back = self.rho[m] * np.sum(self.falls[m] * r, axis=1)
            r += self.steps[m] * (used[m] - back)[:, None]
        return r
