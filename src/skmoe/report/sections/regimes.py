"""What the regimes are: each expert in words, then the coefficients of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skmoe.plots import CoefficientsDisplay
from skmoe.report.coefficient_tables import side_by_side
from skmoe.report.data import ReportData
from skmoe.report.figures import draw
from skmoe.report.records import ExpertText, Figure, Table, expert_texts
from skmoe.report.words import experts_in_words

__all__ = ["Regimes", "regimes"]


@dataclass(frozen=True)
class Regimes:
    """Sentences about the experts, their coefficients side by side, and a figure of them."""

    experts: tuple[ExpertText, ...]
    coefficients: Table
    figure: Figure | None


def regimes(data: ReportData) -> Regimes:
    """Each expert in words, then the coefficients of all."""
    model = data.model
    spread = None if data.rows is None else np.std(data.rows.values, axis=0)
    scaled = "" if spread is None else ", each times the standard deviation of its input, so that inputs are comparable"
    return Regimes(
        expert_texts(experts_in_words(model, data.X, target=data.target)),
        side_by_side(
            "Coefficients of the experts, with 95% intervals; grey where zero is inside", data.coefficients, "expert "
        ),
        draw(
            CoefficientsDisplay,
            model,
            scale=spread,
            title="Coefficients of the experts with intervals",
            caption=f"Coefficients with 95% intervals{scaled}.",
            height=min(2.2 + 0.12 * model.n_features_in_ * (1 + model.n_experts_), 7.0),
        ),
    )
