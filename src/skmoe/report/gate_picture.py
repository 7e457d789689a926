"""Layout of the picture of the gate, which the page's script redraws for another input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skmoe.inference.formatting import listed, percent, short
from skmoe.plots.style import label
from skmoe.report.gate_curves import GateCurve
from skmoe.report.records import Block

__all__ = ["BOX", "Box", "GateInput", "GatePicture", "gate_picture", "ticks"]

TALLEST_BAR = 30  # height of the histogram's fullest bin
LETTER = 8  # width of a letter of a tick's label
MOST_TICKS = 16  # labels below the picture
LONGEST_NAME = 80  # letters of an input's name below the picture
FEW_EXPERTS = 4  # whose probabilities at both ends are given
MOST_NAMED = 6  # values of an input in the sentence below the picture


@dataclass(frozen=True)
class Box:
    """Coordinates of the picture: the plot's edges, the foot of the histogram below it, and the size of the whole."""

    left: int = 52
    right: int = 704
    top: int = 14
    bottom: int = 268
    foot: int = 312
    width: int = 720
    height: int = 366

    def x(self, share: float) -> float:
        """Return the horizontal coordinate at a share of the way from left to right."""
        return self.left + share * (self.right - self.left)

    def y(self, probability: float) -> float:
        """Return the vertical coordinate of a probability."""
        return self.bottom - probability * (self.bottom - self.top)


BOX = Box()
Drawn = tuple[str, tuple[str, ...], tuple[tuple[float, str], ...]]  # text, paths and ticks of a `GateInput`


@dataclass(frozen=True)
class GateInput:
    """All that changes in the picture with the input, as text and numbers that JSON can hold.

    Attributes
    ----------
    name, axis : str
        The input, and the same cut to the width of the picture.
    text : str
        Description of the picture, as a sentence.
    bars : bool
        Whether it shows bars, of an input with a few values, and not curves.
    paths : tuple of str
        SVG path of each expert's curve or bars.
    histogram : str
        SVG path of the bars.
    ticks : tuple of (float, str)
        Horizontal coordinate and label of each tick.
    """

    name: str
    axis: str
    text: str
    bars: bool
    paths: tuple[str, ...]
    histogram: str
    ticks: tuple[tuple[float, str], ...]


@dataclass(frozen=True)
class GatePicture(Block):
    """The gate along one input at a time, averaged over so many rows: `inputs[0]` is drawn in the page itself."""

    box: Box
    grid: tuple[tuple[str, str, str], ...]  # lines at probabilities: their height, that of the label, and the label
    inputs: tuple[GateInput, ...]
    rows: int


def gate_picture(curves: Sequence[GateCurve]) -> GatePicture:
    """Lay out gate curves, of which there is at least one."""
    lines = [(f"{BOX.y(p):g}", f"{BOX.y(p) + 4:g}", f"{100 * p:.0f}%") for p in (0, 0.25, 0.5, 0.75, 1)]
    return GatePicture(BOX, tuple(lines), tuple(_input(curve) for curve in curves), curves[0].rows)


def _input(curve: GateCurve) -> GateInput:
    text, paths, ticks = _bars(curve) if curve.labels else _lines(curve)
    histogram = _histogram_path(curve.histogram)
    return GateInput(curve.name, label(curve.name, LONGEST_NAME), text, bool(curve.labels), paths, histogram, ticks)


def _lines(curve: GateCurve) -> Drawn:
    """Lay out probabilities as a line for each expert."""
    low, high = float(curve.grid[0]), float(curve.grid[-1])
    values, labels = ticks(low, high)
    placed = ((round(BOX.x((v - low) / (high - low)), 2), text) for v, text in zip(values, labels, strict=True))
    return _along_in_words(curve), tuple(_curve_path(c) for c in curve.curves), tuple(placed)


def _along_in_words(curve: GateCurve) -> str:
    """Describe how a few experts change from end to end, or which of many is the likeliest in each range."""
    low, high = short(curve.grid[0]), short(curve.grid[-1])
    if len(curve.curves) <= FEW_EXPERTS:
        changes = [f"expert {i + 1} from {percent(c[0])} to {percent(c[-1])}" for i, c in enumerate(curve.curves)]
        return f"As it goes from {low} to {high}: {listed(changes)}."
    likeliest = np.argmax(curve.curves, axis=0)
    last = np.flatnonzero(np.diff(likeliest))  # points after which another is the likeliest
    ranges = [f"expert {likeliest[j] + 1} up to {short(curve.grid[j + 1])}" for j in last]
    return f"The likeliest, as it goes from {low} to {high}: {listed([*ranges, f'expert {likeliest[-1] + 1}'])}."


def _bars(curve: GateCurve) -> Drawn:
    """Lay out probabilities as stacked bars, one stack for each value of the input."""
    count = len(curve.labels)
    width = (BOX.right - BOX.left) / count
    middles = [BOX.left + (place + 0.5) * width for place in range(count)]
    tops = np.cumsum(curve.curves, axis=0)
    paths = tuple(
        "".join(
            f"M{x - 0.35 * width:.2f} {BOX.y(high):.3f}h{0.7 * width:.2f}V{BOX.y(high - p):.3f}h{-0.7 * width:.2f}z"
            for x, high, p in zip(middles, top, expert, strict=True)
        )
        for top, expert in zip(tops, curve.curves, strict=True)
    )
    likeliest = np.argmax(curve.curves, axis=0)
    likely = [f"{text}: expert {i + 1} {percent(curve.curves[i, j])}" for j, (text, i) in _shown(curve, likeliest)]
    room = max(3, int(width // LETTER))
    labels = [label(text, room) for text in curve.labels]
    every = -(-count // MOST_TICKS)
    placed = tuple((round(x, 2), text) for x, text in list(zip(middles, labels, strict=True))[::every])
    return f"The likeliest expert by value: {'; '.join(likely)}.", paths, placed


def _shown(curve: GateCurve, likeliest: np.ndarray) -> list[tuple[int, tuple[str, int]]]:
    """Return the values with most rows, in their order, each with its likeliest expert."""
    most = np.sort(np.argsort(-curve.histogram, kind="stable")[:MOST_NAMED])
    return [(int(j), (curve.labels[j], int(likeliest[j]))) for j in most]


def _curve_path(probabilities: np.ndarray) -> str:
    across = np.linspace(BOX.left, BOX.right, len(probabilities))
    return "M" + "L".join(f"{x:.2f} {BOX.y(p):.3f}" for x, p in zip(across, probabilities, strict=True))


def _histogram_path(heights: np.ndarray) -> str:
    width = (BOX.right - BOX.left) / len(heights)
    return "".join(
        f"M{BOX.left + i * width + 0.5:.2f} {BOX.foot}"
        f"v{-TALLEST_BAR * height:.2f}h{width - 1:.2f}v{TALLEST_BAR * height:.2f}z"
        for i, height in enumerate(heights)
        if height > 0
    )


def ticks(low: float, high: float, about: int = 6) -> tuple[list[float], list[str]]:
    """Return round numbers between two ends, and their labels."""
    least = (high - low) / about
    base = 10.0 ** np.floor(np.log10(least))
    step = base * next(m for m in (1, 2, 5, 10) if m * base >= least * (1 - 1e-9))
    values = [float(v) for v in np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step]
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    in_full = max(abs(low), abs(high)) < 1e7 and decimals <= 5
    labels = [f"{v + 0.0:,.{decimals}f}" if in_full else f"{v:.6g}" for v in values]
    return values, [label.replace("-", "−") for label in labels]
