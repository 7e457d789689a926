"""How sure this is: standard errors, convergence, agreement of the starts, and the number of experts."""

from __future__ import annotations

from dataclasses import dataclass

from skmoe.inference.formatting import fixed
from skmoe.plots import ChoiceDisplay, TraceDisplay
from skmoe.report.data import ReportData
from skmoe.report.figures import draw
from skmoe.report.records import Figure, Number, Table
from skmoe.search import Stage

__all__ = ["Certainty", "NumberOfExperts", "certainty"]


@dataclass(frozen=True)
class NumberOfExperts:
    """How the number of experts was chosen."""

    text: str
    figure: Figure | None
    bic: Table


@dataclass(frozen=True)
class Certainty:
    """Text on standard errors and convergence, how the runs went, and how the number of experts was chosen."""

    paragraphs: tuple[str, ...]
    trace: Figure | None
    starts: Table | None
    number: NumberOfExperts | None


def certainty(data: ReportData) -> Certainty:
    """Standard errors, convergence, agreement of the starts, and the number of experts."""
    compared = data.model.n_experts_ > 1 and data.model.method != "spectral"
    convergence = " ".join(text for text in (_convergence(data), _agreement(data)) if text)
    return Certainty(
        (_standard_errors(data), convergence),
        _trace(data) if compared else None,
        _starts(data) if compared else None,
        _number_of_experts(data),
    )


def _standard_errors(data: ReportData) -> str:
    if data.model.covariance_ is not None:
        return (
            "Intervals are 95% confidence intervals from the curvature of the likelihood at its maximum. The last "
            "table also has robust standard errors, which remain valid where the noise is not as the model assumes: "
            "where the two differ much, use the robust ones."
        )
    if data.model.method == "spectral":
        return "This method gives no standard errors."
    return "There are no standard errors: the data do not identify all parameters. Interpret coefficients with care."


def _convergence(data: ReportData) -> str:
    model = data.model
    if model.history_["interrupted"]:
        return "The fit was interrupted before it reached a maximum of the likelihood."
    if model.method == "spectral":
        return "The experts are estimated from moments, and then the gate; the likelihood of both was not maximised."
    if model.converged_:
        return "The fit reached a maximum of the likelihood."
    return "The fit stopped before it reached a maximum of the likelihood."


def _agreement(data: ReportData) -> str:
    if data.model.n_experts_ == 1 or data.model.method == "spectral":
        return ""
    agreement = data.model.history_["agreement"]
    if agreement >= 2:
        return (
            f"{agreement} runs from different starts ended at the same point, so it is very likely the global maximum."
        )
    return (
        "No two runs from different starts ended at the same point, so there may be a higher maximum: fit again with "
        "another random_state and compare the log-likelihood."
    )


def _trace(data: ReportData) -> Figure | None:
    return draw(
        TraceDisplay,
        data.model,
        title="Log-likelihood by iteration, and where each start ended",
        caption="Left: mean log-likelihood, less the penalty, of the best run by iteration. Right: how far below it "
        "the other runs ended.",
        width=9.0,
        height=4.2,
    )


def _starts(data: ReportData) -> Table | None:
    starts = data.model.history_["starts"]
    starts = [start for start in starts if start[2] == Stage.ALL_ROWS] or starts
    if not starts:
        return None
    best = max(value for _, value, _ in starts)
    return Table(
        "The runs that got furthest: mean log-likelihood per row below that of the best",
        ("start", "finished on", "below the best"),
        tuple((str(name), str(stage), Number(best - value, fixed(best - value, 5))) for name, value, stage in starts),
    )


def _number_of_experts(data: ReportData) -> NumberOfExperts | None:
    tried = data.model.history_["bic"]
    if not tried:
        return None
    return NumberOfExperts(
        f"From {tried[0][0]} to {tried[-1][0]} experts were tried; {data.model.n_experts_} had the smallest BIC, which "
        "weighs fit against the number of parameters.",
        draw(
            ChoiceDisplay,
            data.model,
            title="BIC by number of experts",
            caption="BIC by number of experts; smaller is better.",
            height=3.0,
        ),
        Table(
            "BIC by number of experts",
            ("experts", "BIC"),
            tuple((f"{k}", Number(bic, fixed(bic, 1))) for k, bic in tried),
        ),
    )
