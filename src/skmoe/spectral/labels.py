r"""Label transforms: the quadratic and cubic of y whose moments depend on the experts alone (paper: appendix C).

The paper calls them the Cubic and Quadratic Transform, CQT.

With :math:`Z \sim N(0, 1)`, :math:`Y \mid Z \sim N(g(Z), \sigma^2)`, :math:`P_2(y) = y^2 + \gamma y`,
:math:`P_3(y) = y^3 + \alpha y^2 + \beta y` and :math:`S_m(Z) = E[P_m(Y) \mid Z]`:

* Condition 1: :math:`E[S_3'] = E[S_3''] = 0`, and :math:`c_3 = E[S_3'''] \ne 0`;
* Condition 2: :math:`E[S_2'] = 0`, and :math:`c_2 = E[S_2''] \ne 0`.

By Stein's identity :math:`E[S^{(r)}] = E[\mathrm{He}_r(Z)\, S(Z)]`, so nothing below differentiates g. The paper's
printed constants for ReLU leave out :math:`E[g''(Z)] = \phi(0)` and fail Condition 1; these do not.

The index :math:`u = a^\top x` of a unit expert is standard where the inputs are. Where it is :math:`N(m, s^2)`, the
transforms are those of the activation :math:`z \mapsto g(m + s z)`, see `of_index`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import integrate

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.activations import Activation, get_activation
from skmoe.spectral.options import validated

__all__ = ["LabelTransform", "Transform", "activation_moments", "label_transform", "of_index", "refusal"]

TAIL = 14.0  # beyond it the Gaussian weight of any polynomially growing g is below 1e-40
ZERO = 1e-9  # moments of an activation of unit variance below this are zero; quadrature is good to 1e-13


class Transform:
    """Functions P1, P2 and P3 of an output, with their Hermite coefficients."""

    hermite: np.ndarray  # (3, 6): E[He_m(Z) P_r(Y)] for r = 1, 2, 3 and m = 0..5

    def all(self, y: Array) -> Array:
        """Return P1(y), P2(y) and P3(y).

        Parameters
        ----------
        y : (n,) array
            Outputs.

        Returns
        -------
        (3, n) array
            The three, one in each row.
        """
        raise NotImplementedError

    def of_order(self, r: int, y: Array) -> Array:
        """Return P_r(y), one of the three.

        Parameters
        ----------
        r : int
            1, 2 or 3.
        y : (n,) array
            Outputs.

        Returns
        -------
        (n,) array
            P_r of each output.
        """
        return self.all(y)[r - 1, :]

    def constant(self, r: int) -> float:
        """Return the constant before the rank-1 terms of T_r, E[He_r(Z) P_r(Y)].

        Parameters
        ----------
        r : int
            1, 2 or 3.

        Returns
        -------
        float
            The constant.
        """
        return float(self.hermite[r - 1, r])


@dataclass(frozen=True)
class LabelTransform(Transform):
    """Coefficients of the two transforms, and the constants before the rank-1 terms of T2 and T3."""

    alpha: float
    beta: float
    gamma: float
    c2: float
    c3: float
    mean_square: float  # E[g(Z)^2], which ties the noise to E[y^2]
    hermite: np.ndarray  # with P1(y) = y

    def all(self, y: Array) -> Array:
        """Return P1(y) = y, P2(y) and P3(y).

        Parameters
        ----------
        y : (n,) array
            Outputs.

        Returns
        -------
        (3, n) array
            The three, one in each row.
        """
        return array_namespace(y).stack([y, self.quadratic(y), self.cubic(y)])

    def quadratic(self, y: Array) -> Array:
        """Return the quadratic P2(y) = y^2 + gamma y.

        Parameters
        ----------
        y : (n,) array
            Outputs.

        Returns
        -------
        (n,) array
            P2 of each output.
        """
        return y * (y + self.gamma)

    def cubic(self, y: Array) -> Array:
        """Return the cubic P3(y) = y^3 + alpha y^2 + beta y.

        Parameters
        ----------
        y : (n,) array
            Outputs.

        Returns
        -------
        (n,) array
            P3 of each output.
        """
        return y * (y * (y + self.alpha) + self.beta)


def of_index(g: Activation, std: float, mean: float = 0.0) -> Activation:
    """Return the activation of a standardised index, z -> g(mean + std z), for an index of that mean and deviation."""
    if std == 1.0 and mean == 0.0:
        return g
    kinks = tuple((kink - mean) / std for kink in g.kinks)
    return Activation(lambda z: g(mean + std * z), kinks=kinks, name=g.name)


def activation_moments(activation: Any, center: float = 0.0, scale: float = 1.0) -> np.ndarray:
    r"""Return moments :math:`E[\mathrm{He}_r(Z)\, h(Z)^j]`, h = (g - center) / scale, j = 0..3, r = 0..5: (4, 6).

    Good to about 1e-13 of the largest.
    """
    g = get_activation(activation)

    def integrand(z: np.ndarray) -> np.ndarray:
        value = (np.asarray(g(z)) - center) / scale
        s = z * z
        hermite = np.stack([np.ones_like(z), z, s - 1, z * (s - 3), s * (s - 6) + 3, z * (s * (s - 10) + 15)])
        powers = np.stack([np.ones_like(value), value, value**2, value**3])
        return powers[:, None] * hermite * np.exp(-0.5 * s) / np.sqrt(2 * np.pi)

    edges = [-TAIL, *sorted(kink for kink in g.kinks if abs(kink) < TAIL), TAIL]
    total = np.zeros((4, 6))
    for low, high in pairwise(edges):
        # each smooth piece separately: a rule across a kink is wrong in the third digit
        piece, error = _integrate(integrand, low, high)
        if not np.all(np.isfinite(piece)) or error > 1e-9 * (1 + np.max(np.abs(piece))):
            raise ValueError(
                f"activation {g.name!r} could not be integrated against a Gaussian (error estimate {error:.1e}); "
                "name the points where it is not smooth: skmoe.Activation(function, kinks=(...))"
            )
        total += piece
    if not np.max(np.abs(integrand(np.array([-TAIL, TAIL])))) <= 1e-12 * (1 + np.max(np.abs(total))):
        raise ValueError(f"activation {g.name!r} grows too fast to have moments under a Gaussian")
    return total


def _integrate(integrand: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> tuple[np.ndarray, float]:
    """Return the integral and error estimate: a fixed rule where two of them agree, else an adaptive one."""
    fine, coarse = (_gauss_legendre(integrand, low, high, panels) for panels in (24, 16))
    error = float(np.max(np.abs(fine - coarse)))
    if error <= 1e-13 * (1 + np.max(np.abs(fine))):
        return fine, error
    return integrate.quad_vec(
        lambda z: integrand(np.array([z]))[..., 0], low, high, epsabs=1e-13, epsrel=1e-13, limit=400
    )


def _gauss_legendre(integrand: Callable[[np.ndarray], np.ndarray], low: float, high: float, panels: int) -> np.ndarray:
    nodes, weights = _rule()
    edges = np.linspace(low, high, panels + 1)
    half = 0.5 * np.diff(edges)[:, None]
    z = (edges[:-1, None] + half * (1 + nodes)).ravel()
    return integrand(z) @ (half * weights).ravel()


@cache
def _rule() -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights of a panel."""
    return np.polynomial.legendre.leggauss(16)


@validated("activation", "noise_scale")
def label_transform(activation: Any, noise_scale: float) -> LabelTransform:
    r"""Find the label transforms P2 and P3, the paper's CQT, for an activation and a noise scale (paper: appendix C).

    Parameters
    ----------
    activation : str, callable or Activation
        The experts' activation g, as a function of a standard Gaussian index.
    noise_scale : float
        Standard deviation of the noise; it may be 0.

    Returns
    -------
    LabelTransform
        The coefficients ``alpha``, ``beta``, ``gamma`` of P2 and P3, and the constants ``c2``, ``c3``.

    Raises
    ------
    ValueError
        If the activation does not qualify, naming the condition that fails.

    Examples
    --------
    For linear experts :math:`P_2(y) = y^2` and :math:`P_3(y) = y^3 - 3 (1 + \sigma^2) y`, with constants 2 and 6.

    >>> from skmoe import label_transform
    >>> t = label_transform("linear", 0.5)
    >>> round(t.alpha, 6), round(t.beta, 6), round(t.gamma, 6), round(t.c2, 6), round(t.c3, 6)
    (0.0, -3.75, 0.0, 2.0, 6.0)
    """
    g = get_activation(activation)
    refused = partial(refusal, f"activation {g.name!r}", instead="skmoe.joint_em")
    raw = activation_moments(g)
    mean, size = raw[1, 0], np.sqrt(max(raw[2, 0] - raw[1, 0] ** 2, 0.0))
    if size <= 1e-7 * abs(mean) or size == 0:
        raise ValueError(refused("Condition 2", "g is constant, so E[S2''(Z)] = 0"))
    mean = 0.0 if abs(mean) <= ZERO * size else mean
    # in units of g, so that g, g + 1000 and g / 1000 are treated alike and the thresholds below are meaningful
    m = activation_moments(g, center=mean, scale=size)
    m[np.abs(m) <= ZERO] = 0.0
    variance = (noise_scale / size) ** 2

    if m[1, 1] == 0 and m[2, 1] != 0:
        raise ValueError(refused("Condition 2", "E[g'(Z)] = 0 while E[(g^2)'(Z)] is not, so no gamma exists"))
    gamma = 0.0 if m[2, 1] == 0 else -m[2, 1] / m[1, 1]
    c2 = m[2, 2] + gamma * m[1, 2]
    if abs(c2) <= ZERO:
        raise ValueError(refused("Condition 2", "E[S2''(Z)] = 0, so T2 does not depend on the experts"))

    # for g odd about a constant the second row gives alpha and the first beta. The system is singular only where some
    # combination of y^2 and y has neither a first nor a second moment with Z; then the solution of least norm
    system = np.array([[m[2, r], m[1, r]] for r in (1, 2)])
    right = -np.array([m[3, r] + 3 * variance * m[1, r] for r in (1, 2)])
    alpha, beta = np.linalg.lstsq(system, right, rcond=ZERO)[0]
    if np.max(np.abs(system @ [alpha, beta] - right)) > ZERO * (1 + variance):
        raise ValueError(refused("Condition 1", "no alpha, beta make both E[S3'(Z)] and E[S3''(Z)] vanish"))
    c3 = m[3, 3] + alpha * m[2, 3] + (beta + 3 * variance) * m[1, 3]
    if abs(c3) <= ZERO:
        raise ValueError(refused("Condition 1", "E[S3'''(Z)] = 0, so T3 does not depend on the experts"))

    shift = mean / size
    alpha, beta, gamma = alpha - 3 * shift, beta - 2 * alpha * shift + 3 * shift**2, gamma - 2 * shift
    powers = raw.copy()  # E[He_m(Z) Y^j]
    powers[2, 0] += noise_scale**2
    powers[3] += 3 * noise_scale**2 * raw[1]
    alpha, beta, gamma = size * alpha, size**2 * beta, size * gamma
    return LabelTransform(
        alpha=float(alpha),
        beta=float(beta),
        gamma=float(gamma),
        c2=float(size**2 * c2),
        c3=float(size**3 * c3),
        mean_square=float(raw[2, 0]),
        hermite=np.array([powers[1], powers[2] + gamma * powers[1], powers[3] + alpha * powers[2] + beta * powers[1]]),
    )


def refusal(what: str, condition: str, why: str, instead: str) -> str:
    """Return the message for an activation or family without label transforms, and what to fit it by instead."""
    return (
        f"{what} does not qualify for the moment method: {condition} of the paper fails ({why}). "
        f"Fit it by likelihood instead ({instead})"
    )
