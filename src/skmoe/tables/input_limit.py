"""Limit the inputs that categories and missing values become: with few rows the most infrequent share an input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from skmoe.tables.columns import Column
from skmoe.tables.decisions import MOST_CATEGORIES, Decision, decide
from skmoe.tables.profiles import ColumnProfile

__all__ = ["decide_all", "most_inputs"]

ROWS_PER_INPUT = 5  # of categories and missing indicators
FEW_INPUTS = 5  # of them that any table may have


def most_inputs(rows: int) -> int:
    """Return the limit of inputs of categories and missing values: one for every five rows, but five in any case."""
    return max(FEW_INPUTS, rows // ROWS_PER_INPUT)


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

    def decided(profile: ColumnProfile, most: int = MOST_CATEGORIES) -> Decision:
        return decide(profile, missing, dates, earlier.get(profile.name), most)

    found = [decided(profile) for profile in profiles]
    n, asked = max((p.rows for p in profiles), default=0), sum(map(_inputs, found))
    able = {i for i, one in enumerate(found) if _inputs(one)}
    while able and sum(map(_inputs, found)) > most_inputs(n):
        i = min(able, key=lambda i: (min(_rows(profiles[i], found[i])), -_inputs(found[i]), i))
        most = range(len(_rows(profiles[i], found[i])) - 1, 0, -1) if _of_categories(found[i]) else [0]
        fewer = (decided(profiles[i], m) for m in most)
        less = next((one for one in fewer if _inputs(one) < _inputs(found[i])), None)
        found[i] = less or found[i]
        if less is None or not _inputs(less):
            able.remove(i)
    left = sum(map(_inputs, found))
    few = f"{n} rows are few for {asked} inputs of categories and missing values"
    return found, [f"{few}: the rarest share inputs, {left} in all"] if left < asked else []


def _of_categories(decision: Decision) -> bool:
    """Return whether a column is one of categories; others may have a missing indicator."""
    return decision.column is not None and decision.column.kind == "category"


def _inputs(decision: Decision) -> int:
    """Return the number of inputs of its categories, or of its missing indicator."""
    if decision.column is None:
        return 0
    return len(decision.column.features) if _of_categories(decision) else int(decision.column.missing_indicator)


def _rows(profile: ColumnProfile, decision: Decision) -> list[int]:
    """Return the rows of each category that does not share an input, or the rows with missing values."""
    if decision.column is None or not _of_categories(decision):
        return [profile.missing + sum(profile.missing_marks.values())]
    counts = profile.counts or Counter()
    return [counts[text] for text in decision.column.categories if text in counts]
