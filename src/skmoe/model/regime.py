"""Where an expert holds, and what its rows are like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from skmoe.arrays.visible import joined

__all__ = ["Condition", "Regime"]


@dataclass(frozen=True)
class Condition:
    """The values of an input where an expert holds.

    Attributes
    ----------
    name : str
        The input.
    part : float
        Its part in the variance of the expert's probability, see `skmoe.inference.gate_change`.
    here, all_rows : str
        Its values where the expert holds, with its name, and for all rows.
    direction : bool
        Whether `here` is a direction that makes the expert likelier at equal other inputs, since no range separates its
        rows.
    """

    name: str
    part: float
    here: str
    all_rows: str
    direction: bool = False


@dataclass(frozen=True)
class Regime:
    """The conditions where an expert holds, and its rows.

    Attributes
    ----------
    share : float
        Mean probability of the expert over the rows.
    conditions : tuple of Condition
        Inputs that decide, the strongest first; none where the expert holds everywhere.
    probability : float
        Mean probability of the expert over the rows that meet all conditions.
    its_rows, all_rows : float
        Shares of its rows and of all rows that meet all conditions.
    span : tuple of two floats
        Range of its probability in nine of ten rows.
    prediction : float
        Mean of its predictions for its rows.
    center, spread : tuples of d floats
        Means and standard deviations of the columns over its rows.
    like : int or None
        An earlier expert, counted from 0, with the same description.
    """

    share: float
    conditions: tuple[Condition, ...]
    probability: float
    its_rows: float
    all_rows: float
    span: tuple[float, float]
    prediction: float
    center: tuple[float, ...]
    spread: tuple[float, ...]
    like: Annotated[int, 0] | None = None

    @property
    def where(self) -> str:
        """The conditions where it holds, in a few words."""
        if not self.conditions:
            return "everywhere"
        text = "; ".join(self.with_directions([c.here for c in self.conditions if not c.direction]))
        return text if self.like is None else f"{text}, as expert {self.like + 1}"

    def with_directions(self, ranges: list[str]) -> list[str]:
        """Append the directions to the ranges."""
        directions = [c.here for c in self.conditions if c.direction]
        return ranges + ([f"{joined(directions)} at equal other inputs"] if directions else [])
