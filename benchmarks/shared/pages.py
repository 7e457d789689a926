"""Tables, and pages of the docs: prose by hand, and between markers what results files say."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["Grid", "fill", "markdown"]

BLOCK = r"(<!-- results: {name} -->\n).*?(<!-- end -->)"


class Grid(NamedTuple):
    """A table ready to be shown."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def markdown(heads: list[str], rows: list[list[str]]) -> str:
    """Lay rows out as a table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fill(page: Path, texts: dict[str, str]) -> None:
    """Put texts between the markers of a page that have their names."""
    text = page.read_text()
    for name, block in texts.items():
        pattern = re.compile(BLOCK.format(name=re.escape(name)), re.DOTALL)
        text, times = pattern.subn(lambda match, block=block: f"{match[1]}\n{block}\n\n{match[2]}", text)
        if times != 1:
            raise ValueError(f"{page.name} must have one block named {name!r}; it has {times}")
    page.write_text(text)
