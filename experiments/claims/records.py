"""What a claim is, and what its reading of the results gives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple

from ..tables import Found

Results = dict[str, Found]

CONFIRMED, PARTLY, NOT, CORRECTED = "confirmed", "partly confirmed", "not confirmed", "corrected"


class Reading(NamedTuple):
    """What the results say of a claim."""

    measured: str
    verdict: str


class Claim(NamedTuple):
    """A sentence of the paper, and the function that reads the results for it."""

    where: str
    text: str
    command: str
    read: Callable[[Results], Reading]


CLAIMS: dict[str, list[Claim]] = defaultdict(list)  # by the module that holds them, in the order of its functions


def claim(where: str, text: str, command: str = "theory") -> Callable[[Callable[[Results], Reading]], Callable]:
    """Enter a function as the reading of a claim."""

    def enter(read: Callable[[Results], Reading]) -> Callable[[Results], Reading]:
        CLAIMS[read.__module__].append(Claim(where, text, command, read))
        return read

    return enter


def judged(held: list[bool], *, none: str = NOT) -> str:
    """Confirmed where every case holds, partly where some do."""
    return CONFIRMED if all(held) else PARTLY if any(held) else none
