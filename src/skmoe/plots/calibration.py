"""Calibration of predictive distributions on rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference.formatting import TWO_SIDED_95
from skmoe.plots.reading import check_whole, needs_numbers, rows_and_outputs
from skmoe.plots.style import COLORS, Display, ink

__all__ = ["CalibrationDisplay"]


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
        ax : two matplotlib Axes, or one to divide, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        CalibrationDisplay
            The display; its numbers are attributes.
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
        ax : two matplotlib Axes, or one to divide, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        CalibrationDisplay
            The display; its numbers are attributes.
        """
        edges = np.linspace(0, 1, check_whole(bins, 1, "bins") + 1)
        pit = np.clip(np.asarray(pit, dtype=np.float64), 0.0, 1.0)  # gates add up to one but for roundoff
        density = np.histogram(pit, edges)[0] * (len(edges) - 1) / len(pit)
        nominal = np.linspace(0.05, 0.95, 19)
        # y is inside the central interval of coverage c where its PIT is within c / 2 of one half
        observed = np.mean(2 * np.abs(pit - 0.5)[:, None] <= nominal, axis=0)
        return cls(pit, edges, density, nominal, observed)._drawn(ax, draw)

    def _draw(self, *axes: Any) -> None:
        left, right = axes
        n, bins = len(self.pit), len(self.density)
        half_width = TWO_SIDED_95 * np.sqrt((bins - 1) / n)
        left.stairs(self.density, self.edges, fill=True, color=COLORS[0], alpha=0.75)
        for height, dash in ((1.0, "--"), (1 - half_width, ":"), (1 + half_width, ":")):
            left.axhline(height, color=ink(left), linewidth=1, linestyle=dash)
        left.set_xlim(0, 1)
        left.set_ylim(0, 1.1 * max(self.density.max(), 1 + half_width))
        left.set_xlabel("PIT of the rows")
        left.set_ylabel("density (dotted: 95% if right)")
        c = np.linspace(0, 1, 101)
        half = TWO_SIDED_95 * np.sqrt(c * (1 - c) / n)
        right.fill_between(c, c - half, c + half, color=ink(right), alpha=0.16, linewidth=0)
        right.plot([0, 1], [0, 1], color=ink(right), linewidth=1, linestyle="--")
        right.plot(self.nominal, self.observed, color=COLORS[0], marker="o", markersize=4)
        right.set_xlim(0, 1)
        right.set_ylim(0, 1)
        right.set_xlabel("nominal coverage")
        right.set_ylabel("observed coverage")
