"""Rows and outputs: which expert took which row, and the predictive bands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.inference import feature_names
from skmoe.plots.reading import (
    check_whole,
    column,
    expert_names,
    grid_over,
    rows,
    rows_and_outputs,
    some_rows,
    typical_row,
)
from skmoe.plots.style import (
    POINT_GREY,
    Display,
    expert_colors,
    expert_styles,
    ink,
    label,
    legend_above,
    others_typical,
    plain_text,
)

__all__ = ["BandDisplay", "ResponsibilityDisplay"]

MOST_POINTS = 2000
SHADE = 0.16  # of one band


@dataclass(eq=False)
class ResponsibilityDisplay(Display):
    """Which expert took which row: the data, in a blend of the experts' colours by responsibility.

    Attributes
    ----------
    rows (m,) : indices of the rows drawn
    x (m,), y (m,) : their values        responsibilities (m, k)        colors (m, 3) : the blends
    name : name of the column        expert_names : what the legend calls the experts
    """

    heading: ClassVar[str] = "Data coloured by the expert that took each row"

    rows: np.ndarray
    x: np.ndarray
    y: np.ndarray
    responsibilities: np.ndarray
    colors: np.ndarray
    name: str
    expert_names: list[str]

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        feature: Any,
        *,
        max_points: int = MOST_POINTS,
        random_state: Any = 0,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Responsibilities of a fitted `MoERegressor` for rows.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        X : (n, d) table
            Inputs.
        y : (n,) array
            Outputs.
        feature : str or int
            Name or index of the column to draw y against.
        max_points : int
            Most rows drawn; of more, so many are chosen at random.
        random_state : int, RandomState, Generator or None
            Chooses them.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        ResponsibilityDisplay
            The display; its numbers are attributes.
        """
        X, y = rows_and_outputs(model, X, y)
        j = column(model, feature)
        chosen = some_rows(len(y), check_whole(max_points, 1, "max_points"), random_state)
        R = model.parameters_.responsibilities(X[chosen], y[chosen])
        palette = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in expert_colors(R.shape[1])])
        # roundoff must not leave the range of colours
        colors = np.clip(R @ palette, 0.0, 1.0)
        return cls(chosen, X[chosen, j], y[chosen], R, colors, feature_names(model)[j], expert_names(model))._drawn(
            ax, draw
        )

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        owner = np.argmax(self.responsibilities, axis=1)
        for i, style in enumerate(expert_styles(self.responsibilities.shape[1])):
            mine = owner == i
            ax.scatter(
                self.x[mine],
                self.y[mine],
                c=self.colors[mine],
                marker=style["marker"],
                s=16,
                alpha=0.8,
                linewidths=0,
                rasterized=len(self.x) > 500,  # thousands of marks would make a vector file huge
            )
            # an entry of its own: the first row's colour may be a blend
            ax.plot([], [], color=style["color"], marker=style["marker"], linestyle="none", label=self.expert_names[i])
        plain_text(ax.set_xlabel(label(self.name)))
        ax.set_ylabel("y")
        legend_above(ax)


@dataclass(eq=False)
class BandDisplay(Display):
    """Predictive mean and bands against a column, the others at typical values, with a line for each expert.

    Attributes
    ----------
    name : name of the column        grid : (g,) its values        typical : (d,), the row that the grid is laid through
    mean : (g,)        experts : (g, k)        bands : dict from coverage to (g, 2)
    x, y : data points, or None        expert_names : what the legend calls the experts
    """

    heading: ClassVar[str] = "Predictive mean and bands"

    name: str
    grid: np.ndarray
    typical: np.ndarray
    mean: np.ndarray
    experts: np.ndarray
    bands: dict[float, np.ndarray]
    expert_names: list[str]
    x: np.ndarray | None = None
    y: np.ndarray | None = None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        feature: Any,
        *,
        y: Any = None,
        coverages: Sequence[float] = (0.5, 0.9),
        grid_resolution: int = 100,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Predictive bands of a fitted `MoERegressor`.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        X : (n, d) table
            Says which values are there and which are typical.
        feature : str or int
            Name or index of a column.
        y : (n,) array, optional
            Draws the data too, at most 2000 rows; their other columns are not typical, so they may lie outside.
        coverages : sequence of float
            Probabilities that a new y falls into each band.
        grid_resolution : int
            Values along the column.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        BandDisplay
            The display; its numbers are attributes.
        """
        if y is None:
            X = rows(model, X)
        else:
            X, y = rows_and_outputs(model, X, y)
        for coverage in coverages:
            if not isinstance(coverage, Real) or not 0 < float(coverage) < 1:
                raise ValueError(f"coverages must be between 0 and 1; got {coverage!r}")
        j = column(model, feature)
        name = feature_names(model)[j]
        grid = grid_over(X[:, j], check_whole(grid_resolution, 2, "grid_resolution"), name)
        typical = typical_row(X)
        at = np.tile(typical, (len(grid), 1))
        at[:, j] = grid
        law = model._law()
        experts = model.parameters_.expert_means(at)
        bands = {c: law.interval(at, c) for c in sorted(float(c) for c in coverages)}
        display = cls(name, grid, typical, law.mean(at), experts, bands, expert_names(model))
        if y is not None:
            chosen = some_rows(len(y), MOST_POINTS, 0)
            display.x, display.y = X[chosen, j], y[chosen]
        return display._drawn(ax, draw)

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        if self.x is not None:
            ax.plot(
                self.x,
                self.y,
                linestyle="none",
                marker=".",
                markersize=4,
                markeredgewidth=0,
                color=POINT_GREY,
                alpha=0.6,
                rasterized=len(self.x) > 500,
            )
        for depth, (coverage, band) in enumerate(reversed(self.bands.items()), start=1):
            ax.fill_between(self.grid, *band.T, color=ink(ax), alpha=SHADE, linewidth=0)
            # bands lie on each other: the legend shows the shade that comes out
            shade = 1 - (1 - SHADE) ** depth
            ax.fill_between([], [], color=ink(ax), alpha=shade, linewidth=0, label=f"{100 * coverage:g}% band")
        for i, style in enumerate(expert_styles(self.experts.shape[1])):
            ax.plot(
                self.grid,
                self.experts[:, i],
                color=style["color"],
                linestyle=style["linestyle"],
                linewidth=1.2,
                label=self.expert_names[i],
            )
        ax.plot(self.grid, self.mean, color=ink(ax), linewidth=2, label="mean")
        # an expert's line may run far off where the gate rules it out: it does not set the scale
        seen = np.concatenate([self.mean, *(band.ravel() for band in self.bands.values())])
        seen = seen if self.y is None else np.concatenate([seen, self.y])
        margin = 0.05 * (seen.max() - seen.min()) or 1.0
        ax.set_ylim(seen.min() - margin, seen.max() + margin)
        if len(self.grid) == 2:
            ax.set_xticks(self.grid)
        plain_text(ax.set_xlabel(others_typical(self.name, len(self.typical))))
        ax.set_ylabel("y")
        legend_above(ax)
