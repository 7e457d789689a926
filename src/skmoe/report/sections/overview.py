"""What the report is about: a paragraph, the headline numbers, and what was not given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skmoe.inference import few_rows
from skmoe.inference.formatting import fixed, three_digits
from skmoe.inference.held_out import stability_in_words
from skmoe.report.data import ReportData
from skmoe.report.figures import matplotlib_is_installed
from skmoe.report.records import Card

__all__ = ["Overview", "overview"]

SCALES = {"variation": "coefficient of variation"}  # by the family's name of its scale


@dataclass(frozen=True)
class Overview:
    """The top of the page: an introduction, headline numbers, and notes on what the report lacks."""

    lead: str
    cards: tuple[Card, ...]
    notes: tuple[str, ...]


def overview(data: ReportData) -> Overview:
    """The top of the page."""
    return Overview(_lead(data), _cards(data), _notes(data))


def _lead(data: ReportData) -> str:
    k, g, family = data.model.n_experts_, data.model.parameters_.g, data.model.parameters_.family
    shape = f"{family.name} regression" if family.ratio else f"{'linear' if g.linear else g.name} relation"
    relation = (
        f"{shape} of {data.target} on the inputs" if family.ratio else f"{shape} between the inputs and {data.target}"
    )
    if k == 1:
        return f"One regime: a single {relation} holds for all rows."
    return (
        f"The rows fall into {k} regimes, each with its own {relation}, called an expert. A gate gives the probability "
        "of each expert from the inputs of a row, and a prediction is the experts' mean, weighted by these "
        f"probabilities.{_averaged(data)}"
    )


def _averaged(data: ReportData) -> str:
    if not data.model.members_:
        return ""
    return (
        f" Predictions are averages over {len(data.model.members_)} such models; the regimes shown are the best one's."
    )


def _cards(data: ReportData) -> tuple[Card, ...]:
    model = data.model
    d, k = model.n_features_in_, model.n_experts_
    if data.rows is not None:
        cards = [Card("Rows", f"{len(data.rows.values):,}", f"{d} input{'s' if d > 1 else ''}")]
    else:
        cards = [Card("Inputs", f"{d}", "no rows were given")]
    cards.append(Card("Experts", f"{k}", "one for each regime" if k > 1 else "one regime"))
    if data.quality:
        here, line = data.quality[-2:]
        cards.append(Card("R²", fixed(here.r2, 2), f"{here.rows} rows; least squares {fixed(line.r2, 2)}"))
    if model.parameters_.family.has_scale:
        low, high = three_digits(np.min(model.noise_scale_)), three_digits(np.max(model.noise_scale_))
        what = SCALES.get(model.parameters_.family.scale_name, f"std. deviation of {data.target}")
        cards.append(Card("Noise", low if low == high else f"{low}–{high}", what))
    cards.append(Card("Fit", "converged" if model.converged_ else "not converged", f"{model.n_parameters_} parameters"))
    return tuple(cards)


def _notes(data: ReportData) -> tuple[str, ...]:
    said = [*few_rows(data.model), stability_in_words(data.model)]
    notes = [f"{text[0].upper()}{text[1:]}." for text in said if text]
    if data.rows is None:
        notes.append(
            "Written from the model alone. With rows and outputs it would also show where each regime holds along "
            "each input, and how well the model predicts."
        )
    elif data.y is None:
        notes.append("Written without outputs. With them it would also show how well the model predicts.")
    if not matplotlib_is_installed():
        notes.append("Written without matplotlib, so without most figures: pip install skmoe[plot].")
    return tuple(notes)
