"""Columns that name rows, or groups of rows that belong together: identifiers, and text that repeats."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from skmoe.tables.profiles import ColumnProfile

__all__ = ["counts_rows", "groups_of_text", "identifiers"]

INDEX_NAMES = ("rownames", "row.names", "rowname", "unnamed: 0", "", "__index_level_0__")
COUNTER_NAMES = ("id", "index", "row", "rowid", "row_id", "obs", "...1")
"""Names of columns that only number the rows, where their values increase, or are 0, 1, 2, ..."""

NAMES = {
    "id",
    "nr",
    "idcode",
    "caseid",
    "pid",
    "patid",
    "uid",
    "userid",
    "hhid",
    "schid",
    "schoolid",
    "famid",
    "patientid",
}
"""Last words of names of identifiers."""
OWNERS = {"subject", "subj", "patient", "person", "individual", "participant", "respondent", "case", "child", "student"}
OWNERS |= {"school", "classroom", "family", "household", "firm", "company", "county", "fips", "zip", "zipcode"}
OWNERS |= {"customer", "animal", "rat", "litter", "plant", "tree", "country", "city", "state", "village", "pair"}
OWNERS |= {"facility", "hospital", "clinic", "site", "station", "district", "province", "store"}
"""Last words of names of what has identifiers; a column may also count them."""
NUMBERED = {"no", "num", "number", "code", "name"}
"""Words that may follow these."""
TIMES = {"year", "yr", "date", "time", "month", "day", "days", "week", "quarter", "hour", "period", "wave", "age", "t"}
LEAST_VALUES = 8  # of a column that is named like an identifier
MANY_VALUES = 20  # of one that is not
LEAST_ROWS = 3  # of a group on average
EQUAL = 0.9  # share of the values that come equally often, of a design
WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def _last_word(name: str) -> set[str]:
    """Return the last word of a name, such as id of "patientID" and plant of "PlantNo"."""
    words = [word.lower() for word in WORDS.findall(name)]
    return set((words[:-1] if len(words) > 1 and words[-1] in NUMBERED else words)[-1:])


def _balanced(counts: np.ndarray) -> bool:
    """Return whether nearly all values come equally often, and more than once."""
    usual = np.median(counts)
    return bool(usual >= LEAST_ROWS and np.mean(counts == usual) >= EQUAL)


def counts_rows(profile: ColumnProfile, nameless: Sequence[str]) -> bool:
    """Return whether a column only numbers the rows, by its values and its name."""
    if profile.numbers < profile.rows or profile.rows < 3:
        return False
    name = profile.name.lower()
    if profile.name in nameless or name in INDEX_NAMES:
        return profile.increasing
    return name in COUNTER_NAMES and profile.consecutive


def identifiers(X: np.ndarray, names: Sequence[str], among: Sequence[str]) -> list[tuple[str, int]]:
    """Find inputs of whole numbers that look like identifiers, with the number of their values.

    Parameters
    ----------
    X : (n, d) array
        Rows in the order of the table.
    names : sequence of str
        Names of the inputs.
    among : sequence of str
        The inputs to look at.
    """
    found = []
    for j, name in enumerate(names):
        if name in among and len(X) and np.all(X[:, j] == np.floor(X[:, j])):
            values, counts = np.unique(X[:, j], return_counts=True)
            runs = 1 + int(np.sum(np.diff(X[:, j]) != 0))
            if _names_rows(_last_word(name), counts, in_blocks=runs == len(values)):
                found.append((name, len(values)))
    return found


def _names_rows(words: set[str], counts: np.ndarray, *, in_blocks: bool) -> bool:
    """Return whether whole numbers with these counts name rows; `in_blocks`: equal ones follow each other."""
    m = len(counts)
    if words & NAMES:
        return m >= LEAST_VALUES
    if words & OWNERS:
        return m >= LEAST_VALUES and (_balanced(counts) or (in_blocks and m < np.sum(counts)))
    return m >= MANY_VALUES and in_blocks and _balanced(counts) and not words & TIMES


def groups_of_text(counts: Mapping[str, Mapping[str, int] | None]) -> list[tuple[str, int, int]]:
    """Find columns of text that name groups of rows: their names, numbers of values and of rows.

    Parameters
    ----------
    counts : mapping
        How often each text of a column comes, by the column's name; None where there are too many.
    """
    found = []
    for name, texts in counts.items():
        often = np.array(list((texts or {}).values()), dtype=float)
        m, words = len(often), _last_word(name)
        least = LEAST_VALUES if words & (NAMES | OWNERS) else MANY_VALUES
        if m >= least and np.sum(often[often >= LEAST_ROWS]) >= EQUAL * np.sum(often) and not words & TIMES:
            found.append((name, m, int(np.sum(often))))
    return found
