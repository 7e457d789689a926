"""Sections on coefficients: those of the experts side by side, as tables and as a picture, and all of them."""

from __future__ import annotations

import numpy as np

from skmoe.inference.summary import RATIOS, feature_names
from skmoe.plots import CoefficientsDisplay
from skmoe.plots.coefficients import most_inputs
from skmoe.report.coefficient_tables import all_coefficients, side_by_side
from skmoe.report.data import ReportData
from skmoe.report.figures import draw
from skmoe.report.records import Block, Figure, Table
from skmoe.report.support import rows_in_words

__all__ = ["coefficients", "numbers"]


def coefficients(data: ReportData) -> tuple[Block | None, ...]:
    """Return the coefficients of the experts side by side, and a picture of them; their exponentials if ratios."""
    sure = data.model.covariance_ is not None
    caption = "Coefficients of the experts, with 95% intervals; grey where zero is inside"
    table = side_by_side(
        caption if sure else "Coefficients of the experts", data.coefficients, "expert ", few=_few(data)
    )
    return table, _ratios(data), _figure(data)


def numbers(data: ReportData) -> tuple[Block, ...]:
    """Return every coefficient, with both kinds of standard errors."""
    return (all_coefficients(data),)


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
