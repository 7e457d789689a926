"""From predictors to means, without overflow."""

from __future__ import annotations

from skmoe.arrays.namespaces import Array, array_namespace

__all__ = ["bounded", "exponential", "log_one_plus_exp", "logistic"]

LARGEST = 30.0
"""Predictors of a log link beyond it count as this. No output is as large, so that an expert that predicts one has no
share in the row; but a share of all but nothing times a mean beyond all bounds would be felt."""
LEAST = -300.0


def bounded(eta: Array) -> Array:
    """Predictors of a log link as they count."""
    return array_namespace(eta).clip(eta, LEAST, LARGEST)


def exponential(eta: Array) -> Array:
    """The mean exp(eta) of a log link, finite."""
    return array_namespace(eta).exp(bounded(eta))


def logistic(eta: Array) -> Array:
    """The probability 1 / (1 + exp(-eta)) of a logit link."""
    return 0.5 + 0.5 * array_namespace(eta).tanh(0.5 * eta)


def log_one_plus_exp(eta: Array) -> Array:
    """The function log(1 + exp(eta))."""
    xp = array_namespace(eta)
    return xp.where(eta > 0, eta, xp.zeros_like(eta)) + xp.log1p(xp.exp(-xp.abs(eta)))
