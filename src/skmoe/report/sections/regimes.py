"""What the regimes are: where each holds, as ranges, what it says, and a picture of each."""

from __future__ import annotations

from dataclasses import dataclass

from skmoe.plots import ExpertDisplay, RangeDisplay
from skmoe.plots.outputs import MOST_POINTS
from skmoe.report.data import ReportData
from skmoe.report.figures import draw, draw_made
from skmoe.report.records import Figure, RegimeCard, expert_style
from skmoe.report.words import experts_in_words

__all__ = ["Regimes", "regimes"]

SIZE = {"width": 3.5, "height": 2.5}  # inches: two stand side by side, or below each other on a telephone


@dataclass(frozen=True)
class Regimes:
    """One card for each regime, and how to read them."""

    cards: tuple[RegimeCard, ...]
    remark: str


def regimes(data: ReportData) -> Regimes:
    """Where each expert holds, what it says, and a picture of each."""
    sentences = experts_in_words(data.model, data.X, target=data.target)
    cards = tuple(
        RegimeCard(expert_style(i), f"Expert {i + 1}", _where(data, i), law, _figures(data, i))
        for i, law in enumerate(sentences)
    )
    return Regimes(cards, _remark(data, any(card.figures for card in cards)))


def _where(data: ReportData, i: int) -> str:
    if data.regimes is None:
        return "Where it holds can be said with rows only"
    where = data.regimes[i].where
    return where if data.regimes[i].conditions else where.capitalize()


def _figures(data: ReportData, i: int) -> tuple[Figure, ...]:
    drawn = (_range(data, i), _law(data, i))
    return tuple(figure for figure in drawn if figure is not None)


def _range(data: ReportData, i: int) -> Figure | None:
    if data.rows is None or data.regimes is None or not data.regimes[i].conditions:
        return None
    conditions = data.regimes[i].conditions
    name = next((c.name for c in conditions if not c.direction), conditions[0].name)
    drawn = RangeDisplay.from_estimator(data.model, data.X, i, feature=name, draw=False)
    shaded = "" if drawn.range is None else "; shaded where it holds"
    return draw_made(
        lambda: drawn,
        title=f"Where expert {i + 1} holds along {name}",
        caption=f"Its rows among all rows, by {name}{shaded}.",
        **SIZE,
    )


def _law(data: ReportData, i: int) -> Figure | None:
    if data.outputs_to_draw is None or data.main_input is None:
        return None
    caption = "What it says along its strongest input"
    if data.model.n_features_in_ > 1:
        caption += ", its rows moved to their mean in the others"
    return draw(
        ExpertDisplay,
        data.model,
        data.X,
        data.y,
        i,
        target=data.target,
        title=f"What expert {i + 1} says of {data.target}",
        caption=f"{caption}.",
        **SIZE,
    )


def _remark(data: ReportData, pictures: bool) -> str:
    said = "Each effect is for other inputs held fixed. In brackets: 95% intervals."
    if data.model.covariance_ is None:
        said = "Each effect is for other inputs held fixed; there are no standard errors."
    if pictures and data.model.n_experts_ > 1:
        said += " The rows of an expert are all rows, weighted by its probability."
        if data.outputs_to_draw is not None:
            said += " Dots are rows that most probably belong to it given their output too."
    n = 0 if data.outputs_to_draw is None else len(data.outputs_to_draw)
    if pictures and n > MOST_POINTS:
        said += f" Of more than {MOST_POINTS:,} rows so many are drawn, chosen at random."
    return said
