"""What a column becomes, decided by what all its rows hold: a number, yes/no, categories, a date, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.visible import listed
from skmoe.tables.columns import GAP, OTHER, Column
from skmoe.tables.dates import CLOCK
from skmoe.tables.profiles import MOST_DIFFERENT, ColumnProfile, DateRange, median
from skmoe.tables.table_errors import TableError, arrow

__all__ = ["MOST_CATEGORIES", "Decision", "bad_columns", "check_references", "decide", "rare_rows", "times"]

MOST_CATEGORIES = 20  # with an input of their own, at two coefficients for each expert; the rest counts as rare
MOST_EMPTY = 0.5  # part of a column of numbers that may be filled in; a column with more gaps is left out
FEW_NUMBERS = 10  # different numbers, at most, of a column whose other texts may be categories ("1", "2", "3 or more")


def rare_rows(rows: int) -> int:
    """Rows that a category, or the gaps of a column, need for an input of their own: 5% but at most 10, or 1% to 20."""
    return min(max(min(10, rows // 20), rows // 100, 2), 20)


@dataclass(frozen=True)
class Decision:
    """What becomes of a column: `column`, or None where it is left out; `bad` says why it cannot be used."""

    name: str
    column: Column | None = None
    notes: tuple[str, ...] = ()
    bad: str = ""
    marks: dict[str, int] = field(default_factory=dict)  # texts that count as missing


def bad_columns(where: str, decisions: Sequence[Decision]) -> None:
    """Refuse columns that cannot be used, all in one message."""
    bad = [d for d in decisions if d.bad]
    if not bad:
        return
    told = "; ".join(f"column {d.name!r} {d.bad}" for d in bad)
    names, it = [d.name for d in bad], "it" if len(bad) == 1 else "them"
    raise TableError(Advised(f"{where}: {told}", Advice.DROP, names=names, it=it))


def check_references(decisions: Sequence[Decision], reference: Mapping[str, str]) -> None:
    """Refuse a reference that is no category with rows enough; "other" and "missing" are none."""
    for one in decisions:
        known = [] if one.column is None else [text for text in one.column.categories if text not in (OTHER, GAP)]
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
    """What a column becomes.

    Parameters
    ----------
    profile : ColumnProfile
        What its rows hold.
    missing : {"level", "impute", "drop", "error"}
        What becomes of missing values.
    dates : sequence of str
        Parts that dates become.
    known : Column, optional
        What it becomes by all rows, where `profile` is of a part of them: its categories stay known.
    most : int
        Categories with an input of their own, at most; with 0, no input says where a number is missing.

    Returns
    -------
    Decision
        The column, or why there is none, and what should be said.
    """
    kind, bad = _kind(profile)
    if bad:
        return Decision(profile.name, bad=bad)
    if kind == "empty":
        return Decision(profile.name, notes=(f"column {profile.name!r} holds no values and was left out",))
    if kind == "category":
        return _categories(profile, missing, known, most)
    return _one_number(profile, kind, missing, dates, flagged=most > 0)


def _kind(profile: ColumnProfile) -> tuple[str, str]:
    """What a column holds, or why it cannot be used."""
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
    present = profile.rows - profile.missing - sum(profile.marks.values())
    if present <= 0:
        return "empty", ""
    if profile.numbers == present:
        return "number", ""
    if profile.dates and not profile.numbers:
        return "date", ""
    different = MOST_DIFFERENT if counts is None else len(counts) - len(profile.odd)
    if 2 * profile.numbers >= present and different > FEW_NUMBERS:
        return "", f"would be numbers but for {times(profile.odd)}"
    return "category", ""


def times(texts: dict[str, int], most: int = 4) -> str:
    """The most frequent of some texts, each with its number of rows."""
    often = sorted(texts.items(), key=lambda item: -item[1])
    return listed([f"{text!r} ({_rows(count)})" for text, count in often], most)


def _largest(count: int) -> str:
    return "largest" if count == 1 else f"{count} largest"


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"


def _one_number(profile: ColumnProfile, kind: str, missing: str, dates: Sequence[str], *, flagged: bool) -> Decision:
    """Numbers, yes/no and dates: one input, or one a part, and one more for gaps."""
    name, marks = profile.name, dict(profile.marks) if kind == "number" else {}
    gaps = profile.missing + sum(marks.values())
    notes = [f"column {name!r}: {times(marks)} counted as missing"] if marks else []
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
        return Decision(name, None, (*notes, _constant(name, gaps)), marks=marks)
    if kind == "date":
        notes.append(_about_dates(name, how, found, parts, list(profile.dates), clock=clock))
    fill, flag = None, False
    if missing in ("level", "impute"):
        if gaps > MOST_EMPTY * profile.rows:
            words = (
                f"column {name!r} is empty in {gaps} of {profile.rows} rows, too many to be filled in, and was left out"
            )
            return Decision(name, None, (*notes, words), marks=marks)
        fill = {"number": lambda: profile.middle, "boolean": lambda: _mostly(profile)}.get(
            kind, lambda: median(found.sample)
        )()
        flag = flagged and gaps >= rare_rows(profile.rows)
        if gaps:
            words = "1 missing value was" if gaps == 1 else f"{gaps} missing values were"
            said = f"column {name!r}: {words} filled with {_shown(fill, 'clock' if clock else kind)}"
            notes.append(said + (f", and the input '{name}={GAP}' says where" if flag else ""))
    if kind == "number" and profile.rounded:
        words = f"{profile.rounded.message} ({_rows(profile.rounded.count)}): subtract its smallest value"
        return Decision(name, bad=words)
    first = found.first if kind == "date" else 0.0
    filled = 0 if fill is None else gaps
    column = Column(name, kind, fill=fill, flag=flag, parts=parts, first=first, written=how, gaps=filled)
    return Decision(name, column, tuple(notes), marks=marks)


def _constant(name: str, gaps: int) -> str:
    return f"column {name!r} is the same in every row{' that has a value' if gaps else ''} and was left out"


def _same(profile: ColumnProfile, kind: str) -> bool:
    if kind == "boolean" and profile.counts is not None:
        return len({text.lower() for text in profile.counts}) < 2
    if profile.rounded and not (len(profile.rounded.examples) == 1 and profile.rounded.count == profile.numbers):
        return False  # whole numbers that differ may be rounded to the same one
    return not profile.low < profile.high


def _mostly(profile: ColumnProfile) -> float:
    """1 where most values are true, else 0."""
    if profile.counts is None:
        return float(profile.middle > 0.5)
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
    """Categories with enough rows become inputs; the rest counts as one, and gaps as one more."""
    name, counts, gaps = profile.name, profile.counts, profile.missing
    rows = profile.rows - gaps
    if counts is None:
        words = f"column {name!r} is text with more than {MOST_DIFFERENT} different values, and was left out"
        return Decision(name, None, (words,))
    if missing == "impute" and gaps > MOST_EMPTY * profile.rows:
        words = f"column {name!r} is empty in {gaps} of {profile.rows} rows, too many to be filled in, and was left out"
        return Decision(name, None, (words,))
    least = rare_rows(profile.rows)
    often = sorted(counts, key=lambda text: (-counts[text], text))
    own = [text for text in often if counts[text] >= least][:most]
    if len(counts) == 1 and not (missing == "level" and gaps >= least):
        return Decision(name, None, (_constant(name, gaps),))
    if not own:
        values = "1 value" if len(counts) == 1 else f"{len(counts)} different values"
        words = f"column {name!r} is text with {values} in {_rows(rows)}, none of them in {least} or more"
        return Decision(name, None, (f"{words}, and was left out",))
    rare = [text for text in often if text not in own]
    held = set() if known is None else {*known.categories, *known.pooled}
    pooled = sorted({*rare, *(held - set(own) - {OTHER, GAP})})
    place = {text: i for i, text in reversed(list(enumerate(profile.order)))}
    categories = sorted((t for t in own if t not in (OTHER, GAP)), key=lambda t: (place.get(t, len(place)), t))
    notes = []
    if 2 * profile.numbers >= rows and profile.odd:
        notes.append(f"column {name!r} holds numbers but for {times(profile.odd)}, and is taken as categories")
    categories += [text for text in (OTHER, GAP) if text in own]
    pool, pool_rows = None, sum(counts[text] for text in rare)
    if rare:
        pool = OTHER if pool_rows >= least else own[0]
        if pool not in categories:
            categories.append(OTHER)
        fewer, count = ("1 category", "counts") if len(rare) == 1 else (f"{len(rare)} categories", "count")
        why = f"with fewer than {least} rows" if counts[rare[0]] < least else f"beyond the {_largest(len(own))}"
        notes.append(f"column {name!r}: {fewer} {why} ({_rows(pool_rows)}) {count} as {pool!r}")
    fill = None
    if missing in ("level", "impute"):
        fill = GAP if missing == "level" and gaps >= least else own[0]
        if fill == GAP and GAP not in categories:
            categories.append(GAP)
        if gaps:
            counted = "1 missing value counts" if gaps == 1 else f"{gaps} missing values count"
            notes.append(f"column {name!r}: {counted} as {fill!r}")
    if len(categories) < 2:
        others = _rows(profile.rows - counts[own[0]])
        return Decision(name, None, (f"column {name!r} is {own[0]!r} in all but {others} and was left out",))
    filled = 0 if fill is None else gaps
    column = Column(name, "category", tuple(categories), fill, pool=pool, pooled=tuple(pooled), gaps=filled)
    inputs = len(categories) - 1
    about = f"column {name!r}: {len(categories)} categories became {inputs} {'input' if inputs == 1 else 'inputs'}; "
    return Decision(name, column, (*notes, about + f"coefficients compare with {categories[0]!r}"))
