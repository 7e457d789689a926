"""Figures from results files: nothing is fitted here. Needs matplotlib (``pip install "skmoe[plot]"``).

White paper under every figure, so that it reads the same in a light and in a dark page; colours of Okabe and Ito, which
colour-blind readers can tell apart, and a marker or dash besides where lines cross.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from . import tables
from .tables import Found

BLACK, ORANGE, SKY, GREEN, BLUE, RED, PURPLE, GREY = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
    "#777777",
)
LOOK = {  # colour and dash of each method, the same in all figures
    "two stages, Orth-ALS": (SKY, "--"),
    "two stages": (BLUE, "-"),
    "two stages, refined": (GREEN, "-"),
    "joint EM": (RED, "-"),
    "joint EM, gradient step": (ORANGE, "-"),
    "Adam, squared error": (GREY, "-."),
    "Adam, likelihood": (PURPLE, "--"),
    "from the truth": (BLACK, ":"),
    "joint EM, one start": (ORANGE, "-"),
    "joint EM, best of 10": (RED, "--"),
    "two stages, then joint EM": (BLUE, "-"),
    "default fit": (GREEN, "-"),
}
STYLE = {
    "svg.hashsalt": "skmoe",  # the same file for the same numbers
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#E5E5E5",
    "legend.frameon": False,
}


def panels(count: int, width: float = 4.2, height: float = 3.4) -> tuple[Figure, list[Axes]]:
    """A white figure of panels in a row."""
    figure = Figure(figsize=(width * count, height), facecolor="white", layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def below(figure: Figure, axes: Axes) -> None:
    """One legend for all panels, under them."""
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)


def log_axis(axes: Axes, which: str) -> None:
    """A log scale with plain numbers at 1, 2 and 5."""
    getattr(axes, f"set_{which}scale")("log")
    axis = getattr(axes, f"{which}axis")
    low, high = axis.get_view_interval()
    few = high / max(low, 1e-300) < 100
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
    if few:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


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
        if method in ("two stages, refined", "joint EM"):
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
            place.plot(fits.T, color=LOOK["two stages"][0], linewidth=0.5, alpha=0.3)
            place.plot(fits.mean(axis=0), color=LOOK["two stages"][0], linewidth=2, marker="o", markersize=4)
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


def _rate(axes: Axes, sizes: Any, errors: np.ndarray, label: str, colour: str, dash: str = "-") -> None:
    root = np.sqrt(np.mean(errors**2, axis=0))
    axes.plot(sizes, errors.T, color=colour, linewidth=0.4, alpha=0.2)
    axes.plot(sizes, root, color=colour, linestyle=dash, marker="o", markersize=4, label=label)


def figure_theory(found: Found) -> Figure:
    """Six panels, a theorem or a correction each."""
    figure = Figure(figsize=(12.5, 7.2), facecolor="white", layout="constrained")
    places = list(figure.subplots(2, 3).ravel())
    named = {name: [s for s, v in found.settings.items() if v["kind"] == name] for name in _kinds(found)}

    for setting, colour in zip(named["tensor error"], (BLUE, GREEN, RED), strict=True):
        sizes, errors = found.settings[setting]["sizes"], found.values(setting, "error")
        label = f"{found.settings[setting]['g']}, slope {tables.slope(sizes, errors):.2f}"
        _rate(places[0], sizes, errors, label, colour)
    places[0].set(title="theorem 1: error of T3 (relative)", xlabel="rows")

    for setting, colour in zip(named["plain tensor"], (GREEN, RED, ORANGE), strict=True):
        sizes = found.settings[setting]["tensor_sizes"]
        label = setting.removeprefix("plain tensor, ").replace("gate", "gate length")
        places[1].plot(sizes, np.median(found.values(setting, "plain"), axis=0), color=colour, marker="o", label=label)
        ours = np.median(found.values(setting, "learn_experts"), axis=0)
        places[1].plot(sizes, ours, color=colour, linestyle="--", linewidth=1)
    places[1].set(title="E[y S3] (solid), learn_experts (dashed)", xlabel="rows", ylabel="1 - RegressorFit, median")

    for setting, colour in zip(named["contraction"], (BLUE, ORANGE), strict=True):
        sigmas, rates = found.settings[setting]["sigmas"], found.values(setting, "rate")
        _rate(places[2], sigmas, rates, setting.removeprefix("contraction, "), colour)
    places[2].set(title="theorem 2: contraction of the gate's EM", xlabel="noise sigma", ylabel="ratio")

    (setting,) = named["additive error"]
    sizes = np.array(found.settings[setting]["epsilons"])
    _rate(places[3], sizes, found.values(setting, "error"), "measured", BLUE)
    kappa = found.values(setting, "kappa")[0]
    places[3].plot(sizes, kappa * sizes, color=BLACK, linestyle=":", label="bound, kappa epsilon")
    places[3].set(title="theorem 2: what wrong experts do", xlabel="epsilon", ylabel="error of the gate")

    (setting,) = named["gradient EM"]
    sigmas = found.settings[setting]["sigmas"]
    _rate(places[4], sigmas, found.values(setting, "rate"), "measured", BLUE)
    for what, colour in (("corrected", GREEN), ("printed", RED)):
        places[4].plot(sigmas, found.values(setting, what).mean(axis=0), color=colour, linestyle="--", label=what)
    places[4].set(title="gradient EM: contraction", xlabel="noise sigma", ylabel="ratio")

    setting = named["ReLU constants"][0]
    for what, colour in (("corrected", GREEN), ("printed", RED)):
        _rate(places[5], found.settings[setting]["sizes"], found.values(setting, f"tensor, {what}"), what, colour)
    places[5].set(title="ReLU: error of T3 by constants (relative)", xlabel="rows")

    for place in places:
        log_axis(place, "x")
        if place is not places[4]:
            log_axis(place, "y")
        place.legend()
    return figure


def _kinds(found: Found) -> list[str]:
    return list(dict.fromkeys(setting["kind"] for setting in found.settings.values()))


FIGURES = {
    "figure3": figure_curves,
    "figure4": figure_curves,
    "figure5": figure_curves,
    "figure6": figure6,
    "scaling-panel": figure_scaling,
    "theory": figure_theory,
}


def draw(results: dict[str, Found], folder: Path) -> list[Path]:
    """Draw every figure that the results allow as SVG."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, make in FIGURES.items():
        if name in results:
            path = folder / f"{name}.svg"
            with mpl.rc_context(STYLE):
                make(results[name]).savefig(path, format="svg", metadata={"Date": None})
            # a tenth of a point is finer than any screen, and halves the file
            path.write_text(re.sub(r"(\d+\.\d)\d+", r"\1", path.read_text()))
            drawn.append(path)
    return drawn
