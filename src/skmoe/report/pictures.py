"""Pictures of the report: the gate's, which the script redraws, and the still ones of `skmoe.plots`."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.report.markup import Safe, embed, join, plain, tag
from skmoe.report.numbers import GateCurve
from skmoe.report.words import listed, percent, short

__all__ = ["Pictures", "expert_style", "gate_picture", "ticks"]

# Where things stand in the gate's picture.
BOX = {"left": 52.0, "right": 704.0, "top": 14.0, "bottom": 268.0, "floor": 312.0, "width": 720.0, "height": 366.0}
COLOURS = 7  # after so many experts colours begin again, with dashes


def ticks(low: float, high: float, about: int = 6) -> tuple[list[float], list[str]]:
    """Round numbers between two ends, and how to write them."""
    rough = (high - low) / about
    base = 10.0 ** np.floor(np.log10(rough))
    step = base * next(m for m in (1, 2, 5, 10) if m * base >= rough * (1 - 1e-9))
    values = [float(v) for v in np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step]
    decimals = max(0, -int(np.floor(np.log10(step) + 1e-9)))
    plain = max(abs(low), abs(high)) < 1e7 and decimals <= 5
    texts = [f"{v + 0.0:,.{decimals}f}" if plain else f"{v:.6g}" for v in values]
    return values, [text.replace("-", "−") for text in texts]


def gate_picture(curves: list[GateCurve]) -> Safe:
    """The gate along one input at a time: drawn here for the first input, redrawn by the script for another."""
    features = [_feature(curve) for curve in curves]
    first = features[0]
    k = len(curves[0].curves)
    frame = [_line(BOX["left"], _height(p), BOX["right"], _height(p), "grid") for p in (0, 0.25, 0.5, 0.75, 1)]
    frame += [_text(BOX["left"] - 8, _height(p) + 4, f"{100 * p:.0f}%", "end") for p in (0, 0.25, 0.5, 0.75, 1)]
    lines = [tag("path", d=path, class_=f"curve {expert_style(i)}") for i, path in enumerate(first["paths"])]
    marks = [_text(x, BOX["floor"] + 18, text, "middle") for x, text in first["ticks"]]
    name = tag("text", first["name"], x="378", y="358", text_anchor="middle", class_="axis", id="gate-axis")
    histogram = tag("path", d=first["histogram"], class_="histogram", id="gate-histogram")
    picture = tag(
        "svg",
        *frame,
        histogram,
        tag("g", *lines, id="gate-lines"),
        tag("g", *marks, id="gate-ticks", data_y=f"{BOX['floor'] + 18:g}"),
        name,
        viewBox=f"0 0 {BOX['width']:g} {BOX['height']:g}",
        role="img",
        aria_labelledby="gate-words",
        id="gate-picture",
    )
    choice = tag(
        "p",
        tag("label", "Input ", for_="gate-input"),
        tag("select", *(tag("option", f["name"], value=str(i)) for i, f in enumerate(features)), id="gate-input"),
        class_="control",
        hidden=True,  # until the script says that it works
    )
    legend = tag(
        "ul",
        *(
            tag("li", tag("span", class_=f"swatch {expert_style(i)}", aria_hidden="true"), f"expert {i + 1}")
            for i in range(k)
        ),
        class_="legend",
    )
    words = tag("p", first["words"], id="gate-words", aria_live="polite")
    caption = tag(
        "figcaption",
        "Probability of each expert as one input moves and every row keeps its other inputs. Grey bars: where the rows "
        "are, from the 1st to the 99th percentile.",
    )
    return join([tag("figure", choice, picture, legend, words, caption), embed("gate-data", features)])


def _feature(curve: GateCurve) -> dict[str, Any]:
    """All that changes in the picture with the input, as text and numbers that JSON can hold."""
    low, high = float(curve.grid[0]), float(curve.grid[-1])
    across = np.linspace(BOX["left"], BOX["right"], len(curve.grid))
    values, texts = ([low, high], [short(low), short(high)]) if curve.two_valued else ticks(low, high)
    width = (BOX["right"] - BOX["left"]) / len(curve.histogram)
    bars = [
        f"M{BOX['left'] + i * width + 0.5:.2f} {BOX['floor']:g}v{-30 * part:.2f}h{width - 1:.2f}v{30 * part:.2f}z"
        for i, part in enumerate(curve.histogram)
        if part > 0
    ]
    moves = [f"expert {i + 1} from {percent(c[0])} to {percent(c[-1])}" for i, c in enumerate(curve.curves)]
    return {
        "name": plain(curve.name),
        "words": f"As it goes from {short(low)} to {short(high)}: {listed(moves)}.",
        "paths": [
            "M" + "L".join(f"{x:.2f} {_height(p):.3f}" for x, p in zip(across, c, strict=True)) for c in curve.curves
        ],
        "histogram": "".join(bars),
        "ticks": [
            [round(float(BOX["left"] + (v - low) / (high - low) * (BOX["right"] - BOX["left"])), 2), text]
            for v, text in zip(values, texts, strict=True)
        ],
    }


def _height(probability: float) -> float:
    return BOX["bottom"] - probability * (BOX["bottom"] - BOX["top"])


def expert_style(i: int) -> str:
    """Classes that give an expert its colour everywhere on the page."""
    return f"e{i % COLOURS + 1}" + (" dashed" if i >= COLOURS else "")


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Safe:
    return tag("line", x1=f"{x1:g}", y1=f"{y1:g}", x2=f"{x2:g}", y2=f"{y2:g}", class_=kind)


def _text(x: float, y: float, text: str, anchor: str) -> Safe:
    return tag("text", text, x=f"{x:g}", y=f"{y:g}", text_anchor=anchor)


class Pictures:
    """Still pictures of `skmoe.plots`, or nothing where matplotlib is not installed."""

    def __init__(self) -> None:
        try:
            import matplotlib  # noqa: F401

            from skmoe import plots
        except ImportError:
            self.plots: Any = None
        else:
            self.plots = plots

    def draw(
        self, kind: str, *rows: Any, title: str, caption: str, width: float = 7.2, height: float = 4.0, **how: Any
    ) -> Safe:
        """A figure of the display `kind`, with a caption; empty without matplotlib."""
        if self.plots is None:
            return Safe("")
        display = getattr(self.plots, kind).from_estimator(*rows, draw=False, **how)
        picture = Safe(self.plots.to_svg(display, width=width, height=height, title=title))
        return tag("figure", picture, tag("figcaption", caption), class_="still")
