"""Outputs of a table that more columns than the target tell of: exposures, trials, and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from skmoe.tables.table_errors import TableError

__all__ = ["OutputColumns", "OutputLayout"]


class OutputLayout(StrEnum):
    """What the columns beside the target are."""

    EXPOSURE = "exposure"
    TRIALS = "trials"
    CENSORED = "censored"
    TRUNCATED = "truncated"
    AS_GIVEN = "as given"


BESIDE = {OutputLayout.EXPOSURE: 1, OutputLayout.TRIALS: 1, OutputLayout.CENSORED: 2, OutputLayout.TRUNCATED: 2}


@dataclass(frozen=True)
class OutputColumns:
    """How an output is told by the target and what stands beside it.

    Parameters
    ----------
    layout : str
        One of `OutputLayout`. "exposure": the target counts over it. "trials": the target counts successes among them.
        "censored": a lower and an upper bound; a target at or beyond one is known only to be so. "truncated": a lower
        and an upper bound, beyond which rows would not be in the table. "as given": columns are those of an output as
        `MoERegressor.fit` takes it.
    beside : tuple of str, float or None
        Names of columns, or numbers that hold for all rows; None for no bound.
    """

    layout: str
    beside: tuple[str | float | None, ...]

    def __post_init__(self) -> None:
        if self.layout not in list(OutputLayout):
            raise TableError(f"the layout of an output must be one of {', '.join(OutputLayout)}; got {self.layout!r}")
        if self.layout == OutputLayout.AS_GIVEN:
            if not self.beside or not all(isinstance(one, str) for one in self.beside):
                raise TableError(f"columns beside a target as given are names; got {self.beside!r}")
        elif len(self.beside) != BESIDE[OutputLayout(self.layout)]:
            raise TableError(f"outputs with {self.layout} have {BESIDE[OutputLayout(self.layout)]} columns beside")

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that a table must have beside the target."""
        return tuple(dict.fromkeys(name for name in self.beside if isinstance(name, str)))

    @property
    def width(self) -> int:
        """Numbers that an output is laid out as."""
        return 3 if self.layout == OutputLayout.TRUNCATED else 1 + len(self.beside) if self.as_given else 2

    @property
    def as_given(self) -> bool:
        """Whether columns are taken as they are."""
        return self.layout == OutputLayout.AS_GIVEN

    def laid_out(self, target: np.ndarray, found: Mapping[str, np.ndarray]) -> np.ndarray:
        """Outputs (n, width) as `MoERegressor.fit` takes them.

        Parameters
        ----------
        target : (n,) array
            Values of the target.
        found : mapping from name to (n,) array
            Values of the columns beside it.

        Returns
        -------
        (n, width) array
            Counts and exposures, successes and failures, lower and upper bounds, or outputs and their bounds.
        """
        if self.as_given:
            return np.column_stack([target, *(found[str(one)] for one in self.beside)])
        ends = (-np.inf, np.inf) if len(self.beside) == 2 else (np.nan,)
        parts = [
            found[one] if isinstance(one, str) else np.full(len(target), end if one is None else one)
            for one, end in zip(self.beside, ends, strict=True)
        ]
        if self.layout == OutputLayout.EXPOSURE:
            return np.column_stack([target, parts[0]])
        if self.layout == OutputLayout.TRIALS:
            return np.column_stack([target, parts[0] - target])
        low, high = parts
        if self.layout == OutputLayout.TRUNCATED:
            return np.column_stack([target, low, high])
        below, above = target <= low, target >= high
        lower = np.where(below, -np.inf, np.where(above, high, target))
        return np.column_stack([lower, np.where(below, low, np.where(above, np.inf, target))])
