"""Tables of coefficients: experts or gate side by side, and all of them one below the other."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from skmoe.inference.formatting import p_value, ratio_text, three_digits
from skmoe.report.data import Coefficient, ReportData
from skmoe.report.records import Number, Table

__all__ = ["all_coefficients", "side_by_side"]

SHARE = r" \(\d+%\)"  # of the rows, in the name of an expert


def side_by_side(
    caption: str,
    coefficients: Sequence[Coefficient],
    prefix: str,
    *,
    neutral: float = 0.0,
    few: Mapping[tuple[int, str], str] | None = None,
) -> Table:
    """Put the parts whose name begins with `prefix` side by side as columns; all have the same terms in the same order.

    Those whose interval holds `neutral`, the value of no effect, are shown in grey; those in `few`, by expert and term,
    are shown as unknown, with the text on their rows.
    """
    parts: dict[str, list[Coefficient]] = {}
    for coefficient in coefficients:
        if coefficient.part.startswith(prefix):
            parts.setdefault(coefficient.part, []).append(coefficient)
    rows = tuple(
        (terms[0].term, *(_with_interval(term, neutral, few or {}) for term in terms))
        for terms in zip(*parts.values(), strict=True)
    )
    return Table(caption, ("input", *(part.replace("gate ", "expert ") for part in parts)), rows)


def _with_interval(coefficient: Coefficient, neutral: float, few: Mapping[tuple[int, str], str]) -> Number:
    expert = re.match(r"expert (\d+)", coefficient.part)
    rows = few.get((int(expert[1]) - 1, coefficient.term)) if expert else None
    if rows is not None:
        return Number(float("nan"), "unknown", detail=rows, muted=True)
    low, high, value = coefficient.low, coefficient.high, coefficient.estimate
    text = ratio_text if neutral == 1 else three_digits
    if not high > low:
        return Number(value, text(value))
    return Number(value, text(value), detail=f"{text(low)} to {text(high)}", muted=low < neutral < high)


def all_coefficients(data: ReportData) -> Table:
    """Return a table of every coefficient with its interval, both standard errors, t and p."""
    robust = [Coefficient(*row[:8]).error for row in data.model.summary(robust=True).rows]
    rows: list[tuple[str | Number, ...]] = []
    for c, robust_error in zip(data.coefficients, robust, strict=True):
        numbers = (Number(value) for value in (c.estimate, c.low, c.high, c.error, robust_error, c.t))
        rows.append((c.term, re.sub(SHARE, "", c.part), *numbers, Number(c.p, p_value(c.p, "–"))))
    name = data.model.parameters_.family.ratio
    units = f"logs of {name}s for experts, in the units of the inputs" if name else None
    return Table(
        f"All coefficients, {units or f'in the units of the inputs and of {data.target}'}",
        ("term", "part", "estimate", "95% from", "to", "std. error", "robust", "t", "p"),
        tuple(rows),
    )
