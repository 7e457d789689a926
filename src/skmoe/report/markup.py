"""Tags, tables and embedded data: whatever is not known to be HTML is escaped here, and nowhere else."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from skmoe.report.words import three

__all__ = ["Number", "Safe", "embed", "join", "paragraphs", "plain", "table", "tag"]

EMPTY = frozenset({"meta", "link"})  # elements without an end


# Surrogates have no UTF-8, controls no place in HTML, and text that turns direction could make a number read otherwise.
UNFIT = re.compile("[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class Safe(str):
    """Text that is HTML already: made by this module or by ours, never from data."""

    __slots__ = ()


def plain(value: Any) -> str:
    """Anything as text that a page can hold: no lone surrogates, no control or direction characters."""
    return UNFIT.sub("\ufffd", str(value))


def clean(value: Any) -> Safe:
    """Anything as HTML: escaped unless it is `Safe`."""
    return value if isinstance(value, Safe) else Safe(escape(plain(value), quote=True))


def join(parts: Sequence[Any], by: str = "\n") -> Safe:
    """Parts one after the other, each escaped unless it is `Safe`."""
    return Safe(by.join(clean(part) for part in parts))


def tag(name: str, /, *content: Any, **attributes: Any) -> Safe:
    """An element; ``class_`` is class, ``data_value`` is data-value, True stands alone, None is left out."""
    head = name
    for key, value in attributes.items():
        if value is None:
            continue
        key = key.rstrip("_").replace("_", "-")
        head += f" {key}" if value is True else f' {key}="{clean(value)}"'
    return Safe(f"<{head}>") if name in EMPTY else Safe(f"<{head}>{join(content, '')}</{name}>")


def paragraphs(*texts: Any) -> Safe:
    """Texts as paragraphs; empty ones are left out."""
    return join([tag("p", text) for text in texts if text])


@dataclass(frozen=True)
class Number:
    """A cell that shows a number, with three significant digits unless told otherwise, and sorts by it."""

    value: float
    text: Any = None
    muted: bool = False

    def cell(self) -> Safe:
        """The table cell."""
        value = float(self.value)
        known = value == value  # NaN has nothing to sort by
        text = three(value) if self.text is None else self.text
        return tag(
            "td", text, class_="number muted" if self.muted else "number", data_value=repr(value) if known else ""
        )


def table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Safe:
    """A table whose columns sort once the script runs; its first cells are the rows' headings."""
    numeric = [bool(rows) and all(isinstance(row[i], Number) for row in rows) for i in range(len(columns))]
    head = tag(
        "tr",
        *(
            tag("th", column, scope="col", class_="number" if right else None)
            for column, right in zip(columns, numeric, strict=True)
        ),
    )
    body = []
    for first, *others in rows:
        cells = [cell.cell() if isinstance(cell, Number) else tag("td", cell) for cell in others]
        body.append(tag("tr", tag("th", first, scope="row"), *cells))
    inner = tag("table", tag("caption", caption), tag("thead", head), tag("tbody", join(body)), class_="sortable")
    # wide tables scroll by themselves, and the keyboard can scroll them
    return tag("div", inner, class_="scroll", tabindex="0", role="region", aria_label=caption)


def embed(identifier: str, data: Any) -> Safe:
    """Data for the script, which no text inside can end or leave."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return tag("script", Safe(text), type="application/json", id=identifier)
