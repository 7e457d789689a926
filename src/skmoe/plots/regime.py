"""One regime: the range of an expert among all rows, and its predictions for its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import Input, describe_regimes, inputs_of
from skmoe.inference.conditions import BEYOND, NINE_IN_TEN, excess_range, weighted_quantile
from skmoe.inference.formatting import TWO_SIDED_95
from skmoe.plots.outputs import MOST_POINTS
from skmoe.plots.reading import (
    Along,
    along,
    check_whole,
    needs_numbers,
    output_name,
    rows,
    rows_and_outputs,
    some_rows,
)
from skmoe.plots.style import (
    POINT_GREY,
    Display,
    draw_dots,
    draw_line,
    expert_colors,
    label,
    legend_above,
    mark_input,
    mark_places,
    name_axes,
)

__all__ = ["ExpertDisplay", "RangeDisplay", "check_expert", "input_of_expert"]

BINS = 24
MOST_CATEGORIES = 10  # categories of a text that are drawn; the others share a bar
GRID = 50
FEW = 0.01  # share of an expert's rows below which it is not drawn at a value


@dataclass(eq=False)
class RangeDisplay(Display):
    """Rows of an expert among all rows, along the input that decides most.

    The rows of an expert are all rows, weighted by the probability that the gate gives it.

    Attributes
    ----------
    expert : number of the expert, from 0        name : name of the input
    edges, labels : edges of the bins, or names of the bars where the input is text or has two values
    all_rows, its_rows : shares of all rows, and of its rows, in each bin
    range : the range in which it holds, None where no range of this input tells its rows from the others
    """

    heading: ClassVar[str] = "Rows of an expert among all rows"

    expert: int
    name: str
    edges: np.ndarray
    labels: tuple[str, ...]
    all_rows: np.ndarray
    its_rows: np.ndarray
    range: tuple[float, float] | None
    color: str

    @classmethod
    def from_estimator(
        cls, model: MixtureOfExperts, X: Any, expert: int, *, feature: Any = None, ax: Any = None, draw: bool = True
    ) -> Self:
        """Show the rows of one expert of a fitted estimator.

        Parameters
        ----------
        model : MoERegressor or MoEClassifier
            A fitted model with two or more experts.
        X : (n, d) table
            Rows.
        expert : int
            Which expert, from 0.
        feature : str, optional
            Name of an input, by default the one that decides most about this expert, if a range of one tells its rows
            then this one.
        """
        X = rows(model, X)
        i = check_expert(model, expert)
        regimes = describe_regimes(model, X)
        conditions = regimes[i].conditions
        inputs = {one.name: one for one in inputs_of(model)}
        if feature is None:
            if not conditions:
                raise ValueError(f"expert {i} holds everywhere alike: no input decides; name one as feature")
            feature = next((c.name for c in conditions if not c.direction), conditions[0].name)
        if feature not in inputs:
            raise ValueError(f"feature must be one of the inputs {', '.join(map(repr, inputs))}; got {feature!r}")
        P = model.parameters_.gate_proba(X)[:, i]
        has_range = any(c.name == feature and not c.direction for c in conditions)
        found = _shares(inputs[feature], X, P, has_range)
        return cls(i, str(feature), *found, expert_colors(i + 1)[i])._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        if self.labels:
            places = np.arange(len(self.labels), dtype=float)
            ax.bar(places - 0.2, self.all_rows, 0.36, color=POINT_GREY, alpha=0.55, label="all rows")
            ax.bar(places + 0.2, self.its_rows, 0.36, color=self.color, label="its rows")
            mark_places(ax.xaxis, places, self.labels)
        else:
            if self.range is not None:
                ax.axvspan(*self.range, color=self.color, alpha=0.13, linewidth=0)
            ax.stairs(self.all_rows, self.edges, fill=True, color=POINT_GREY, alpha=0.45, label="all rows")
            ax.stairs(self.its_rows, self.edges, color=self.color, linewidth=2, label="its rows")
            ax.set_xlim(self.edges[0], self.edges[-1])
        ax.set_ylim(0, None)
        ax.set_yticks([])
        name_axes(ax, label(self.name, 34), "share of the rows")
        legend_above(ax)


def _shares(
    one: Input, X: np.ndarray, P: np.ndarray, has_range: bool
) -> tuple[np.ndarray, tuple[str, ...], np.ndarray, np.ndarray, tuple[float, float] | None]:
    """Return edges of bins or names of categories, shares of all rows and of an expert's in them, and its range."""
    all_rows, its_rows = np.full(len(P), 1 / len(P)), P / np.sum(P)
    found = one.membership(X)
    if found is not None:
        labels, held = found
        shares = np.stack([all_rows @ held, its_rows @ held])
        if len(labels) > MOST_CATEGORIES:
            order = np.argsort(-np.max(shares, axis=0), kind="stable")
            kept, rest = order[: MOST_CATEGORIES - 1], order[MOST_CATEGORIES - 1 :]
            labels = (*(labels[j] for j in kept), f"{len(rest)} others")
            shares = np.column_stack([shares[:, kept], np.sum(shares[:, rest], axis=1)])
        return np.arange(len(labels) + 1.0), tuple(labels), shares[0], shares[1], None
    values = X[:, one.columns[0]]
    low, high = np.quantile(values, (0.005, 0.995))  # outliers would compress the picture
    if not high > low:
        low, high = np.min(values), np.max(values)
    edges = np.linspace(low, high, BINS + 1)
    inside = np.clip(values, low, high)
    of_all, its = (np.histogram(inside, edges, weights=weight)[0] for weight in (all_rows, its_rows))
    span = None
    if has_range:
        first, last = excess_range(values, its_rows - all_rows)
        # open on a side where hardly any row lies beyond, as in the text on it
        left = low if np.mean(values < first) <= BEYOND else max(first, low)
        right = high if np.mean(values > last) <= BEYOND else min(last, high)
        span = (float(left), float(right))
    return edges, (), of_all, its, span


@dataclass(eq=False)
class ExpertDisplay(Display):
    """Prediction of an expert along one input, and its rows moved to the means of their other inputs.

    Its rows are those that most probably belong to it given inputs and output. They are drawn as partial residuals:
    its prediction at the row's value of the input, other inputs at their means over its rows, plus the row's
    residual. So dots lie about the line as outputs lie about the expert's predictions. Where inputs multiply the mean,
    as of counts and times, so do residuals: a dot is that prediction times the row's output over its own prediction.

    Attributes
    ----------
    expert : number of the expert, from 0
    input : the input with the largest effect over its rows, or the one asked for, as an `Along`
    x, y : places of its rows on the axis, and their outputs so moved
    grid, line : places along the input, and predictions of the expert at these; NaN at values that its rows do not have
    target : name of the output        alone : whether there is no other input
    """

    heading: ClassVar[str] = "Predictions of an expert for its rows"

    expert: int
    input: Along
    x: np.ndarray
    y: np.ndarray
    grid: np.ndarray
    line: np.ndarray
    target: str
    color: str
    alone: bool

    @classmethod
    def from_estimator(
        cls,
        model: MixtureOfExperts,
        X: Any,
        y: Any,
        expert: int,
        *,
        feature: Any = None,
        target: str | None = None,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Show one expert of a fitted `MoERegressor`.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        X : (n, d) table
            Inputs.
        y : (n,) array
            Outputs.
        expert : int
            Which expert, from 0.
        feature : str or int, optional
            Name or index of a column, by default the one with the largest effect over the expert's rows.
        target : str, optional
            Label of the output, by default the name of `y` if it has one.
        """
        called = output_name(y, target)
        needs_numbers(model, "ExpertProbabilityDisplay")
        X, y = rows_and_outputs(model, X, y)
        i = check_expert(model, expert)
        center, one, seen = input_of_expert(model, X, i, feature)
        mine = np.flatnonzero(np.argmax(model.parameters_.responsibilities(X, y), axis=1) == i)
        mine = mine[some_rows(len(mine), MOST_POINTS, 0)]
        moved = np.tile(center, (len(mine), 1))
        moved[:, one.columns] = X[np.ix_(mine, one.columns)]
        means = model.parameters_.expert_means
        mean, at_means = means(X[mine])[:, i], means(moved)[:, i]
        multiplied = model.parameters_.family.ratio in ("rate ratio", "mean ratio")
        outputs = (
            y[mine] * at_means / np.maximum(mean, np.finfo(float).tiny) if multiplied else y[mine] - mean + at_means
        )
        line = np.where(seen, means(one.rows(center))[:, i], np.nan)
        x = one.place(X[mine], jitter=True)
        alone = X.shape[1] == len(one.columns)
        return cls(i, one, x, outputs, one.places, line, called, expert_colors(i + 1)[i], alone)._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        draw_dots(ax, self.x, self.y, color=self.color, alpha=0.6, markersize=6, label="its rows")
        draw_line(ax, self.input, self.line, stroke=2, name="the expert")
        mark_input(ax.xaxis, self.input)
        name_axes(ax, label(self.input.name, 34), label(self.target, 26))
        legend_above(ax)


def input_of_expert(
    model: MixtureOfExperts, X: np.ndarray, i: int, feature: Any = None
) -> tuple[np.ndarray, Along, np.ndarray]:
    """Find the input to draw an expert along: the one asked for, or that with the largest effect over its rows.

    Returns the means of the columns over the expert's rows (d,), the input over the middle nine tenths of these rows,
    and for each place of it whether they have it (g,).
    """
    weight = model.parameters_.gate_proba(X)[:, i]
    weight = weight / np.sum(weight)
    center = weight @ X
    if feature is None:
        feature = _strongest_input(model, i, np.sqrt(weight @ (X - center) ** 2))
    one = along(model, X, feature, GRID)
    if one.discrete:
        return center, one, weight @ (one.place(X)[:, None] == one.places) >= FEW
    first, last = weighted_quantile(X[:, one.columns[0]], weight, NINE_IN_TEN).tolist()
    return center, one.at(np.linspace(first, last, GRID)), np.ones(GRID, dtype=bool)


def _strongest_input(model: MixtureOfExperts, i: int, deviation: np.ndarray) -> Any:
    """Return the input with the largest effect over an expert's rows, of those with a clear effect if there are any."""
    coefficients, errors = (np.reshape(v[i], (-1, len(deviation))) for v in (model.expert_coef_, model.expert_coef_se_))
    coefficients = np.abs(coefficients)
    effect = coefficients * deviation
    unclear = coefficients < TWO_SIDED_95 * errors  # NaN, where there are no standard errors, is not
    if not np.all(unclear | (effect == 0)):
        effect = np.where(unclear, 0.0, effect)
    effect = np.max(effect, axis=0)  # over classes, where there are several predictors
    return max(inputs_of(model), key=lambda one: float(np.sqrt(np.sum(effect[list(one.columns)] ** 2)))).name


def check_expert(model: MixtureOfExperts, expert: Any) -> int:
    """Check the number of an expert, from 0."""
    i = check_whole(expert, 0, "expert")
    if i >= model.n_experts_:
        raise ValueError(f"expert must be less than the number of experts, {model.n_experts_}; got {i}")
    return i
