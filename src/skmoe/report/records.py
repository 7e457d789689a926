"""Blocks of a page: plain data, with no markup but the SVG of a figure, laid out by the macro of the same name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from markupsafe import Markup

from skmoe.inference.formatting import three_digits

__all__ = [
    "Block",
    "Card",
    "Cards",
    "Check",
    "Checks",
    "Experts",
    "Figure",
    "Heading",
    "Number",
    "Points",
    "Regime",
    "Table",
    "Text",
    "Verdict",
    "expert_style",
    "paragraphs",
]

SMALL = 6.0  # inches below which a figure is never scrolled
COLOURS = 7  # of experts in page.css; an eighth expert has the first colour again, dashed


class Block:
    """A part of a section: its macro in ``macros.html.j2`` has the name of its class in small letters."""

    @property
    def macro(self) -> str:
        """Name of the macro."""
        return type(self).__name__.lower()


@dataclass(frozen=True)
class Heading(Block):
    """A heading inside a section."""

    text: str


@dataclass(frozen=True)
class Text(Block):
    """A paragraph, with a style class of its own if it has one."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class Points(Block):
    """A list of sentences."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Number:
    """A table cell that shows a number and sorts by it.

    Attributes
    ----------
    value : float
        The number to sort by; NaN sorts last.
    text : str
        Text shown, by default three significant digits.
    detail : str
        A second line, in smaller letters.
    muted : bool
        Whether it is shown in grey.
    """

    value: float
    text: str = ""
    detail: str = ""
    muted: bool = False

    @property
    def shown(self) -> str:
        """The number as text."""
        return self.text or three_digits(self.value)

    @property
    def sort_key(self) -> str:
        """The number in full, empty for NaN."""
        value = float(self.value)
        return repr(value) if value == value else ""


@dataclass(frozen=True)
class Table(Block):
    """A table that sorts by column; the first cell of a row is its heading.

    Attributes
    ----------
    caption : str
    columns : tuple of str
    rows : tuple of tuples of str or Number
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Number, ...], ...]

    @property
    def numeric(self) -> tuple[bool, ...]:
        """For each column, whether it holds numbers only."""
        return tuple(
            bool(self.rows) and all(isinstance(row[i], Number) for row in self.rows) for i in range(len(self.columns))
        )


@dataclass(frozen=True)
class Figure(Block):
    """A static picture, as SVG that `skmoe.plots` made, its caption, and its width in inches."""

    svg: Markup
    caption: str
    width: float = 7.2

    @property
    def size(self) -> str:
        """Style class of its width: the narrow ones fit a telephone as they are."""
        return "small" if self.width < SMALL else "large"


@dataclass(frozen=True)
class Card:
    """A headline number: what it is, its value, and a remark."""

    name: str
    value: str
    detail: str


@dataclass(frozen=True)
class Cards(Block):
    """Headline numbers."""

    cards: tuple[Card, ...]


@dataclass(frozen=True)
class Experts(Block):
    """A sentence or two on each expert."""

    texts: tuple[str, ...]


@dataclass(frozen=True)
class Regime(Block):
    """A regime: the number of its expert, from 0, where it holds, its effects, and pictures of both."""

    expert: int
    where: str
    effects: str
    figures: tuple[Figure, ...]


class Verdict(StrEnum):
    """Result of a check; also its style class."""

    FINE = "fine"
    NOTE = "note"
    CAREFUL = "careful"


@dataclass(frozen=True)
class Check:
    """A check of how far to trust the model.

    Attributes
    ----------
    name, finding, text : str
        Question, result, and what it means.
    verdict : Verdict
    """

    name: str
    finding: str
    text: str
    verdict: Verdict


@dataclass(frozen=True)
class Checks(Block):
    """Checks of how far to trust the model."""

    checks: tuple[Check, ...]


def expert_style(i: int) -> str:
    """Return the style classes that give expert `i` (from 0) its colour everywhere on the page."""
    return f"e{i % COLOURS + 1}" + (" dashed" if i >= COLOURS else "")


def paragraphs(texts: Iterable[str], style: str = "") -> tuple[Text, ...]:
    """Return a paragraph for each text that is not empty."""
    return tuple(Text(text, style) for text in texts if text)
