"""What the coefficients say, in sentences: plain text, with nothing escaped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from skmoe.inference import Regime, describe_regimes, feature_names, inputs_of, where_in_words
from skmoe.inference.formatting import TWO_SIDED_95, listed, percent, short, three_digits, with_interval
from skmoe.inference.gate_change import two_values
from skmoe.inference.held_out import seen_counts, seen_where, unstable
from skmoe.plots.reading import rows

__all__ = ["experts_in_words", "gate_in_words", "laws_in_words"]

NAMED = 3  # inputs that a sentence names
CLEAR = TWO_SIDED_95  # standard errors from zero at which a direction counts as clear
MINOR = 0.1  # effects below this share of the strongest are not named
RATIO_OF = {"rate ratio": "the mean", "mean ratio": "the mean", "odds ratio": "the odds"}  # what a ratio multiplies


@dataclass(frozen=True)
class Columns:
    """What sentences need to know of each column: its name, and what is compared where it has two values.

    Attributes
    ----------
    names : list of str
    two_values : list of (step, words) or None
        For a column with two values the step between them, and words for the second rather than the first.
    """

    names: list[str]
    two_values: list[tuple[float, str] | None]

    @classmethod
    def of(cls, model: Any, X: np.ndarray | None) -> Columns:
        """Look at the encoder of the model, and at rows if there are any."""
        names = feature_names(model)
        found: list[tuple[float, str] | None] = [None] * len(names)
        for one in inputs_of(model):
            for j, level in zip(one.columns, one.levels[1:], strict=False):
                found[j] = (1.0, f"where {one.name} is {level} rather than {one.levels[0]}")
        for j, name in enumerate(names):
            two = two_values(X[:, j]) if X is not None and found[j] is None else None
            if two is not None:
                found[j] = (two[1] - two[0], f"where {name} is {short(two[1])} rather than {short(two[0])}")
        return cls(names, found)


def strongest(
    value: np.ndarray, error: np.ndarray, spread: np.ndarray | None, sure: float = CLEAR
) -> tuple[list[int], int]:
    """Columns worth naming, strongest first, and how many there are of which the direction is clear.

    Strength is the effect of one standard deviation of the column over the expert's rows; where that is not known, the
    effect in standard errors. A direction is clear at `sure` standard errors from zero. Where none is clear, the
    strongest column comes alone.
    """
    tested = np.isfinite(error) & (error > 0)
    z = np.abs(value) / np.where(tested, error, 1.0)
    if spread is not None:
        strength = np.abs(value) * spread
    else:
        strength = z
    order = [int(j) for j in np.argsort(-strength, kind="stable") if strength[j] > 0]
    clear = [j for j in order if z[j] >= sure or not tested[j]]
    if clear:
        return [j for j in clear[:NAMED] if strength[j] >= MINOR * strength[clear[0]]], len(clear)
    return order[:1], 0


# -- experts ----------------------------------------------------------------------------------------------------------


def experts_in_words(model: Any, X: Any = None, *, target: str = "y") -> list[str]:
    """What each expert says, in plain text.

    Parameters
    ----------
    model : MoERegressor
        A fitted model.
    X : (n, d) rows, optional
        An expert is described over its own rows, which are all rows weighted by its probability. Without X these are
        the rows of the fit.
    target : str
        What the output is called.

    Returns
    -------
    list of str
        A few sentences for each expert.
    """
    values = None if X is None else rows(model, X)
    regimes = describe_regimes(model, values)
    return [
        f"Expert {i + 1}, {percent(model.shares_[i])} of the rows: {law}."
        f"{_there(model, i, None if regimes is None else regimes[i])}{_seen(model, i)}"
        for i, law in enumerate(laws_in_words(model, values, regimes, target))
    ]


def laws_in_words(model: Any, X: np.ndarray | None, regimes: Sequence[Regime] | None, target: str) -> list[str]:
    """What each expert says of the output and its strongest inputs, a clause for each."""
    columns = Columns.of(model, X)
    return [_law(model, i, columns, None if regimes is None else regimes[i], target) for i in range(model.n_experts_)]


def _law(model: Any, i: int, columns: Columns, regime: Regime | None, target: str) -> str:
    g = model.parameters_.g
    value, error = model.expert_coef_[i], model.expert_coef_se_[i]
    chosen, clear = strongest(
        value, error, None if regime is None else np.asarray(regime.spread), float(stdtrit(model.dof_[i], 0.975))
    )
    family = model.parameters_.family
    subject = target if g.linear else f"the index inside its {g.name}"
    if family.ratio:
        subject = f"{RATIO_OF[family.ratio]} of {target}"
    if not chosen:
        return f"{target} does not depend on the inputs"
    if not clear:
        return f"no input has a clear effect; the strongest is {columns.names[chosen[0]]}"
    slopes = _ratios if family.ratio else _slopes
    said = f"{subject} {slopes(value, error, columns, chosen, float(model.dof_[i]))}"
    more = clear - len(chosen)
    if more <= 0:
        return said
    effect = "a clear effect" if np.any(error > 0) else "an effect too (none is tested)"
    return f"{said}; {more} more input{'s have' if more > 1 else ' has'} {effect}"


def _there(model: Any, i: int, regime: Regime | None) -> str:
    """What it predicts where it holds, and its noise."""
    tail = _noise(model, i)
    if regime is not None:
        its_rows = "its" if model.n_experts_ > 1 else "all"
        tail = f" Over {its_rows} rows it predicts {three_digits(regime.prediction)} on average." + tail
    return tail


def _noise(model: Any, i: int) -> str:
    family, scale = model.parameters_.family, three_digits(model.noise_scale_[i])
    if not family.has_scale:
        return ""
    if family.scale_name == "variation":
        return f" Its outputs have a coefficient of variation of {scale} beyond what the mean explains."
    return f" Its noise has a standard deviation of {scale}{' in the logs' if family.ratio else ''}."


def _ratios(value: np.ndarray, error: np.ndarray, columns: Columns, chosen: list[int], dof: float) -> str:
    """Ratios of means or odds, with intervals."""
    half = float(stdtrit(dof, 0.975))
    said = []
    for j in chosen:
        step, where = columns.two_values[j] or (1.0, f"per unit of {columns.names[j]}")
        middle, low, high = (np.exp(step * (value[j] + s * half * error[j])) for s in (0.0, -1.0, 1.0))
        between = f" ({three_digits(low)} to {three_digits(high)})" if error[j] > 0 else ""
        said.append(f"by {three_digits(middle)}{between} {where}")
    return f"is multiplied {listed(said)}"


def _seen(model: Any, i: int) -> str:
    count = seen_counts(model)[i]
    if not count or model.n_experts_ == 1:
        return ""
    few = "only " if i in unstable(model) else ""
    return f" It is seen in {few}{count} {seen_where(model)}."


def _slopes(value: np.ndarray, error: np.ndarray, columns: Columns, chosen: list[int], dof: float) -> str:
    slopes = [_slope(value[j], error[j], columns, j, dof) for j in chosen]
    before = ["", *(verb for verb, _ in slopes)]
    # a verb is not repeated
    return listed(
        [rest if verb == last else f"{verb} {rest}" for (verb, rest), last in zip(slopes, before, strict=False)]
    )


def _slope(value: float, error: float, columns: Columns, j: int, dof: float) -> tuple[str, str]:
    """Verb and rest of the words about one slope."""
    two = columns.two_values[j]
    if two is not None:
        step, where = two
        return (
            "is",
            f"{with_interval(abs(value) * step, error * step, dof)} {'higher' if value > 0 else 'lower'} {where}",
        )
    return (
        "rises" if value > 0 else "falls",
        f"by {with_interval(abs(value), error, dof)} per unit of {columns.names[j]}",
    )


# -- gate -------------------------------------------------------------------------------------------------------------


def gate_in_words(model: Any, X: Any = None) -> list[str]:
    """Where each expert holds, in plain text: the inputs that decide, and their ranges; see `MoERegressor.regimes`.

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
    regimes = describe_regimes(model, None if X is None else rows(model, X))
    if regimes is None:
        return [f"Where expert {i + 1} holds can be said with rows only." for i in range(model.n_experts_)]
    return where_in_words(regimes)
