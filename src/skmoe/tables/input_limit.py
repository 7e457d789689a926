"""Limit the inputs that categories and missing values become: with few rows the most infrequent share an input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skmoe.tables.columns import Column
from skmoe.tables.decisions import MOST_CATEGORIES, Decision, decide
from skmoe.tables.profiles import ColumnProfile

__all__ = ["decide_all", "most_inputs"]

ROWS_PER_INPUT = 5  # of categories and missing indicators
FEW_INPUTS = 5  # of them that any table may have


def most_inputs(rows: int) -> int:
    """Return the limit of inputs of categories and missing values: one for every five rows, but five in any case."""
    return max(FEW_INPUTS, rows // ROWS_PER_INPUT)


@dataclass(frozen=True)
class _Encoding:
    """Encoding of a column, and the inputs of it that count towards the limit."""

    profile: ColumnProfile
    decision: Decision

    @property
    def of_categories(self) -> bool:
        """True for a column of categories; others may have a missing indicator."""
        return self.decision.column is not None and self.decision.column.kind == "category"

    @property
    def inputs(self) -> int:
        """Number of inputs of its categories, or of its missing indicator."""
        column = self.decision.column
        if column is None:
            return 0
        return len(column.features) if self.of_categories else int(column.missing_indicator)

    @property
    def rows(self) -> list[int]:
        """Rows of each category that does not share an input, or rows with missing values."""
        column, profile = self.decision.column, self.profile
        if column is None or not self.of_categories:
            return [profile.missing + sum(profile.missing_marks.values())]
        counts = profile.counts or {}
        return [counts[text] for text in column.categories if text in counts]


def decide_all(
    profiles: Sequence[ColumnProfile], missing: str, dates: Sequence[str], known: Sequence[Column] = ()
) -> tuple[list[Decision], list[str]]:
    """Decide what the columns of a table become, with no more inputs of categories and missing values than rows allow.

    The most infrequent ones lose their inputs first; a column of categories keeps one.

    Parameters
    ----------
    profiles : sequence of ColumnProfile
        Counts and ranges of each column.
    missing, dates : as for `decide`
    known : sequence of Column
        Encodings by all rows, where `profiles` are of some of them.

    Returns
    -------
    list of Decision
        One for each column.
    list of str
        Notes for the owner of the table.
    """
    earlier = {column.name: column for column in known}

    def encoding(profile: ColumnProfile, most: int = MOST_CATEGORIES) -> _Encoding:
        return _Encoding(profile, decide(profile, missing, dates, earlier.get(profile.name), most))

    def with_fewer_inputs(one: _Encoding) -> _Encoding | None:
        fewer = range(len(one.rows) - 1, 0, -1) if one.of_categories else [0]
        return next((less for most in fewer if (less := encoding(one.profile, most)).inputs < one.inputs), None)

    encodings = [encoding(profile) for profile in profiles]
    n, asked = max((p.rows for p in profiles), default=0), _inputs(encodings)
    able = {i for i, one in enumerate(encodings) if one.inputs}
    while able and _inputs(encodings) > most_inputs(n):
        i = min(able, key=lambda i: (min(encodings[i].rows), -encodings[i].inputs, i))
        less = with_fewer_inputs(encodings[i])
        if less is None:
            able.remove(i)
            continue
        encodings[i] = less
        able -= set() if less.inputs else {i}
    left = _inputs(encodings)
    few = f"{n} rows are few for {asked} inputs of categories and missing values"
    notes = [f"{few}: the rarest share inputs, {left} in all"] if left < asked else []
    return [one.decision for one in encodings], notes


def _inputs(encodings: Sequence[_Encoding]) -> int:
    return sum(one.inputs for one in encodings)
