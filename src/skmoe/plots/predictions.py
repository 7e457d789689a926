"""Predictions against observed outputs, of rows that a model was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.plots.outputs import MOST_POINTS
from skmoe.plots.reading import needs_numbers, output_name, rows_and_outputs, some_rows
from skmoe.plots.style import COLORS, Display, ink, label, legend_above, plain_text

__all__ = ["PredictionDisplay"]

MANY = 500  # rows above which marks are drawn as pixels: thousands of them would make a vector file huge


@dataclass(eq=False)
class PredictionDisplay(Display):
    """Outputs against their predictions; on the diagonal a prediction is right.

    Attributes
    ----------
    predicted, y : (m,) arrays, of at most 2000 rows
    bounds : (m, 2) array of the bounds of their intervals, or None        coverage : that of the intervals
    target : name of the output
    """

    heading: ClassVar[str] = "Outputs against predictions"

    predicted: np.ndarray
    y: np.ndarray
    target: str
    bounds: np.ndarray | None = None
    coverage: float = 0.9

    @classmethod
    def from_estimator(
        cls, model: MixtureOfExperts, X: Any, y: Any, *, target: str | None = None, ax: Any = None, draw: bool = True
    ) -> Self:
        """Show the predictions of a fitted `MoERegressor` for rows, best ones it was not fitted to.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        X : (n, d) table
            Inputs.
        y : (n,) array
            Outputs.
        target : str, optional
            Label of the output, by default the name of `y` if it has one.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        PredictionDisplay
            The display; its numbers are attributes.
        """
        called = output_name(y, target)
        needs_numbers(model, "SeparationDisplay")
        X, y = rows_and_outputs(model, X, y)
        distribution = model._distribution()
        return cls.from_predictions(
            distribution.mean(X), y, bounds=distribution.interval(X, 0.9), target=called, ax=ax, draw=draw
        )

    @classmethod
    def from_predictions(
        cls,
        predicted: Any,
        y: Any,
        *,
        bounds: Any = None,
        coverage: float = 0.9,
        target: str | None = None,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Show predictions that were made already, such as those of a cross-validation.

        Parameters
        ----------
        predicted : (n,) array
            Predictions.
        y : (n,) array
            Outputs.
        bounds : (n, 2) array, optional
            Lower and upper bounds of intervals.
        coverage : float
            Coverage of the intervals, for the legend.
        target : str, optional
            Label of the output, by default the name of `y` if it has one.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        PredictionDisplay
            The display; its numbers are attributes.
        """
        called = output_name(y, target)
        predicted, y = (np.asarray(values, dtype=np.float64).ravel() for values in (predicted, y))
        if len(predicted) != len(y):
            raise ValueError(f"there are {len(predicted)} predictions and {len(y)} outputs; they must match")
        chosen = some_rows(len(y), MOST_POINTS, 0)
        bounds = None if bounds is None else np.asarray(bounds, dtype=np.float64)[chosen]
        return cls(predicted[chosen], y[chosen], called, bounds, float(coverage))._drawn(ax, draw)

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        limits = [min(self.predicted.min(), self.y.min()), max(self.predicted.max(), self.y.max())]
        if self.bounds is not None:
            text = f"{100 * self.coverage:g}% interval"
            how = {"color": ink(ax), "alpha": 0.13, "linewidth": 1.2, "rasterized": len(self.y) > MANY}
            ax.vlines(self.predicted, *np.clip(self.bounds, *limits).T, **how)
            ax.plot([], [], color=ink(ax), alpha=0.4, label=text)
        ax.plot(limits, limits, color=ink(ax), linewidth=1, linestyle="--", label="right")
        dots = {"linestyle": "none", "marker": ".", "markeredgewidth": 0, "rasterized": len(self.y) > MANY}
        ax.plot(self.predicted, self.y, color=COLORS[0], alpha=0.7, markersize=6, label="row", **dots)
        name = label(self.target, 30)
        plain_text(ax.set_xlabel(f"predicted {name}"), ax.set_ylabel(f"observed {name}"))
        ax.locator_params(axis="x", nbins=5)  # numbers of six digits have room
        legend_above(ax)
