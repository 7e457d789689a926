"""Rows and outputs: responsibilities of the experts, and predictive bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference.class_confidence import outcome_names
from skmoe.plots.reading import (
    JITTER,
    Along,
    along,
    check_whole,
    expert_names,
    needs_numbers,
    output_name,
    rows,
    rows_and_outputs,
    some_rows,
    typical_row,
)
from skmoe.plots.style import (
    MANY,
    POINT_GREY,
    Display,
    draw_dots,
    draw_expert,
    draw_line,
    expert_colors,
    expert_styles,
    ink,
    label,
    legend_above,
    mark_input,
    mark_places,
    name_axes,
    others_typical,
)

__all__ = ["BandDisplay", "ResponsibilityDisplay"]

MOST_POINTS = 2000
SHADE = 0.16  # of one band


@dataclass(eq=False)
class ResponsibilityDisplay(Display):
    """Responsibilities: the data, in a blend of the experts' colours.

    Attributes
    ----------
    rows (m,) : indices of the rows drawn
    x (m,), y (m,) : their values        responsibilities (m, k)        colors (m, 3) : the blends
    input : the column, as an `Along`        target : name of the output
    expert_names : names of the experts in the legend
    classes : names of the classes where outputs are numbers of classes, or 0 and 1; else empty
    """

    heading: ClassVar[str] = "Data coloured by the expert that took each row"

    rows: np.ndarray
    x: np.ndarray
    y: np.ndarray
    responsibilities: np.ndarray
    colors: np.ndarray
    input: Along
    expert_names: list[str]
    target: str = "y"
    classes: tuple[str, ...] = ()

    @classmethod
    def from_estimator(
        cls,
        model: MixtureOfExperts,
        X: Any,
        y: Any,
        feature: Any,
        *,
        target: str | None = None,
        max_points: int = MOST_POINTS,
        random_state: Any = 0,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Show the responsibilities of a fitted estimator for rows.

        Parameters
        ----------
        model : MoERegressor or MoEClassifier
            A fitted model.
        X : (n, d) table
            Inputs.
        y : (n,) array
            Outputs, labels for a classifier.
        feature : str or int
            Name or index of the column to draw y against; a column of text by the name it has in the table.
        target : str, optional
            Label of the output, by default the name of `y` if it has one.
        max_points : int
            Most rows drawn; of more, so many are chosen at random.
        random_state : int, RandomState, Generator or None
            Seed of that choice.
        """
        called = output_name(y, target)
        X, y = rows_and_outputs(model, X, y)
        one = along(model, X, feature, 2)
        chosen = some_rows(len(y), check_whole(max_points, 1, "max_points"), random_state)
        R = model.parameters_.responsibilities(X[chosen], y[chosen])
        palette = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in expert_colors(R.shape[1])])
        # roundoff must not leave the range of colours
        colors = np.clip(R @ palette, 0.0, 1.0)
        x = one.place(X[chosen], jitter=True)
        classes = outcome_names(model)
        return cls(chosen, x, y[chosen], R, colors, one, expert_names(model), called, classes)._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        owner, y = np.argmax(self.responsibilities, axis=1), self.y
        if self.classes:  # rows of one class are moved apart
            y = y + 2 * JITTER * np.random.default_rng(0).uniform(-1, 1, len(y))
        for i, style in enumerate(expert_styles(self.responsibilities.shape[1])):
            rows = owner == i
            ax.scatter(
                self.x[rows],
                y[rows],
                c=self.colors[rows],
                marker=style["marker"],
                s=16,
                alpha=0.8,
                linewidths=0,
                rasterized=len(self.x) > MANY,
            )
            # an entry of its own: the first row's colour may be a blend
            ax.plot([], [], color=style["color"], marker=style["marker"], linestyle="none", label=self.expert_names[i])
        mark_input(ax.xaxis, self.input)
        if self.classes:
            mark_places(ax.yaxis, np.arange(float(len(self.classes))), self.classes)
        name_axes(ax, label(self.input.name), label(self.target))
        legend_above(ax)


@dataclass(eq=False)
class BandDisplay(Display):
    """Predictive mean and bands against a column, the others at typical values, with a line for each expert.

    A column of text, or of two values, gets bars and points in place of bands and lines.

    Attributes
    ----------
    input : the column, as an `Along`        grid : (g,) its values, or places where it has but a few
    typical : (d,), the row that the grid is laid through
    mean : (g,)        experts : (g, k)        bands : dict from coverage to (g, 2)
    x, y : data points, or None        expert_names : names of the experts in the legend
    target : name of the output
    """

    heading: ClassVar[str] = "Predictive mean and bands"

    input: Along
    grid: np.ndarray
    typical: np.ndarray
    mean: np.ndarray
    experts: np.ndarray
    bands: dict[float, np.ndarray]
    expert_names: list[str]
    x: np.ndarray | None = None
    y: np.ndarray | None = None
    target: str = "y"

    @classmethod
    def from_estimator(
        cls,
        model: MixtureOfExperts,
        X: Any,
        feature: Any,
        *,
        y: Any = None,
        target: str | None = None,
        coverages: Sequence[float] = (0.5, 0.9),
        grid_resolution: int = 100,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Show the predictive bands of a fitted `MoERegressor`.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        X : (n, d) table
            Rows that determine the range and typical values.
        feature : str or int
            Name or index of a column; a column of text by the name it has in the table.
        y : (n,) array, optional
            Draws the data too, at most 2000 rows; their other columns are not typical, so they may lie outside.
        target : str, optional
            Label of the output, by default the name of `y` if it has one.
        coverages : sequence of float
            Probabilities that a new y falls into each band.
        grid_resolution : int
            Values along the column.
        """
        called = output_name(y, target)
        needs_numbers(model, "ProbabilityDisplay")
        if y is None:
            X = rows(model, X)
        else:
            X, y = rows_and_outputs(model, X, y)
        for coverage in coverages:
            if not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
                raise ValueError(f"coverages must be between 0 and 1; got {coverage!r}")
        one = along(model, X, feature, check_whole(grid_resolution, 2, "grid_resolution"))
        typical = typical_row(X)
        at = one.rows(typical)
        distribution = model._distribution()
        experts = model.parameters_.expert_means(at)
        bands = {c: distribution.interval(at, c) for c in sorted(float(c) for c in coverages)}
        display = cls(
            one, one.places, typical, distribution.mean(at), experts, bands, expert_names(model), target=called
        )
        if y is not None:
            chosen = some_rows(len(y), MOST_POINTS, 0)
            display.x, display.y = one.place(X[chosen], jitter=True), y[chosen]
        return display._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        if self.x is not None and self.y is not None:
            draw_dots(ax, self.x, self.y, markersize=4, color=POINT_GREY, alpha=0.6)
        self._bands(ax)
        # an expert's line may run far off where the gate rules it out: it does not set the scale
        shown = np.concatenate([self.mean, *(band.ravel() for band in self.bands.values())])
        shown = shown if self.y is None else np.concatenate([shown, self.y])
        margin = 0.05 * (shown.max() - shown.min()) or 1.0
        ax.set_ylim(shown.min() - margin, shown.max() + margin)
        name_axes(ax, others_typical(self.input.name, len(self.typical)), label(self.target))
        legend_above(ax)

    def _bands(self, ax: Any) -> None:
        one, k = self.input, self.experts.shape[1]
        for depth, (coverage, band) in enumerate(reversed(self.bands.items()), start=1):  # the widest first
            how = {"color": ink(ax), "alpha": SHADE, "linewidth": 0}
            if one.discrete:
                ax.bar(self.grid, band[:, 1] - band[:, 0], 0.5 * one.step, band[:, 0], **how)
            else:
                ax.fill_between(self.grid, *band.T, **how)
            # bands lie on each other: the legend shows the shade that comes out
            how["alpha"] = 1 - (1 - SHADE) ** depth
            ax.fill_between([], [], label=f"{100 * coverage:g}% band", **how)
        for i, style in enumerate(expert_styles(k)):
            offset = 0.4 * one.step * ((i + 0.5) / k - 0.5) if one.discrete else 0.0
            draw_expert(ax, one, self.experts[:, i], style, self.expert_names[i], offset=offset)
        mark_input(ax.xaxis, one)
        draw_line(ax, one, self.mean, half=0.25, name="mean")
