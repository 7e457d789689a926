"""Section on the gate: in sentences, along each input, and its coefficients."""

from __future__ import annotations

from skmoe.plots import GateDisplay, ResponsibilityDisplay
from skmoe.plots.outputs import MOST_POINTS
from skmoe.report.data import ReportData
from skmoe.report.figures import draw
from skmoe.report.gate_picture import gate_picture
from skmoe.report.records import Block, Experts, Figure, Heading, paragraphs
from skmoe.report.sections.coefficients import side_by_side
from skmoe.report.text import gate_in_words
from skmoe.tables.chosen import sees_inputs

__all__ = ["gate"]


def gate(data: ReportData) -> tuple[Block | None, ...]:
    """Describe the gate in sentences, along each input, and by its coefficients; one expert by a sentence only."""
    model = data.model
    sentences = gate_in_words(model, data.X)
    if model.n_experts_ == 1:
        return paragraphs(sentences)
    return (
        Experts(tuple(sentences)),
        *paragraphs([_remark(data)]),
        *((Heading("Along one input"), gate_picture(data.curves)) if data.curves else ()),
        _map(data),
        _responsibilities(data),
        side_by_side(
            "Coefficients of the gate: change of the log-odds per unit, with 95% intervals", data.coefficients, "gate "
        ),
    )


def _remark(data: ReportData) -> str:
    if not sees_inputs(data.model, "gate"):
        return ""
    those = "the rows of the fit" if data.rows is None else "the given rows"
    return (
        f"Inputs are named by how much the gate changes with them over {those}. The rows of an expert are all rows, "
        "weighted by the probability that the gate gives it; a range is the one that tells them best from the others."
    )


def _map(data: ReportData) -> Figure | None:
    if len(data.curves) < 2:
        return None
    others = ", the others at typical values" if data.model.gate_coef_.shape[1] > 2 else ""
    return draw(
        GateDisplay.from_estimator(data.model, data.X, [curve.name for curve in data.curves[:2]], draw=False),
        title="The most probable expert over the two inputs that matter most to the gate",
        caption=f"The most probable expert over the two inputs that matter most to the gate{others}; the stronger the "
        "colour, the higher its probability.",
    )


def _responsibilities(data: ReportData) -> Figure | None:
    if data.y is None or data.main_input is None:
        return None
    n = len(data.y)
    drawn = f" Of {n:,} rows {MOST_POINTS:,} are drawn, chosen at random." if n > MOST_POINTS else ""
    return draw(
        ResponsibilityDisplay.from_estimator(
            data.model, data.X, data.outputs, data.main_input, target=data.target, draw=False
        ),
        title="Rows in the colours of their most probable experts",
        caption=f"{data.target} against {data.main_input}: each row in the colour of the expert it most probably "
        f"belongs to, mixed where that is not clear.{drawn}",
    )
