"""Section on certainty: standard errors, convergence, agreement of the starts, other models, number of experts."""

from __future__ import annotations

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference.diagnosis import no_rows_left
from skmoe.inference.formatting import fixed
from skmoe.inference.held_out import calibration_text, ensemble_text, limit_text, near_tie_texts, penalty_text
from skmoe.plots import ChoiceDisplay, TraceDisplay
from skmoe.report.data import ReportData
from skmoe.report.figures import draw
from skmoe.report.records import Block, Figure, Heading, Number, Table, Text, paragraphs
from skmoe.search import Stage

__all__ = ["certainty"]

LEAST_STEPS = 3  # of a run that is drawn
FLAT = 1e-3  # rise of the mean log-likelihood below which a run is not drawn


def certainty(data: ReportData) -> tuple[Block | None, ...]:
    """Describe standard errors, convergence, agreement of the starts, and the number of experts."""
    model = data.model
    compared = model.n_experts_ > 1 and model.method != "spectral"
    convergence = " ".join(text for text in (_convergence(data), _agreement(data)) if text)
    other_models = (penalty_text(model), ensemble_text(model), calibration_text(model))
    return (
        *paragraphs([_standard_errors(data), convergence, " ".join(text for text in other_models if text)]),
        _trace(data) if compared else None,
        _starts(data) if compared else None,
        *_number_of_experts(data),
    )


def _standard_errors(data: ReportData) -> str:
    if data.model.covariance_ is not None:
        return (
            "Intervals of coefficients are 95% confidence intervals from the curvature of the likelihood at its "
            "maximum. The last table also has robust standard errors, which remain valid where outputs do not "
            "scatter as the model assumes: where the two differ much, use the robust ones."
        )
    if data.model.method == "spectral":
        return "This method gives no standard errors."
    if none_left := no_rows_left(data.model):
        return f"There are no standard errors: {none_left}."
    return "There are no standard errors: the data do not identify all parameters. Interpret coefficients with care."


def _convergence(data: ReportData) -> str:
    model = data.model
    if model.record_.search.interrupted:
        return "The fit was interrupted before it reached a maximum of the likelihood."
    if model.method == "spectral":
        return "The experts are estimated from moments, and then the gate; the likelihood of both was not maximised."
    if model.converged_:
        return "The fit reached a maximum of the likelihood."
    return "The fit stopped before it reached a maximum of the likelihood."


def _agreement(data: ReportData) -> str:
    if data.model.n_experts_ == 1 or data.model.method == "spectral":
        return ""
    agreement = data.model.record_.search.agreement
    if data.model.record_.search.limited:
        more = 2 * data.model.n_init
        return f"The search ended for the work it took; {more} random starts search twice as long for a higher maximum."
    if agreement >= 2:
        return (
            f"{agreement} runs from different starts ended at the same point, so it is very likely the global maximum."
        )
    return (
        "No two runs from different starts ended at the same point, so there may be a higher maximum: fit again with "
        "another seed and compare the log-likelihood."
    )


def _trace(data: ReportData) -> Figure | None:
    steps = data.model.record_.run.objective
    if len(steps) < LEAST_STEPS or np.ptp(steps) < FLAT:
        return None  # the best start was at the maximum already
    return draw(
        TraceDisplay.from_estimator(data.model, draw=False),
        title="Log-likelihood by iteration, and where each start ended",
        caption="Left: mean log-likelihood, less the penalty, of the best run by iteration. Right: how far below it "
        "the other runs ended.",
        width=9.0,
        height=4.2,
    )


def _starts(data: ReportData) -> Table | None:
    all_starts = data.model.record_.search.starts
    starts = [start for start in all_starts if start.stage is Stage.ALL_ROWS] or all_starts
    if len(starts) < 2:  # nothing to compare
        return None
    best = max(start.log_likelihood for start in starts)
    below = [(start, best - start.log_likelihood) for start in starts]
    return Table(
        "The runs that got furthest: mean log-likelihood per row below that of the best",
        ("start", "finished on", "below the best"),
        tuple((start.name, str(start.stage), Number(gap, fixed(gap, 5))) for start, gap in below),
    )


def _number_of_experts(data: ReportData) -> tuple[Block | None, ...]:
    """Describe the choice of the number of experts, if others were tried."""
    model = data.model
    numbers = [tried.n_experts for tried in model.record_.tried]
    if len(numbers) < 2:
        return ()
    name = "Log density of held-out rows"
    bars = ", with standard errors of the difference from the number chosen"
    return (
        Heading("Why this number of experts"),
        Text(_choice_in_words(data, numbers)),
        draw(
            ChoiceDisplay.from_estimator(model, draw=False),
            title=f"{name} by number of experts",
            caption=f"{name} by number of experts{bars}; larger is better.",
            height=3.0,
        ),
        _tried(model),
    )


def _choice_in_words(data: ReportData, numbers: list[int]) -> str:
    model = data.model
    tried = f"From {numbers[0]} to {numbers[-1]} experts were tried"
    chosen = "1 was chosen" if model.n_experts_ == 1 else f"{model.n_experts_} were chosen"
    ties = [f"{text}." for text in (limit_text(model), *near_tie_texts(model)) if text]
    return " ".join(
        [
            f"{tried} and compared by the log density of rows held out: a larger number has to gain more than a "
            f"standard error, and the more the fewer of its experts are seen again in other folds. {chosen}.",
            *(ties or ["No other number is within a standard error of it."]),
        ]
    )


def _tried(model: MixtureOfExperts) -> Table:
    of_chosen = next(t.held_out for t in model.record_.tried if t.n_experts == model.n_experts_)
    rows = []
    for t in model.record_.tried:
        gain, chosen = t.held_out - of_chosen, t.n_experts == model.n_experts_
        remark = "chosen" if chosen else "near tie" if abs(gain) <= t.error else ""
        rows.append(
            (
                f"{t.n_experts}",
                remark,
                Number(t.held_out, fixed(t.held_out, 3)),
                Number(gain, "0" if chosen else f"{fixed(gain, 3)} ± {fixed(t.error, 3)}"),
                Number(t.bic, fixed(t.bic, 1)),
                Number(t.icl, fixed(t.icl, 1)),
            )
        )
    return Table(
        "Numbers of experts tried: log density per held-out row, its gain over the number chosen with standard error, "
        "and criteria, of which smaller ones are better",
        ("experts", "", "held out", "gain", "BIC", "ICL"),
        tuple(rows),
    )
