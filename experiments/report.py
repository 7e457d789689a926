"""The page docs/paper.md: prose by hand, and between its markers what the results files say."""

from __future__ import annotations

import re
from pathlib import Path

from . import claims, runner, tables

PAGE = Path(__file__).parent.parent / "docs" / "paper.md"
BLOCK = r"(<!-- results: {name} -->\n).*?(<!-- end -->)"


def blocks(results: dict[str, tables.Found]) -> dict[str, str]:
    """Text of each block by name."""
    shown = {name: tables.markdown(grid) for name, grid in tables.grids(results).items()}
    if set(results) == set(runner.MODULES):
        shown["claims"] = tables.markdown(claims.grid(results))
        shown["runs"] = tables.markdown(runs(results))
    return shown


def runs(results: dict[str, tables.Found]) -> tables.Grid:
    """How many trials stand behind each experiment, and what they cost."""
    rows = []
    for name, found in results.items():
        counts = {len(trials) for trials in found.trials.values()}
        count = f"{min(counts)}" if len(counts) == 1 else f"{min(counts)} to {max(counts)}"
        rows.append([f"`skmoe reproduce {name}`", str(len(found.settings)), count, f"{found.seconds / 60:.1f}"])
    total = sum(found.seconds for found in results.values()) / 60
    rows.append(["all", "", "", f"{total:.1f}"])
    return tables.Grid("", ["command", "settings", "trials each", "minutes of one core"], rows)


def update(results: dict[str, tables.Found], page: Path = PAGE) -> None:
    """Put what the results say between the page's markers."""
    text = page.read_text()
    for name, block in blocks(results).items():
        pattern = re.compile(BLOCK.format(name=re.escape(name)), re.DOTALL)
        text = pattern.sub(lambda match, block=block: f"{match[1]}\n{block}\n\n{match[2]}", text)
    page.write_text(text)
