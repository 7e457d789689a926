"""Static figures of the report, drawn by `skmoe.plots`."""

from __future__ import annotations

from importlib.util import find_spec

from markupsafe import Markup

from skmoe.plots import to_svg
from skmoe.plots.style import Display
from skmoe.report.records import Figure

__all__ = ["draw", "matplotlib_is_installed"]


def matplotlib_is_installed() -> bool:
    """Return whether figures can be drawn."""
    return find_spec("matplotlib") is not None


def draw(display: Display, *, title: str, caption: str, width: float = 7.2, height: float = 4.0) -> Figure | None:
    """Draw a display, or return None where matplotlib is not installed.

    Parameters
    ----------
    display : Display
        Numbers of the picture, made with ``draw=False``.
    title : str
        Description of the figure, for readers who cannot see it.
    caption : str
    width, height : float
        Inches.
    """
    if not matplotlib_is_installed():
        return None
    # to_svg escapes the text in it, so that the page may take it as it is
    return Figure(Markup(to_svg(display, width=width, height=height, title=title)), caption, width)
