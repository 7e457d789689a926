"""Text that came from a file, as a terminal may be given it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

__all__ = ["joined", "listed", "visible"]

UNSEEN = ("Cc", "Cs", "Zl", "Zp")  # control characters, halves of characters, separators of lines and paragraphs
DIRECTIONS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def visible(text: str, *, keep: str = "") -> str:
    r"""Return the text with escapes for characters that would move the cursor, colour text or turn its direction.

    Parameters
    ----------
    text : str
    keep : str
        Characters to leave as they are, such as line breaks.

    Examples
    --------
    >>> print(visible("red \x1b[31m name"))
    red \x1b[31m name
    """
    if text.isprintable():
        return text
    return "".join(_escaped(c) if c not in keep and _moves(c) else c for c in text)


def _moves(character: str) -> bool:
    return unicodedata.category(character) in UNSEEN or character in DIRECTIONS


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def joined(items: Sequence[str]) -> str:
    """Join a list as in a sentence: a, b and c."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names in a row, the first dozen of them."""
    return ", ".join(visible(str(name)) for name in names[:most]) + (
        f" and {len(names) - most} more" if len(names) > most else ""
    )
