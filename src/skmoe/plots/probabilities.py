"""Probabilities of classes beside the classes that came: reliability and separation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference.class_confidence import outcome_proba
from skmoe.inference.formatting import TWO_SIDED_95
from skmoe.plots.outputs import MOST_POINTS
from skmoe.plots.reading import JITTER, check_whole, class_names, classes_to_draw, rows_and_outputs, some_rows
from skmoe.plots.style import (
    COLORS,
    POINT_GREY,
    Display,
    draw_dots,
    expert_styles,
    ink,
    label,
    legend_above,
    legend_name,
    mark_places,
    name_axes,
)

__all__ = ["ReliabilityDisplay", "SeparationDisplay"]

MOST_ROWS_OF_CLASSES = 12  # classes that are drawn one below the other


@dataclass(eq=False)
class ReliabilityDisplay(Display):
    """Reliability diagram: share of a class among rows that gave it about the same probability, and their number.

    On the diagonal probabilities are right; below it they are too large. Bars are 95% intervals (Wilson's) of the share
    for the number of rows in a bin. Of two classes the second is drawn, of more the four most frequent.

    Attributes
    ----------
    names : names of the classes drawn, c of them        edges : (bins + 1,) edges of the bins
    predicted, observed : (c, bins) mean probability and share of the class in each bin, NaN where no row is
    lower, upper : (c, bins) bounds of the intervals of the share        counts : (c, bins) rows in each bin
    """

    heading: ClassVar[str] = "Reliability: observed shares of classes by predicted probability"
    panels: ClassVar[int] = 2

    names: list[str]
    edges: np.ndarray
    predicted: np.ndarray
    observed: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    counts: np.ndarray

    @classmethod
    def from_estimator(
        cls, model: MixtureOfExperts, X: Any, y: Any, *, bins: int = 10, ax: Any = None, draw: bool = True
    ) -> Self:
        """Show the reliability of a `MoEClassifier`, or of binomial experts, on rows, best ones it was not fitted to.

        Parameters
        ----------
        model : MoEClassifier, or MoERegressor of outputs 0 and 1
            A fitted model.
        X : (n, d) table
            Inputs.
        y : (n,) array
            Labels, or 0 and 1.
        bins : int
            Bins of the probability, of even width.
        """
        names = class_names(model)
        X, codes = rows_and_outputs(model, X, y)
        proba = outcome_proba(model, X)
        return cls.from_probabilities(proba, codes, names, bins=bins, ax=ax, draw=draw)

    @classmethod
    def from_probabilities(
        cls,
        proba: Any,
        y: Any,
        names: Sequence[str],
        *,
        weight: Any = None,
        bins: int = 10,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Show the reliability of probabilities that were predicted already, such as those of a cross-validation.

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
        bins : int
            Bins of the probability, of even width.
        """
        proba, y = np.asarray(proba, dtype=np.float64), np.asarray(y).astype(int)
        if proba.shape != (len(y), len(names)):
            raise ValueError(
                f"proba must have a row for each of {len(y)} outputs and a column for each of {len(names)} names; its "
                f"shape is {proba.shape}"
            )
        weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
        edges = np.linspace(0, 1, check_whole(bins, 1, "bins") + 1)
        drawn = classes_to_draw(np.bincount(y, weights=weight, minlength=len(names)))
        found = [_by_bin(proba[:, c], y == c, weight, edges) for c in drawn]
        stacked = (np.stack(values) for values in zip(*found, strict=True))
        return cls([str(names[c]) for c in drawn], edges, *stacked)._drawn(ax, draw)

    def _draw(self, left: Any, right: Any) -> None:
        left.plot([0, 1], [0, 1], color=ink(left), linewidth=1, linestyle="--")
        for c, style in enumerate(expert_styles(len(self.names))):
            full = self.counts[c] > 0
            x, y = self.predicted[c][full], self.observed[c][full]
            errors = np.stack([y - self.lower[c][full], self.upper[c][full] - y])
            name = legend_name(self.names[c], 14)
            left.errorbar(x, y, np.maximum(errors, 0.0), color=style["color"], linewidth=1.2, alpha=0.7)
            left.plot(x, y, color=style["color"], marker=style["marker"], markersize=5, label=name)
            right.stairs(self.counts[c], self.edges, color=style["color"], linewidth=1.8, label=name)
        left.set_xlim(0, 1)
        left.set_ylim(0, 1)
        right.set_xlim(0, 1)
        right.set_ylim(0, None)
        which = label(self.names[0], 18) if len(self.names) == 1 else "a class"
        name_axes(left, f"predicted probability of {which}", "share in which it came")
        name_axes(right, f"predicted probability of {which}", "rows")
        if len(self.names) > 1:
            legend_above(left, columns=2)


def _by_bin(p: np.ndarray, came: np.ndarray, weight: np.ndarray, edges: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return mean probability, share, bounds of its Wilson interval and rows in each bin."""
    bins = len(edges) - 1
    place = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, bins - 1)
    total, squares, of_p, of_came = (
        np.bincount(place, weights=w, minlength=bins) for w in (weight, weight**2, weight * p, weight * came)
    )
    counts = np.bincount(place, minlength=bins)
    with np.errstate(invalid="ignore", divide="ignore"):  # bins without rows
        predicted, observed = of_p / total, of_came / total
        n = total**2 / squares  # effective number of rows of equal weight
        shrink = 1 + TWO_SIDED_95**2 / n
        middle = (observed + TWO_SIDED_95**2 / (2 * n)) / shrink
        half = TWO_SIDED_95 / shrink * np.sqrt(observed * (1 - observed) / n + (TWO_SIDED_95 / (2 * n)) ** 2)
    return predicted, observed, middle - half, middle + half, counts


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

    def _draw(self, ax: Any) -> None:
        places = np.arange(len(self.names), dtype=float)
        jitter = 2 * JITTER * np.random.default_rng(0).uniform(-1, 1, len(self.p))
        draw_dots(ax, self.p, self.place + jitter, color=COLORS[0], alpha=0.5, markersize=5, label="row")
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
