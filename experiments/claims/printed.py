"""Slips in what is printed, and the error measure E(A, W)."""

from __future__ import annotations

import numpy as np

from ..theory.draws import ACTIVATIONS
from ..wording import listed, span
from .records import CONFIRMED, CORRECTED, NOT, PARTLY, Reading, Results, claim

NUMBERS = (2, 3, 4)


@claim("section 4.3", "E(A, W) is near 0 if and only if the fits are near 1")
def error_and_fits(results: Results) -> Reading:
    """Partly confirmed where a small E goes with fits near 1, but fits of 1 go with a large E."""
    found = results["theory"]
    turned, near = (
        np.concatenate([found.values(f"error and fits, k = {k}", what) for k in NUMBERS]) for what in ("turned", "near")
    )
    text = (
        f"truth with a little noise: E {span(near[:, 0])}, fits at least {near[:, 1:].min():.3f}; A turned to -A "
        "and W to 3 W: "
        f"fits {span(turned[:, 1:].ravel(), '.3f')}, E {span(turned[:, 0], '.1f')}: the fits see neither sign nor "
        "length"
    )
    only_if = bool(near[:, 1:].min() > 0.99)
    if_ = bool(turned[:, 0].max() < 0.5 or turned[:, 1:].min() < 0.99)
    return Reading(text, CONFIRMED if only_if and if_ else PARTLY if only_if or if_ else NOT)


@claim("section 4.3", "E(A, W) is zero for the truth in any order")
def literal_error(results: Results) -> Reading:
    """Corrected where the formula as printed is above zero for the truth in another order, and re-gauged it is zero."""
    found = results["theory"]
    literal, regauged = (
        [float(found.values(f"error and fits, k = {k}", what).mean()) for k in NUMBERS]
        for what in ("literal", "re-gauged")
    )
    text = (
        f"mean over all orders of the true parameters, k = 2, 3, 4: the formula as printed {listed(literal)}; with "
        "the gate's zero "
        f"row put where the learned gate has it, as everywhere on this page, {listed(regauged, '.0f')}"
    )
    return Reading(text, CORRECTED if min(literal) > 0.01 > max(regauged) else CONFIRMED)


@claim("equation 8", "Q without a logarithm")
def missing_logarithm(results: Results) -> Reading:
    """Corrected where what maximises the printed Q given the true gate is not the true gate: length off by a tenth."""
    found = results["theory"]
    lengths = [float(found.values("self-consistency, k = 2", f"printed Q, {g}").mean()) for g in ACTIVATIONS]
    text = (
        f"as printed, Q(w | w*) is largest at {span(lengths)} w*; the last term is log(1 + Σ exp(w·x)), as in "
        "appendix E"
    )
    return Reading(text, CORRECTED if abs(np.mean(lengths) - 1) > 0.1 else CONFIRMED)


@claim("Algorithm 2", "the loop runs while the step is below ε", "")
def loop_condition(results: Results) -> Reading:
    """Read, not measured: it would stop before it starts."""
    return Reading("it must run while the step is above ε", CORRECTED)
