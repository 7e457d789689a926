"""Inverse link functions, without overflow."""

from __future__ import annotations

from skmoe.arrays.namespaces import Array, array_namespace

__all__ = ["bounded", "exponential", "log_one_plus_exp", "logistic"]

LARGEST = 30.0
"""Largest predictor of a log link. No output is as large, so that an expert that predicts one has a negligible share in
the row; but times an unbounded mean that share would not be negligible."""
LEAST = -300.0


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
    return xp.where(eta > 0, eta, xp.zeros_like(eta)) + xp.log1p(xp.exp(-xp.abs(eta)))
