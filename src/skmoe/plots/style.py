"""Shared by all pictures: colours, text that is drawn as it is, and the display that opens axes and draws on them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from itertools import product
from typing import Any, ClassVar, Self

import numpy as np

from skmoe.plots.reading import Along

__all__ = [
    "Display",
    "draw_dots",
    "draw_expert",
    "draw_line",
    "expert_colors",
    "expert_styles",
    "ink",
    "label",
    "legend_above",
    "legend_name",
    "mark_input",
    "mark_places",
    "name_axes",
    "others_typical",
    "plain_text",
    "pyplot",
]

# Okabe and Ito's colours, told apart with any colour vision; without their yellow, which vanishes on white, and with
# grey in place of black, which vanishes on a dark page
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#999999")
DASHES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
POINT_GREY = "#808080"  # of data points: 3.9 to 1 against white and 5.3 to 1 against black
LONGEST = 40  # characters of a column's name that are drawn
MOST_LETTERS = 40  # of all labels below an axis, above which they are rotated
MANY = 500  # rows above which marks are drawn as pixels: thousands of them would make a vector file huge


def expert_styles(k: int) -> list[dict[str, str]]:
    """Return colour, line style and marker of each expert; colours repeat after 7, with another dash and marker.

    Parameters
    ----------
    k : int
        Number of experts.

    Returns
    -------
    list of dict
        With keys ``color``, ``linestyle`` and ``marker``.
    """
    turns = product(range(len(DASHES)), range(len(COLORS)))
    styles = [
        {"color": COLORS[i], "linestyle": DASHES[turn], "marker": MARKERS[(i + turn) % len(MARKERS)]}
        for turn, i in turns
    ]
    return [styles[i % len(styles)] for i in range(k)]


def expert_colors(k: int) -> list[str]:
    """Return colours of experts, safe for colour-blind readers and readable on light and dark; they repeat after 7.

    Parameters
    ----------
    k : int
        Number of experts.

    Returns
    -------
    list of str
        Hexadecimal colours.

    Examples
    --------
    >>> from skmoe.plots import expert_colors
    >>> expert_colors(2)
    ['#0072B2', '#D55E00']
    """
    return [style["color"] for style in expert_styles(k)]


def label(name: Any, longest: int = LONGEST) -> str:
    """Return a name as one line of printable text; control characters are replaced."""
    text = " ".join(str(name).split())
    text = "".join(c if c.isprintable() else "\ufffd" for c in text)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def legend_name(name: Any, longest: int = 18) -> str:
    """Return a name for a legend: matplotlib leaves out those that begin with an underscore."""
    text = label(name, longest)
    return f" {text}" if text.startswith("_") else text


def others_typical(name: Any, d: int) -> str:
    """Return the label of the axis of one column of d, with the values of the others."""
    return label(name) + (" (other columns at typical values)" if d > 1 else "")


def mark_places(axis: Any, places: np.ndarray, labels: Sequence[str]) -> None:
    """Set labelled ticks at the places of an axis that has a few; long labels are rotated to fit."""
    texts = [label(text, 18) for text in labels]
    long = axis.axis_name == "x" and sum(map(len, texts)) > MOST_LETTERS
    how = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if long else {}
    axis.set_ticks(places, texts, **how)
    plain_text(*axis.get_ticklabels())
    step = places[1] - places[0]
    axis.axes.set(**{f"{axis.axis_name}lim": (places[0] - 0.6 * step, places[-1] + 0.6 * step)})


def plain_text(*texts: Any) -> None:
    """Let texts be drawn as they are: a dollar sign in a column's name starts no formula."""
    for text in texts:
        text.set_parse_math(False)


def name_axes(ax: Any, x: str, y: str | None = None) -> None:
    """Label the axes, with the texts as they are."""
    plain_text(ax.set_xlabel(x), *([] if y is None else [ax.set_ylabel(y)]))


def mark_input(axis: Any, one: Along) -> None:
    """Set labelled ticks at the places of an input that has a few."""
    if one.discrete:
        mark_places(axis, one.places, one.labels)


def draw_line(
    ax: Any, one: Along, y: np.ndarray, *, half: float = 0.3, stroke: float = 1.5, name: str | None = None
) -> None:
    """Draw values along an input: a line, or a stroke at each place of one that has a few; NaN is left out."""
    if one.discrete:
        known = np.isfinite(y)
        x, half = one.places[known], half * one.step
        ax.hlines(y[known], x - half, x + half, color=ink(ax), linewidth=stroke, label=name)
    else:
        ax.plot(one.places, y, color=ink(ax), linewidth=2, label=name)


def draw_expert(
    ax: Any, one: Along, y: np.ndarray, style: dict[str, str], name: str, *, width: float = 1.2, offset: float = 0.0
) -> None:
    """Draw the values of an expert along an input: a line, or points beside those of the others."""
    how: dict[str, Any] = {"linestyle": style["linestyle"], "linewidth": width}
    if one.discrete:
        how = {"linestyle": "none", "marker": style["marker"]}
    ax.plot(one.places + offset, y, color=style["color"], label=name, **how)


def draw_dots(ax: Any, x: np.ndarray, y: np.ndarray, **how: Any) -> None:
    """Draw a dot for each row."""
    ax.plot(x, y, linestyle="none", marker=".", markeredgewidth=0, rasterized=len(x) > MANY, **how)


def ink(ax: Any) -> Any:
    """Return the colour of the axes' text, for lines that belong to no expert: visible on any background."""
    return ax.yaxis.label.get_color()


def legend_above(ax: Any, *, columns: int = 4, right: bool = False, **how: Any) -> None:
    """Draw a legend above the axes, where it hides no data, flush with their left or right end."""
    handles, _ = ax.get_legend_handles_labels()
    handles = how.pop("handles", handles)
    if len(handles) > columns:  # several lines of it: small, so that they fit
        how.setdefault("fontsize", "small")
    legend = ax.legend(
        handles=handles,
        loc="lower right" if right else "lower left",
        bbox_to_anchor=(float(right), 1.0),
        ncols=min(columns, max(len(handles), 1)),
        frameon=False,
        borderaxespad=0.2,
        columnspacing=1.2,
        handlelength=1.6,
        **how,
    )
    plain_text(*legend.get_texts())


def pyplot() -> Any:
    """Import pyplot of matplotlib, or raise with how to install it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError('plots need matplotlib: pip install "skmoe[plot]"') from error
    return plt


SHARED_PARAMETERS = """\
ax : {axes}, optional
    Where to draw; by default in a new figure.
draw : bool
    Whether to draw at once.

Returns
-------
{name}
    The display; its numbers are attributes."""


class Display:
    """Numbers and their picture: a subclass holds the numbers and draws them on `panels` axes.

    Class methods of a subclass make a display from a model or from numbers. All of them take `ax` and `draw`, which are
    added to their docstrings here.

    Attributes
    ----------
    axes_ : list of matplotlib Axes drawn on        ax_ : the first of them        figure_ : their figure
    """

    heading: ClassVar[str] = ""  # description of the picture, for those who cannot see it
    panels: ClassVar[int] = 1

    axes_: list[Any]
    ax_: Any
    figure_: Any
    _opened = False  # whether from_estimator opened a figure that the caller did not give
    _draw: Callable[..., None]  # on as many axes as there are panels

    def __init_subclass__(cls) -> None:
        axes = "matplotlib Axes" if cls.panels == 1 else "two matplotlib Axes, or one to divide"
        shared = SHARED_PARAMETERS.format(axes=axes, name=cls.__name__)
        for function in (made.__func__ for made in vars(cls).values() if isinstance(made, classmethod)):
            if function.__doc__ is not None:  # as it is under python -OO
                function.__doc__ = f"{inspect.cleandoc(function.__doc__)}\n{shared}"

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axes, or in a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, or a sequence of them, optional
            A display of two panels takes two, or one whose place it divides.

        Returns
        -------
        Display
            The display itself.
        """
        self.axes_ = self._open(ax)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        self._draw(*self.axes_)
        return self

    def _drawn(self, ax: Any, draw: bool) -> Self:
        """Draw if asked to, and return the display."""
        if draw:
            self.plot(ax)
            self._opened = ax is None
        return self

    def _open(self, ax: Any) -> list[Any]:
        if ax is None:
            figure = pyplot().figure(figsize=self._size(), layout="constrained")
            return list(figure.subplots(1, self.panels, squeeze=False)[0])
        axes: list[Any] = list(np.ravel(ax)) if isinstance(ax, Sequence | np.ndarray) else [ax]
        if len(axes) == 1 and self.panels > 1 and axes[0].get_subplotspec() is not None:
            axes[0].set_axis_off()
            figure = axes[0].figure
            room = 0.35 if figure.get_layout_engine() is None else None  # for labels; a layout engine finds its own
            inner = axes[0].get_subplotspec().subgridspec(1, self.panels, wspace=room)
            return [figure.add_subplot(inner[0, i]) for i in range(self.panels)]
        if len(axes) != self.panels:
            raise ValueError(f"{type(self).__name__} draws on {self.panels} axes; got {len(axes)}")
        return axes

    def _size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""
        return (6.4, 4.0) if self.panels == 1 else (9.6, 4.0)
