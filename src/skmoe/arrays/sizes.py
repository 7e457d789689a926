"""Sizes of numbers that a fit can represent; columns outside are refused by name.

Variances are squares. Numbers whose squares are no floating-point numbers any more, or hardly, give coefficients whose
standard errors cannot be written down, so that they are refused before anything is learned from them. Within these
bounds a fit does not depend on the units of the table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.namespaces import Array, array_namespace
from skmoe.arrays.visible import listed

__all__ = [
    "LARGEST",
    "Span",
    "check_far_output",
    "check_known_noise",
    "check_sizes",
    "check_unit_sizes",
    "check_without_intercept",
    "far_columns",
    "flat_columns",
]

LARGEST, SMALLEST = 1e145, 1e-145
"""Sizes whose squares, and sums and products of a few of them, keep all their digits."""
FLAT = 8
"""A column whose values lie within so many units of their last digit is constant: the rest is rounding."""
FAR = 1e4
"""Distance from zero, over the standard deviation, from which on a column has an origin of its own: variances of
predictions lose the square of this to rounding."""
FAR_OUTPUT = 1e8
"""Likewise for outputs: from here on predictions, which are in their units, could not be written to six digits."""

KNOWN_NOISE = 1e10
"""Ratio of a given noise scale to the standard deviation of y, or its inverse, beyond which no digits are left."""

UNIT = np.array([1e-6, 1e6])
"""Sizes of inputs and outputs that suit a model with experts of unit length."""
STANDARD = np.array([1e-3, 1e3])
"""Largest values of columns that may be standard Gaussian."""


@dataclass(frozen=True)
class Span:
    """Smallest and largest values of the columns of a table, (d,) each; the sum of two is that of both."""

    low: Array
    high: Array

    def __add__(self, other: Span) -> Span:
        xp = array_namespace(self.low)
        return Span(xp.minimum(self.low, other.low), xp.maximum(self.high, other.high))

    @property
    def largest(self) -> np.ndarray:
        """Largest distance from zero."""
        return np.maximum(np.abs(self.low), np.abs(self.high))

    @property
    def width(self) -> np.ndarray:
        """Largest less smallest value."""
        with np.errstate(over="ignore"):  # an infinite width is too large, as it should be
            return self.high - self.low


def flat_columns(span: Span) -> np.ndarray:
    """Return which columns are constant but for rounding."""
    return span.width <= FLAT * np.spacing(span.largest)


def far_columns(span: Span, deviation: np.ndarray) -> np.ndarray:
    """Return which columns lie far from zero relative to their standard deviation; constant ones do not."""
    return ~flat_columns(span) & (span.largest > FAR * deviation)


def column_names(which: np.ndarray, names: Sequence[str] | None) -> list[str]:
    """Return the names of the columns that are marked, or their numbers where there are no names."""
    return [repr(str(names[i])) if names is not None else str(i) for i in np.flatnonzero(which).tolist()]


def check_sizes(inputs: Span, output: Span | None, names: Sequence[str] | None) -> None:
    """Refuse inputs and outputs whose squares cannot be written, or those of their coefficients."""
    if output is not None:
        _refuse_beyond(output, "y holds numbers", "y spreads", lambda which: ", and its variance", "y")
    which_are = "X has columns whose numbers"
    _refuse_beyond(
        inputs,
        f"{which_are} are",
        f"{which_are} spread",
        lambda which: f": {listed(column_names(which, names))}. Their variances",
        "them",
    )
    if output is None:
        return
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        slope = np.where(inputs.width > 0, output.width[0] / inputs.width, 1.0)
        reach = slope * np.maximum(inputs.largest, 1.0)
    apart = (reach > LARGEST) | (slope < SMALLEST)
    if np.any(apart):
        raise ValueError(
            f"X has columns whose units are too far from those of y, so that variances of coefficients, of size "
            f"{float(slope[apart][0]):.2g}, cannot be computed with floating-point numbers: "
            f"{listed(column_names(apart, names))}. Multiply these columns or y by a power of ten"
        )


def _refuse_beyond(span: Span, are: str, spread: str, whose: Callable[[np.ndarray], str], it: str) -> None:
    """Refuse columns whose squares cannot be written, in words that say whose they are."""
    small = (span.width > 0) & (span.width < SMALLEST)
    for which, sizes, found in (
        (span.largest > LARGEST, span.largest, f"{are} as large as"),
        (small, span.width, f"{spread} only over"),
    ):
        if np.any(which):
            size = float(sizes[which][0])
            power = min(300, -int(np.floor(np.log10(min(size, np.finfo(float).max)))))  # brings them to about one
            raise ValueError(
                f"{found} {size:.2g}{whose(which)} cannot be computed with floating-point numbers; multiply {it} by "
                f"1e{power:+d}, say (from {SMALLEST:g} to {LARGEST:g} they can be used)"
            )


def check_without_intercept(span: Span, origin: np.ndarray, names: Sequence[str] | None, model: str) -> None:
    """Refuse columns far from zero, `origin` where they are, for a model without intercepts.

    One such column stands in for the intercept. Two, or one and a constant, can hardly be distinguished.
    """
    far = origin != 0
    if np.sum(far | (flat_columns(span) & (span.largest > 0))) > 1:
        raise ValueError(
            f"X has columns that lie more than {FAR:g} standard deviations from zero: "
            f"{listed(column_names(far, names))}. Without intercepts ({model}) their coefficients would be lost in "
            f"rounding; subtract {float(origin[far][0]):.3g}, say, from them, or fit with intercepts"
        )


def check_unit_sizes(
    inputs: np.ndarray, output: float | None, names: Sequence[str] | None, *, standard: bool = False
) -> None:
    """Refuse rows whose sizes do not suit the paper's model, with experts and gate vectors of about unit length.

    Parameters
    ----------
    inputs : (d,) array
        Largest distance from zero of each column.
    output : float, optional
        Size of the outputs.
    names : sequence of str, optional
        Names of the columns.
    standard : bool
        Whether inputs are declared to be standard Gaussian.
    """
    least, most = (STANDARD if standard else UNIT).tolist()
    bad = (inputs > most) | ((inputs > 0) & (inputs < least))
    if np.any(bad):
        assumed = "are said to be standard Gaussian" if standard else "meet experts of unit length"
        found = f"X has columns whose largest number is {float(inputs[bad][0]):.2g}: {listed(column_names(bad, names))}"
        found += f". Here inputs {assumed}; bring their sizes between {least:g} and {most:g}"
        raise ValueError(Advised(found, Advice.INPUT_LAW) if standard else found)
    if output is not None and not UNIT[0] <= output <= UNIT[1]:
        raise ValueError(
            f"y is of size {output:.2g}, and experts here have unit length; bring it between {UNIT[0]:g} and "
            f"{UNIT[1]:g}"
        )


def check_far_output(mean: float, deviation: float) -> None:
    """Refuse outputs so far from zero that predictions of them could not be written with the digits they have."""
    if abs(mean) > FAR_OUTPUT * deviation > 0:
        raise ValueError(
            f"y lies about {mean:.3g} from zero with a standard deviation of {deviation:.2g}: predictions in its units "
            f"would be rounded to steps of {np.spacing(abs(mean)):.1g}; subtract {mean:.3g} from y, and add it to "
            "predictions"
        )


def check_known_noise(noise: str | float, deviation: float) -> None:
    """Refuse a given noise scale that is far from the standard deviation of the outputs."""
    if isinstance(noise, str) or deviation / KNOWN_NOISE <= noise <= deviation * KNOWN_NOISE:
        return
    raise ValueError(
        f"noise of {noise:g} is given as the standard deviation of y about its expert, and that of y is "
        f"{deviation:.2g}: give one in the units of y, or let it be estimated"
    )
