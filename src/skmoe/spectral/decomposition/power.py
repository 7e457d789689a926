r"""Whitening and the robust tensor power method with deflation (the paper's theory, [AFHK+12]).

With :math:`T_2 = U D U^\top` and :math:`V = U D^{-1/2}`, the whitened :math:`T_3(V, V, V) = \sum_i w_i^{-1/2}
\mu_i^{\otimes 3}` has orthonormal :math:`\mu_i = \sqrt{w_i} V^\top a_i`. Exact on exact tensors; on noisy ones the
division by small eigenvalues of T2 amplifies the noise, the more so the more experts there are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.checks import generator
from skmoe.spectral.decomposition.common import Decomposition, apply, leading_space, weigh

__all__ = ["power_method"]


def power_method(
    T2: np.ndarray,
    T3: np.ndarray,
    k: int,
    random_state: Any = None,
    *,
    n_starts: int = 20,
    n_iter: int = 100,
) -> Decomposition:
    """Decompose (T2, T3) by the whitened tensor power method, the method of the paper's theory.

    Parameters
    ----------
    T2, T3 : (d, d) and (d, d, d) arrays
        Symmetric moments, sums of weighted powers of unit vectors.
    k : int
        Number of components.
    random_state : int, RandomState, Generator or None
        Draws the starts.
    n_starts : int
        Random starts for each component; at least four times k are taken.
    n_iter : int
        Most power iterations of a start.

    Returns
    -------
    Decomposition
        ``components`` (r, d) of unit length and ``weights`` (r,), falling; r is k, or less where T2 has no more.

    Examples
    --------
    >>> import numpy as np
    >>> from skmoe import decomposition
    >>> A = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
    >>> T2, T3 = np.einsum("ia,ib->ab", A, A) / 2, np.einsum("ia,ib,ic->abc", A, A, A) / 2
    >>> found = decomposition.power_method(T2, T3, 2, random_state=0)
    >>> bool(np.allclose(abs(found.components @ A.T).max(axis=0), 1)), found.weights.round(6).tolist()
    (True, [0.5, 0.5])
    """
    rng = generator(random_state, "power_method")
    U, values = leading_space(T2, k)
    rank = len(values)
    T = apply(T3, *(U / np.sqrt(values),) * 3)
    found = np.zeros((rank, rank))
    for i in range(rank):
        theta = rng.standard_normal((max(n_starts, 4 * rank), rank))
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        for _ in range(n_iter):
            image = _image(T, theta)
            length = np.linalg.norm(image, axis=1, keepdims=True)
            new = np.divide(image, length, out=theta.copy(), where=length > 0)
            settled = np.max(np.abs(new - theta)) < 1e-15
            theta = new
            if settled:
                break
        value = np.sum(_image(T, theta) * theta, axis=1)
        best = int(np.argmax(value))
        found[i] = theta[best]
        T = T - value[best] * np.multiply.outer(np.outer(found[i], found[i]), found[i])
    # a_i is U D^(1/2) mu_i up to length
    return weigh(T2, T3, (found * np.sqrt(values)) @ U.T)


def _image(T: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """Return T(theta, theta, I) for each row of theta."""
    r = T.shape[0]
    squares = (theta[:, :, None] * theta[:, None, :]).reshape(len(theta), r * r)
    return squares @ T.reshape(r * r, r)
