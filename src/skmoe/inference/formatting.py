"""Numbers and lists as text for readers."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri, stdtrit

from skmoe.arrays.visible import joined as listed

__all__ = [
    "MINUS",
    "TWO_SIDED_95",
    "experts",
    "fixed",
    "listed",
    "p_value",
    "percent",
    "ratio_text",
    "short",
    "three_digits",
    "with_interval",
    "with_spread",
]

NEAREST = 1e-9  # relative difference of two numbers below which they are the same for all that can be told
MINUS = "−"
TWO_SIDED_95 = float(ndtri(0.975))
"""Standard errors on either side of an estimate that make a 95% interval."""


def three_digits(value: float) -> str:
    """Format a number with three significant digits, and no exponent where it can be read without."""
    value = float(value)
    if not np.isfinite(value):
        return "–" if np.isnan(value) else ("∞" if value > 0 else f"{MINUS}∞")
    if value == 0:
        return "0"
    if not 1e-4 <= abs(value) < 1e7:
        text = f"{value:.2e}"
    else:
        value = float(f"{value:.3g}")
        text = f"{value:,.{max(0, 2 - int(np.floor(np.log10(abs(value)))))}f}"
    return text.replace("-", MINUS)


def ratio_text(value: float) -> str:
    """Format a ratio with three significant digits, or as many as distinguish it from 1."""
    away = abs(value - 1)
    if not NEAREST < away < 0.01:
        return three_digits(value)
    return f"{value:.{1 - math.floor(math.log10(away))}f}"


def fixed(value: float, decimals: int) -> str:
    """Format a number with fixed decimals and commas between thousands; a dash for NaN."""
    if np.isnan(value):
        return "–"
    return f"{value:,.{decimals}f}".replace("-", MINUS)


def short(value: float) -> str:
    """Format a value of an input without trailing zeros: 1, not 1.00."""
    digits = 7 if 1e4 <= abs(value) < 1e7 else 4  # so that there is no exponent
    return f"{value:.{digits}g}".replace("-", MINUS)


def percent(share: float) -> str:
    """Format a share in whole percent, but never "0%" for more than nothing nor "100%" for less than all."""
    if 0 < share < 0.005:
        return "under 1%"
    if 0.995 <= share < 1:
        return "over 99%"
    return f"{100 * share:.0f}%"


def p_value(value: float, unknown: str = "") -> str:
    """Format a P value with three decimals, or as <0.001."""
    if np.isnan(value):
        return unknown
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def with_interval(value: float, error: float, dof: float = np.inf) -> str:
    """Format an estimate with its 95% interval, or alone where it has no standard error."""
    if not error > 0:
        return three_digits(value)
    half = float(stdtrit(dof, 0.975)) * error
    low, high = value - half, value + half
    return f"{three_digits(value)} ({three_digits(low)} to {three_digits(high)})"


def with_spread(mean: float, spread: float) -> str:
    """Format a mean and its standard deviation to the same decimals, two digits of the latter; empty for NaN."""
    if np.isnan(mean):
        return ""
    if not (np.isfinite(spread) and spread > NEAREST * abs(mean)):  # rounding is no spread
        return three_digits(mean)
    decimals = max(0, 1 - int(np.floor(np.log10(spread))))
    return f"{fixed(mean, decimals)} ± {fixed(spread, decimals)}"


def experts(k: int) -> str:
    """Format a number of experts."""
    return "1 expert" if k == 1 else f"{k} experts"
