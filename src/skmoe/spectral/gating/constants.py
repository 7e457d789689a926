r"""The constants of theorem 2 and of gradient EM, for standard Gaussian inputs (paper: theorems 2 and 5, lemmas 3, 4).

* :math:`\lambda` and :math:`\mu`: Q is :math:`\lambda`-strongly concave and :math:`\mu`-smooth on the ball of radius R;
* :math:`\kappa`: the effect of errors of the experts on the gate. The proof of lemma 4 gives :math:`\kappa / \lambda`.

Those that depend on the experts are in `skmoe.spectral.gating.stability`.
"""

from __future__ import annotations

from functools import lru_cache
from numbers import Integral

import numpy as np
from scipy import linalg, optimize
from sklearn.utils._param_validation import Interval

from skmoe.model.gate import softmax
from skmoe.spectral.options import POSITIVE, validated

__all__ = ["concavity_constants", "robustness_constant"]

NODES = {1: 120, 2: 40, 3: 20}  # of the quadrature in each dimension, by the number of dimensions


@validated(n_experts=[Interval(Integral, 2, max(NODES) + 1, closed="both")], radius=[POSITIVE])
def concavity_constants(n_experts: int = 2, *, radius: float = 1.0) -> tuple[float, float]:
    r"""Return strong concavity :math:`\lambda` and smoothness :math:`\mu` of Q (paper: appendices F, G).

    The smallest and the largest eigenvalue that :math:`-\nabla^2 Q` has over gates in the ball, by quadrature and a
    numerical search over gates.

    Parameters
    ----------
    n_experts : int
        Number of experts k, from 2 to 4.
    radius : float
        Radius R of the ball Omega.

    Returns
    -------
    (float, float)
        :math:`\lambda` and :math:`\mu`.

    Examples
    --------
    The paper's 0.1442 and 0.25:

    >>> from skmoe.spectral import concavity_constants
    >>> [round(value, 4) for value in concavity_constants(2)]
    [0.1442, 0.25]
    """
    return _concavity(int(n_experts), float(radius))


@lru_cache(maxsize=32)
def _concavity(k: int, radius: float) -> tuple[float, float]:
    m = k - 1
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES[m])
    Z = np.stack([axis.ravel() for axis in np.meshgrid(*[nodes] * m, indexing="ij")])
    weight = np.prod([axis.ravel() for axis in np.meshgrid(*[weights / weights.sum()] * m, indexing="ij")], axis=0)
    squares = (Z[:, None, :] * Z[None, :, :]).reshape(m * m, -1)

    def ends(flat: np.ndarray) -> tuple[float, float]:
        """Return the smallest and largest eigenvalue at a gate, given by m vectors in m dimensions."""
        W = flat.reshape(m, m)
        W = W * np.minimum(1.0, radius / np.maximum(np.linalg.norm(W, axis=1, keepdims=True), 1e-300))
        P = softmax(np.vstack([W @ Z, np.zeros(Z.shape[1])]))[0][:-1]
        curvature = -P[:, None, :] * P[None, :, :]
        curvature[range(m), range(m)] += P
        curvature = (curvature * weight).reshape(m * m, -1)
        across = curvature.sum(axis=1).reshape(m, m)  # along inputs orthogonal to all gate vectors
        along = (curvature @ squares.T).reshape(m, m, m, m).transpose(0, 2, 1, 3).reshape(m * m, m * m)
        values = np.concatenate([linalg.eigvalsh(across), linalg.eigvalsh(along)])
        return float(values.min()), float(values.max())

    def extreme(sign: int) -> float:
        """Return the smallest (sign 1) or largest (-1) eigenvalue over the ball, from the best of a few starts."""

        def value(flat: np.ndarray) -> float:
            return sign * ends(flat)[0 if sign > 0 else 1]

        ranked = sorted(_configurations(m, radius), key=value)
        found = [optimize.minimize(value, start, method="Powell", options={"maxiter": 20}).fun for start in ranked[:2]]
        return sign * min(value(ranked[0]), *found)

    return extreme(1), extreme(-1)


def _configurations(m: int, radius: float) -> list[np.ndarray]:
    """Return gates to search from: zero, all vectors equal, orthogonal, one against the others, and random."""
    alike = np.tile(np.eye(1, m), (m, 1))
    against = alike.copy()
    against[0] *= -1
    rng = np.random.default_rng(0)
    random_gates = [G / np.linalg.norm(G, axis=1, keepdims=True) for G in rng.standard_normal((4, m, m))]
    return [radius * W.ravel() for W in (0 * alike, alike, np.eye(m), against, *random_gates)]


@validated("n_experts", "noise_scale")
def robustness_constant(n_experts: int, noise_scale: float) -> float:
    r"""Return the bound :math:`\kappa = (k - 1) \sqrt{6 (2 + \sigma^2)} / 2` of theorem 2 and lemma 4.

    For linear, sigmoid and ReLU experts that are wrong by :math:`\sigma^2 \varepsilon`. The paper says that the EM
    operator moves by at most :math:`\kappa \varepsilon`; its proof gives :math:`\kappa \varepsilon / \lambda`.

    Parameters
    ----------
    n_experts : int
        Number of experts k.
    noise_scale : float
        Standard deviation of the noise.

    Returns
    -------
    float
        The bound.

    Examples
    --------
    >>> from skmoe.spectral import robustness_constant
    >>> round(robustness_constant(2, 0.1), 4)
    1.7364
    """
    return float((n_experts - 1) * np.sqrt(6 * (2 + noise_scale**2)) / 2)
