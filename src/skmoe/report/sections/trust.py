"""Section on trust: coverage of intervals, stability of the regimes, rows for each parameter, and warnings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from skmoe.inference import few_rows, rows_outside
from skmoe.inference.calibrate import COVERAGES
from skmoe.inference.class_confidence import TOLERABLE, UNLIKELY, ConfidenceVerdict
from skmoe.inference.diagnosis import SMALL_SHARE, rows_fitted
from skmoe.inference.formatting import fixed, listed, percent, three_digits
from skmoe.inference.held_out import compared_models, limit_text, near_tie_texts, stability_counts, stability_text
from skmoe.inference.relations import QUESTIONS, all_but_exact, in_words, is_exact
from skmoe.plots import CalibrationDisplay, ReliabilityDisplay
from skmoe.report.data import ReportData
from skmoe.report.evaluated import SAME, EvaluatedClasses
from skmoe.report.evaluation import Evaluation
from skmoe.report.figures import draw
from skmoe.report.records import Block, Check, Checks, Figure, Heading, Points, Verdict
from skmoe.tables.relations import RelationKind

__all__ = ["checks", "trust"]

ALWAYS = (
    "Coefficients describe how rows differ, not what happens when an input is changed.",
    "Far from the rows of the fit the model extrapolates: it is less reliable there.",
    "Correlated inputs share their effect: a single coefficient then says little, but predictions are hardly affected.",
)
OF_PROBABILITIES = {
    ConfidenceVerdict.RIGHT: Verdict.FINE,
    ConfidenceVerdict.TOO_SURE: Verdict.CAREFUL,
    ConfidenceVerdict.LESS_SURE: Verdict.NOTE,
}
ROWS_OF_A_BIN = 15  # of a calibration picture, at least on average


def trust(data: ReportData) -> tuple[Block | None, ...]:
    """Check the model, draw its calibration, and warn of what is true of every model of this kind."""
    return Checks(checks(data)), _calibration(data), Heading("In any case"), Points(ALWAYS)


def checks(data: ReportData) -> tuple[Check, ...]:
    """Return the checks of how far to trust the model."""
    of_predictions = () if is_exact(data.model) else (_explained(data), _errors(data), _coverage(data))
    of_fit = (_stability(data), *_rows(data), _number(data), _ended(data), _range(data), _small(data))
    return tuple(check for check in (*_relations(data), *of_predictions, *of_fit) if check is not None)


def _relations(data: ReportData) -> list[Check]:
    """Report exact relations, repeated inputs, identifiers and groups of rows."""
    found = []
    for one in data.model.record_.relations:
        verdict = Verdict.NOTE if one.kind in (RelationKind.REPEATED, RelationKind.GROUPS) else Verdict.CAREFUL
        text = in_words(one, data.target)
        found.append(Check(QUESTIONS[RelationKind(one.kind)].capitalize(), ", ".join(one.columns), f"{text}.", verdict))
    return found


def _explained(data: ReportData) -> Check | None:
    """Check whether rows held out are predicted all but exactly."""
    r2 = None if isinstance(data.evaluation, str) else getattr(data.evaluation.mixture, "r2", None)
    text = "" if r2 is None else all_but_exact(r2, data.target)
    return Check("All but exact", f"R² {fixed(r2, 4)}", f"{text}.", Verdict.CAREFUL) if r2 and text else None


def _careful(trouble: object) -> Verdict:
    return Verdict.CAREFUL if trouble else Verdict.FINE


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _errors(data: ReportData) -> Check | None:
    """Check whether predictions of rows held out are better than those of simpler methods."""
    found = data.evaluation
    if isinstance(found, str):
        return None
    ours, simplest = found.mixture.loss, next(iter(found.baselines), None)
    finding, verdict = f"{found.mixture.LOSS[1]} {three_digits(ours)}", Verdict.FINE
    text = "They are better than the mean of all."
    if simplest is not None:
        finding += f", of {simplest.method} {three_digits(simplest.loss)}"
        text = f"They are better than those of {simplest.method}."
        if ours > (1 - SAME) * simplest.loss:
            verdict, text = Verdict.NOTE, f"They are about as good as those of {simplest.method}."
    if found.shortfall:
        verdict, text = Verdict.CAREFUL, f"{found.shortfall}."
    return Check("Predictions of rows held out", finding, text, verdict)


def _coverage(data: ReportData) -> Check | None:
    if isinstance(data.evaluation, str):
        return _coverage_in_the_fit(data)
    mixture = data.evaluation.mixture
    if isinstance(mixture, EvaluatedClasses):
        return _about_probabilities(mixture)
    return _about_coverage("Intervals on rows held out", [(c, mixture.inside(c)) for c in COVERAGES], len(mixture.y))


def _about_probabilities(mixture: EvaluatedClasses) -> Check:
    """Check whether the most probable class is observed as often as its probability says."""
    found = mixture.confidence
    verdict = OF_PROBABILITIES[found.verdict]
    far = f", as far as {found.n:,} rows can tell" if verdict is Verdict.FINE else ""
    return Check("Probabilities on rows held out", found.finding, f"{found.verdict.value}{far}.", verdict)


def _coverage_in_the_fit(data: ReportData) -> Check | None:
    found, n = data.model.record_.coverage, data.model.record_.fold_rows
    return _about_coverage("Intervals on rows left out in the fit", found, n) if found else None


def _about_coverage(name: str, found: Sequence[tuple[float, float]], n: int) -> Check:
    finding = listed([f"{100 * c:g}% intervals hold {percent(share)}" for c, share in found])
    short: list[str] = []
    long: list[str] = []
    for c, share in found:
        if abs(share - c) > max(TOLERABLE, UNLIKELY * float(np.sqrt(c * (1 - c) / n))):
            (long if share > c else short).append(f"{100 * c:g}%")
    if short:
        text = f"Intervals of {listed(short)} hold fewer outputs held out than they should: they are too narrow."
        return Check(name, finding, text, Verdict.CAREFUL)
    if long:
        text = f"Intervals of {listed(long)} hold more than they should: they are wider than need be."
        return Check(name, finding, text, Verdict.NOTE)
    text = f"They hold as many as they should, as far as {n:,} rows can tell."
    return Check(name, finding, text, Verdict.FINE)


def _stability(data: ReportData) -> Check | None:
    counts = stability_counts(data.model)
    if data.model.n_experts_ == 1 or not all(counts):
        return None
    seen = ", ".join(f"expert {i + 1} in {count}" for i, count in enumerate(counts))
    low = stability_text(data.model)
    text = _sentence(low) if low else f"{_sentence(compared_models(data.model))[:-1]} show the same regimes."
    return Check("Stability of the regimes", f"{seen} {compared_models(data.model)}", text, _careful(low))


def _rows(data: ReportData) -> tuple[Check, ...]:
    n, p = rows_fitted(data.model), data.model.n_parameters_
    notes = few_rows(data.model)
    text = " ".join(_sentence(text) for text in notes) if notes else "Enough rows for this model."
    return (Check("Rows for each parameter", f"{n / p:.1f} ({n:,g} rows, {p} parameters)", text, _careful(notes)),)


def _number(data: ReportData) -> Check | None:
    tried = data.model.record_.tried
    if len(tried) < 2:
        return None
    limit, ties = limit_text(data.model), near_tie_texts(data.model)
    notes = [
        *(["At the limit.", _sentence(limit)] if limit else []),
        *(["Near tie.", *map(_sentence, ties)] if ties else []),
    ]
    finding = f"{data.model.n_experts_} of {tried[0].n_experts} to {tried[-1].n_experts} tried"
    if not notes:
        return Check("Number of experts", finding, "Rows held out are clear about it.", Verdict.FINE)
    return Check("Number of experts", finding, " ".join(notes), Verdict.NOTE)


def _ended(data: ReportData) -> Check | None:
    model = data.model
    if model.method == "spectral":
        return None
    if not model.converged_:
        return Check(
            "The fit", "not converged", "It stopped before it reached a maximum of the likelihood.", Verdict.CAREFUL
        )
    if model.n_experts_ == 1:
        return Check("The fit", "converged", "It is at the maximum of the likelihood.", Verdict.FINE)
    agreement = model.record_.search.agreement
    if agreement >= 2:
        text = "It is very likely at the highest maximum of the likelihood."
        return Check("The fit", f"converged; {agreement} starts ended at it", text, Verdict.FINE)
    text = "There may be a higher maximum of the likelihood: fit again with another seed, or with more starts."
    return Check("The fit", "converged; no two starts ended at the same point", text, Verdict.NOTE)


def _range(data: ReportData) -> Check | None:
    found = None if data.test is None else rows_outside(data.model, data.test.values)
    if found is None:
        return None
    text = "Predictions there are extrapolations." if found.outside else "The model does not extrapolate."
    return Check("Range of the held-out rows", str(found), text, Verdict.NOTE if found.outside else Verdict.FINE)


def _small(data: ReportData) -> Check | None:
    small = [i for i, share in enumerate(data.model.shares_) if share < SMALL_SHARE]
    if not small:
        return None
    finding = listed([f"expert {i + 1} has {percent(data.model.shares_[i])} of the rows" for i in small])
    which = "Few rows belong to " + listed([f"expert {i + 1}" for i in small])
    return Check("Small experts", finding, f"{which}: they may be outliers.", Verdict.NOTE)


def _calibration(data: ReportData) -> Figure | None:
    found = data.evaluation
    if not isinstance(found, Evaluation) or is_exact(data.model):
        return None
    if isinstance(found.mixture, EvaluatedClasses):
        return _reliability(data, found.mixture)
    pit = found.mixture.pit
    bins = int(np.clip(len(pit) // ROWS_OF_A_BIN, 4, 20))
    return draw(
        CalibrationDisplay.from_pit(pit, bins=bins, draw=False),
        title="Calibration of the predictive distribution on rows held out",
        caption="Calibration on rows held out. Left: where outputs fall in their predictive distributions; flat is "
        "right, high in the middle means that intervals are too wide, low in the middle too narrow. Right: share of "
        "outputs inside intervals; the diagonal is right.",
        height=3.2,
    )


def _reliability(data: ReportData, mixture: EvaluatedClasses) -> Figure | None:
    bins = int(np.clip(len(mixture.y) // ROWS_OF_A_BIN, 4, 10))
    display = ReliabilityDisplay.from_probabilities(
        mixture.proba, mixture.y, data.outcomes, weight=mixture.weight, bins=bins, draw=False
    )
    left_out = len(data.outcomes) - len(display.names)
    most = f" The {len(display.names)} most frequent of {len(data.outcomes)} classes." if left_out > 1 else ""
    return draw(
        display,
        title=f"Reliability of the probabilities of {data.target} on rows held out",
        caption="Reliability on rows held out. Left: how often a class came among rows that were given about the same "
        "probability for it, with 95% intervals; on the diagonal probabilities are right, below it too large. Right: "
        f"how many rows were given such a probability.{most}",
        height=3.2,
    )
