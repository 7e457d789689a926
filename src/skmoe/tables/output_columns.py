"""Outputs of a table that take more columns than the target: exposures, trials, and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from skmoe.tables.table_errors import TableError

__all__ = ["OutputColumns", "OutputLayout"]


class OutputLayout(StrEnum):
    """Meaning of the auxiliary columns of an output."""

    EXPOSURE = "exposure"
    TRIALS = "trials"
    CENSORED = "censored"
    TRUNCATED = "truncated"
    AS_GIVEN = "as given"


COUNTS = {
    OutputLayout.EXPOSURE: 1,
    OutputLayout.TRIALS: 1,
    OutputLayout.CENSORED: 2,
    OutputLayout.TRUNCATED: 2,
}


@dataclass(frozen=True)
class OutputColumns:
    """Columns that make up an output: the target and auxiliary columns.

    Parameters
    ----------
    layout : str
        One of `OutputLayout`. "exposure": the target counts over it. "trials": the target counts successes among them.
        "censored": a lower and an upper bound; a target at or beyond one is known only to be so. "truncated": a lower
        and an upper bound, beyond which rows would not be in the table. "as given": columns are those of an output as
        `MoERegressor.fit` takes it.
    auxiliary : tuple of str, float or None
        Names of columns, or numbers that hold for all rows; None for no bound.
    """

    layout: str
    auxiliary: tuple[str | float | None, ...]

    def __post_init__(self) -> None:
        if self.layout not in list(OutputLayout):
            raise TableError(f"the layout of an output must be one of {', '.join(OutputLayout)}; got {self.layout!r}")
        if self.layout == OutputLayout.AS_GIVEN:
            if not self.auxiliary or not all(isinstance(one, str) for one in self.auxiliary):
                raise TableError(f"columns beside a target as given are names; got {self.auxiliary!r}")
        elif len(self.auxiliary) != COUNTS[OutputLayout(self.layout)]:
            raise TableError(f"outputs with {self.layout} have {COUNTS[OutputLayout(self.layout)]} columns beside")

    @property
    def names(self) -> tuple[str, ...]:
        """Auxiliary columns that a table must have."""
        return tuple(dict.fromkeys(name for name in self.auxiliary if isinstance(name, str)))

    @property
    def width(self) -> int:
        """Number of columns of an output."""
        return 3 if self.layout == OutputLayout.TRUNCATED else 1 + len(self.auxiliary) if self.as_given else 2

    @property
    def as_given(self) -> bool:
        """True where columns are taken as they are."""
        return self.layout == OutputLayout.AS_GIVEN

    def laid_out(self, target: np.ndarray, found: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return outputs (n, width) as `MoERegressor.fit` takes them.

        Parameters
        ----------
        target : (n,) array
            Values of the target.
        found : mapping from name to (n,) array
            Values of the auxiliary columns.

        Returns
        -------
        (n, width) array
            Counts and exposures, successes and failures, lower and upper bounds, or outputs and their bounds.
        """
        if self.as_given:
            return np.column_stack([target, *(found[str(one)] for one in self.auxiliary)])
        absent = (-np.inf, np.inf) if len(self.auxiliary) == 2 else (np.nan,)
        values = [
            found[one] if isinstance(one, str) else np.full(len(target), default if one is None else one)
            for one, default in zip(self.auxiliary, absent, strict=True)
        ]
        if self.layout == OutputLayout.EXPOSURE:
            return np.column_stack([target, values[0]])
        if self.layout == OutputLayout.TRIALS:
            return np.column_stack([target, values[0] - target])
        low, high = values
        if self.layout == OutputLayout.TRUNCATED:
            return np.column_stack([target, low, high])
        below, above = target <= low, target >= high
        lower = np.where(below, -np.inf, np.where(above, high, target))
        return np.column_stack([lower, np.where(below, low, np.where(above, np.inf, target))])
