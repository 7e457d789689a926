"""Figures from results files: nothing is fitted here. Needs matplotlib (``pip install "skmoe[plot]"``)."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib as mpl

from ..tables import Found
from .curves import figure6, figure_curves, figure_scaling
from .style import STYLE
from .theory import figure_theory

__all__ = ["FIGURES", "draw"]

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
