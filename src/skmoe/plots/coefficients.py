"""Coefficients of the experts with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.inference import feature_names, intervals_of
from skmoe.plots.reading import check_model, expert_names
from skmoe.plots.style import Display, expert_styles, ink, label, legend_above, plain_text
from skmoe.rows.checks import check_columns

__all__ = ["CoefficientsDisplay"]

MOST = 15  # columns shown where the caller does not choose
WIDE = 8.0  # times the median interval, above which one that holds zero does not set the scale


@dataclass(eq=False)
class CoefficientsDisplay(Display):
    """Coefficients of each expert with 95% intervals, column by column.

    An interval that is far wider than the others and holds zero would hide them all: it ends in an arrow at the edge of
    the picture.

    Attributes
    ----------
    coefficients (k, m), lower (k, m), upper (k, m)
        Coefficients times `scale` and their intervals, for the m columns shown; intervals are NaN where the model has
        no standard errors.
    features (m,), names : indices and names of the columns shown, from top to bottom
    expert_names : what the legend calls the experts
    scaled : bool, whether a scale was given
    """

    heading: ClassVar[str] = "Coefficients of each expert with 95% intervals"

    coefficients: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    features: np.ndarray
    names: list[str]
    expert_names: list[str]
    scaled: bool = False

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        features: Sequence[Any] | None = None,
        scale: Any = None,
        robust: bool = False,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Coefficients of a fitted `MoERegressor`.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        features : sequence of column names or indices, optional
            Columns to show, in this order; by default at most 15, those with the largest coefficients first.
        scale : (d,) array or number, optional
            Multiplies coefficients; with the columns' standard deviations, ``X.std(axis=0)``, columns in different
            units can be compared.
        robust : bool
            Whether intervals are from the sandwich formula.
        ax : matplotlib Axes, optional
            Where to draw; by default in a new figure.
        draw : bool
            Whether to draw at once.

        Returns
        -------
        CoefficientsDisplay
            The display; its numbers are attributes.
        """
        check_model(model)
        d = model.expert_coef_.shape[1]
        factor = _check_scale(scale, d)
        coefficients = model.expert_coef_ * factor
        low, high = (ends * factor for ends in intervals_of(model, robust=robust)["expert_coef"])
        chosen = check_columns(features, getattr(model, "feature_names_in_", None), d, "features")
        if chosen is None:
            largest = np.max(np.abs(coefficients), axis=0)
            order = np.argsort(-largest, kind="stable")[:MOST]
            # columns that experts do not see have coefficients of exactly zero
            chosen = [int(j) for j in order if largest[j] > 0] or [int(j) for j in order]
        names = feature_names(model)
        return cls(
            coefficients[:, chosen],
            low[:, chosen],
            high[:, chosen],
            np.array(chosen),
            [names[j] for j in chosen],
            expert_names(model),
            scale is not None,
        )._drawn(ax, draw)

    @property
    def limits(self) -> tuple[float, float]:
        """Ends of the axis: those of all intervals but of the few far wider ones that hold zero."""
        half = 0.5 * (self.upper - self.lower)
        known = np.isfinite(half)
        usual = np.ones(half.shape, dtype=bool)
        if np.any(known):
            usual = ~known | (half <= WIDE * np.median(half[known])) | (np.abs(self.coefficients) > half)
        ends = [np.where(known, end, self.coefficients)[usual] for end in (self.lower, self.upper)]
        low, high = float(np.min(ends[0], initial=0.0)), float(np.max(ends[1], initial=0.0))
        return (low, high) if high > low else (-1.0, 1.0)

    @property
    def clipped(self) -> bool:
        """Whether an interval leaves the picture."""
        low, high = self.limits
        return bool(np.any(self.lower < low) or np.any(self.upper > high))

    def _size(self) -> tuple[float, float]:
        return 6.4, max(2.4, 1.2 + len(self.names) * (0.16 + 0.13 * len(self.coefficients)))

    def _draw(self, *axes: Any) -> None:
        (ax,) = axes
        k, m = self.coefficients.shape
        places = np.arange(m)
        ax.axvline(0.0, color=ink(ax), linewidth=0.8, alpha=0.6)
        for between in places[:-1] + 0.5:
            ax.axhline(between, color=ink(ax), linewidth=0.5, alpha=0.15)
        left, right = self.limits
        for i, style in enumerate(expert_styles(k)):
            y = places + 0.7 * ((i + 0.5) / k - 0.5)
            known = np.isfinite(self.lower[i]) & np.isfinite(self.upper[i])
            ends = (np.clip(end[i][known], left, right) for end in (self.lower, self.upper))
            ax.hlines(y[known], *ends, color=style["color"], linewidth=1.6)
            for beyond, edge, arrow in ((self.lower[i] < left, left, "<"), (self.upper[i] > right, right, ">")):
                ax.plot(np.full(np.sum(beyond), edge), y[beyond], color=style["color"], marker=arrow, linestyle="none")
            ax.plot(
                self.coefficients[i],
                y,
                color=style["color"],
                marker=style["marker"],
                linestyle="none",
                markersize=5,
                label=self.expert_names[i],
            )
        ax.set_yticks(places, [label(name) for name in self.names])
        plain_text(*ax.get_yticklabels())
        ax.set_ylim(m - 0.5, -0.5)
        ax.set_xlim(left - 0.03 * (right - left), right + 0.03 * (right - left))
        known_everywhere = np.all(np.isfinite(self.lower))
        ax.set_xlabel(
            ("coefficient × scale" if self.scaled else "coefficient")
            + (", 95% interval" if known_everywhere else " (no standard errors)")
            + (" (arrows: it goes on)" if self.clipped else "")
        )
        legend_above(ax, right=True)  # names of columns leave room on the left


def _check_scale(scale: Any, d: int) -> np.ndarray:
    factor = np.asarray(1.0 if scale is None else scale, dtype=np.float64)
    if factor.shape not in ((), (d,)) or not np.all(np.isfinite(factor)) or np.any(factor < 0):
        raise ValueError(
            f"scale must be a number or one finite number for each of the {d} columns, none negative; got {scale!r}"
        )
    return np.broadcast_to(factor, (d,))
