"""The E-step at a block of rows: gate, responsibilities and log density, by log-sum-exp."""

from __future__ import annotations

from typing import NamedTuple

from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.model.channels import outputs_first, with_predictors
from skmoe.model.family import Family, Law
from skmoe.model.gate import log_sum_exp, softmax

__all__ = ["Posterior", "entropy_terms", "posterior"]


class Posterior(NamedTuple):
    """The E-step at a block of rows: all (..., k, b) but the last, which is (..., b)."""

    R: Array  # responsibilities, P(expert | x, y)
    P: Array  # gate, P(expert | x)
    log_P: Array
    law: Law  # of each expert's output
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
    A, W : (k m, D), (k, Dg) arrays on the rows' device, with m predictors of each expert
    scale : (k,) array
    family : Family
    U, V : (D, b), (Dg, b) inputs of the experts and of the gate, often the same array
    y : (b,), or (b, 1, parts)
    largest : (k, 1) or (k, b) array, optional
        Upper bounds of predictors; see `skmoe.likelihood.largest`.
    """
    if U is V:  # one product is faster than two thin ones
        both = array_namespace(U).concat([W, A], axis=0) @ U
        logits, eta = both[: W.shape[0], :], both[W.shape[0] :, :]
    else:
        logits, eta = W @ V, A @ U
    P, log_P = softmax(logits)
    if family.predictors > 1:
        eta = with_predictors(eta, (W.shape[0],), family.predictors)
    if largest is not None:
        eta = array_namespace(U).minimum(eta, largest)
    law = family.at(outputs_first(y), eta, scale[:, None])
    log_density, R = log_sum_exp(log_P + law.log_density)
    return Posterior(R, P, log_P, law, log_density + family.log_base)
