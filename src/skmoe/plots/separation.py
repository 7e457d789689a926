"""Separation of classes: the probability that rows gave to the observed class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference.class_confidence import outcome_proba
from skmoe.plots.outputs import MOST_POINTS
from skmoe.plots.reading import JITTER, class_names, rows_and_outputs, some_rows
from skmoe.plots.style import COLORS, POINT_GREY, Display, ink, label, legend_above, mark_places

__all__ = ["SeparationDisplay"]

MOST_ROWS_OF_CLASSES = 12  # classes that are drawn one below the other


@dataclass(eq=False)
class SeparationDisplay(Display):
    """Separation of classes: for the rows of each class, the probability that it was given.

    Attributes
    ----------
    names : names of the c classes, at most the 12 most frequent        rows : (c,) rows of each
    shares : (c,) their shares of all rows
    means : (c,) mean probability given to a class by the rows of that class, NaN where there are none
    place, p : (m,) class and probability of the rows drawn, at most 2000
    """

    heading: ClassVar[str] = "Probability given to the class that came, by class"

    names: list[str]
    rows: np.ndarray
    shares: np.ndarray
    means: np.ndarray
    place: np.ndarray
    p: np.ndarray

    @classmethod
    def from_estimator(cls, model: MixtureOfExperts, X: Any, y: Any, *, ax: Any = None, draw: bool = True) -> Self:
        """Show probabilities of a `MoEClassifier`, or of binomial experts, for rows, best ones it was not fitted to.

        Parameters
        ----------
        model : MoEClassifier, or MoERegressor of outputs 0 and 1
            A fitted model.
        X : (n, d) table
            Inputs.
        y : (n,) array
            Labels, or 0 and 1.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        SeparationDisplay
            The display; its numbers are attributes.
        """
        names = class_names(model)
        X, codes = rows_and_outputs(model, X, y)
        return cls.from_probabilities(outcome_proba(model, X), codes, names, ax=ax, draw=draw)

    @classmethod
    def from_probabilities(
        cls, proba: Any, y: Any, names: Sequence[str], *, weight: Any = None, ax: Any = None, draw: bool = True
    ) -> Self:
        """Show probabilities that were predicted already, such as those of a cross-validation.

        Parameters
        ----------
        proba : (n, C) array
            Probabilities of the classes.
        y : (n,) array
            Numbers of the observed classes, from 0.
        names : sequence of str
            Names of the C classes.
        weight : (n,) array, optional
            Weights of the rows.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        SeparationDisplay
            The display; its numbers are attributes.
        """
        proba, y = np.asarray(proba, dtype=np.float64), np.asarray(y).astype(int)
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        given = proba[np.arange(len(y)), y]
        total = np.bincount(y, weights=weight, minlength=len(names))
        drawn = np.sort(np.argsort(-total, kind="stable")[:MOST_ROWS_OF_CLASSES])
        sums = np.bincount(y, weights=weight * given, minlength=len(names))[drawn]
        means = np.divide(sums, total[drawn], out=np.full(len(drawn), np.nan), where=total[drawn] > 0)
        some = np.flatnonzero(np.isin(y, drawn))
        some = some[some_rows(len(some), MOST_POINTS, 0)]
        return cls(
            [str(names[c]) for c in drawn],
            np.bincount(y, minlength=len(names))[drawn],
            total[drawn] / np.sum(total),
            means,
            np.searchsorted(drawn, y[some]),
            given[some],
        )._drawn(ax, draw)

    def _size(self) -> tuple[float, float]:
        return 6.4, max(2.4, 1.4 + 0.5 * len(self.names))

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        places = np.arange(len(self.names), dtype=float)
        jitter = 2 * JITTER * np.random.default_rng(0).uniform(-1, 1, len(self.p))
        how = {"linestyle": "none", "marker": ".", "markeredgewidth": 0, "rasterized": len(self.p) > 500}
        ax.plot(self.p, self.place + jitter, color=COLORS[0], alpha=0.5, markersize=5, label="row", **how)
        ends = (places - 0.38, places + 0.38)
        ax.vlines(self.shares, *ends, color=POINT_GREY, linestyle=":", linewidth=2, label="share of the class")
        known = np.isfinite(self.means)
        ax.vlines(self.means[known], *(end[known] for end in ends), color=ink(ax), linewidth=2, label="mean")
        mark_places(
            ax.yaxis, places, [f"{label(name, 14)} ({n:,})" for name, n in zip(self.names, self.rows, strict=True)]
        )
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(len(self.names) - 0.5, -0.5)
        ax.set_xlabel("probability given to the class that came")
        legend_above(ax)
