"""Search of a fit: likelihood and starts, number of experts, spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.estimators.base import MixtureOfExperts
from skmoe.plots.reading import check_model
from skmoe.plots.style import COLORS, Display, ink, label, legend_above, name_axes, plain_text
from skmoe.search import Stage

__all__ = ["ChoiceDisplay", "SpectrumDisplay", "TraceDisplay"]

SAME = 1e-6  # starts that end this near, in mean log-likelihood, are drawn at one place
MOST_STARTS = 16
STAGES = {
    Stage.RACE: ("o", COLORS[2], "dropped early"),
    Stage.SUBSAMPLE: ("s", COLORS[1], "on some rows"),
    Stage.SAMPLE: ("^", COLORS[3], "on a sample"),
    Stage.ALL_ROWS: ("D", COLORS[0], "on all rows"),
}
CRITERIA = {
    "held-out": "held-out log density (larger is better)",
    "bic": "BIC (smaller is better)",
    "icl": "ICL (smaller is better)",
}


@dataclass(eq=False)
class TraceDisplay(Display):
    """Likelihood of the best run step by step, and how far each start ended below the best.

    Attributes
    ----------
    log_likelihood : mean log-likelihood after each step of the best run
    starts, stages : name of each start, and the last stage it reached ("race", "subsample", "sample", "all rows")
    shortfall : how far each start ended below the best of those on as many rows, in mean log-likelihood
    winner : name        agreement : how many starts reached the same optimum
    """

    heading: ClassVar[str] = "Log-likelihood step by step, and how far each start ended below the best"
    panels: ClassVar[int] = 2

    log_likelihood: np.ndarray
    starts: list[str]
    stages: list[str]
    shortfall: np.ndarray
    winner: str
    agreement: int

    @classmethod
    def from_estimator(cls, model: MixtureOfExperts, *, ax: Any = None, draw: bool = True) -> Self:
        """Show the trace of a fitted `MoERegressor`.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        """
        check_model(model)
        search = model.record_.search
        stages = np.array([str(start.stage) for start in search.starts], dtype=object)
        values = np.array([start.log_likelihood for start in search.starts])
        all_rows, sample = stages == Stage.ALL_ROWS, stages == Stage.SAMPLE
        shortfall = np.zeros(len(values))
        for group in (all_rows, sample, ~all_rows & ~sample):  # log-likelihoods of other rows cannot be compared
            if np.any(group):
                shortfall[group] = np.max(values[group]) - values[group]
        return cls(
            np.array(model.record_.run.objective),
            [start.name for start in search.starts],
            stages.tolist(),
            shortfall,
            search.winner,
            search.agreement,
        )._drawn(ax, draw)

    def _size(self) -> tuple[float, float]:
        return 10.0, max(3.2, 1.4 + 0.2 * min(len(self.starts), MOST_STARTS))

    def _draw(self, left: Any, right: Any) -> None:
        trace = self.log_likelihood
        name_axes(left, "step", "mean log-likelihood")
        if len(trace):
            left.plot(
                np.arange(len(trace)), trace, color=COLORS[0], marker="o" if len(trace) < 30 else None, markersize=4
            )
            left.xaxis.get_major_locator().set_params(integer=True)
            margin = max(0.08 * (trace.max() - trace.min()), 1e-3)  # a flat trace is not blown up to its roundoff
            left.set_ylim(trace.min() - margin, trace.max() + margin)
        else:
            _write(left, "no steps were recorded")
        if self.starts:
            self._starts(right)
        else:
            _write(right, "one start: nothing to compare")

    def _starts(self, ax: Any) -> None:
        # what was finished on all rows first, then the best of the rest
        order = sorted(range(len(self.starts)), key=lambda i: (self.stages[i] != "all rows", self.shortfall[i]))
        shown = order[:MOST_STARTS]
        for stage, (marker, color, text) in STAGES.items():
            mine = [(place, i) for place, i in enumerate(shown) if self.stages[i] == stage]
            if mine:
                x = [max(self.shortfall[i], SAME) for _, i in mine]
                ax.plot(x, [p for p, _ in mine], linestyle="none", marker=marker, color=color, label=text)
        ax.set_xscale("log")
        known = self.shortfall[shown][np.isfinite(self.shortfall[shown])]
        farthest = max(float(np.max(known, initial=0.0)), 1e-2)
        powers = np.arange(-4, np.log10(farthest) + 1, 2)
        ax.set_xticks([SAME, *10.0**powers], ["same", *(f"{10.0**p:g}" for p in powers)])
        ax.set_xticks([], minor=True)
        ax.set_xlim(0.5 * SAME, 2 * farthest)
        ax.set_yticks(range(len(shown)), [label(self.starts[i], 26) for i in shown], fontsize="small")
        plain_text(*ax.get_yticklabels())
        ax.set_ylim(len(shown) - 0.5, -0.5)
        ax.grid(axis="y", color=ink(ax), alpha=0.12)
        left_out = len(order) - len(shown)
        more = f"\n({left_out} worse not shown)" if left_out else ""
        ax.set_xlabel(f"mean log-likelihood below the best{more}", loc="right")
        legend_above(ax, right=True, fontsize="small")  # names of starts leave room on the left


def _write(ax: Any, text: str) -> None:
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center")
    ax.set_axis_off()


@dataclass(eq=False)
class ChoiceDisplay(Display):
    """Choice of the number of experts: the log density of held-out rows, or a criterion, of each number tried.

    Attributes
    ----------
    n_experts : numbers tried        chosen : the number fitted in the end
    criterion : "held-out" (larger is better), "bic" or "icl" (smaller is better)
    values : the criterion of each number
    errors : standard errors of the differences of `values` from that of the number chosen; None of "bic" and "icl"
    """

    heading: ClassVar[str] = "Held-out log density or criterion of each number of experts"

    n_experts: np.ndarray
    values: np.ndarray
    errors: np.ndarray | None
    criterion: str
    chosen: int

    @classmethod
    def from_estimator(
        cls, model: MixtureOfExperts, criterion: str | None = None, *, ax: Any = None, draw: bool = True
    ) -> Self:
        """Show the choice made by a `MoERegressor` with ``n_experts="auto"``.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        criterion : {"held-out", "bic", "icl"}, optional
            Values to show, by default the log density of held-out rows, by which the choice is made.
        """
        check_model(model)
        criterion = "held-out" if criterion is None else criterion
        if criterion not in CRITERIA:
            raise ValueError(f"criterion must be one of {', '.join(map(repr, CRITERIA))}; got {criterion!r}")
        tried = model.record_.tried
        if not tried or (len(tried) == 1 and model.n_experts != "auto"):
            raise ValueError(
                f"the number of experts was given ({model.n_experts_}), so no others were tried; fit with "
                'n_experts="auto" to compare them'
            )
        return cls(
            np.array([t.n_experts for t in tried]),
            np.array([getattr(t, criterion.replace("-", "_")) for t in tried]),
            np.array([t.error for t in tried]) if criterion == "held-out" else None,
            criterion,
            model.n_experts_,
        )._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        style = {"color": COLORS[0], "marker": "o"}
        if self.errors is None:
            ax.plot(self.n_experts, self.values, label="tried", **style)
        else:
            text = "tried, ± std. error of the difference"
            ax.errorbar(self.n_experts, self.values, self.errors, capsize=3, label=text, **style)
        at = self.n_experts == self.chosen
        ax.plot(
            self.n_experts[at],
            self.values[at],
            linestyle="none",
            marker="o",
            markersize=12,
            markerfacecolor="none",
            markeredgecolor=COLORS[1],
            markeredgewidth=2,
            label=f"chosen: {self.chosen}",
        )
        ax.set_xticks(self.n_experts)
        name_axes(ax, "number of experts", CRITERIA[self.criterion])
        legend_above(ax)


@dataclass(eq=False)
class SpectrumDisplay(Display):
    """Eigenvalues of the second moment T2 in the consistent start; k of them should exceed the noise.

    Attributes
    ----------
    spectrum : eigenvalues, largest first, in units of shares        noise_level : eigenvalues of sampling noise alone
    n_experts : k        gap : distance of the k-th from the next, relative to itself
    """

    heading: ClassVar[str] = "Eigenvalues of the second moment in the consistent start"

    spectrum: np.ndarray
    noise_level: float
    n_experts: int
    gap: float

    @classmethod
    def from_estimator(cls, model: MixtureOfExperts, *, ax: Any = None, draw: bool = True) -> Self:
        """Show the spectrum in the fit of a `MoERegressor`.

        Parameters
        ----------
        model : MoERegressor
            A fitted model.
        """
        check_model(model)
        found = model.record_.search.spectrum
        if found is None:
            raise ValueError(
                "there is no spectrum: the consistent start was not used (it needs two or more experts, at least as "
                'many columns, method "auto" or "spectral", and experts and gate that see the same columns)'
            )
        return cls(np.array(found.values), found.noise_level, model.n_experts_, found.gap)._drawn(ax, draw)

    def _draw(self, ax: Any) -> None:
        k, numbers = self.n_experts, np.arange(1, len(self.spectrum) + 1)
        ax.axhline(0.0, color=ink(ax), linewidth=0.8, alpha=0.6)
        ax.axhspan(-self.noise_level, self.noise_level, color=ink(ax), alpha=0.16, linewidth=0, label="sampling noise")
        for shown, color, text in (
            (numbers <= k, COLORS[0], "one for each expert"),
            (numbers > k, COLORS[6], "the rest"),
        ):
            if np.any(shown):
                ax.vlines(numbers[shown], 0.0, self.spectrum[shown], color=color, linewidth=2)
                ax.plot(numbers[shown], self.spectrum[shown], linestyle="none", marker="o", color=color, label=text)
        if len(numbers) > k:
            ax.axvline(k + 0.5, color=COLORS[1], linestyle="--", linewidth=1.5, label=f"gap after {k}: {self.gap:.2f}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlim(0.5, len(numbers) + 0.5)
        name_axes(ax, "place among the eigenvalues of T2", "eigenvalue")
        legend_above(ax)
