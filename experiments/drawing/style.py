"""Colours, dashes and axes that all figures share.

White paper under every figure, so that it reads the same in a light and in a dark page; colours of Okabe and Ito, which
colour-blind readers can tell apart, and a marker or dash besides where lines cross.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

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
    "the paper's two stages": (SKY, "--"),
    "our two stages": (BLUE, "-"),
    "our two stages, refined": (GREEN, "-"),
    "joint EM": (RED, "-"),
    "joint EM, gradient step": (ORANGE, "-"),
    "Adam, squared error": (GREY, "-."),
    "Adam, likelihood": (PURPLE, "--"),
    "from the truth": (BLACK, ":"),
    "joint EM, one start": (ORANGE, "-"),
    "joint EM, best of 10": (RED, "--"),
    "our two stages, then joint EM": (BLUE, "-"),
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
