"""Coefficients of the experts with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.inference import feature_names, intervals_of
from skmoe.inference.summary import MOST_LOG
from skmoe.plots.reading import check_model, expert_names
from skmoe.plots.style import Display, expert_styles, ink, label, legend_above, plain_text
from skmoe.tables.chosen import GivenColumns

__all__ = ["CoefficientsDisplay", "most_inputs"]

MOST, LEAST = 15, 3  # lines shown where the caller does not choose, and columns at least where each has several
MOST_TICKS = 6
WIDE_RATIO = 50.0  # of the ends of an axis of ratios, from which on its ticks are powers of ten
WIDE = 8.0  # times the median interval, above which one that holds zero does not set the scale


@dataclass(eq=False)
class CoefficientsDisplay(Display):
    """Coefficients of each expert with 95% intervals, column by column.

    Where their exponentials are ratios (of rates, means or odds), the axis has these. With three classes or more a
    column has a line for each class but the first. An interval that is far wider than the others and holds no effect
    would hide them all: it ends in an arrow at the edge of the picture.

    Attributes
    ----------
    coefficients (k, m), lower (k, m), upper (k, m)
        Coefficients times `scale` and their intervals, for the m lines shown; intervals are NaN where the model has no
        standard errors. Logs, where the exponentials are ratios.
    features (m,), names : indices of the columns shown and names of the lines, from top to bottom
    expert_names : names of the experts in the legend
    scaled : bool, whether a scale was given
    ratio : name of the exponential of a coefficient, such as "odds ratio"; empty where it has none
    """

    heading: ClassVar[str] = "Coefficients of each expert with 95% intervals"

    coefficients: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    features: np.ndarray
    names: list[str]
    expert_names: list[str]
    scaled: bool = False
    ratio: str = ""

    @classmethod
    def from_estimator(
        cls,
        model: MixtureOfExperts,
        *,
        features: Sequence[Any] | None = None,
        scale: Any = None,
        robust: bool = False,
        ax: Any = None,
        draw: bool = True,
    ) -> Self:
        """Show the coefficients of a fitted estimator.

        Parameters
        ----------
        model : MoERegressor or MoEClassifier
            A fitted model.
        features : sequence of column names or indices, optional
            Columns to show, in this order; by default at most 15 (fewer for three classes or more), those with the
            largest coefficients first.
        scale : (d,) array or number, optional
            Multiplies coefficients; with the columns' standard deviations, ``X.std(axis=0)``, columns in different
            units can be compared.
        robust : bool
            Whether intervals are from the sandwich formula.
        """
        check_model(model)
        k, d, m = model.n_experts_, model.gate_coef_.shape[1], model.parameters_.family.predictors
        factor = _check_scale(scale, d)
        estimates = model.expert_coef_, *intervals_of(model, robust=robust)["expert_coef"]
        coefficients, low, high = (np.reshape(values, (k, m, d)) * factor for values in estimates)
        chosen = GivenColumns.of(model).indices(features, "features")
        if chosen is None:
            chosen = _largest(np.max(np.abs(coefficients), axis=(0, 1)), most_inputs(m))
        # one line for each column and class, classes of a column below each other
        coefficients, low, high = (np.moveaxis(v[:, :, chosen], 1, 2).reshape(k, -1) for v in (coefficients, low, high))
        return cls(
            coefficients,
            low,
            high,
            np.repeat(chosen, m),
            _line_names(model, chosen, m),
            expert_names(model),
            scale is not None,
            model.parameters_.family.ratio,
        )._drawn(ax, draw)

    @property
    def limits(self) -> tuple[float, float]:
        """Limits of the axis: those of all intervals but of the few far wider ones that hold zero."""
        half = 0.5 * (self.upper - self.lower)
        known = np.isfinite(half)
        usual = np.ones(half.shape, dtype=bool)
        if np.any(known):
            usual = ~known | (half <= WIDE * np.median(half[known])) | (np.abs(self.coefficients) > half)
        lower, upper = (np.where(known, bound, self.coefficients)[usual] for bound in (self.lower, self.upper))
        low, high = float(np.min(lower, initial=0.0)), float(np.max(upper, initial=0.0))
        return (low, high) if high > low else (-1.0, 1.0)

    @property
    def clipped(self) -> bool:
        """True where an interval leaves the picture."""
        low, high = self.limits
        return bool(np.any(self.lower < low) or np.any(self.upper > high))

    def _size(self) -> tuple[float, float]:
        return 6.4, max(2.4, 1.2 + len(self.names) * (0.16 + 0.13 * len(self.coefficients)))

    def _draw(self, ax: Any) -> None:
        k, m = self.coefficients.shape
        places = np.arange(m)
        ax.axvline(0.0, color=ink(ax), linewidth=0.8, alpha=0.6)
        for between in places[:-1] + 0.5:
            ax.axhline(between, color=ink(ax), linewidth=0.5, alpha=0.15)
        left, right = self.limits
        for i, style in enumerate(expert_styles(k)):
            y = places + 0.7 * ((i + 0.5) / k - 0.5)
            known = np.isfinite(self.lower[i]) & np.isfinite(self.upper[i])
            bounds = (np.clip(bound[i][known], left, right) for bound in (self.lower, self.upper))
            ax.hlines(y[known], *bounds, color=style["color"], linewidth=1.6)
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
        if self.ratio:
            _mark_ratios(ax)
        what = f"{self.ratio} for one step of the scale" if self.scaled else f"{self.ratio} for one unit"
        if not self.ratio:
            what = "coefficient × scale" if self.scaled else "coefficient"
        ax.set_xlabel(
            what
            + (", 95% interval" if known_everywhere else " (no standard errors)")
            + (" (arrows: it goes on)" if self.clipped else "")
        )
        legend_above(ax, right=True)  # names of columns leave room on the left


def most_inputs(predictors: int) -> int:
    """Return the number of columns shown by default: fewer, where each has several lines."""
    return max(MOST // predictors, LEAST)


def _largest(sizes: np.ndarray, most: int) -> list[int]:
    """Return the columns with the largest coefficients, largest first."""
    order = np.argsort(-sizes, kind="stable")[:most]
    # columns that experts do not see have coefficients of exactly zero
    return [int(j) for j in order if sizes[j] > 0] or [int(j) for j in order]


def _line_names(model: MixtureOfExperts, chosen: Sequence[int], predictors: int) -> list[str]:
    names = feature_names(model)
    if predictors == 1:
        return [names[j] for j in chosen]
    return [f"{names[j]}: {name}" for j in chosen for name in map(str, model.classes_[1:])]


def _mark_ratios(ax: Any) -> None:
    """Set ticks of an axis of logs at round ratios, and label them by these."""
    from matplotlib.ticker import MaxNLocator

    low, high = np.clip(ax.get_xlim(), -MOST_LOG, MOST_LOG)
    if high - low > np.log(WIDE_RATIO):
        powers = np.arange(np.ceil(low / np.log(10)), np.floor(high / np.log(10)) + 1)
        ratios = 10.0 ** powers[powers % -(-len(powers) // MOST_TICKS) == 0]  # 1 is among them
    else:
        ratios = MaxNLocator(MOST_TICKS).tick_values(np.exp(low), np.exp(high))
    ratios = ratios[(ratios >= np.exp(low)) & (ratios <= np.exp(high))]
    ax.set_xticks(np.log(ratios), [f"{ratio:g}" for ratio in ratios])


def _check_scale(scale: Any, d: int) -> np.ndarray:
    factor = np.asarray(1.0 if scale is None else scale, dtype=np.float64)
    if factor.shape not in ((), (d,)) or not np.all(np.isfinite(factor)) or np.any(factor < 0):
        raise ValueError(
            f"scale must be a number or one finite number for each of the {d} columns, none negative; got {scale!r}"
        )
    return np.broadcast_to(factor, (d,))
