"""Exact tensors for tests."""

import numpy as np


def rank_one_sum(weights: np.ndarray, A: np.ndarray, order: int) -> np.ndarray:
    """Sum of weighted rank-1 tensors of the rows of A."""
    if order == 1:
        return weights @ A
    if order == 2:
        return (A * weights[:, None]).T @ A
    k, d = A.shape
    squares = (A[:, :, None] * A[:, None, :]).reshape(k, d * d)
    return ((A * weights[:, None]).T @ squares).reshape(d, d, d)
