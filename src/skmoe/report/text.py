"""Describe coefficients in sentences: plain text, with nothing escaped."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from scipy.special import stdtrit

from skmoe.arrays.namespaces import to_numpy
from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import Regime, describe_regimes, feature_names, intervals_of, regimes_text
from skmoe.inference.class_confidence import outcome_names
from skmoe.inference.diagnosis import no_rows_left
from skmoe.inference.formatting import listed, percent, ratio_text, three_digits, with_interval
from skmoe.inference.held_out import compared_models, stability_counts, unstable
from skmoe.inference.intervals import Interval
from skmoe.inference.relations import is_exact
from skmoe.inference.summary import MOST_LOG
from skmoe.model.families import StudentFamily
from skmoe.plots.reading import rows
from skmoe.report.methods import has_exposure
from skmoe.report.support import Columns, Support, support_of

__all__ = ["describe_experts", "effects_in_words", "experts_in_words", "gate_in_words"]

NAMED = 3  # inputs that a sentence names
LEAST_LOG = 0.005  # of a ratio per unit, below which it is given for more units
MOST_UNKNOWN = 5  # values that a sentence names whose effects are unknown
MINOR = 0.1  # effects below this share of the strongest are not named
RATIO_OF = {  # what a ratio multiplies, and the verb that follows
    "rate ratio": ("the mean", "is"),
    "mean ratio": ("the mean", "is"),
    "odds ratio": ("the odds", "are"),
}


def strongest(value: np.ndarray, error: np.ndarray, deviation: np.ndarray, sure: float) -> tuple[list[int], int]:
    """Return the columns to name, strongest first, and the number of those with a clear direction.

    Strength is the effect of one standard deviation of the column over the expert's rows. A direction is clear at
    `sure` standard errors from zero. Where none is clear, the strongest column comes alone.
    """
    tested = np.isfinite(error) & (error > 0)
    z = np.abs(value) / np.where(tested, error, 1.0)
    strength = np.abs(value) * deviation
    order = [int(j) for j in np.argsort(-strength, kind="stable") if strength[j] > 0]
    clear = [j for j in order if z[j] >= sure or not tested[j]]
    if clear:
        return [j for j in clear[:NAMED] if strength[j] >= MINOR * strength[clear[0]]], len(clear)
    return order[:1], 0


# -- experts ----------------------------------------------------------------------------------------------------------


def experts_in_words(model: MixtureOfExperts, X: Any = None, y: Any = None, *, target: str = "y") -> list[str]:
    """Describe each expert in plain text.

    Parameters
    ----------
    model : MoERegressor
        A fitted model.
    X : (n, d) rows, optional
        An expert is described over its own rows, which are all rows weighted by its probability. Without X these are
        the rows of the fit.
    y : (n,) outputs, optional
        Outputs of the rows, by which rows of an expert are counted: a row counts as the probability of the expert given
        its inputs and its output. Without outputs it is that given its inputs.
    target : str
        Name of the output.

    Returns
    -------
    list of str
        A few sentences for each expert. A value of an input that fewer than ten of its rows have is unknown there.
    """
    values = None if X is None else rows(model, X)
    regimes = describe_regimes(model, values)
    P = None if values is None else to_numpy(model.gate_proba(X) if y is None else model.responsibilities(X, y))
    return describe_experts(model, support_of(model, values, P, regimes), regimes, target)


def describe_experts(model: MixtureOfExperts, support: Support, regimes: Sequence[Regime], target: str) -> list[str]:
    """Write a few sentences on each expert, from what is known of the rows."""
    return [
        f"Expert {i + 1}, {percent(model.shares_[i])} of the rows ({support.rows[i]:,.0f}): {effects}."
        f"{_unknown(model, i, support)}{_mean(model, i, regimes[i])}{_stability(model, i)}"
        for i, effects in enumerate(effects_in_words(model, support, regimes, target))
    ]


def effects_in_words(model: MixtureOfExperts, support: Support, regimes: Sequence[Regime], target: str) -> list[str]:
    """Describe the strongest effects of each expert, a clause for each expert."""
    found = []
    for i in range(model.n_experts_):
        columns = Columns(feature_names(model), support, i)
        found.append(_effects(model, i, columns, np.asarray(regimes[i].spread), target))
    return found


def _unknown(model: MixtureOfExperts, i: int, support: Support) -> str:
    """Name values that too few rows of an expert have for their effects to be known."""
    coef = np.reshape(model.expert_coef_[i], (-1, len(support.comparisons)))
    unknown = support.unknown(i, np.any(coef != 0, axis=0))
    if not unknown:
        return ""
    more = len(unknown) - MOST_UNKNOWN
    named = [*unknown[:MOST_UNKNOWN], *([f"{more} more"] if more > 0 else [])]
    return f" What these do is unknown here, for want of rows: {listed(named)}."


def _effects(model: MixtureOfExperts, i: int, columns: Columns, deviation: np.ndarray, target: str) -> str:
    """Describe the effects of an expert; on the odds of each class but the first in a clause each."""
    g, family, of_classes = model.parameters_.g, model.parameters_.family, hasattr(model, "classes_")
    dof = np.inf if of_classes else float(model.dof_[i])
    if not family.ratio:
        subject = target if g.linear else f"the index inside its {g.name}"
        value, error = model.expert_coef_[i], model.expert_coef_se_[i]
        return _clause(subject, f"{target} does", value, error, columns, deviation, dof, _slopes)
    what, verb = RATIO_OF[family.ratio]
    first, *others = outcome_names(model) or ("", "")
    clauses = []
    for c, name in enumerate(others):
        estimates = model.expert_coef_, *intervals_of(model)["expert_coef"]
        value, *low_high = (np.reshape(v[i], (len(others), -1))[c] for v in estimates)
        ends = Interval(*low_high)
        error, ratios = _error_towards_zero(value, ends, dof), partial(_ratios, ends=ends)
        subject, does = f"{target} being {name}" if name else target, "does"
        odds = f"{what} of {subject}"
        if of_classes:
            odds = f"{odds} rather than {first}"
            subject, does = odds, "do"
        clauses.append(_clause(f"{odds} {verb}", f"{subject} {does}", value, error, columns, deviation, dof, ratios))
    return "; ".join(clauses)


def _error_towards_zero(value: np.ndarray, ends: Interval, dof: float) -> np.ndarray:
    """Return the standard error whose interval has the same bound towards zero as the given one."""
    return np.where(value > 0, value - ends.low, ends.high - value) / stdtrit(dof, 0.975)


def _clause(
    subject: str,
    subject_does: str,
    value: np.ndarray,
    error: np.ndarray,
    columns: Columns,
    deviation: np.ndarray,
    dof: float,
    slopes: Callable[..., str],
) -> str:
    """Describe the effects of the strongest inputs on a subject."""
    chosen, clear = strongest(np.where(columns.known, value, 0.0), error, deviation, float(stdtrit(dof, 0.975)))
    if not chosen and np.any(value):
        return "no input is known to have an effect"
    if not chosen:
        return f"{subject_does} not depend on the inputs"
    if not clear:
        return f"no input has a clear effect; the strongest is {columns.names[chosen[0]]}"
    text = f"{subject} {slopes(value, error, columns, chosen, dof)}"
    more = clear - len(chosen)
    if more <= 0:
        return text
    effect = "a clear effect" if np.any(error > 0) else "an effect too (none is tested)"
    return f"{text}; {more} more input{'s have' if more > 1 else ' has'} {effect}"


def _mean(model: MixtureOfExperts, i: int, regime: Regime) -> str:
    """Describe the mean prediction of an expert over its rows, and its noise."""
    tail = _noise(model, i)
    classes = outcome_names(model)
    if len(classes) > 2:
        return tail  # no one number is what it predicts
    its_rows = "its" if model.n_experts_ > 1 else "all"
    if classes:
        return f" Over {its_rows} rows it gives {classes[1]} a probability of {percent(regime.prediction)} on average."
    one = " for an exposure of one" if has_exposure(model) else ""
    return f" Over {its_rows} rows it predicts {three_digits(regime.prediction)}{one} on average." + tail


def _noise(model: MixtureOfExperts, i: int) -> str:
    family = model.parameters_.family
    if not family.has_scale:
        return ""
    if is_exact(model):
        return " It leaves no noise: the relation is exact."
    if no_rows_left(model):
        return " Its noise is unknown: it has as many coefficients as rows."
    scale = three_digits(model.noise_scale_[i])
    if isinstance(family, StudentFamily):
        dof = float(np.broadcast_to(family.noise_dof, model.n_experts_)[i])
        return f" Its noise is Student's t of scale {scale} with {three_digits(dof)} degrees of freedom."
    if family.scale_name == "variation" and family.discrete:
        return f" Its counts spread more than Poisson's: their rate has a coefficient of variation of {scale}."
    if family.scale_name == "variation":
        return f" Its outputs have a coefficient of variation of {scale} about their mean."
    return f" Its noise has a standard deviation of {scale}{' in the logs' if family.ratio else ''}."


def _ratios(
    value: np.ndarray, error: np.ndarray, columns: Columns, chosen: list[int], dof: float, ends: Interval
) -> str:
    """Describe ratios of means or odds, with intervals."""
    clauses = []
    for j in chosen:
        step, where, of_rows = columns.compared(j) or (*_step(float(value[j]), columns.names[j]), "")
        middle, low, high = (np.exp(min(step * float(v[j]), MOST_LOG)) for v in (value, *ends))
        between = f" ({ratio_text(low)} to {ratio_text(high)})" if error[j] > 0 else ""
        clauses.append(f"by {ratio_text(middle)}{between} {where}{_in_brackets(of_rows)}")
    return f"multiplied {listed(clauses)}"


def _in_brackets(of_rows: str) -> str:
    return f" ({of_rows})" if of_rows else ""


def _step(value: float, name: str) -> tuple[float, str]:
    """Return a number of units of an input, a power of ten, that changes the odds or the mean noticeably."""
    if not 0 < abs(value) < LEAST_LOG:
        return 1.0, f"per unit of {name}"
    step = 10.0 ** np.ceil(np.log10(10 * LEAST_LOG / abs(value)))
    return step, f"per {step:,.0f} units of {name}"


def _stability(model: MixtureOfExperts, i: int) -> str:
    count = stability_counts(model)[i]
    if not count or model.n_experts_ == 1:
        return ""
    few = "only " if i in unstable(model) else ""
    return f" It is seen in {few}{count} {compared_models(model)}."


def _slopes(value: np.ndarray, error: np.ndarray, columns: Columns, chosen: list[int], dof: float) -> str:
    slopes = [_slope(value[j], error[j], columns, j, dof) for j in chosen]
    before = ["", *(verb for verb, _ in slopes)]
    # a verb is not repeated
    return listed(
        [rest if verb == last else f"{verb} {rest}" for (verb, rest), last in zip(slopes, before, strict=False)]
    )


def _slope(value: float, error: float, columns: Columns, j: int, dof: float) -> tuple[str, str]:
    """Return verb and rest of the text on one slope."""
    two = columns.compared(j)
    if two is not None:
        step, where, of_rows = two
        by = with_interval(abs(value) * step, error * step, dof)
        return "is", f"{by} {'higher' if value > 0 else 'lower'} {where} ({of_rows})"
    return (
        "rises" if value > 0 else "falls",
        f"by {with_interval(abs(value), error, dof)} per unit of {columns.names[j]}",
    )


# -- gate -------------------------------------------------------------------------------------------------------------


def gate_in_words(model: MixtureOfExperts, X: Any = None) -> list[str]:
    """Describe where each expert holds: the inputs that decide, and their ranges; see `MoERegressor.regimes`.

    Parameters
    ----------
    model : MoERegressor
        A fitted model.
    X : (n, d) rows, optional
        Rows to describe the experts by; by default those of the fit.

    Returns
    -------
    list of str
        A sentence or two for each expert.
    """
    return regimes_text(describe_regimes(model, None if X is None else rows(model, X)))
