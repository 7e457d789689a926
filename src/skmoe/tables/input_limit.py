"""How many inputs the categories and gaps of a table may become: with few rows the rarest ones share an input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skmoe.tables.columns import Column
from skmoe.tables.decisions import MOST_CATEGORIES, Decision, decide
from skmoe.tables.profiles import ColumnProfile

__all__ = ["decide_all", "most_inputs"]

ROWS_PER_INPUT = 5  # of those that categories and gaps become
FEW_INPUTS = 5  # that any table may have of them


def most_inputs(rows: int) -> int:
    """Inputs that categories and gaps of a table may become: one for every five rows, but five in any case."""
    return max(FEW_INPUTS, rows // ROWS_PER_INPUT)


@dataclass(frozen=True)
class _Part:
    """What a column becomes, and the part of it that the limit is about."""

    profile: ColumnProfile
    decision: Decision

    @property
    def of_categories(self) -> bool:
        """Whether it is a column of categories; else it may have an input that says where it has gaps."""
        return self.decision.column is not None and self.decision.column.kind == "category"

    @property
    def inputs(self) -> int:
        """Inputs that its categories or gaps became."""
        column = self.decision.column
        if column is None:
            return 0
        return len(column.features) if self.of_categories else int(column.flag)

    @property
    def rows(self) -> list[int]:
        """Rows of each category that does not share an input, or of the gaps."""
        column, profile = self.decision.column, self.profile
        if column is None or not self.of_categories:
            return [profile.missing + sum(profile.marks.values())]
        counts = profile.counts or {}
        return [counts[text] for text in column.categories if text in counts]


def decide_all(
    profiles: Sequence[ColumnProfile], missing: str, dates: Sequence[str], known: Sequence[Column] = ()
) -> tuple[list[Decision], list[str]]:
    """What the columns of a table become, with no more inputs of categories and gaps than its rows carry.

    The rarest categories and gaps lose theirs first; a column of categories keeps one input.

    Parameters
    ----------
    profiles : sequence of ColumnProfile
        What the rows of each column hold.
    missing, dates : as for `decide`
    known : sequence of Column
        What the columns become by all rows, where `profiles` are of a part of them.

    Returns
    -------
    list of Decision
        One for each column.
    list of str
        What the owner of the table should know of the limit.
    """
    earlier = {column.name: column for column in known}

    def part(profile: ColumnProfile, most: int = MOST_CATEGORIES) -> _Part:
        return _Part(profile, decide(profile, missing, dates, earlier.get(profile.name), most))

    def smaller(one: _Part) -> _Part | None:
        fewer = range(len(one.rows) - 1, 0, -1) if one.of_categories else [0]
        return next((less for most in fewer if (less := part(one.profile, most)).inputs < one.inputs), None)

    parts = [part(profile) for profile in profiles]
    n, asked = max((p.rows for p in profiles), default=0), _inputs(parts)
    able = {i for i, one in enumerate(parts) if one.inputs}
    while able and _inputs(parts) > most_inputs(n):
        i = min(able, key=lambda i: (min(parts[i].rows), -parts[i].inputs, i))
        less = smaller(parts[i])
        if less is None:
            able.remove(i)
            continue
        parts[i] = less
        able -= set() if less.inputs else {i}
    left = _inputs(parts)
    words = f"{n} rows are few for {asked} inputs of categories and gaps: the rarest share inputs, {left} in all"
    return [one.decision for one in parts], [words] if left < asked else []


def _inputs(parts: Sequence[_Part]) -> int:
    return sum(one.inputs for one in parts)
