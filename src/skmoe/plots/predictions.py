"""Predictions of rows beside their outputs: means and intervals, and the calibration of distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference.formatting import TWO_SIDED_95
from skmoe.plots.outputs import MOST_POINTS
from skmoe.plots.reading import check_whole, needs_numbers, output_name, rows_and_outputs, some_rows
from skmoe.plots.style import COLORS, MANY, Display, draw_dots, ink, label, legend_above, name_axes

__all__ = ["CalibrationDisplay", "PredictionDisplay"]


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
        """
        called = output_name(y, target)
        predicted, y = (np.asarray(values, dtype=np.float64).ravel() for values in (predicted, y))
        if len(predicted) != len(y):
            raise ValueError(f"there are {len(predicted)} predictions and {len(y)} outputs; they must match")
        chosen = some_rows(len(y), MOST_POINTS, 0)
        bounds = None if bounds is None else np.asarray(bounds, dtype=np.float64)[chosen]
        return cls(predicted[chosen], y[chosen], called, bounds, float(coverage))._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        limits = [min(self.predicted.min(), self.y.min()), max(self.predicted.max(), self.y.max())]
        if self.bounds is not None:
            text = f"{100 * self.coverage:g}% interval"
            how = {"color": ink(ax), "alpha": 0.13, "linewidth": 1.2, "rasterized": len(self.y) > MANY}
            ax.vlines(self.predicted, *np.clip(self.bounds, *limits).T, **how)
            ax.plot([], [], color=ink(ax), alpha=0.4, label=text)
        ax.plot(limits, limits, color=ink(ax), linewidth=1, linestyle="--", label="right")
        draw_dots(ax, self.predicted, self.y, color=COLORS[0], alpha=0.7, markersize=6, label="row")
        name = label(self.target, 30)
        name_axes(ax, f"predicted {name}", f"observed {name}")
        ax.locator_params(axis="x", nbins=5)  # numbers of six digits have room
        legend_above(ax)


@dataclass(eq=False)
class CalibrationDisplay(Display):
    """Calibration of predictive distributions: PIT histogram, and observed against nominal coverage.

    The probability integral transform (PIT) of a row is the mixture's distribution function at its y: uniform if the
    model is right. A hump means intervals too wide, a U too narrow ones, a slope a bias.

    Attributes
    ----------
    pit : (n,)        edges : (bins + 1,)        density : (bins,), 1 if uniform
    nominal, observed : coverage of central intervals, asked for and found
    """

    heading: ClassVar[str] = "Calibration: PIT histogram, and observed against nominal coverage"
    panels: ClassVar[int] = 2

    pit: np.ndarray
    edges: np.ndarray
    density: np.ndarray
    nominal: np.ndarray
    observed: np.ndarray

    @classmethod
    def from_estimator(
        cls, model: MixtureOfExperts, X: Any, y: Any, *, bins: int = 20, ax: Any = None, draw: bool = True
    ) -> Self:
        """Show the calibration of a fitted `MoERegressor` on rows, best ones it was not fitted to.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        X : (n, d) table
            Inputs.
        y : (n,) array
            Outputs.
        bins : int
            Bars of the histogram.
        """
        needs_numbers(model, "ReliabilityDisplay")
        X, y = rows_and_outputs(model, X, y)
        return cls.from_pit(model._distribution().cdf(X, y), bins=bins, ax=ax, draw=draw)

    @classmethod
    def from_pit(cls, pit: Any, *, bins: int = 20, ax: Any = None, draw: bool = True) -> Self:
        """Show calibration by values of predictive distribution functions, such as those of a cross-validation.

        Parameters
        ----------
        pit : (n,) array
            Distribution function of each row's prediction at its output.
        bins : int
            Bars of the histogram.
        """
        edges = np.linspace(0, 1, check_whole(bins, 1, "bins") + 1)
        pit = np.clip(np.asarray(pit, dtype=np.float64), 0.0, 1.0)  # gates add up to one but for roundoff
        density = np.histogram(pit, edges)[0] * (len(edges) - 1) / len(pit)
        nominal = np.linspace(0.05, 0.95, 19)
        # y is inside the central interval of coverage c where its PIT is within c / 2 of one half
        observed = np.mean(2 * np.abs(pit - 0.5)[:, None] <= nominal, axis=0)
        return cls(pit, edges, density, nominal, observed)._drawn(ax, draw)

    def _draw(self, left: Any, right: Any) -> None:
        n, bins = len(self.pit), len(self.density)
        half_width = TWO_SIDED_95 * np.sqrt((bins - 1) / n)
        left.stairs(self.density, self.edges, fill=True, color=COLORS[0], alpha=0.75)
        for height, dash in ((1.0, "--"), (1 - half_width, ":"), (1 + half_width, ":")):
            left.axhline(height, color=ink(left), linewidth=1, linestyle=dash)
        left.set_xlim(0, 1)
        left.set_ylim(0, 1.1 * max(self.density.max(), 1 + half_width))
        name_axes(left, "PIT of the rows", "density (dotted: 95% if right)")
        c = np.linspace(0, 1, 101)
        half = TWO_SIDED_95 * np.sqrt(c * (1 - c) / n)
        right.fill_between(c, c - half, c + half, color=ink(right), alpha=0.16, linewidth=0)
        right.plot([0, 1], [0, 1], color=ink(right), linewidth=1, linestyle="--")
        right.plot(self.nominal, self.observed, color=COLORS[0], marker="o", markersize=4)
        right.set_xlim(0, 1)
        right.set_ylim(0, 1)
        name_axes(right, "nominal coverage", "observed coverage")
