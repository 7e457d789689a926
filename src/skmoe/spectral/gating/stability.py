r"""The constants of theorem 2 that depend on the experts, by simulation (paper: theorem 2, lemma 3).

* :math:`\gamma_\sigma`: the rate of change of the posterior probabilities with the gate, and
  :math:`\kappa_\sigma = \gamma_\sigma / \lambda`, the contraction of the EM operator;
* :math:`\sigma_0`: the noise at which :math:`\kappa_\sigma` reaches one, beyond which the theorem does not apply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

from skmoe.arrays.checks import check_coef, generator
from skmoe.model.activations import get_activation
from skmoe.model.gate import softmax
from skmoe.spectral.gating.constants import concavity_constants
from skmoe.spectral.options import POSITIVE, validated

__all__ = ["noise_threshold", "stability_constant"]

SEGMENT = 5  # points of the integral along the segment between two gates
STARTS = 16  # gates at the other ends of segments from the true one
NOISE_RANGE = (1e-4, 10.0)


@validated("activation", "n_samples", "random_state", radius=[POSITIVE], noise_scale=[POSITIVE])
def stability_constant(
    expert_coef: Any,
    gate_coef: Any,
    *,
    noise_scale: float,
    activation: Any = "linear",
    radius: float = 1.0,
    n_samples: int = 20_000,
    random_state: Any = 0,
) -> float:
    r"""Return the constant :math:`\gamma_\sigma` of theorem 2, by simulation (paper: proof of lemma 3).

    :math:`\gamma_\sigma = \sqrt 3 \sum_{i, j < k} \int_0^1 \sqrt{E[R_{ij}(x, y, w_u)^2]}\, du` on the segment from the
    true gate to w, where :math:`R_{ij}` is the derivative of the i-th posterior probability with respect to the j-th
    logit: the largest over the true gate and 16 random w, half of them on the boundary of the ball. By the paper EM
    contracts by :math:`\kappa_\sigma = \gamma_\sigma / \lambda` at most.

    Parameters
    ----------
    expert_coef : (k, d) array
        The experts.
    gate_coef : (k, d) array
        The true gate.
    noise_scale : float
        Standard deviation of the noise.
    activation : str, callable or Activation
        The experts' activation g.
    radius : float
        Radius R of the ball Omega.
    n_samples : int
        Simulated rows.
    random_state : int, RandomState, Generator or None
        Draws the rows and the gates.

    Returns
    -------
    float
        The constant.

    Examples
    --------
    For linear experts it vanishes with the noise, slowly:

    >>> from skmoe import make_moe
    >>> from skmoe.spectral import stability_constant
    >>> _, _, truth = make_moe(10, 5, 2, random_state=0)
    >>> A, W = truth.expert_coef, truth.gate_coef
    >>> stability_constant(A, W, noise_scale=0.01) < stability_constant(A, W, noise_scale=0.1)
    True
    """
    return _stability_of(expert_coef, gate_coef, activation, radius, n_samples, random_state)(float(noise_scale))


@validated("activation", "n_samples", "random_state", radius=[POSITIVE])
def noise_threshold(
    expert_coef: Any,
    gate_coef: Any,
    *,
    activation: Any = "linear",
    radius: float = 1.0,
    n_samples: int = 20_000,
    random_state: Any = 0,
) -> float:
    r"""Return the noise :math:`\sigma_0` up to which theorem 2 applies: :math:`\gamma_\sigma` is :math:`\lambda` there.

    EM itself contracts far beyond it; this is the limit of the proof. For ReLU experts there is none: where all
    indices are negative all experts predict 0, so that :math:`\gamma_\sigma` does not vanish with the noise.

    Parameters
    ----------
    expert_coef : (k, d) array
        The experts, at most 4.
    gate_coef : (k, d) array
        The true gate.
    activation : str, callable or Activation
        The experts' activation g.
    radius : float
        Radius R of the ball Omega.
    n_samples : int
        Simulated rows.
    random_state : int, RandomState, Generator or None
        Draws the rows and the gates.

    Returns
    -------
    float
        The noise scale; 0 where :math:`\gamma_\sigma` is above :math:`\lambda` for any noise.

    Examples
    --------
    >>> from skmoe import make_moe
    >>> from skmoe.spectral import noise_threshold
    >>> _, _, truth = make_moe(10, 5, 2, random_state=0)
    >>> 0.02 < noise_threshold(truth.expert_coef, truth.gate_coef) < 0.3
    True
    """
    stability = _stability_of(expert_coef, gate_coef, activation, radius, n_samples, random_state)
    weakest = concavity_constants(len(expert_coef), radius=radius)[0]

    def excess(log_sigma: float) -> float:
        return stability(float(np.exp(log_sigma))) - weakest

    low, high = np.log(NOISE_RANGE)
    if excess(low) > 0:
        return 0.0
    return float(np.exp(optimize.brentq(excess, low, high, xtol=1e-3))) if excess(high) > 0 else np.inf


def _stability_of(
    A: Any, W: Any, activation: Any, radius: float, n: int, random_state: Any
) -> Callable[[float], float]:
    """Return the constant as a function of the noise scale, by rows and gates of the same randomness for any noise."""
    d = np.shape(A)[-1]
    A = check_coef(A, d, "expert_coef")
    k = len(A)
    W = check_coef(W, d, "gate_coef", k)
    W = W - W[-1]
    rng = generator(random_state, "stability_constant")
    X = rng.standard_normal((d, n))
    means = np.asarray(get_activation(activation)(A @ X))
    chosen = (np.cumsum(softmax(W @ X)[0], axis=0) < rng.random(n)).sum(axis=0)
    mean, normal = means[np.minimum(chosen, k - 1), range(n)], rng.standard_normal(n)
    others = rng.standard_normal((STARTS, k, d))
    others *= radius / np.linalg.norm(others, axis=2, keepdims=True)
    others[::2] *= rng.random((len(others[::2]), k, 1)) ** (1 / d)
    others[:, -1] = 0.0
    nodes, weights = np.polynomial.legendre.leggauss(SEGMENT)

    def stability(sigma: float) -> float:
        log_density = -0.5 * ((mean + sigma * normal - means) / sigma) ** 2
        largest = 0.0
        for other in [W, *others]:
            total = 0.0
            for u, weight in zip(0.5 * (1 + nodes), 0.5 * weights, strict=True):
                total += weight * _slopes(softmax((W + u * (other - W)) @ X + log_density)[0])
            largest = max(largest, total)
        return float(np.sqrt(3) * largest)

    return stability


def _slopes(R: np.ndarray) -> float:
    """Sum over i, j < k of the root mean square of the slope of posterior probability i along logit j."""
    free = R[:-1]
    products = free[:, None, :] * free[None, :, :]
    products[range(len(free)), range(len(free))] = free * (1 - free)
    return float(np.sum(np.sqrt(np.mean(products**2, axis=2))))
