"""What the coefficients say, in sentences: plain text, with nothing escaped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.inference import feature_names
from skmoe.inference.summary import TWO_SIDED_95
from skmoe.plots.reading import rows
from skmoe.report.formatting import listed, percent, short, three_digits, with_interval

__all__ = ["experts_in_words", "gate_in_words"]

NAMED = 3  # inputs that a sentence names
CLEAR = TWO_SIDED_95  # standard errors from zero at which a direction counts as clear
STRONG = 1.0  # change of the log-odds per standard deviation at which an expert "takes over"
MINOR = 0.1  # effects below this share of the strongest are not named
TWO_VALUED_ROWS = 1000  # rows that show most columns to have more than two values


@dataclass(frozen=True)
class Columns:
    """What sentences need to know of each column: its name, how much it varies, and its values if they are two."""

    names: list[str]
    spread: np.ndarray | None  # standard deviations (d,)
    center: np.ndarray | None  # means (d,)
    two_values: list[tuple[float, float] | None]

    @classmethod
    def of(cls, model: Any, X: Any) -> Columns:
        names = feature_names(model)
        if X is None:
            return cls(names, None, None, [None] * len(names))
        X = rows(model, X)
        return cls(names, np.std(X, axis=0), np.mean(X, axis=0), [_two_values(column) for column in X.T])


def _two_values(column: np.ndarray) -> tuple[float, float] | None:
    if len(np.unique(column[:TWO_VALUED_ROWS])) > 2:
        return None
    values = np.unique(column)
    return (float(values[0]), float(values[1])) if len(values) == 2 else None


def strongest(value: np.ndarray, error: np.ndarray, spread: np.ndarray | None) -> tuple[list[int], int]:
    """Columns worth naming, strongest first, and how many there are of which the direction is clear.

    Strength is the effect of one standard deviation of the column; without rows, the effect in standard errors. Where
    no direction is clear, the strongest column comes alone.
    """
    tested = np.isfinite(error) & (error > 0)
    z = np.abs(value) / np.where(tested, error, 1.0)
    if spread is not None:
        strength = np.abs(value) * spread
    else:
        strength = z
    order = [int(j) for j in np.argsort(-strength, kind="stable") if strength[j] > 0]
    clear = [j for j in order if z[j] >= CLEAR or not tested[j]]
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
        They say which inputs matter most, whatever their units.
    target : str
        What the output is called.

    Returns
    -------
    list of str
        A few sentences for each expert.
    """
    columns = Columns.of(model, X)
    return [_expert(model, i, columns, target) for i in range(model.n_experts_)]


def _expert(model: Any, i: int, columns: Columns, target: str) -> str:
    g = model.parameters_.g
    head = f"Expert {i + 1}, {percent(model.shares_[i])} of the rows: "
    value, error = model.expert_coef_[i], model.expert_coef_se_[i]
    chosen, clear = strongest(value, error, columns.spread)
    subject = target if g.linear else f"the index inside its {g.name}"
    if not chosen:
        body = f"{target} does not depend on the inputs"
    elif not clear:
        body = f"no input has a clear effect; the strongest is {columns.names[chosen[0]]}"
    else:
        body = f"{subject} {_slopes(value, error, columns, chosen)}"
        more = clear - len(chosen)
        if more > 0:
            effect = "a clear effect" if np.any(error > 0) else "an effect too (none is tested)"
            body += f"; {more} more input{'s have' if more > 1 else ' has'} {effect}"
    tail = f" Its noise has a standard deviation of {three_digits(model.noise_scale_[i])}."
    if columns.center is not None:
        middle = float(model.parameters_.expert_means(columns.center[None, :])[0, i])
        tail = f" At the mean of all inputs it predicts {three_digits(middle)}." + tail
    return head + body + "." + tail


def _slopes(value: np.ndarray, error: np.ndarray, columns: Columns, chosen: list[int]) -> str:
    slopes = [_slope(value[j], error[j], columns, j) for j in chosen]
    before = ["", *(verb for verb, _ in slopes)]
    # a verb is not repeated
    return listed(
        [rest if verb == last else f"{verb} {rest}" for (verb, rest), last in zip(slopes, before, strict=False)]
    )


def _slope(value: float, error: float, columns: Columns, j: int) -> tuple[str, str]:
    """Verb and rest of the words about one slope."""
    name, two = columns.names[j], columns.two_values[j]
    if two is not None:
        size = with_interval(abs(value) * (two[1] - two[0]), error * (two[1] - two[0]))
        where = f"where {name} is {short(two[1])} rather than {short(two[0])}"
        return "is", f"{size} {'higher' if value > 0 else 'lower'} {where}"
    return "rises" if value > 0 else "falls", f"by {with_interval(abs(value), error)} per unit of {name}"


# -- gate -------------------------------------------------------------------------------------------------------------


def gate_in_words(model: Any, X: Any = None) -> list[str]:
    """Where each expert holds, in plain text.

    The sentences are based on the slope of the log-odds of an expert against the others, weighted by their shares.
    Inputs are compared by their standard deviation in `X`, and named if the sign of the slope is clear at 95%.

    Parameters
    ----------
    model : MoERegressor
        A fitted model.
    X : (n, d) rows, optional
        Without them inputs are compared by their standard errors alone, and no odds are given.

    Returns
    -------
    list of str
        A sentence for each expert.
    """
    k = model.n_experts_
    if k == 1:
        return ["There is one expert, and it holds everywhere."]
    columns = Columns.of(model, X)
    return [_where(i, k, *contrast(model, i), columns) for i in range(k)]


def contrast(model: Any, i: int) -> tuple[np.ndarray, np.ndarray]:
    """Gate coefficients of expert `i` against the others, weighted by share, and standard errors, (d,) each."""
    k, d = model.gate_coef_.shape
    weights = np.where(np.arange(k) == i, 0.0, np.maximum(model.shares_, np.finfo(float).tiny))
    weights = (np.arange(k) == i) - weights / np.sum(weights)
    value = weights @ model.gate_coef_
    if model.covariance_ is None:
        return value, np.full(d, np.nan)
    start = k * d + k  # the covariance runs over experts, their intercepts, then the gate
    gate = np.reshape(model.covariance_[start : start + k * d, start : start + k * d], (k, d, k, d))
    same_column = np.diagonal(gate, axis1=1, axis2=3)
    return value, np.sqrt(np.maximum(np.tensordot(np.outer(weights, weights), same_column, 2), 0.0))


def _where(i: int, k: int, value: np.ndarray, error: np.ndarray, columns: Columns) -> str:
    chosen, clear = strongest(value, error, columns.spread)
    if not chosen:
        return f"Expert {i + 1} is equally probable everywhere: the gate does not depend on the inputs."
    if not clear:
        return f"For expert {i + 1} no single input decides clearly; the strongest is {columns.names[chosen[0]]}."
    first = chosen[0]
    strong = columns.spread is None or abs(value[first]) * columns.spread[first] >= STRONG
    others = f"expert {2 - i}" if k == 2 else "the others"
    verb = f"takes over from {others}" if strong else "becomes more probable"
    return f"Expert {i + 1} {verb} {listed([_condition(value[j], error[j], columns, j) for j in chosen])}."


def _condition(value: float, error: float, columns: Columns, j: int) -> str:
    name, two = columns.names[j], columns.two_values[j]
    if columns.spread is None:
        return f"as {name} {'grows' if value > 0 else 'falls'}"
    if two is not None:
        high, low = (two[1], two[0]) if value > 0 else (two[0], two[1])
        return f"where {name} is {short(high)} rather than {short(low)} ({_odds(value, error, two[1] - two[0], '')})"
    step = float(columns.spread[j])
    change = f" for each {three_digits(step)} {'more' if value > 0 else 'less'}"
    return f"as {name} {'grows' if value > 0 else 'falls'} ({_odds(value, error, step, change)})"


def _odds(value: float, error: float, step: float, change: str) -> str:
    """How the odds grow over a step, which `change` names, with a 95% interval where there is one."""
    middle, reach = abs(value) * step, TWO_SIDED_95 * error * step
    if middle > np.log(1000):
        return "a sharp switch"
    words = f"odds {three_digits(np.exp(middle))} times as high{change}"
    if not reach > 0:
        return words
    high = "over 1,000" if middle + reach > np.log(1000) else three_digits(np.exp(middle + reach))
    return f"{words}; {three_digits(np.exp(middle - reach))} to {high}"
