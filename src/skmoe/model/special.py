r"""Log gamma, its first two derivatives and the log of the Gaussian distribution, in any array library.

NumPy arrays go to SciPy. For others, with :math:`x` moved up to at least 8 by the recurrence
:math:`\Gamma(x + 1) = x\, \Gamma(x)`, Stirling's series has all digits of a double.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from skmoe.arrays.namespaces import Array, array_namespace, to_device, to_numpy

__all__ = ["digamma", "log_gamma", "log_normal_cdf", "trigamma"]

SHIFT = 8
HALF_LOG_2PI = float(0.5 * np.log(2 * np.pi))
LOG_GAMMA = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156)  # of x^-1, x^-3, ...
DIGAMMA = (-1 / 12, 1 / 120, -1 / 252, 1 / 240, -1 / 132, 691 / 32760, -1 / 12)  # of x^-2, x^-4, ...
TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)  # of x^-3, x^-5, ...


def _series(x: Array, coefficients: tuple[float, ...]) -> Array:
    """Return the sum of coefficients times 1, x^-2, x^-4, ..."""
    square = 1 / (x * x)
    total = square * 0.0
    for c in reversed(coefficients):
        total = total * square + c
    return total


def log_gamma(x: Array) -> Array:
    """Return the log of the gamma function of positive numbers."""
    if isinstance(x, np.ndarray):
        return special.gammaln(x)
    xp = array_namespace(x)
    product = x
    for i in range(1, SHIFT):
        product = product * (x + i)
    z = x + SHIFT
    return (z - 0.5) * xp.log(z) - z + HALF_LOG_2PI + _series(z, LOG_GAMMA) / z - xp.log(product)


def digamma(x: Array) -> Array:
    """Return the derivative of `log_gamma`."""
    if isinstance(x, np.ndarray):
        return special.digamma(x)
    xp = array_namespace(x)
    below = 1 / x
    for i in range(1, SHIFT):
        below = below + 1 / (x + i)
    z = x + SHIFT
    return xp.log(z) - 0.5 / z + _series(z, DIGAMMA) / (z * z) - below


def trigamma(x: Array) -> Array:
    """Return the derivative of `digamma`."""
    if isinstance(x, np.ndarray):
        return special.polygamma(1, x)
    below = 1 / x**2
    for i in range(1, SHIFT):
        below = below + 1 / (x + i) ** 2
    z = x + SHIFT
    return 1 / z + 0.5 / (z * z) + _series(z, TRIGAMMA) / (z * z * z) + below


def log_normal_cdf(x: Array) -> Array:
    """Return the log of the probability that a standard Gaussian is at most x."""
    if isinstance(x, np.ndarray):
        return special.log_ndtr(x)
    native = getattr(getattr(array_namespace(x), "special", None), "log_ndtr", None)
    return to_device(special.log_ndtr(to_numpy(x)), x) if native is None else native(x)
