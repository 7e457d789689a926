"""The E-step at a block of rows: gate, responsibilities and log density, of one model or of several at once."""

from __future__ import annotations

from typing import NamedTuple

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.channels import outputs_first, with_predictors
from skmoe.model.family import Family, Law
from skmoe.model.gate import normalised

__all__ = ["Posterior", "entropy_terms", "posterior"]

LEAST_LOG = -80.0
"""Logs of probabilities are held above this: smaller ones do not change a sum, but are slow as denormal numbers."""


class Posterior(NamedTuple):
    """The E-step at a block of rows: all (..., k, b) but the last, which is (..., b)."""

    R: Array  # responsibilities, P(expert | x, y)
    P: Array  # gate, P(expert | x)
    log_P: Array
    law: Law  # of each expert's output, its log density added to
    log_density: Array


def entropy_terms(R: Array) -> Array:
    """Return the terms of the entropy of responsibilities, 0 where one is 0."""
    xp = array_namespace(R)
    return -R * xp.log(xp.where(R > 0, R, xp.ones_like(R)))


def posterior(
    A: Array, W: Array, scale: Array, family: Family, U: Array, V: Array, y: Array, largest: Array | None = None
) -> Posterior:
    """Return gate, responsibilities, `Law` of the experts and log density of a block.

    Parameters
    ----------
    A, W : (K m, D), (K, Dg) arrays on the rows' device
        Experts, with m predictors each, and gate vectors, those of all models as channels.
    scale : (..., k) array
        Noise scales, whose shape tells models and experts.
    family : Family
    U, V : (D, b), (Dg, b) inputs of the experts and of the gate, often the same array
    y : (b,), or (b, S) where each model has outputs of its own; (b, 1, parts) where outputs have several parts
    largest : (k, 1) or (k, b) array, optional
        Upper bounds of predictors; see `skmoe.likelihood.largest`.
    """
    xp = array_namespace(U)
    if U is V:  # one product is faster than two thin ones
        both = xp.concat([W, A], axis=0) @ U
        logits, eta = both[: W.shape[0], :], both[W.shape[0] :, :]
    else:
        logits, eta = W @ V, A @ U
    log_P = xp.reshape(logits, (*scale.shape, logits.shape[-1]))
    P, _, log_total = normalised(log_P, LEAST_LOG)
    log_P -= log_total
    eta = with_predictors(eta, scale.shape, family.predictors)
    law = family.at(outputs_first(y), eta if largest is None else xp.minimum(eta, largest), scale[..., None])
    joint = law.log_density
    joint += log_P
    R, top, log_total = normalised(joint, LEAST_LOG)
    return Posterior(R, P, log_P, law, (top + log_total)[..., 0, :] + family.log_base)
