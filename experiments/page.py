"""The page docs/paper.md, rendered from ``paper.md.jinja``: every number on it is an expression over the results files.

The template calls the functions of `reader`, which read the results, and those of `wording`, which choose words by
stated comparisons. ``make reproduce ONLY=page`` renders it; a test renders it again and compares.
"""

from __future__ import annotations

from pathlib import Path

import jinja2

from . import claims, runner, tables, wording
from .claims import constants, experts, gate, recovery
from .reader import Reader

PAGE = Path(__file__).parent.parent / "docs" / "paper.md"
TEMPLATE = "paper.md.jinja"


def runs(results: dict[str, tables.Found]) -> tables.Grid:
    """How many trials stand behind each experiment, and what they cost."""
    rows = []
    for name, found in results.items():
        count = wording.span([len(trials) for trials in found.trials.values()], "d")
        rows.append([f"`make reproduce ONLY={name}`", str(len(found.settings)), count, f"{found.seconds / 60:.1f}"])
    total = sum(found.seconds for found in results.values()) / 60
    rows.append(["all", "", "", f"{total:.1f}"])
    return tables.Grid("", ["command", "settings", "trials each", "minutes of one core"], rows)


def render(results: dict[str, tables.Found]) -> str:
    """The page's text."""
    missing = sorted(set(runner.MODULES) - set(results))
    if missing:
        raise ValueError(
            f"the page needs the results of every experiment; run make reproduce ONLY='{' '.join(missing)}' first"
        )
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # Markdown, from our own numbers
    )
    grids = {name: tables.markdown(grid) for name, grid in tables.grids(results).items()}
    grids |= {"claims": tables.markdown(claims.grid(results)), "runs": tables.markdown(runs(results))}
    context = {name: getattr(wording, name) for name in ("listed", "span", "joined", "against", "number")}
    return environment.get_template(TEMPLATE).render(
        r=Reader(results),
        results=results,
        grid=grids,
        verdict=claims.verdicts(results),
        experts=experts,
        gate=gate,
        constants=constants,
        level=wording.LEVEL,
        paper_trials=recovery.PAPER_TRIALS,
        optimum_margin=tables.OPTIMUM,
        **context,
    )


def update(results: dict[str, tables.Found], page: Path = PAGE) -> None:
    """Write the page."""
    page.write_text(render(results))
