"""Options of the target: its family, and auxiliary columns such as exposures and bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from skmoe.cli.models import number_in

if TYPE_CHECKING:
    from skmoe.tables.output_columns import OutputColumns

__all__ = ["CLASSES", "FAMILY_NAMES", "ONE_COLUMN", "Exposure", "Lower", "OutputOptions", "Trials", "Upper"]

ONE_COLUMN = ("gaussian", "student", "poisson", "negative-binomial", "gamma", "lognormal", "binomial")
CENSORED = ("censored-gaussian", "censored-lognormal")
TRUNCATED = ("truncated-gaussian", "truncated-lognormal")
FAMILY_NAMES = (*ONE_COLUMN, *CENSORED, *TRUNCATED)
CLASSES = "classes"
COUNTS = ("poisson", "negative-binomial")

Exposure = Annotated[
    str | None, typer.Option(help="Column of exposures, such as times, that counts were made over; they scale rates.")
]
Trials = Annotated[
    str | None, typer.Option(help="Column of numbers of trials, of which the target of --family binomial counts some.")
]
Lower = Annotated[
    str | None,
    typer.Option(help="Lower bound of the target, a number or a column, for --family censored-... or truncated-..."),
]
Upper = Annotated[str | None, typer.Option(help="Upper bound of the target, likewise.")]


class OutputOptions(NamedTuple):
    """Options as they were written; None for those that were not."""

    family: str
    exposure: str | None = None
    trials: str | None = None
    lower: str | None = None
    upper: str | None = None

    def check(self, families: Sequence[str]) -> None:
        """Refuse what does not go together, before a table is read."""
        if self.family not in families:
            raise ValueError(f"--family must be one of {', '.join(families)}; got {self.family!r}")
        if self.exposure is not None and self.family not in COUNTS:
            raise ValueError(f"--exposure is for --family {' or '.join(COUNTS)}; --family is {self.family}")
        if self.trials is not None and self.family != "binomial":
            raise ValueError(f"--trials is for --family binomial; --family is {self.family}")
        bounded = self.family in (*CENSORED, *TRUNCATED)
        given = [name for name in ("lower", "upper") if getattr(self, name) is not None]
        if given and not bounded:
            raise ValueError(f"--{given[0]} is for families with bounds, {', '.join((*CENSORED, *TRUNCATED))}")
        if bounded and not given:
            raise ValueError(
                f"--family {self.family} needs --lower or --upper, a number or the name of a column of bounds"
            )

    def columns(self, names: Sequence[str]) -> OutputColumns | None:
        """Find the auxiliary columns in a table of these columns."""
        from skmoe.tables.output_columns import OutputColumns, OutputLayout

        for option, name in (("--exposure", self.exposure), ("--trials", self.trials)):
            if name is not None and name not in names:
                raise ValueError(f"{option}: there is no column {name!r}; the table has {', '.join(names[:12])}")
        if self.exposure is not None:
            return OutputColumns(OutputLayout.EXPOSURE, (self.exposure,))
        if self.trials is not None:
            return OutputColumns(OutputLayout.TRIALS, (self.trials,))
        if self.lower is None and self.upper is None:
            return None
        bounds = tuple(
            _bound(text, names, option) for text, option in ((self.lower, "--lower"), (self.upper, "--upper"))
        )
        return OutputColumns(OutputLayout.CENSORED if self.family in CENSORED else OutputLayout.TRUNCATED, bounds)


def _bound(text: str | None, names: Sequence[str], option: str) -> str | float | None:
    """Return the name of a column, or a number."""
    if text is None or text in names:
        return text
    if math.isnan(number := number_in(text)):
        raise ValueError(f"{option} must be a number or a column of the table, {', '.join(names[:12])}; got {text!r}")
    return number
