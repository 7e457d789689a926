"""Sections on coefficients: those of the experts side by side, as tables and as a picture, and all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from skmoe.inference.formatting import p_value, ratio_text, three_digits
from skmoe.inference.summary import RATIOS, feature_names
from skmoe.plots import CoefficientsDisplay
from skmoe.plots.coefficients import most_inputs
from skmoe.report.data import Coefficient, ReportData
from skmoe.report.figures import draw
from skmoe.report.records import Block, Figure, Number, Table
from skmoe.report.support import rows_in_words

__all__ = ["coefficients", "numbers", "side_by_side"]

SHARE = r" \(\d+%\)"  # of the rows, in the name of an expert


def coefficients(data: ReportData) -> tuple[Block | None, ...]:
    """Return the coefficients of the experts side by side, and a picture of them; their exponentials if ratios."""
    sure = data.model.covariance_ is not None
    caption = "Coefficients of the experts, with 95% intervals; grey where zero is inside"
    table = side_by_side(
        caption if sure else "Coefficients of the experts", data.coefficients, "expert ", few=_few(data)
    )
    return table, _ratios(data), _figure(data)


def numbers(data: ReportData) -> tuple[Block, ...]:
    """Return a table of every coefficient with its interval, both standard errors, t and p."""
    robust = [Coefficient(*row[:8]).error for row in data.model.summary(robust=True).rows]
    rows: list[tuple[str | Number, ...]] = []
    for c, robust_error in zip(data.coefficients, robust, strict=True):
        numbers = (Number(value) for value in (c.estimate, c.low, c.high, c.error, robust_error, c.t))
        rows.append((c.term, re.sub(SHARE, "", c.part), *numbers, Number(c.p, p_value(c.p, "–"))))
    name = data.model.parameters_.family.ratio
    units = f"logs of {name}s for experts, in the units of the inputs" if name else None
    table = Table(
        f"All coefficients, {units or f'in the units of the inputs and of {data.target}'}",
        ("term", "part", "estimate", "95% from", "to", "std. error", "robust", "t", "p"),
        tuple(rows),
    )
    return (table,)


def _ratios(data: ReportData) -> Table | None:
    ratio = data.model.parameters_.family.ratio
    if not ratio:
        return None
    terms = [c._replace(estimate=c.ratio, low=c.ratio_low, high=c.ratio_high) for c in data.coefficients]
    name = f"{ratio[0].upper()}{ratio[1:]}s"
    of_class = f", of each class against {data.classes[0]}" if data.classes else ""
    return side_by_side(
        f"{name}{of_class}: by how much one unit more of an input multiplies {RATIOS[ratio]}, with 95% intervals; grey "
        "where 1 is inside",
        [c for c in terms if c.term != "intercept"],
        "expert ",
        neutral=1.0,
        few=_few(data),
    )


def _few(data: ReportData) -> dict[tuple[int, str], str]:
    """Find coefficients of values that too few rows of an expert have, with the number of these rows."""
    names = feature_names(data.model)
    return {
        (i, names[j]): rows_in_words(compared.least(i))
        for i in range(data.model.n_experts_)
        for j, compared in enumerate(data.support.comparisons)
        if compared is not None and not data.support.known(i)[j]
    }


def _figure(data: ReportData) -> Figure | None:
    model = data.model
    deviation = None if data.rows is None else np.std(data.rows.values, axis=0)
    display = CoefficientsDisplay.from_estimator(model, scale=deviation, draw=False)
    intervals = "" if model.covariance_ is None else " with 95% intervals"
    per, scaled = "unit", ""
    if deviation is not None:
        per = "standard deviation"
        scaled = ", each times the standard deviation of its input, so that inputs are comparable"
    ratio = model.parameters_.family.ratio
    what = f"{ratio[0].upper()}{ratio[1:]}s" if ratio else "Coefficients"
    if ratio:
        scaled = f", for one {per} more of an input{', so that inputs are comparable' if deviation is not None else ''}"
    if len(data.classes) > 2:
        scaled += f", of each class against {data.classes[0]}"
    d, k, m = model.gate_coef_.shape[1], model.n_experts_, model.parameters_.family.predictors
    most = most_inputs(m)
    largest = f" The {most} largest of {d} inputs." if d > most else ""
    wide = " An arrow at the edge: the interval goes on, far beyond the others." if display.clipped else ""
    return draw(
        display,
        title=f"{what} of the experts{intervals}",
        caption=f"{what}{intervals}{scaled}.{largest}{wide}",
        height=min(1.5 + min(d, most) * m * (0.14 + 0.08 * k), 14.0),
    )


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
