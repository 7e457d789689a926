"""Outputs that are classes: their probabilities along an input, and by an expert."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference.class_confidence import outcome_proba
from skmoe.plots.reading import (
    Along,
    along,
    check_whole,
    class_names,
    classes_to_draw,
    expert_names,
    rows,
    rows_and_outputs,
    typical_row,
)
from skmoe.plots.regime import check_expert, input_of_expert
from skmoe.plots.style import (
    Display,
    draw_expert,
    draw_line,
    expert_colors,
    expert_styles,
    ink,
    label,
    legend_above,
    legend_name,
    mark_input,
    name_axes,
    others_typical,
)

__all__ = ["ExpertProbabilityDisplay", "ProbabilityDisplay"]

BINS = 8  # groups of an expert's rows by value of an input
LEAST_SHARE = 0.01  # of an expert's rows, for a group to be drawn


@dataclass(eq=False)
class ExpertProbabilityDisplay(Display):
    """Probabilities of classes by an expert along one input, and observed shares of the classes among its rows.

    The rows of an expert are all rows, weighted by the probability that they belong to it given their class too. Marks
    are shares of its rows in groups by the input, as partial residuals: the probability with other inputs at their
    means, plus the observed share less the predicted one. So marks lie about the line if the expert is right.
    Of two classes the second is drawn, of more the four most frequent among its rows.

    Attributes
    ----------
    expert : number of the expert, from 0        names : names of the c classes drawn
    input : the input with the largest effect over its rows, or the one asked for, as an `Along`
    grid, lines : (g,) places along the input, (c, g) probabilities at these; NaN at values that its rows do not have
    x, shares, errors : (b,) places of the groups, (c, b) shares of the classes in them, and their standard errors
    """

    heading: ClassVar[str] = "Probabilities of classes by an expert, and their shares among its rows"

    expert: int
    names: list[str]
    input: Along
    grid: np.ndarray
    lines: np.ndarray
    x: np.ndarray
    shares: np.ndarray
    errors: np.ndarray
    color: str

    @classmethod
    def from_estimator(
        cls,
        model: MixtureOfExperts,
        X: Any,
        y: Any,
        expert: int,
        *,
        feature: Any = None,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Show one expert of a fitted `MoEClassifier`, or of binomial experts.

        Parameters
        ----------
        model : MoEClassifier, or MoERegressor of outputs 0 and 1
            A fitted model.
        X : (n, d) table
            Inputs.
        y : (n,) array
            Labels, or 0 and 1.
        expert : int
            Which expert, from 0.
        feature : str or int, optional
            Name or index of a column, by default the one with the largest effect over the expert's rows.
        """
        names = class_names(model)
        X, codes = rows_and_outputs(model, X, y)
        i = check_expert(model, expert)
        center, one, seen = input_of_expert(model, X, i, feature)
        weight = model.parameters_.responsibilities(X, codes)[:, i]
        drawn = classes_to_draw(np.bincount(codes.astype(int), weights=weight, minlength=len(names)))
        moved = np.tile(center, (len(X), 1))
        moved[:, one.columns] = X[:, one.columns]
        predicted, at_means, line = (
            model.parameters_.expert_proba(at)[:, i, :][:, drawn] for at in (X, moved, one.rows(center))
        )
        line[~seen] = np.nan
        residual = (codes[:, None] == np.array(drawn)) - predicted
        groups = _groups(one, X, weight)
        x = np.array([np.average(one.place(X[g]), weights=weight[g]) for g in groups])
        shares = np.array([np.average((at_means + residual)[g], axis=0, weights=weight[g]) for g in groups])
        errors = np.array([np.sqrt(weight[g] ** 2 @ residual[g] ** 2) / np.sum(weight[g]) for g in groups])
        called = [names[c] for c in drawn]
        color = expert_colors(i + 1)[i]
        return cls(i, called, one, one.places, line.T, x, shares.T, errors.T, color)._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        for c, style in enumerate(expert_styles(len(self.names))):
            bounds = np.clip(self.shares[c] + np.array([[-1.0], [1.0]]) * self.errors[c], 0.0, 1.0)
            ax.vlines(self.x, *bounds, color=self.color, alpha=0.6, linewidth=1.4)
            how = {"marker": style["marker"], "markersize": 5, "alpha": 0.8, "linestyle": "none"}
            shares, name = np.clip(self.shares[c], 0.0, 1.0), legend_name(self.names[c], 12)
            ax.plot(self.x, shares, color=self.color, label=name, **how)
            draw_line(ax, self.input, self.lines[c])
        mark_input(ax.xaxis, self.input)
        ax.set_ylim(-0.03, 1.03)
        what = f"probability of {label(self.names[0], 14)}" if len(self.names) == 1 else "probability"
        name_axes(ax, label(self.input.name, 34), what)
        if len(self.names) > 1:
            legend_above(ax, columns=2)  # two side by side fit the narrowest picture


def _groups(one: Along, X: np.ndarray, weight: np.ndarray) -> list[np.ndarray]:
    """Return indices of rows in groups along an input: its values where it has a few, else of about equal weight."""
    places = one.place(X)
    if one.discrete:
        groups = [np.flatnonzero(places == place) for place in one.places]
    else:
        order = np.argsort(places, kind="stable")
        reached = np.cumsum(weight[order]) / np.sum(weight)
        bin_of = np.minimum((BINS * reached).astype(int), BINS - 1)
        groups = [order[bin_of == b] for b in range(BINS)]
    return [g for g in groups if np.sum(weight[g]) > LEAST_SHARE * np.sum(weight)]


@dataclass(eq=False)
class ProbabilityDisplay(Display):
    """Probabilities of classes against a column, the others at typical values; thin lines are the experts'.

    Of two classes the second is drawn, of more the four most frequent, without the experts' lines.

    Attributes
    ----------
    input : the column, as an `Along`        grid : (g,) its values, or places where it has but a few
    names : names of the c classes drawn        typical : (d,), the row that the grid is laid through
    probabilities : (c, g)        experts : (k, c, g)        expert_names : names of the experts in the legend
    """

    heading: ClassVar[str] = "Probabilities of classes along an input"

    input: Along
    grid: np.ndarray
    names: list[str]
    typical: np.ndarray
    probabilities: np.ndarray
    experts: np.ndarray
    expert_names: list[str]

    @classmethod
    def from_estimator(
        cls,
        model: MixtureOfExperts,
        X: Any,
        feature: Any,
        *,
        grid_resolution: int = 100,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Show the probabilities of a fitted `MoEClassifier`, or of binomial experts.

        Parameters
        ----------
        model : MoEClassifier, or MoERegressor of outputs 0 and 1
            A fitted model.
        X : (n, d) table
            Rows that determine the range and typical values.
        feature : str or int
            Name or index of a column; a column of text by the name it has in the table.
        grid_resolution : int
            Values along the column.
        """
        names = class_names(model)
        X = rows(model, X)
        one = along(model, X, feature, check_whole(grid_resolution, 2, "grid_resolution"))
        typical = typical_row(X)
        at = one.rows(typical)
        drawn = classes_to_draw(np.sum(outcome_proba(model, X), axis=0))
        P = outcome_proba(model, at)[:, drawn].T
        experts = np.transpose(model.parameters_.expert_proba(at)[:, :, drawn], (1, 2, 0))
        called = [names[c] for c in drawn]
        return cls(one, one.places, called, typical, P, experts, expert_names(model))._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        alone = len(self.names) == 1
        lines = "none" if self.input.discrete else "-"
        if alone and len(self.experts) > 1:
            for i, style in enumerate(expert_styles(len(self.experts))):
                draw_expert(ax, self.input, self.experts[i, 0], style, self.expert_names[i])
        for c, style in enumerate(expert_styles(len(self.names))):
            color = ink(ax) if alone else style["color"]
            marker = style["marker"] if self.input.discrete else ""
            name = "the model" if alone else legend_name(self.names[c])
            ax.plot(
                self.grid, self.probabilities[c], color=color, linewidth=2, linestyle=lines, marker=marker, label=name
            )
        mark_input(ax.xaxis, self.input)
        ax.set_ylim(-0.02, 1.02)
        what = f"probability of {label(self.names[0], 18)}" if alone else "probability"
        name_axes(ax, others_typical(self.input.name, len(self.typical)), what)
        legend_above(ax)
