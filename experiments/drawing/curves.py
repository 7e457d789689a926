"""Figures 3 to 6 and the scaling panel."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import tables
from ..tables import Found
from .style import BLACK, GREY, LOOK, RED, below, log_axis, panels


def error_curves(axes: Axes, found: Found, setting: str) -> None:
    """E(A, W) along iterations: every trial thin, the mean thick, four fifths of them shaded for two rivals."""
    shown = np.unique(np.round(np.geomspace(1, 301, 30)).astype(int)) - 1
    for method in (m for m in LOOK if m in found.methods(setting)):
        colour, dash = LOOK[method]
        if method == "from the truth":
            best = found.values(setting, method, "final").mean()
            axes.axhline(best, color=colour, linestyle=dash, label="end of a fit from the truth")
            continue
        curves = []
        for trial in found.trials[setting]:
            errors, every = trial[method]["error"], trial[method]["every"]
            last = trial[method]["iterations"]
            ends = np.append(errors, trial[method]["final"])
            curves.append(np.interp(shown, np.append(np.arange(len(errors)) * every, max(last, len(errors))), ends))
        for curve in curves:
            axes.plot(shown + 1, curve, color=colour, linewidth=0.4, alpha=0.18)
        axes.plot(shown + 1, np.mean(curves, axis=0), color=colour, linestyle=dash, linewidth=1.8, label=method)
        if method in ("our two stages, refined", "joint EM"):
            axes.fill_between(shown + 1, *np.quantile(curves, (0.1, 0.9), axis=0), color=colour, alpha=0.12)
    axes.set(title=setting, xlabel="iteration + 1", ylabel="error E(A, W)")
    log_axis(axes, "x")
    log_axis(axes, "y")


def figure_curves(found: Found) -> Figure:
    """Figures 3b, 3c, 4 and 5; figure 3 has GatingFit along the gate's EM before them."""
    figure, axes = panels(len(found.settings), 3.8, 3.8)
    for place, setting in zip(axes, found.settings, strict=True):
        if setting == "a":
            fits = tables.gate_path(found)[:, :11]
            place.plot(fits.T, color=LOOK["our two stages"][0], linewidth=0.5, alpha=0.3)
            place.plot(fits.mean(axis=0), color=LOOK["our two stages"][0], linewidth=2, marker="o", markersize=4)
            place.set(title="a, the gate alone, k = 2", xlabel="iteration", ylabel="GatingFit", ylim=(0, 1.02))
        else:
            error_curves(place, found, setting)
    below(figure, axes[-1])
    return figure


def figure6(found: Found) -> Figure:
    """Test error on the real tables: every split a dot, the mean a bar."""
    figure, axes = panels(len(found.settings), 4.4, 3.6)
    for place, table in zip(axes, found.settings, strict=True):
        methods = [m for m in found.methods(table) if not m.startswith("variance")]
        reference = found.values(table, "variance of the test outputs", "mse").mean()
        for row, method in enumerate(reversed(methods)):
            errors = found.values(table, method, "mse")
            colour = LOOK.get(method, (GREY, ""))[0]
            colour = RED if method.startswith("joint EM") else colour
            jitter = row + np.linspace(-0.25, 0.25, len(errors))
            place.plot(errors, jitter, ".", color=colour, markersize=3, alpha=0.5)
            place.plot([errors.mean()] * 2, [row - 0.35, row + 0.35], color=colour, linewidth=2.5)
        place.axvline(reference, color=BLACK, linestyle=":", label="variance of the test outputs")
        place.set(title=table, xlabel="test mean squared error")
        log_axis(place, "x")
        place.set_yticks(range(len(methods)), list(reversed(methods)) if place is axes[0] else [""] * len(methods))
    below(figure, axes[0])
    return figure


def figure_scaling(found: Found) -> Figure:
    """Share of fits at the optimum against k, and against rows per parameter."""
    figure, axes = panels(2, 4.6, 3.6)
    groups = ("k = ", "n / (k d) = ")
    labels = ("number of experts k, n / (k d) = 20", "n / (k d), k = 6")
    for place, group, label in zip(axes, groups, labels, strict=True):
        settings = [s for s in found.settings if s.startswith(group)]
        shares = [tables.at_optimum(found, s) for s in settings]
        values = [float(s.removeprefix(group)) for s in settings]
        methods = [m for m in LOOK if m in shares[0] and m != "from the truth"]
        for method, marker, size in zip(methods, "o^sD", (4, 5, 8, 11), strict=True):
            colour, dash = LOOK[method]
            how = {"marker": marker, "markersize": size, "markerfacecolor": "none"}  # lines on top of each other show
            place.plot(values, [s[method].mean() for s in shares], color=colour, linestyle=dash, label=method, **how)
        place.set(xlabel=label, ylabel="share of fits at the optimum", ylim=(-0.03, 1.03))
    log_axis(axes[1], "x")
    below(figure, axes[0])
    return figure
