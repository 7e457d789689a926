"""Static figures of the report, drawn by `skmoe.plots`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from markupsafe import Markup

from skmoe import plots
from skmoe.report.records import Figure

__all__ = ["draw", "draw_made", "matplotlib_is_installed"]


def matplotlib_is_installed() -> bool:
    """Return whether figures can be drawn."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def draw(
    display: Any, *arguments: Any, title: str, caption: str, width: float = 7.2, height: float = 4.0, **how: Any
) -> Figure | None:
    """Draw a display of `skmoe.plots`, or return None where matplotlib is not installed.

    Parameters
    ----------
    display : class of `skmoe.plots`
    arguments, how : arguments of its ``from_estimator``
    title : str
        Description of the figure, for readers who cannot see it.
    caption : str
    width, height : float
        Inches.
    """
    make = partial(display.from_estimator, *arguments, draw=False, **how)
    return draw_made(make, title=title, caption=caption, width=width, height=height)


def draw_made(
    make: Callable[[], Any], *, title: str, caption: str, width: float = 7.2, height: float = 4.0
) -> Figure | None:
    """Draw the display that `make` gives, as `draw` does."""
    if not matplotlib_is_installed():
        return None
    # to_svg escapes the text in it, so that the page may take it as it is
    return Figure(Markup(plots.to_svg(make(), width=width, height=height, title=title)), caption, width)
