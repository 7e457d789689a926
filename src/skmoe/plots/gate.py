"""Probabilities of the gate over its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.plots.reading import Along, along, check_whole, expert_names, rows, typical_row
from skmoe.plots.style import (
    Display,
    draw_expert,
    expert_colors,
    expert_styles,
    ink,
    label,
    legend_above,
    mark_input,
    name_axes,
    others_typical,
)

__all__ = ["GateDisplay"]


@dataclass(eq=False)
class GateDisplay(Display):
    """Probabilities of the experts over one or two columns, the others at typical values.

    Typical is the median, or the more frequent value of a column that has but two. One column gives a curve for each
    expert, or bars where it has but two values or is text; two give a map in the colour of the likeliest expert,
    stronger where the gate is surer.

    Attributes
    ----------
    inputs : the inputs along the axes, each an `Along`        names : their names
    grid : one or two arrays of values, or of places where an axis has but a few
    probabilities : (g, k), or (g0, g1, k) for two columns
    typical : (d,), the row that the grid is laid through
    expert_names : names of the experts in the legend
    """

    heading: ClassVar[str] = "Probability of each expert over the inputs"

    inputs: list[Along]
    names: list[str]
    grid: list[np.ndarray]
    probabilities: np.ndarray
    typical: np.ndarray
    expert_names: list[str]

    @classmethod
    def from_estimator(
        cls,
        model: MixtureOfExperts,
        X: Any,
        features: Any,
        *,
        grid_resolution: int = 100,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Show the gate of a fitted estimator.

        Parameters
        ----------
        model : MoERegressor or MoEClassifier
            A fitted model.
        X : (n, d) table
            Rows that determine the range and typical values.
        features : str, int or sequence of one or two
            Names or indices of columns; a column of text by the name it has in the table.
        grid_resolution : int
            Values along each column.
        """
        X = rows(model, X)
        asked = list(features) if np.iterable(features) and not isinstance(features, str) else [features]
        if len(asked) not in (1, 2):
            raise ValueError(f"features must be one or two columns; got {len(asked)}: {asked}")
        steps = check_whole(grid_resolution, 2, "grid_resolution")
        inputs = [along(model, X, feature, steps, "features") for feature in asked]
        if len({one.columns for one in inputs}) < len(inputs):
            raise ValueError(f"features names a column twice: {asked}")
        typical = typical_row(X)
        places = np.stack(np.meshgrid(*(np.arange(len(one.places)) for one in inputs), indexing="ij"), axis=-1)
        at = np.tile(typical, (places[..., 0].size, 1))
        for a, one in enumerate(inputs):
            at[:, one.columns] = one.values[places[..., a].ravel()]
        P = model.parameters_.gate_proba(at).reshape(*places.shape[:-1], -1)
        names, grid = [one.name for one in inputs], [one.places for one in inputs]
        return cls(inputs, names, grid, P, typical, expert_names(model))._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        if len(self.grid) == 2:
            self._map(ax)
            return
        if self.inputs[0].discrete:
            self._bars(ax)
        else:
            self._curves(ax)
        ax.set_ylim(-0.02, 1.02)
        name_axes(ax, others_typical(self.names[0], len(self.typical)), "probability of the expert")
        legend_above(ax)

    def _curves(self, ax: Any) -> None:
        for i, style in enumerate(expert_styles(self.probabilities.shape[-1])):
            draw_expert(ax, self.inputs[0], self.probabilities[:, i], style, self.expert_names[i], width=2)

    def _bars(self, ax: Any) -> None:
        one = self.inputs[0]
        below = np.zeros(len(one.places))
        for i, color in enumerate(expert_colors(self.probabilities.shape[-1])):
            height = self.probabilities[:, i]
            ax.bar(one.places, height, 0.6 * one.step, bottom=below, color=color, label=self.expert_names[i])
            below = below + height
        mark_input(ax.xaxis, one)

    def _map(self, ax: Any) -> None:
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Patch

        k = self.probabilities.shape[-1]
        colors = expert_colors(k)
        likeliest = np.argmax(self.probabilities, axis=-1)
        sure = np.max(self.probabilities, axis=-1)
        opacity = (sure - 1 / k) / (1 - 1 / k) if k > 1 else np.ones_like(sure)
        image = np.concatenate(
            [np.array([to_rgb(c) for c in colors])[likeliest], (0.12 + 0.78 * np.clip(opacity, 0, 1))[..., None]], -1
        )
        extent = []
        for values in self.grid:  # a value of the grid is the middle of its cell
            half = 0.5 * (values[1] - values[0])
            extent += [values[0] - half, values[-1] + half]
        ax.imshow(image.swapaxes(0, 1), origin="lower", extent=extent, aspect="auto", interpolation="nearest")
        for i in np.unique(likeliest):
            inside = np.argwhere(likeliest == i)
            if len(inside) < 0.02 * likeliest.size:
                continue  # no room for a number
            spot = inside[np.argmin(np.sum((inside - inside.mean(axis=0)) ** 2, axis=1))]
            place = [values[s] for values, s in zip(self.grid, spot, strict=True)]
            ax.text(*place, str(i + 1), color=ink(ax), ha="center", va="center", fontweight="bold")
        for axis, one in zip((ax.xaxis, ax.yaxis), self.inputs, strict=True):
            mark_input(axis, one)
        name_axes(ax, label(self.names[0]), label(self.names[1]))
        patches = [Patch(color=c, label=name) for c, name in zip(colors, self.expert_names, strict=True)]
        legend_above(ax, handles=patches)
