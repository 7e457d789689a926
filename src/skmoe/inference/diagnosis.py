"""The diagnosis of a fit: checks, findings and their meaning in words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from skmoe.arrays.blocks import evenly_spaced_rows
from skmoe.arrays.namespaces import to_numpy
from skmoe.inference.class_confidence import ClassConfidence, outcome_names, outcome_proba
from skmoe.inference.fitted_range import rows_outside
from skmoe.inference.formatting import fixed
from skmoe.inference.held_out import (
    calibration_text,
    compared_models,
    coverage_text,
    limit_text,
    near_tie_texts,
    stability_counts,
    stability_text,
)
from skmoe.inference.relations import all_but_exact, is_exact, relation_findings, target_of
from skmoe.inference.residuals import residual_findings
from skmoe.inference.row_counts import (
    expert_coefficients,
    no_rows_left,
    rows_fitted,
    rows_of_experts,
    rows_of_parameters,
)
from skmoe.inference.summary import Summary
from skmoe.model.evaluation import r_squared
from skmoe.model.fitted import FittedMixture
from skmoe.model.gaussian import GaussianFamily
from skmoe.tables.chosen import sees_inputs

__all__ = [
    "SMALL_SHARE",
    "RoundedOutputWarning",
    "coarse_outputs",
    "diagnose",
    "no_rows_left",
    "rows_fitted",
]

MOST_ROWS = 20_000  # rows that calibration is tested on
SMALL_SHARE = 0.05  # share of the rows below which an expert is worth a warning
ALONG = 0.3  # correlation of gate and experts above which the consistent start is biased
KOLMOGOROV_99 = 1.63  # 99% quantile of the Kolmogorov statistic, times the root of the number of rows


class RoundedOutputWarning(UserWarning):
    """Outputs are rounded to steps as wide as the noise."""


def diagnose(model: FittedMixture, X: Any = None, y: Any = None) -> Summary:
    """Diagnose a fitted estimator; with rows, their range, and with outputs calibration as well.

    Outputs of a classifier are the numbers of their classes.
    """
    table = Summary("Diagnosis", ("question", "finding", "in words"), relation_findings(model))
    from_moments = isinstance(model.parameters_.family.base, GaussianFamily)  # others have no consistent start
    _rows(table, model)
    _gaps(table, model)
    _columns(table, model)
    if from_moments:
        _inputs(table, model)
    if model.n_experts_ > 1:
        if from_moments:
            _spectrum(table, model)
        _starts(table, model)
        _stability(table, model)
    _held_out(table, model)
    _uncertainty(table, model)
    if X is not None:
        _range(table, model, X)
    if X is not None and y is not None and not no_rows_left(model) and not is_exact(model):
        X, y = map(to_numpy, evenly_spaced_rows((X, y), MOST_ROWS))
        if outcome_names(model):
            _probabilities(table, model, X, y)
        else:
            _explained(table, model, X, y)
            _calibration(table, model, X, y)
        if model.n_experts_ == 1 and model.parameters_.family.name == "gaussian":
            table.rows += residual_findings(model, X, y)
    return table


def coarse_outputs(model: FittedMixture) -> str:
    """Describe outputs that are rounded to steps as wide as the noise, or return an empty text."""
    step = model.record_.step
    if not step or hasattr(model, "classes_") or no_rows_left(model):
        return ""
    noise = float(np.min(model.noise_scale_))
    if step < noise:
        return ""
    return (
        f"y is rounded to steps of {step:.3g}, as wide as the noise ({noise:.3g}) or wider: normal distributions fit "
        "such values only roughly, and noise scales were held to what the steps allow; if y is a count or has few "
        "values, a model of counts or a classifier says more"
    )


def _rows(table: Summary, model: FittedMixture) -> None:
    n, p = rows_fitted(model), model.n_parameters_
    finding = f"{n / p:.1f} ({n:g} rows, {p} parameters)"
    few, small = rows_of_parameters(model), rows_of_experts(model)
    table.rows.append(("rows per parameter", finding, f"TOO FEW: {few}" if few else "enough rows for this model"))
    if small:
        least = float(np.min(model.shares_)) * n / expert_coefficients(model)
        table.rows.append(("rows per coefficient", f"{least:.1f} for the smallest expert", f"TOO FEW: {small}"))


def _gaps(table: Summary, model: FittedMixture) -> None:
    """Describe missing values in the table of the fit."""
    columns = () if model.encoder_ is None else model.encoder_.columns
    for column in [column for column in columns if column.n_missing]:
        words = f"they count as {column.fill!r}"
        if column.kind != "category":
            fill = "the most frequent value" if column.kind == "boolean" else "the median"
            words = f"they were filled with {fill}"
            words += f", and the input '{column.inputs[-1].name}' says where" if column.missing_indicator else ""
        table.rows.append((f"gaps in {column.name}", f"{column.n_missing} of {model.record_.rows} rows", words))


def _range(table: Summary, model: FittedMixture, X: Any) -> None:
    found = rows_outside(model, X)
    words = "predictions are for inputs like those of the fit, one at a time"
    if found.outside:
        words = "predictions for those rows are extrapolations: their intervals may be far off"
    table.rows.append(("fitted range", str(found), words))


def _columns(table: Summary, model: FittedMixture) -> None:
    seen = model.record_.inputs
    if seen.rank < seen.columns:
        words = "some columns are constant or repeat others: their effect is shared out, not separately identified"
        table.rows.append(("columns", f"rank {seen.rank} of {seen.columns}", words))


def _inputs(table: Summary, model: FittedMixture) -> None:
    seen = model.record_.inputs
    sees = [sees_inputs(model, part) for part in ("expert", "gate")]
    if not any(sees):
        return
    words = (
        "inputs look Gaussian, as the consistent start assumes"
        if seen.gaussian
        else "inputs are far from Gaussian: the consistent start is only a guess here, and other starts matter"
    )
    finding = f"skewness up to {seen.skewness:.2f}, excess kurtosis {seen.kurtosis:.2f}"
    table.rows.append(("input law", finding, words))
    if model.n_experts_ > 1 and all(sees):
        worst = seen.gate_along_experts
        words = (
            "gate and experts look in other directions, as the paper's theory assumes"
            if worst < ALONG
            else "the gate looks along the experts: the consistent start is biased, which the likelihood corrects"
        )
        table.rows.append(("gate orthogonal to experts", f"largest correlation {worst:.2f}", words))


def _spectrum(table: Summary, model: FittedMixture) -> None:
    found = model.record_.search.spectrum
    if found is None:
        table.rows.append(("spectral gap", "not computed", "the consistent start could not be used here"))
        return
    k, above = model.n_experts_, sum(value > found.noise_level for value in found.values)
    words = (
        "the moments show as many directions as there are experts"
        if above >= k
        else f"the moments show {above} directions above their noise, fewer than the {k} experts: look at fewer experts"
    )
    table.rows.append(("spectral gap", f"{found.gap:.2f}, {above} eigenvalues above noise", words))


def _starts(table: Summary, model: FittedMixture) -> None:
    record, search = model.record_, model.record_.search
    if model.method == "spectral":
        return
    if record.searched < record.rows:
        finding = f"{record.searched:,} of {record.rows:,} rows"
        passes = f"in {record.run.passes} passes"
        words = f"starts were compared on a random sample; the winner was finished on all rows, {passes}"
        table.rows.append(("rows searched", finding, words))
    words = (
        "starts agree: this is very likely the best optimum"
        if search.agreement >= 2
        else "no two starts ended at the same optimum: fit again with another seed and compare"
    )
    table.rows.append(("agreement of starts", f"{search.agreement} reached the winner ({search.winner})", words))
    if search.limited:
        words = (
            f"restarts take long with so many experts and rows; {2 * model.n_init} random starts search twice as long"
        )
        table.rows.append(("search", "ended for the work it took", words))


def _stability(table: Summary, model: FittedMixture) -> None:
    counts = stability_counts(model)
    if not all(counts):
        return
    low = stability_text(model)
    words = f"UNSTABLE: {low}" if low else f"{compared_models(model)} show the same regimes"
    table.rows.append(("stability of regimes", ", ".join(counts), words))


def _held_out(table: Summary, model: FittedMixture) -> None:
    tried = model.record_.tried
    if len(tried) > 1:
        ties, limit = near_tie_texts(model), limit_text(model)
        finding = f"{model.n_experts_} of {tried[0].n_experts} to {tried[-1].n_experts} tried"
        words = "; ".join(
            [*([f"AT THE LIMIT: {limit}"] if limit else []), *([f"NEAR TIE: {'; '.join(ties)}"] if ties else [])]
        )
        table.rows.append(("number of experts", finding, words or "held-out rows are clear about it"))
    if held := coverage_text(model):
        finding = ", ".join(f"{100 * c:g}%: {100 * share:.0f}%" for c, share in model.record_.coverage)
        table.rows.append(("intervals on rows left out", finding, held))
    if (found := model.calibration_) is not None:
        finding = f"scale {found.scale:.2f}, shift {found.shift:.2f}"
        table.rows.append(("intervals corrected", finding, calibration_text(model)))


def _uncertainty(table: Summary, model: FittedMixture) -> None:
    if not model.identified_ and model.method != "spectral" and not no_rows_left(model):
        words = (
            "a direction of the likelihood is flat: there may be one expert too many, and there are no standard errors"
        )
        table.rows.append(("identified", "no", words))
    if model.record_.run.at_floor and not is_exact(model):
        words = "an expert fits its rows all but exactly: its noise was held at a thousandth of the spread of y"
        table.rows.append(("noise floor", "reached", words))
    if coarse := coarse_outputs(model):
        table.rows.append(("resolution of y", f"steps of {model.record_.step:.3g}", coarse))
    small = float(np.min(model.shares_))
    if small < SMALL_SHARE:
        table.rows.append(
            ("smallest expert", f"{100 * small:.1f}% of the rows", "an expert this small may be a few outliers")
        )


def _explained(table: Summary, model: FittedMixture, X: np.ndarray, y: np.ndarray) -> None:
    """Describe rows that are predicted all but exactly, before all else."""
    if not np.ptp(y) > 0:
        return
    r2 = r_squared(model._distribution(), X, y)
    if words := all_but_exact(r2, target_of(model)):
        table.rows.insert(0, ("all but exact", f"R² {fixed(r2, 4)}", words))


def _calibration(table: Summary, model: FittedMixture, X: np.ndarray, y: np.ndarray) -> None:
    law = model._distribution()
    levels = law.cdf(X, y)
    if law.family.discrete:  # at a random place within the probability of each output, levels are uniform
        levels = levels - np.random.default_rng(0).random(len(y)) * np.exp(law.log_density(X, y))
    distance = float(stats.kstest(levels, "uniform").statistic)
    words = (
        "predictive distribution agrees with these rows"
        if distance < KOLMOGOROV_99 / np.sqrt(len(y))
        else "predictive distribution and rows differ: intervals may be off, see a PIT histogram"
    )
    table.rows.append(("calibration", f"Kolmogorov distance {distance:.3f}", words))


def _probabilities(table: Summary, model: FittedMixture, X: np.ndarray, y: np.ndarray) -> None:
    found = ClassConfidence.of(outcome_proba(model, X), y)
    words = found.verdict.value
    table.rows.append(("probabilities", found.finding, f"{words[0].lower()}{words[1:]}"))
