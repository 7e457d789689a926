"""Who answers where: the gate over its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.inference import feature_names
from skmoe.plots.reading import check_whole, column, expert_names, grid_over, rows, typical_row
from skmoe.plots.style import (
    Display,
    expert_colors,
    expert_styles,
    ink,
    label,
    legend_above,
    others_typical,
    plain_text,
)

__all__ = ["GateDisplay"]


@dataclass(eq=False)
class GateDisplay(Display):
    """Who answers where: probabilities of the experts over one or two columns, the others at typical values.

    Typical is the median, or the more frequent value of a column that has but two. One column gives a curve for each
    expert; two give a map in the colour of the likeliest expert, stronger where the gate is surer.

    Attributes
    ----------
    features, names : indices and names of the columns
    grid : one or two arrays of values
    probabilities : (g, k), or (g0, g1, k) for two columns
    typical : (d,), the row that the grid is laid through
    expert_names : what the legend calls the experts
    """

    heading: ClassVar[str] = "Probability of each expert over the inputs"

    features: list[int]
    names: list[str]
    grid: list[np.ndarray]
    probabilities: np.ndarray
    typical: np.ndarray
    expert_names: list[str]

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, features: Any, *, grid_resolution: int = 100, ax: Any = None, draw: bool = True
    ) -> Self:
        """Gate of a fitted `MoERegressor`.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        X : (n, d) table
            Says which values are there and which are typical.
        features : str, int or sequence of one or two
            Names or indices of columns.
        grid_resolution : int
            Values along each column.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        GateDisplay
            The display; its numbers are attributes.
        """
        X = rows(model, X)
        asked = list(features) if np.iterable(features) and not isinstance(features, str) else [features]
        if len(asked) not in (1, 2):
            raise ValueError(f"features must be one or two columns; got {len(asked)}: {asked}")
        columns = [column(model, feature, "features") for feature in asked]
        if len(set(columns)) < len(columns):
            raise ValueError(f"features names a column twice: {asked}")
        names = [feature_names(model)[j] for j in columns]
        steps = check_whole(grid_resolution, 2, "grid_resolution")
        grid = [grid_over(X[:, j], steps, name) for j, name in zip(columns, names, strict=True)]
        typical = typical_row(X)
        mesh = np.stack(np.meshgrid(*grid, indexing="ij"), axis=-1)
        at = np.tile(typical, (mesh[..., 0].size, 1))
        at[:, columns] = mesh.reshape(-1, len(columns))
        P = model.parameters_.gate_proba(at).reshape(*mesh.shape[:-1], -1)
        return cls(columns, names, grid, P, typical, expert_names(model))._drawn(ax, draw)

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        if len(self.grid) == 1:
            self._curves(ax)
        else:
            self._map(ax)

    def _curves(self, ax: Any) -> None:
        for i, style in enumerate(expert_styles(self.probabilities.shape[-1])):
            marker = style["marker"] if len(self.grid[0]) == 2 else None
            ax.plot(
                self.grid[0],
                self.probabilities[:, i],
                color=style["color"],
                linestyle=style["linestyle"],
                marker=marker,
                linewidth=2,
                label=self.expert_names[i],
            )
        if len(self.grid[0]) == 2:
            ax.set_xticks(self.grid[0])
        ax.set_ylim(-0.02, 1.02)
        ax.set_ylabel("probability of the expert")
        plain_text(ax.set_xlabel(others_typical(self.names[0], len(self.typical))))
        legend_above(ax)

    def _map(self, ax: Any) -> None:
        from matplotlib.colors import to_rgb
        from matplotlib.patches import Patch

        k = self.probabilities.shape[-1]
        colors = expert_colors(k)
        likeliest = np.argmax(self.probabilities, axis=-1)
        sure = np.max(self.probabilities, axis=-1)
        strength = (sure - 1 / k) / (1 - 1 / k) if k > 1 else np.ones_like(sure)
        image = np.concatenate(
            [np.array([to_rgb(c) for c in colors])[likeliest], (0.12 + 0.78 * np.clip(strength, 0, 1))[..., None]], -1
        )
        ends = []
        for values in self.grid:  # a value of the grid is the middle of its cell
            half = 0.5 * (values[1] - values[0])
            ends += [values[0] - half, values[-1] + half]
        ax.imshow(image.swapaxes(0, 1), origin="lower", extent=ends, aspect="auto", interpolation="nearest")
        for i in np.unique(likeliest):
            inside = np.argwhere(likeliest == i)
            if len(inside) < 0.02 * likeliest.size:
                continue  # no room for a number
            spot = inside[np.argmin(np.sum((inside - inside.mean(axis=0)) ** 2, axis=1))]
            place = [values[s] for values, s in zip(self.grid, spot, strict=True)]
            ax.text(*place, str(i + 1), color=ink(ax), ha="center", va="center", fontweight="bold")
        for axis, values in zip((ax.xaxis, ax.yaxis), self.grid, strict=True):
            if len(values) == 2:
                axis.set_ticks(values)
        plain_text(ax.set_xlabel(label(self.names[0])), ax.set_ylabel(label(self.names[1])))
        patches = [Patch(color=c, label=name) for c, name in zip(colors, self.expert_names, strict=True)]
        legend_above(ax, handles=patches)
