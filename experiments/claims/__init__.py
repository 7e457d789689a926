"""Every claim of the paper as a row: where it stands, what was measured, the command, and a verdict in a word.

A claim is a function of the results that returns what was measured and the verdict, chosen by a rule that its docstring
states: nothing on the page is asserted that another run of the experiments could make false.
"""

from __future__ import annotations

from ..tables import Grid
from . import constants, experts, figures, gate, printed, recovery
from .records import CLAIMS, Results

__all__ = ["CLAIMS", "grid", "verdicts"]

MODULES = (recovery, figures, experts, gate, constants, printed)  # in the order of the rows


def grid(results: Results) -> Grid:
    """All rows, with their numbers."""
    rows = []
    for module in MODULES:
        for claim in CLAIMS[module.__name__]:
            reading = claim.read(results)
            command = f"`{claim.command}`" if claim.command else ""
            rows.append([claim.where, claim.text, reading.measured, command, reading.verdict])
    return Grid("The paper's claims", ["where", "claim", "measured here", "command", "verdict"], rows)


def verdicts(results: Results) -> dict[str, str]:
    """Verdict of each claim, by the name of its function."""
    return {claim.read.__name__: claim.read(results).verdict for module in MODULES for claim in CLAIMS[module.__name__]}
