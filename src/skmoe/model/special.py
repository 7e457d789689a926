"""Special functions in any array library, and inverse link functions without overflow."""

from __future__ import annotations

from importlib import import_module

import array_api_compat as compat
import numpy as np
from scipy import special

from skmoe.arrays.namespaces import Array, array_namespace, to_device, to_numpy

__all__ = [
    "HALF_LOG_2PI",
    "bounded",
    "digamma",
    "exponential",
    "log_gamma",
    "log_normal_cdf",
    "log_one_plus_exp",
    "logistic",
    "trigamma",
]

HALF_LOG_2PI = float(0.5 * np.log(2 * np.pi))
LARGEST = 30.0
"""Largest predictor of a log link. No output is as large, so that an expert that predicts one has a negligible share in
the row; but times an unbounded mean that share would not be negligible."""
LEAST = -300.0


def _evaluated(name: str, x: Array, *first: float) -> Array:
    """Evaluate a special function by the array's own library, or by SciPy on the host where that has none."""
    if isinstance(x, np.ndarray):
        return getattr(special, name)(*first, x)
    cupy = compat.is_cupy_array(x)
    own = import_module("cupyx.scipy.special") if cupy else getattr(array_namespace(x), "special", None)
    function = getattr(own, name, None)
    return to_device(getattr(special, name)(*first, to_numpy(x)), x) if function is None else function(*first, x)


def log_gamma(x: Array) -> Array:
    """Return the log of the gamma function of positive numbers."""
    return _evaluated("gammaln", x)


def digamma(x: Array) -> Array:
    """Return the derivative of `log_gamma`."""
    return _evaluated("digamma", x)


def trigamma(x: Array) -> Array:
    """Return the derivative of `digamma`, which is Hurwitz' zeta function of order 2."""
    return _evaluated("zeta", x, 2.0)


def log_normal_cdf(x: Array) -> Array:
    """Return the log of the probability that a standard Gaussian is at most x."""
    return _evaluated("log_ndtr", x)


def bounded(eta: Array) -> Array:
    """Return predictors of a log link within bounds."""
    return array_namespace(eta).clip(eta, LEAST, LARGEST)


def exponential(eta: Array) -> Array:
    """Return the mean exp(eta) of a log link, finite."""
    return array_namespace(eta).exp(bounded(eta))


def logistic(eta: Array) -> Array:
    """Return the probability 1 / (1 + exp(-eta)) of a logit link."""
    return 0.5 + 0.5 * array_namespace(eta).tanh(0.5 * eta)


def log_one_plus_exp(eta: Array) -> Array:
    """Return log(1 + exp(eta))."""
    xp = array_namespace(eta)
    return xp.maximum(eta, xp.zeros_like(eta)) + xp.log1p(xp.exp(-xp.abs(eta)))
