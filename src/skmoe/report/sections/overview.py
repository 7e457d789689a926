"""Top of the page: an introduction, headline numbers, warnings, and notes on what was not given."""

from __future__ import annotations

import numpy as np

from skmoe.inference.diagnosis import no_rows_left
from skmoe.inference.formatting import listed, percent, three_digits
from skmoe.inference.held_out import stability_counts, unstable
from skmoe.inference.relations import is_exact
from skmoe.model.families import StudentFamily
from skmoe.report.data import ReportData
from skmoe.report.evaluated import EvaluatedClasses
from skmoe.report.figures import matplotlib_is_installed
from skmoe.report.records import Block, Card, Cards, Text, Verdict, paragraphs
from skmoe.report.sections.trust import checks
from skmoe.tables.chosen import sees_inputs

__all__ = ["overview"]

NAMED = 3  # inputs named as those that tell the regimes apart


def overview(data: ReportData) -> tuple[Block, ...]:
    """Return an introduction, warnings, headline numbers, and notes on what the report lacks."""
    warnings = [check.text for check in checks(data) if check.verdict is Verdict.CAREFUL]
    return (
        Text(_lead(data), "lead"),
        *paragraphs(warnings, "note careful"),
        Cards(_cards(data)),
        *paragraphs(_notes(data), "note"),
    )


def _lead(data: ReportData) -> str:
    g, family, output = data.model.parameters_.g, data.model.parameters_.family, data.target
    relation = f"{'linear' if g.linear else g.name} relation between the inputs and {output}"
    if data.classes:
        output = f"{output} ({', '.join(data.classes)})"
        relation = f"logistic regression of {output} on the inputs"
    elif family.ratio:
        relation = f"{family.name} regression of {output} on the inputs"
    if not sees_inputs(data.model, "expert"):
        relation = f"constant prediction of {output}"
    if data.model.n_experts_ == 1:
        return f"One regime: a single {relation} holds for all rows."
    gate = "The probability of each expert is the same for all rows"
    if sees_inputs(data.model, "gate"):
        gate = "A gate gives the probability of each expert from the inputs of a row"
    weighted = "a prediction is the experts' mean, weighted by these probabilities"
    if data.classes:
        weighted = "the probability of a class is the experts', weighted by these"
    return (
        f"The rows fall into {data.model.n_experts_} regimes, each with its own {relation}, called an expert. {gate}, "
        f"and {weighted}.{_averaged(data)}"
    )


def _averaged(data: ReportData) -> str:
    if not data.model.members_:
        return ""
    return (
        f" Predictions are averages over {len(data.model.members_)} such models; the regimes shown are the best one's."
    )


def _cards(data: ReportData) -> tuple[Card, ...]:
    noise = [_noise(data)] if data.model.parameters_.family.has_scale else []
    return (_rows(data), _regimes(data), *_held_out(data), *noise, _parameters(data))


def _rows(data: ReportData) -> Card:
    d = data.model.gate_coef_.shape[1]
    inputs = f"{d} input{'s' if d > 1 else ''}"
    fitted = data.model.record_.rows
    if data.rows is None:
        return Card("Rows of the fit", f"{fitted:,}", f"{inputs}; none were given to the report")
    if data.fit_rows is None:
        return Card("Rows", f"{data.rows.total:,}", f"{inputs}; held out of the fit to {fitted:,} rows")
    some = f"; {data.rows.n:,} of them shown" if data.rows.sampled else ""
    held = f"; {data.test.total:,} more held out" if data.test is not None else ""
    return Card("Rows", f"{data.rows.total:,}", f"{inputs}{held}{some}")


def _regimes(data: ReportData) -> Card:
    k = data.model.n_experts_
    if k == 1:
        return Card("Regimes", "1", "one expert, everywhere")
    names = list(dict.fromkeys(c.name for regime in data.regimes or () for c in regime.conditions[:1]))
    named = [*names[:NAMED], *(["others"] if len(names) > NAMED else [])]
    detail = f"told apart by {listed(named)}" if named else "one expert for each"
    low = unstable(data.model)
    if low and all(stability_counts(data.model)):
        detail += f"; {len(low)} of them not stable"
    return Card("Regimes", f"{k}", detail)


def _held_out(data: ReportData) -> tuple[Card, ...]:
    found = data.evaluation
    if isinstance(found, str) or is_exact(data.model):
        return ()
    if isinstance(found.mixture, EvaluatedClasses):
        baselines = "; ".join(f"{baseline.method} {three_digits(baseline.log_loss)}" for baseline in found.baselines)
        loss = Card("Log loss on rows held out", three_digits(found.mixture.log_loss), baselines or "smaller is better")
        always = f"always naming the most frequent class {percent(found.mixture.base_rate)}"
        right = "; ".join(
            [always, *(f"{baseline.method} {percent(baseline.accuracy)}" for baseline in found.baselines)]
        )
        return loss, Card("Accuracy on rows held out", percent(found.mixture.accuracy), right)
    baselines = "; ".join(f"{baseline.method} {three_digits(baseline.rmse)}" for baseline in found.baselines)
    what = f"root mean squared error, in the units of {data.target}{'; ' if baselines else ''}{baselines}"
    error = Card("Error on rows held out", three_digits(found.mixture.rmse), what)
    inside = percent(found.mixture.inside(0.9))
    return error, Card("Inside 90% intervals", inside, f"of {found.n:,} outputs held out")


def _noise(data: ReportData) -> Card:
    scales = data.model.noise_scale_
    if is_exact(data.model):
        return Card("Noise", "none", f"{data.target} is an exact function of inputs")
    if no_rows_left(data.model):
        return Card("Noise", "unknown", "there are as many coefficients as rows")
    low, high = three_digits(np.min(scales)), three_digits(np.max(scales))
    return Card("Noise", low if low == high else f"{low} to {high}", _scale_in_words(data))


def _scale_in_words(data: ReportData) -> str:
    family = data.model.parameters_.family
    if isinstance(family, StudentFamily):
        return "scale of Student's t"
    if family.scale_name == "variation":
        return f"coefficient of variation{' of the rate' if family.discrete else ''}"
    return f"standard deviation of {f'the logs of {data.target}' if family.ratio else data.target}"


def _parameters(data: ReportData) -> Card:
    ended = "converged" if data.model.converged_ else "not converged"
    return Card("Parameters", f"{data.model.n_parameters_}", f"the fit has {ended}")


def _notes(data: ReportData) -> tuple[str, ...]:
    notes = []
    if data.rows is None:
        notes.append(
            "Written from the model alone. With rows and outputs it would also show where each regime holds along "
            "each input, and how well the model predicts."
        )
    elif data.model.parameters_.family.columns > 1:
        notes.append(
            f"Outputs of {data.target} come in several columns, which pictures of this page do not show: they are of "
            "the model and the inputs."
        )
    elif data.y is None:
        notes.append("Written without outputs. With them it would also show how well the model predicts.")
    elif data.rows.sampled:
        notes.append(
            f"Written from {data.rows.n:,} of {data.rows.total:,} rows, evenly spaced over the table; the model was "
            "fitted to all of its rows."
        )
    if not matplotlib_is_installed():
        notes.append("Written without matplotlib, so without most figures: pip install skmoe[plot].")
    return tuple(notes)
