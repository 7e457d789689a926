"""Shared by the decompositions: the result, the leading space of T2, and weights for given components."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import linalg

__all__ = ["Decomposition", "RankWarning", "apply", "leading_space", "weigh"]

ZERO = 1e-10  # eigenvalues of T2 below this share of the largest are rounding


class RankWarning(UserWarning):
    """T2 has fewer components than requested."""


@dataclass(frozen=True)
class Decomposition:
    r"""Components of :math:`T_2 = \sum_i w_i a_i a_i^\top`, :math:`T_3 = \sum_i w_i a_i^{\otimes 3}`.

    ``components`` (r, d) have unit length, ``weights`` (r,) are positive and fall. r is the number asked for, or less
    where T2 has fewer.
    """

    components: np.ndarray
    weights: np.ndarray

    @property
    def rank(self) -> int:
        """Number of components found."""
        return len(self.weights)


def leading_space(T2: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the leading eigenvectors (d, r) and eigenvalues (r,) of T2, r <= k; warns when T2 has fewer than k."""
    d = T2.shape[0]
    values, vectors = linalg.eigh(T2)
    values, vectors = values[::-1][:k], vectors[:, ::-1][:, :k]
    rank = int(np.sum(values > ZERO * max(values[0], 0.0)))
    if rank == 0:
        raise ValueError("while decomposing T2: it has no positive eigenvalue, so it holds no component")
    if rank < k:
        warnings.warn(
            f"T2 ({d} x {d}) has rank {rank}, below the {k} components requested; {rank} are returned",
            RankWarning,
            stacklevel=3,
        )
    return vectors[:, :rank], values[:rank]


def apply(T3: np.ndarray, *matrices: np.ndarray) -> np.ndarray:
    """Apply a multilinear map: contract each index of T3 in turn with the columns of a (d, m) matrix, or a vector."""
    for M in matrices:
        T3 = np.tensordot(T3, M, axes=(0, 0))  # moves the new index last, so three turns restore the order
    return T3


def weigh(T2: np.ndarray, T3: np.ndarray, A: np.ndarray) -> Decomposition:
    """Fit weights of unit components to T3 by least squares, signs such that they are positive, in falling order.

    T3 is used, since its weights give the sign of a component and those of T2 do not.
    """
    A = A / np.linalg.norm(A, axis=1, keepdims=True)
    gram = A @ A.T
    right = np.array([apply(T3, a, a, a) for a in A])
    weights = linalg.lstsq(gram**3, right, lapack_driver="gelsy")[0]
    sign = np.where(weights < 0, -1.0, 1.0)
    A, weights = A * sign[:, None], weights * sign
    order = np.argsort(-weights, kind="stable")
    return Decomposition(A[order], weights[order])
