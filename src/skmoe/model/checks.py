"""Checks that a family can have the outputs given, before any long work."""

from __future__ import annotations

import math
from typing import Any

from skmoe.arrays.blocks import sum_over_blocks
from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.arrays.sizes import Span
from skmoe.model.families.gamma import GammaFamily
from skmoe.model.families.lognormal import LognormalFamily
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily

__all__ = ["check_outputs"]

BLOCK_ROWS = 2**16
LARGEST_LOG = 700.0  # of a floating-point number
MOST_ABOVE, MOST_BELOW = math.log(1e7), math.log(1e100)
"""Largest log ratios of gamma outputs to their geometric mean, above and below: beyond them curvatures overflow."""


def check_outputs(family: Family, y: Array, weight: Array | None) -> None:
    """Refuse outputs that the family cannot have; missing values and infinities are refused elsewhere."""
    if isinstance(family, GaussianFamily):
        return

    def kernel(y: Array, weight: Array | None) -> tuple[Array, ...]:
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        wrong = family.impossible(y)
        if y.ndim == 1:
            wrong = wrong & xp.isfinite(y)
        if weight is not None:
            wrong = wrong & (weight > 0)
        first = y if y.ndim == 1 else y[:, 0]
        found = xp.where(wrong & xp.isfinite(first), first, xp.zeros_like(first))
        return xp.sum(xp.astype(wrong, xp.float64)), Span(xp.min(found), xp.max(found))

    wrong, extreme = sum_over_blocks(kernel, y, weight, block_rows=BLOCK_ROWS)
    if float(wrong):
        example = float(extreme.low if extreme.low < 0 else extreme.high)
        raise ValueError(
            f"the family {family.name!r} takes {family.support} as y; {int(wrong)} of {y.shape[0]} values are not"
            f"{'' if family.columns > 1 else f', such as {example:g}'}: choose another family, or drop those rows"
        )
    if isinstance(family, GammaFamily | LognormalFamily):
        _check_ratios(family, y, weight)


def _check_ratios(family: Family, y: Array, weight: Array | None) -> None:
    """Refuse positive outputs so far apart that the family's means or likelihood are no floating-point numbers."""

    def kernel(y: Array, weight: Array | None) -> tuple[Any, ...]:
        xp = array_namespace(y)
        y = xp.astype(y, xp.float64, copy=False)
        counted = xp.isfinite(y) if weight is None else xp.isfinite(y) & (weight > 0)
        logs = xp.log(xp.where(counted, y, xp.ones_like(y)))
        n = xp.sum(xp.astype(counted, xp.float64))
        return n, xp.sum(logs), xp.sum(logs**2), Span(xp.min(logs), xp.max(logs))

    n, total, squares, extreme = sum_over_blocks(kernel, y, weight, block_rows=BLOCK_ROWS)
    low, high = float(extreme.low), float(extreme.high)
    mean = float(total) / max(float(n), 1.0)
    variance = max(float(squares) / max(float(n), 1.0) - mean**2, 0.0)
    above, below = high - mean, mean - low
    if isinstance(family, LognormalFamily):
        wide = high + variance / 2 > LARGEST_LOG
    else:
        wide = above > MOST_ABOVE or below > MOST_BELOW
    if wide:
        raise ValueError(
            f"y spans from {math.exp(low):.2g} to {math.exp(high):.2g} about {math.exp(mean):.2g}: too "
            f"far apart for the family {family.name!r}, whose means floating-point numbers could not hold; drop rows "
            "that are in error, or fit the logs of y with the gaussian family"
        )
