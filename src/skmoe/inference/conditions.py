r"""The values of an input where an expert holds: a range of numbers or some categories, beside that of all rows.

Rows R are chosen by one input after the other such that the share of the expert's rows in R exceeds the share of all
rows in R as far as possible: they maximise :math:`\sum_{n \in R} w_n (p_{in} - \bar p_i)`, where p is the gate and w
are row weights. Where the gate switches, a range ends there; where it is soft, the range ends where the expert is as
probable as on average.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skmoe.inference.formatting import percent
from skmoe.inference.gate_change import Input
from skmoe.model.regime import Condition

__all__ = ["NINE_IN_TEN", "ExpertRows", "condition", "excess_range", "weighted_quantile"]

NINE_IN_TEN = (0.05, 0.95)
BEYOND = 0.05  # share of the rows beyond a range up to which it is called open on that side
INFORMATIVE = 0.05  # least gain by which an input separates the expert's rows from those of others, of at most one
KUIPER_95 = 1.75  # 95% quantile of Kuiper's statistic: the best range of a column unrelated to the expert
ENOUGH = 0.5  # gain that is never taken for chance
MOST_LEVELS = 3  # categories that are named
FEW_ROWS = 0.05  # share of an expert's rows below which a category is not named beside others


@dataclass(frozen=True)
class ExpertRows:
    """Rows weighted for an expert.

    Attributes
    ----------
    X : (n, d) array
    all_rows, its_rows : (n,) arrays
        Weights of the rows, and these times the expert's probability; each adds up to one.
    share : float
        Mean probability of the expert.
    inside : (n,) array of bool
        Rows that meet the conditions so far.
    orders : dict of int to (n,) array
        Known orders of the rows by columns; experts over the same rows share it.
    """

    X: np.ndarray
    all_rows: np.ndarray
    its_rows: np.ndarray
    share: float
    inside: np.ndarray
    orders: dict[int, np.ndarray] = field(default_factory=dict)

    def order(self, column: int) -> np.ndarray:
        """Return the order of rows by a column, computed when it is first needed."""
        if column not in self.orders:
            self.orders[column] = np.argsort(self.X[:, column], kind="stable")
        return self.orders[column]

    @property
    def excess(self) -> np.ndarray:
        """Weight of each row for the expert less that for all."""
        return self.its_rows - self.all_rows

    def gain(self, inside: np.ndarray) -> float:
        """Return how much better fewer rows separate the expert's rows from those of others, between zero and one."""
        more = np.sum(self.excess[inside & self.inside]) - np.sum(self.excess[self.inside])
        return float(more) / max(1 - self.share, np.finfo(float).tiny)

    @property
    def least_gain(self) -> float:
        """Gain above which a range is informative, and not the best of many by chance."""
        tiny = np.finfo(float).tiny
        P = self.share * self.its_rows / self.all_rows
        deviation = np.sqrt(self.all_rows @ (P - self.share) ** 2) / max(self.share * (1 - self.share), tiny)
        by_chance = KUIPER_95 * deviation * np.sqrt(np.sum(self.all_rows**2))
        return max(INFORMATIVE, min(float(by_chance), ENOUGH))


def condition(one: Input, part: float, rises: bool, rows: ExpertRows) -> tuple[Condition, np.ndarray]:
    """Describe an input where an expert holds.

    Parameters
    ----------
    one : Input
    part : float
        Its part in the variance of the expert's probability.
    rises : bool
        Whether the probability rises with the input.
    rows : ExpertRows

    Returns
    -------
    Condition
        The description.
    (n,) array of bool
        Which rows meet it and the conditions so far.
    """
    levels = one.membership(rows.X)
    if levels is not None:
        here, of_all, inside = _levels(*levels, rows)
        here = likelier = f"{one.name}: {here}"
    else:
        column = one.columns[0]
        values, order = rows.X[:, column], rows.order(column)
        span = float(np.ptp(weighted_quantile(values, rows.all_rows, NINE_IN_TEN, order))) or float(np.ptp(values))
        of_all = f"{_number(np.min(values), span)} to {_number(np.max(values), span)}"
        text, inside = _range(values, order, span, rows)
        here, likelier = f"{one.name} {text}", f"{'larger' if rises else 'smaller'} {one.name}"
    if rows.gain(inside) < rows.least_gain:
        return Condition(one.name, part, likelier, of_all, direction=True), rows.inside
    return Condition(one.name, part, here, of_all), rows.inside & inside


def _range(values: np.ndarray, order: np.ndarray, span: float, rows: ExpertRows) -> tuple[str, np.ndarray]:
    """Return the range of an expert's values as text, and which rows are inside."""
    order = order[rows.inside[order]]
    low, high = excess_range(values, rows.excess, order)
    left, right = (beyond & rows.inside for beyond in (values < low, values > high))
    total = np.sum(rows.all_rows[rows.inside])
    below, above = (bool(np.sum(rows.all_rows[beyond]) > BEYOND * total) for beyond in (left, right))
    first, last = _number(low, span), _number(high, span)
    if not (below or above):
        return "anywhere", np.ones(len(values), dtype=bool)
    if high <= np.min(values) or low >= np.max(values):  # one value: "up to" the smallest would be no range
        return first, values == low
    if not below:
        # a border that is rounded to the end of all values would say nothing: the next value then does
        ends = last == _number(np.max(values), span)
        return f"under {_number(np.min(values[right]), span)}" if ends else f"up to {last}", values <= high
    if not above:
        ends = first == _number(np.min(values), span)
        return f"over {_number(np.max(values[left]), span)}" if ends else f"from {first} up", values >= low
    return f"{first} to {last}" if first != last else first, (values >= low) & (values <= high)


def excess_range(values: np.ndarray, excess: np.ndarray, order: np.ndarray | None = None) -> tuple[float, float]:
    """Return the range of values over which the sum of `excess` is largest; of the rows in `order` alone if given."""
    order = np.argsort(values, kind="stable") if order is None else order
    rising = values[order]
    new = np.append(True, rising[1:] != rising[:-1])
    distinct = rising[new]
    upto = np.cumsum(np.bincount(np.cumsum(new) - 1, weights=excess[order]))
    before = np.concatenate([[0.0], upto[:-1]])
    least = np.minimum.accumulate(before)  # the best start of a range that ends here
    end = int(np.argmax(upto - least))
    start = int(np.argmin(before[: end + 1]))
    return float(distinct[start]), float(distinct[end])


def weighted_quantile(
    values: np.ndarray, weight: np.ndarray, levels: tuple[float, ...], order: np.ndarray | None = None
) -> np.ndarray:
    """Return the smallest values up to which rows have the given shares of the weight; `order` sorts them, if known."""
    order = np.argsort(values) if order is None else order
    reached = np.cumsum(weight[order])
    at = np.searchsorted(reached, np.asarray(levels) * reached[-1] * (1 - 1e-12))
    return values[order[np.minimum(at, len(values) - 1)]]


def _levels(labels: tuple[str, ...], held: np.ndarray, rows: ExpertRows) -> tuple[str, str, np.ndarray]:
    """Return categories that an expert's rows have more often, the share of all rows that have them, and these rows."""
    here, of_all = (weight[rows.inside] @ held[rows.inside] for weight in (rows.its_rows, rows.all_rows))
    if np.all(here >= of_all):  # the conditions so far favour every level: compared are their shares among such rows
        here, of_all = here / np.sum(here), of_all / np.sum(of_all)
    more = [int(level) for level in np.argsort(-here, kind="stable") if here[level] > of_all[level]]
    more = [level for level in more if here[level] >= FEW_ROWS] or more[:1] or [int(np.argmax(here))]
    fewer = [level for level in range(len(labels)) if here[level] < of_all[level]]
    if len(labels) > 2 and len(fewer) == 1:
        chosen = [level for level in range(len(labels)) if level not in fewer]
        text = f"not {labels[fewer[0]]}"
    else:
        chosen = more[:MOST_LEVELS]
        text = " or ".join(labels[level] for level in chosen)
    inside = np.any(held[:, chosen], axis=1)
    return text, percent(float(min(np.sum(rows.all_rows[inside]), 1.0))), inside


def _number(value: float, span: float) -> str:
    """Format a number to about a hundredth of the span of most rows, without trailing zeros."""
    value = float(value)
    if not span > 0:
        return f"{value:.4g}"
    decimals = int(np.ceil(-np.log10(span / 100)))
    value = float(np.round(value, decimals)) + 0.0  # no minus before a zero
    if not 1e-5 < span < 1e9:
        digits = decimals + int(np.floor(np.log10(max(abs(value), span)))) + 1
        return f"{value:.{max(digits, 3)}g}"
    text = f"{value:.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
