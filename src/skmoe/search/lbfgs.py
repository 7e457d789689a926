"""The pairs that L-BFGS remembers of many models optimised in lockstep."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["Memory"]


class Memory:
    r"""The last pairs (step s, fall of the gradient y) of each of S models, oldest first.

    The two-loop recursion for all models at once: with :math:`R_{ij} = s_i^\top y_j` for i <= j, both of its loops are
    triangular systems in R. Pairs are scaled so that R has ones on its diagonal, however short the steps were. Missing
    pairs are zero.

    Parameters
    ----------
    pairs : int
        How many pairs of a model are kept.
    shape : (S, P)
        Models and parameters of each.
    """

    def __init__(self, pairs: int, shape: tuple[int, int]) -> None:
        models, parameters = shape
        self.steps, self.falls = (np.zeros((models, pairs, parameters)) for _ in range(2))
        self.products = np.tile(np.eye(pairs), (models, 1, 1))

    @property
    def pairs(self) -> np.ndarray:
        """Whether anything is remembered of each model, (S,)."""
        return np.any(self.steps[:, -1], axis=1)

    def keep(self, rows: np.ndarray) -> None:
        """Go on with some of the models only."""
        self.steps, self.falls, self.products = self.steps[rows], self.falls[rows], self.products[rows]

    def forget(self, rows: np.ndarray) -> None:
        """Forget all pairs of some models."""
        self.steps[rows] = self.falls[rows] = 0.0
        self.products[rows] = np.eye(self.products.shape[1])

    def remember(self, rows: np.ndarray, step: np.ndarray, fall: np.ndarray) -> None:
        """Add pairs of the models `rows`; a model whose curvature is wrong forgets all."""
        product = np.vecdot(step, fall)
        right = product > 1e-10 * np.sqrt(np.vecdot(step, step) * np.vecdot(fall, fall))
        if not np.all(right):
            self.forget(rows[~right])
            rows, step, fall, product = rows[right], step[right], fall[right], product[right]
        scale = np.sqrt(product)[:, None]
        step, fall = step / scale, fall / scale
        which: slice | np.ndarray = slice(None) if len(rows) == len(self.steps) else rows
        for store, new in ((self.steps, step), (self.falls, fall)):
            store[which, :-1] = store[which, 1:]
            store[which, -1] = new
        self.products[which, :-1, :-1] = self.products[which, 1:, 1:]
        self.products[which, :, -1] = (self.steps[which] @ fall[..., None])[..., 0]
        self.products[which, -1, -1] = 1.0

    def direction(self, gradient: np.ndarray, precondition: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return directions of ascent (S, P)."""
        used = np.linalg.solve(self.products, self.steps @ gradient[..., None])
        r = precondition(gradient - (used.mT @ self.falls)[:, 0, :])
        back = np.linalg.solve(self.products.mT, used - self.falls @ r[..., None])
        return r + (back.mT @ self.steps)[:, 0, :]
