"""The figure of the theory: six panels, a theorem or a correction each."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .. import tables
from ..tables import Found
from .style import BLUE, GREEN, GREY, ORANGE, RED, log_axis


def _rate(axes: Axes, sizes: Any, errors: np.ndarray, label: str, colour: str, dash: str = "-") -> None:
    root = np.sqrt(np.mean(errors**2, axis=0))
    axes.plot(sizes, errors.T, color=colour, linewidth=0.4, alpha=0.2)
    axes.plot(sizes, root, color=colour, linestyle=dash, marker="o", markersize=4, label=label)


def named(found: Found, kind: str) -> list[str]:
    """Settings of a kind of check."""
    return [name for name, setting in found.settings.items() if setting["kind"] == kind]


def tensor_error(axes: Axes, found: Found) -> None:
    """Theorem 1: error of T3 against rows."""
    for setting, colour in zip(named(found, "tensor error"), (BLUE, GREEN, RED), strict=True):
        sizes, errors = found.settings[setting]["sizes"], found.values(setting, "error")
        label = f"{found.settings[setting]['g']}, slope {tables.slope(sizes, errors):.2f}"
        _rate(axes, sizes, errors, label, colour)
    axes.set(title="theorem 1: error of T3 (relative)", xlabel="rows")


def plain_tensor(axes: Axes, found: Found) -> None:
    """Equations 3 and 4: the plain tensor method with and without a gate."""
    for setting, colour in zip(named(found, "plain tensor"), (GREEN, RED, ORANGE), strict=True):
        sizes = found.settings[setting]["tensor_sizes"]
        label = setting.removeprefix("plain tensor, ").replace("gate", "gate length")
        axes.plot(sizes, np.median(found.values(setting, "plain"), axis=0), color=colour, marker="o", label=label)
        ours = np.median(found.values(setting, "learn_experts"), axis=0)
        axes.plot(sizes, ours, color=colour, linestyle="--", linewidth=1)
    title = "equation 4: E[y S3]; dashed: learn_experts"
    axes.set(title=title, xlabel="rows", ylabel="1 - RegressorFit, median")


def contraction(axes: Axes, found: Found) -> None:
    """Theorem 2: rates by activation and number of experts, free gate."""
    for g, colour in zip(("linear", "sigmoid", "relu"), (BLUE, GREEN, RED), strict=True):
        for setting, dash in zip(named(found, "contraction"), ("-", "--", ":"), strict=False):
            sigmas, values = found.settings[setting]["sigmas"], found.values(setting, f"{g}, free gate")
            label = f"{g}, {setting.removeprefix('contraction, ')}"
            how = {"color": colour, "linestyle": dash, "marker": "o", "markersize": 3, "label": label}
            axes.plot(sigmas, values.mean(axis=0), **how)
    title = "theorem 2: contraction of the gate's EM"
    axes.set(title=title, xlabel="noise sigma", ylabel="ratio, mean over trials")


def robustness(axes: Axes, found: Found) -> None:
    """Theorem 2: the error that wrong linear experts bring, beside kappa epsilon."""
    for setting, colour in zip(named(found, "robustness"), (BLUE, GREEN, RED), strict=True):
        sizes, k = np.array(found.settings[setting]["epsilons"]), setting.removeprefix("robustness, ")
        _rate(axes, sizes, sizes * found.values(setting, "end, linear, free gate"), f"measured, {k}", colour)
        bound = found.values(setting, "kappa")[0] * sizes
        axes.plot(sizes, bound, color=colour, linestyle=":", label=f"kappa epsilon, {k}")
    axes.set(title="theorem 2: what wrong linear experts do", xlabel="epsilon", ylabel="error of the gate")


def gradient_em(axes: Axes, found: Found) -> None:
    """Theorem 5: the rate, measured, corrected and printed."""
    (setting,) = named(found, "gradient EM")
    sigmas = found.settings[setting]["sigmas"]
    _rate(axes, sigmas, found.values(setting, "rate"), "measured", BLUE)
    for gamma, dash in (("gamma_sigma", "--"), ("local gamma", ":")):
        for which, colour in (("corrected", GREEN), ("printed", RED)):
            values = found.values(setting, f"{which}, {gamma}").mean(axis=0)
            axes.plot(sigmas, values, color=colour, linestyle=dash, label=f"{which}, {gamma}")
    axes.axhline(1.0, color=GREY, linewidth=0.8)
    axes.set(title="theorem 5: contraction of gradient EM", xlabel="noise sigma", ylabel="ratio")


def relu_constants(axes: Axes, found: Found) -> None:
    """Appendix C: error of ReLU's T3 by constants, orthogonal gate."""
    setting = named(found, "ReLU constants")[0]
    for what, colour in (("corrected", GREEN), ("printed", RED)):
        _rate(axes, found.settings[setting]["sizes"], found.values(setting, f"tensor, {what}"), what, colour)
    axes.set(title="appendix C: error of ReLU's T3", xlabel="rows")


PANELS = (tensor_error, plain_tensor, contraction, robustness, gradient_em, relu_constants)


def figure_theory(found: Found) -> Figure:
    """All panels; rates of gradient EM may be negative, and have no log scale."""
    figure = Figure(figsize=(12.5, 7.2), facecolor="white", layout="constrained")
    for draw, axes in zip(PANELS, figure.subplots(2, 3).ravel(), strict=True):
        draw(axes, found)
        log_axis(axes, "x")
        if draw is not gradient_em:
            log_axis(axes, "y")
        axes.legend(fontsize=7)
    return figure
