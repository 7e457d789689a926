"""Decide by all rows of a column what it becomes: a number, yes/no, categories, a date, or nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.visible import listed
from skmoe.tables.columns import MISSING, OTHER, Column
from skmoe.tables.dates import CLOCK
from skmoe.tables.profiles import MOST_DIFFERENT, ColumnProfile, DateRange, median
from skmoe.tables.table_errors import TableError, arrow

__all__ = ["MOST_CATEGORIES", "Decision", "bad_columns", "check_references", "decide", "rare_rows", "times"]

MOST_CATEGORIES = 20  # with an input of their own, at two coefficients for each expert; the rest counts as infrequent
MOST_EMPTY = 0.5  # share of a column of numbers that may be filled in; a column with more missing values is left out
FEW_NUMBERS = 10  # different numbers, at most, of a column whose other texts may be categories ("1", "2", "3 or more")


def rare_rows(rows: int) -> int:
    """Return the rows that a category, or missing values, need for their own input: 5% but at most 10, or 1% to 20."""
    return min(max(min(10, rows // 20), rows // 100, 2), 20)


@dataclass(frozen=True)
class Decision:
    """Encoding of a column, or None where it is left out; `bad` is the reason why it cannot be used."""

    name: str
    column: Column | None = None
    notes: tuple[str, ...] = ()
    bad: str = ""
    n_missing: int = 0  # rows without a value, or with a text that counts as missing, where there is a column


def bad_columns(where: str, decisions: Sequence[Decision]) -> None:
    """Refuse columns that cannot be used, all in one message."""
    bad = [d for d in decisions if d.bad]
    if not bad:
        return
    reasons = "; ".join(f"column {d.name!r} {d.bad}" for d in bad)
    names, it = [d.name for d in bad], "it" if len(bad) == 1 else "them"
    raise TableError(Advised(f"{where}: {reasons}", Advice.DROP, names=names, it=it))


def check_references(decisions: Sequence[Decision], reference: Mapping[str, str]) -> None:
    """Refuse a reference that is no category with rows enough; "other" and "missing" are none."""
    for one in decisions:
        known = [] if one.column is None else [text for text in one.column.categories if text not in (OTHER, MISSING)]
        if one.name in reference and reference[one.name] not in known:
            has = f"its categories are {listed(known)}" if known else "it is no column of categories"
            raise TableError(f"reference: column {one.name!r} has no category {reference[one.name]!r}; {has}")


def decide(
    profile: ColumnProfile,
    missing: str,
    dates: Sequence[str],
    known: Column | None = None,
    most: int = MOST_CATEGORIES,
) -> Decision:
    """Decide what a column becomes.

    Parameters
    ----------
    profile : ColumnProfile
        Counts and ranges of its rows.
    missing : {"level", "impute", "drop", "error"}
        Treatment of missing values.
    dates : sequence of str
        Parts that dates become.
    known : Column, optional
        Its encoding by all rows, where `profile` is of some of them: its categories stay known.
    most : int
        Categories with an input of their own, at most; with 0, numbers get no missing indicator.

    Returns
    -------
    Decision
        The column, or why there is none, and notes.
    """
    kind, bad = _kind(profile)
    if bad:
        return Decision(profile.name, bad=bad)
    if kind == "empty":
        return Decision(profile.name, notes=(f"column {profile.name!r} holds no values and was left out",))
    if kind == "category":
        return _categories(profile, missing, known, most)
    return _one_number(profile, kind, missing, dates, marked=most > 0)


def _kind(profile: ColumnProfile) -> tuple[str, str]:
    """Return the kind of values of a column, or why it cannot be used."""
    types = arrow().types
    kind = profile.type
    if types.is_null(kind) or profile.missing == profile.rows:
        return "empty", ""
    if profile.temporal:
        return "date", ""
    if profile.text:
        return _kind_of_text(profile)
    if types.is_boolean(kind):
        return "boolean", ""
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return ("", f"holds infinity in {profile.infinite} rows") if profile.infinite else ("number", "")
    if types.is_binary(kind) or types.is_large_binary(kind):
        return "", "holds bytes, which are no text in UTF-8"
    return "", f"holds {kind}, which is neither number nor category"


def _kind_of_text(profile: ColumnProfile) -> tuple[str, str]:
    counts = profile.counts
    if profile.categorical or arrow().types.is_dictionary(profile.type):
        return "category", ""
    if counts is not None and {text.lower() for text in counts} <= {"true", "false"}:
        return "boolean", ""
    if profile.infinite:
        return "", f"holds infinity in {profile.infinite} rows"
    present = profile.rows - profile.missing - sum(profile.missing_marks.values())
    if present <= 0:
        return "empty", ""
    if profile.numbers == present:
        return "number", ""
    if profile.dates and not profile.numbers:
        return "date", ""
    different = MOST_DIFFERENT if counts is None else len(counts) - len(profile.unparsable)
    if 2 * profile.numbers >= present and different > FEW_NUMBERS:
        return "", f"would be numbers but for {times(profile.unparsable)}"
    return "category", ""


def times(texts: dict[str, int], most: int = 4) -> str:
    """List the most frequent of some texts, each with its number of rows."""
    return listed([f"{text!r} ({_rows(count)})" for text, count in Counter(texts).most_common()], most)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _one_number(profile: ColumnProfile, kind: str, missing: str, dates: Sequence[str], *, marked: bool) -> Decision:
    """Decide on numbers, yes/no and dates: one input, or one for each part, and a missing indicator."""
    name, missing_marks = profile.name, dict(profile.missing_marks) if kind == "number" else {}
    n_missing = profile.missing + sum(missing_marks.values())
    notes = [f"column {name!r}: {times(missing_marks)} counted as missing"] if missing_marks else []
    if kind == "number" and profile.grouped:
        notes.append(f"column {name!r}: numbers with thousand separators or signs of a currency or percent were read")
    parts: tuple[str, ...] = ()
    found, how, clock = DateRange(), None, False
    if kind == "date":
        how, found = next(iter(profile.dates.items()))
        clock = how in CLOCK or arrow().types.is_time(profile.type)
        parts = tuple(
            part for part in dates if found.varies(part) and not (part == "weekday" and not found.varies("day"))
        )
    constant = not parts if kind == "date" else _same(profile, kind)
    if constant:
        return Decision(name, None, (*notes, _constant(name, n_missing)))
    if kind == "date":
        notes.append(_about_dates(name, how, found, parts, list(profile.dates), clock=clock))
    fill, indicator = None, False
    if missing in ("level", "impute"):
        if n_missing > MOST_EMPTY * profile.rows:
            return Decision(name, None, (*notes, _too_empty(profile, n_missing)))
        fill = _mostly(profile) if kind == "boolean" else median(found.sample if kind == "date" else profile.sample)
        indicator = marked and n_missing >= rare_rows(profile.rows)
        if n_missing:
            values = "1 missing value was" if n_missing == 1 else f"{n_missing} missing values were"
            note = f"column {name!r}: {values} filled with {_shown(fill, 'clock' if clock else kind)}"
            notes.append(note + (f", and the input '{name}={MISSING}' says where" if indicator else ""))
    if kind == "number" and profile.rounded:
        bad = f"{profile.rounded.message} ({_rows(profile.rounded.count)}): subtract its smallest value"
        return Decision(name, bad=bad)
    first = found.first if kind == "date" else 0.0
    filled = 0 if fill is None else n_missing
    column = Column(
        name, kind, fill=fill, missing_indicator=indicator, parts=parts, first=first, written=how, n_missing=filled
    )
    return Decision(name, column, tuple(notes), n_missing=n_missing)


def _constant(name: str, n_missing: int) -> str:
    return f"column {name!r} is the same in every row{' that has a value' if n_missing else ''} and was left out"


def _too_empty(profile: ColumnProfile, n_missing: int) -> str:
    rows = f"{n_missing} of {profile.rows} rows"
    return f"column {profile.name!r} is empty in {rows}, too many to be filled in, and was left out"


def _same(profile: ColumnProfile, kind: str) -> bool:
    if kind == "boolean" and profile.counts is not None:
        return len({text.lower() for text in profile.counts}) < 2
    if profile.rounded and not (len(profile.rounded.examples) == 1 and profile.rounded.count == profile.numbers):
        return False  # whole numbers that differ may be rounded to the same one
    return not profile.low < profile.high


def _mostly(profile: ColumnProfile) -> float:
    """Return 1 where most values are true, else 0."""
    if profile.counts is None:
        return float(median(profile.sample) > 0.5)
    true = sum(count for text, count in profile.counts.items() if text.lower() == "true")
    return float(2 * true > sum(profile.counts.values()))


def _shown(fill: float, kind: str) -> str:
    if kind == "boolean":
        return f"the most frequent value, {'true' if fill else 'false'}"
    if kind == "clock":
        return f"the median, {np.datetime64(int(fill), 's').item():%H:%M}"
    return f"the median, {_day(fill) if kind == 'date' else format(fill, 'g')}"


def _day(seconds: float) -> str:
    return str(np.datetime64(int(seconds), "s").astype("datetime64[D]"))


def _about_dates(
    name: str, how: str | None, found: DateRange, parts: Sequence[str], fits: list[Any], *, clock: bool
) -> str:
    if clock:
        return f"column {name!r} holds times of day, which became hour"
    written = f" (read as {how})" if len(fits) > 1 else ""
    named = ["days since " + _day(found.first) if part == "days" else part for part in parts]
    return Advised(f"column {name!r} holds dates{written}, which became {', '.join(named)}", Advice.DATES)


def _categories(profile: ColumnProfile, missing: str, known: Column | None, most: int) -> Decision:
    """Make categories with enough rows inputs; the others count as one category, missing values as another."""
    name, counts, n_missing = profile.name, profile.counts, profile.missing
    rows = profile.rows - n_missing
    if counts is None:
        note = f"column {name!r} is text with more than {MOST_DIFFERENT} different values, and was left out"
        return Decision(name, None, (note,))
    if missing == "impute" and n_missing > MOST_EMPTY * profile.rows:
        return Decision(name, None, (_too_empty(profile, n_missing),))
    least = rare_rows(profile.rows)
    by_frequency = sorted(counts, key=lambda text: (-counts[text], text))
    kept = [text for text in by_frequency if counts[text] >= least][:most]
    if len(counts) == 1 and not (missing == "level" and n_missing >= least):
        return Decision(name, None, (_constant(name, n_missing),))
    if not kept:
        values = "1 value" if len(counts) == 1 else f"{len(counts)} different values"
        note = f"column {name!r} is text with {values} in {_rows(rows)}, none of them in {least} or more"
        return Decision(name, None, (f"{note}, and was left out",))
    rare = [text for text in by_frequency if text not in kept]
    before = set() if known is None else {*known.categories, *known.infrequent}
    infrequent = sorted({*rare, *(before - set(kept) - {OTHER, MISSING})})
    place = {text: i for i, text in reversed(list(enumerate(profile.order)))}
    categories = sorted(set(kept) - {OTHER, MISSING}, key=lambda text: (place.get(text, len(place)), text))
    notes = []
    if 2 * profile.numbers >= rows and profile.unparsable:
        notes.append(f"column {name!r} holds numbers but for {times(profile.unparsable)}, and is taken as categories")
    categories += [text for text in (OTHER, MISSING) if text in kept]
    other, other_rows = None, sum(counts[text] for text in rare)
    if rare:
        other = OTHER if other_rows >= least else kept[0]
        if other not in categories:
            categories.append(OTHER)
        fewer, count = ("1 category", "counts") if len(rare) == 1 else (f"{len(rare)} categories", "count")
        most_frequent = "largest" if len(kept) == 1 else f"{len(kept)} largest"
        why = f"with fewer than {least} rows" if counts[rare[0]] < least else f"beyond the {most_frequent}"
        notes.append(f"column {name!r}: {fewer} {why} ({_rows(other_rows)}) {count} as {other!r}")
    fill = None
    if missing in ("level", "impute"):
        fill = MISSING if missing == "level" and n_missing >= least else kept[0]
        if fill == MISSING and MISSING not in categories:
            categories.append(MISSING)
        if n_missing:
            counted = "1 missing value counts" if n_missing == 1 else f"{n_missing} missing values count"
            notes.append(f"column {name!r}: {counted} as {fill!r}")
    if len(categories) < 2:
        others = _rows(profile.rows - counts[kept[0]])
        return Decision(name, None, (f"column {name!r} is {kept[0]!r} in all but {others} and was left out",))
    filled = 0 if fill is None else n_missing
    column = Column(
        name, "category", tuple(categories), fill, infrequent_as=other, infrequent=tuple(infrequent), n_missing=filled
    )
    inputs = len(categories) - 1
    about = f"column {name!r}: {len(categories)} categories became {inputs} {'input' if inputs == 1 else 'inputs'}; "
    notes.append(about + f"coefficients compare with {categories[0]!r}")
    return Decision(name, column, tuple(notes), n_missing=n_missing)
