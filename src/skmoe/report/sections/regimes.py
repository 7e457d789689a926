"""Section on regimes: where each holds, as ranges, its effects, and a picture of each."""

from __future__ import annotations

from skmoe.plots import ExpertDisplay, ExpertProbabilityDisplay, RangeDisplay
from skmoe.plots.outputs import MOST_POINTS
from skmoe.report.data import ReportData
from skmoe.report.figures import draw
from skmoe.report.records import Block, Figure, Regime, Text
from skmoe.report.text import describe_experts

__all__ = ["regimes"]

SIZE = {"width": 3.5, "height": 2.5}  # inches: two stand side by side, or below each other on a telephone


def regimes(data: ReportData) -> tuple[Block, ...]:
    """Describe where each expert holds and its effects, with a picture of each, and how to read them."""
    sentences = describe_experts(data.model, data.support, data.regimes, data.target)
    found = tuple(Regime(i, _where(data, i), effects, _figures(data, i)) for i, effects in enumerate(sentences))
    return *found, Text(_remark(data, any(one.figures for one in found)), "remark")


def _where(data: ReportData, i: int) -> str:
    where = data.regimes[i].where
    return where if data.regimes[i].conditions else where.capitalize()


def _figures(data: ReportData, i: int) -> tuple[Figure, ...]:
    drawn = (_range(data, i), _effect(data, i))
    return tuple(figure for figure in drawn if figure is not None)


def _range(data: ReportData, i: int) -> Figure | None:
    if data.rows is None or not data.regimes[i].conditions:
        return None
    conditions = data.regimes[i].conditions
    name = next((c.name for c in conditions if not c.direction), conditions[0].name)
    drawn = RangeDisplay.from_estimator(data.model, data.X, i, feature=name, draw=False)
    shaded = "" if drawn.range is None else "; shaded where it holds"
    return draw(
        drawn,
        title=f"Where expert {i + 1} holds along {name}",
        caption=f"Its rows among all rows, by {name}{shaded}.",
        **SIZE,
    )


def _effect(data: ReportData, i: int) -> Figure | None:
    if data.y is None or data.main_input is None:
        return None
    if data.outcomes:
        return _probabilities(data, i)
    caption = "Its predictions along its strongest input"
    if data.model.gate_coef_.shape[1] > 1:
        caption += ", its rows moved to their mean in the others"
    return draw(
        ExpertDisplay.from_estimator(data.model, data.X, data.y, i, target=data.target, draw=False),
        title=f"Predictions of {data.target} by expert {i + 1}",
        caption=f"{caption}.",
        **SIZE,
    )


def _probabilities(data: ReportData, i: int) -> Figure | None:
    one = len(data.outcomes) == 2
    what = f"Probability of {data.outcomes[1]}" if one else "Probabilities"
    others = ", other inputs at their means" if data.model.gate_coef_.shape[1] > 1 else ""
    return draw(
        ExpertProbabilityDisplay.from_estimator(data.model, data.X, data.outputs, i, draw=False),
        title=f"Predictions of {data.target} by expert {i + 1}",
        caption=f"{what} along its strongest input{others}: the line is its own, marks are observed shares.",
        **SIZE,
    )


def _remark(data: ReportData, pictures: bool) -> str:
    remark = "Each effect is for other inputs held fixed. In brackets: 95% intervals."
    if data.model.covariance_ is None:
        remark = "Each effect is for other inputs held fixed; there are no standard errors."
    if pictures and data.model.n_experts_ > 1:
        remark += " The rows of an expert are all rows, weighted by its probability."
        if data.y is not None and not data.outcomes:
            remark += " Dots are rows that most probably belong to it given their output too."
    if pictures and data.outcomes and data.y is not None:
        remark += (
            " Marks are shares among its rows, in groups along the input and with standard errors, moved by its "
            "effects of the other inputs."
        )
    n = 0 if data.y is None or data.outcomes else len(data.y)
    if pictures and n > MOST_POINTS:
        remark += f" Of more than {MOST_POINTS:,} rows so many are drawn, chosen at random."
    return remark
