"""Learn from one pass over a table what each of its columns becomes, with notes for its owner."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.visible import listed
from skmoe.tables.columns import Column, is_text, numbers_of
from skmoe.tables.dates import DATE_PARTS
from skmoe.tables.decisions import Decision, bad_columns, check_references, times
from skmoe.tables.files import FileTable
from skmoe.tables.groups import groups_of_text
from skmoe.tables.input_limit import decide_all
from skmoe.tables.profiles import ColumnProfile, RowSample
from skmoe.tables.table_errors import TableError
from skmoe.tables.text_numbers import text_numbers

__all__ = ["MISSING_TREATMENTS", "Learned", "Request", "learn_columns"]

MISSING_TREATMENTS = ("level", "impute", "drop", "error")
USUAL_DATES = ("days", "month", "weekday", "hour")  # the year is in the days already
INDEX_NAMES = ("rownames", "row.names", "rowname", "unnamed: 0", "", "__index_level_0__")
COUNTER_NAMES = ("id", "index", "row", "rowid", "row_id", "obs", "...1")


@dataclass(frozen=True)
class Request:
    """Settings of the encoding of a table.

    Parameters
    ----------
    target : str
        The column to be predicted.
    weights : str, optional
        A column of sample weights.
    columns : sequence of str, optional
        The columns to be used as inputs, by default all others.
    drop : sequence of str
        Columns to leave out.
    categorical : sequence of str
        Columns whose values are categories even where they are numbers.
    missing : {"level", "impute", "drop", "error"}
        Treatment of missing inputs.
    dates : sequence of str
        Parts of `skmoe.tables.dates.DATE_PARTS` that dates become.
    auxiliary : sequence of str
        Columns of numbers of an output, beside the target.
    reference : dict of str to str
        Categories that the others of their columns are compared with; by default the first.
    """

    target: str
    weights: str | None = None
    columns: Sequence[str] | None = None
    drop: Sequence[str] = ()
    categorical: Sequence[str] = ()
    missing: str = "level"
    dates: Sequence[str] = USUAL_DATES
    auxiliary: Sequence[str] = ()
    reference: Mapping[str, str] = field(default_factory=dict)

    @property
    def needed(self) -> list[str]:
        """Columns that a row must have to be used: the target, its auxiliary columns, and the weight."""
        return list(dict.fromkeys([self.target, *self.auxiliary, *([] if self.weights is None else [self.weights])]))

    def names_in(self, table: FileTable) -> list[str]:
        """Return the names of the inputs; refuse columns that the table does not have."""
        if self.missing not in MISSING_TREATMENTS:
            raise TableError(f"missing must be one of {', '.join(MISSING_TREATMENTS)}; got {self.missing!r}")
        unknown = [part for part in self.dates if part not in DATE_PARTS]
        if unknown:
            raise TableError(f"dates must be some of {', '.join(DATE_PARTS)}; got {unknown[0]!r}")
        asked = [
            (self.target, "target"),
            *((n, "drop") for n in self.drop),
            *((n, "columns") for n in self.columns or ()),
        ]
        asked += [(name, "categorical") for name in self.categorical]
        asked += [(name, "reference") for name in self.reference]
        asked += [] if self.weights is None else [(self.weights, "weights")]
        asked += [(name, "output") for name in self.auxiliary]
        for name, what in asked:
            if name not in table.names:
                raise TableError(f"{what}: there is no column {name!r}; the table has {listed(table.names)}")
            if name == self.target and what != "target":
                raise TableError(f"{what}: {name!r} is the target")
        wanted = table.names if self.columns is None else self.columns
        return [n for n in wanted if n not in (*self.needed, *self.drop)]


@dataclass(frozen=True)
class Learned:
    """Encodings of the columns of a table, numbers of rows, of those used and of missing targets, and notes."""

    columns: tuple[Column, ...]
    dropped: tuple[str, ...]
    notes: tuple[str, ...]
    n_rows: int
    n_used: int
    n_targets_missing: int
    groups: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class _Pass:
    """Profiles of the columns from one pass over the rows."""

    profiles: dict[str, ColumnProfile]
    target: ColumnProfile
    weights: ColumnProfile | None
    rows: int
    used: int
    auxiliary: dict[str, ColumnProfile]


def learn_columns(table: FileTable, request: Request) -> Learned:
    """Read all rows of a table, a batch at a time, and decide what each of its columns becomes.

    Parameters
    ----------
    table : FileTable
        The rows.
    request : Request
        Settings.

    Returns
    -------
    Learned
        Encodings, and notes for the owner of the table.
    """
    names = request.names_in(table)
    seen = _profile_rows(table, names, request)
    _check_output(seen, request)
    counters = dict.fromkeys(name for name in names if _counts_rows(seen.profiles[name], table.nameless, request))
    profiles = [seen.profiles[name] for name in names if name not in counters]
    decisions, crowded = decide_all(profiles, request.missing, request.dates)
    bad_columns(table.where, decisions)
    check_references(decisions, request.reference)
    notes = [f"column {name!r} numbers the rows and was left out" for name in counters]
    no_target = seen.rows - seen.used
    if no_target:
        notes.append(f"{no_target} of {seen.rows} rows have no {_output_text(request)} and were left out")
    used = seen.used
    if request.missing in ("drop", "error"):
        costs = {
            d.name: seen.profiles[d.name].missing + sum(d.missing_marks.values())
            for d in decisions
            if d.column is not None
        }
        costs = {name: count for name, count in costs.items() if count}
        if costs and request.missing == "error":
            raise TableError(Advised(f"missing values: {_counts(costs)}", Advice.MISSING))
        if costs:
            seen, decisions, used, dropped_note, crowded = _without_missing(table, request, decisions, costs, used)
            notes.append(dropped_note)
    notes += crowded
    for decision in decisions:
        notes += decision.notes
    if used < 2:
        raise TableError(f"{used} of {seen.rows} rows can be used, and at least two are needed")
    if seen.target.low == seen.target.high and not request.auxiliary:
        raise TableError(
            f"target {request.target!r} is {seen.target.low:g} in every row; there is nothing to learn from it"
        )
    columns = tuple(d.column for d in decisions if d.column is not None)
    if not columns:
        left_out = "; ".join(notes) or "there are no others"
        raise TableError(f"no column is left as an input beside target {request.target!r}: {left_out}")
    dropped = (*request.drop, *counters, *(d.name for d in decisions if d.column is None))
    groups = groups_of_text({d.name: seen.profiles[d.name].counts for d in decisions if _is_text(d, seen)})
    return Learned(columns, dropped, (*table.notes, *notes), seen.rows, used, no_target, tuple(groups))


def _output_text(request: Request) -> str:
    others = [repr(name) for name in request.auxiliary] + ([] if request.weights is None else ["weight"])
    return " or ".join([f"target {request.target!r}", *others])


def _without_missing(
    table: FileTable, request: Request, decisions: list[Decision], costs: Mapping[str, int], before: int
) -> tuple[_Pass, list[Decision], int, str, list[str]]:
    """Decide again from complete rows: a second pass, since only now it is known what counts as missing."""
    left_out = [d for d in decisions if d.column is None]
    columns = [d.column for d in decisions if d.column is not None]
    while True:  # a column that is constant in the rows left is left out, and then costs no rows
        complete = partial(_complete, columns, table.decimal)
        seen = _profile_rows(table, [column.name for column in columns], request, complete)
        again, crowded = decide_all(list(seen.profiles.values()), request.missing, request.dates, columns)
        constant = [d for d in again if d.column is None]
        if 2 * seen.used < before or not constant:
            break
        left_out += constant
        columns = [c for c, d in zip(columns, again, strict=True) if d.column is not None]
    if 2 * seen.used < before:
        left = f"leaving out rows that lack a value would leave {seen.used} of {before} rows"
        raise TableError(Advised(f"{left}; rows that lack a value, by column: {_counts(costs)}", Advice.MISSING))
    note = f"rows that lack a value, by column: {_counts(costs)}; {before - seen.used} of {before} rows were dropped"
    return seen, [*left_out, *again], seen.used, note, crowded


def _complete(columns: Sequence[Column], decimal: str, batch: Any) -> np.ndarray:
    """Return which rows lack nothing, (n,) of bool."""
    known = np.ones(batch.num_rows, dtype=bool)
    for column in columns:
        known &= column.encode(batch.column(column.name), "empty", decimal)[1]
    return known


def _profile_rows(
    table: FileTable, names: Sequence[str], request: Request, complete: Callable[[Any], np.ndarray] | None = None
) -> _Pass:
    """Make one pass over the rows that have a target (and a weight), and are `complete` if that is given."""
    needed = request.needed
    profiles: dict[str, ColumnProfile] = {}
    sample, rows, used = RowSample(len(names) + 1), 0, 0
    for batch in _batches(table, [*names, *needed]):
        place = dict(zip(batch.schema.names, batch.columns, strict=True))
        if not profiles:
            forced = set(request.categorical)
            profiles = {
                n: ColumnProfile(n, place[n].type, table.decimal, categorical=n in forced) for n in (*names, *needed)
            }
            for name in profiles.keys() & request.reference.keys():
                profiles[name].order = [request.reference[name]]
        keep = np.ones(batch.num_rows, dtype=bool)
        for name in needed:
            keep &= ~np.isnan(_output(place[name], name, table.decimal))
        if complete is not None:
            keep &= complete(batch)
        sampled = sample.draw(rows, np.flatnonzero(keep))
        for name, profile in profiles.items():
            profile.add(place[name], keep, sampled)
        stay = sample.thin()
        if stay is not None:
            for profile in profiles.values():
                profile.thin(stay)
        rows, used = rows + batch.num_rows, used + int(np.sum(keep))
    if rows == 0:
        raise TableError(f"{table.where}: the table has a header and no rows")
    return _Pass(
        {name: profiles[name] for name in names},
        profiles[request.target],
        None if request.weights is None else profiles[request.weights],
        rows,
        used,
        {name: profiles[name] for name in request.auxiliary},
    )


def _batches(table: FileTable, names: list[str]) -> Iterator[Any]:
    return iter(table.cells(list(dict.fromkeys(names))))


def _output(values: Any, name: str, decimal: str) -> np.ndarray:
    """Return numbers of the target or of weights, NaN where missing; text becomes 0, and is refused later."""
    import pyarrow as pa

    if pa.types.is_null(values.type) or pa.types.is_temporal(values.type) or pa.types.is_nested(values.type):
        return np.full(len(values), np.nan)
    if is_text(values.type) and not pa.types.is_dictionary(values.type):
        read = text_numbers(values.cast(pa.string()), decimal)
        return np.where(read.missing, np.nan, np.nan_to_num(read.values))
    if pa.types.is_dictionary(values.type):
        return np.where(values.is_null().to_numpy(zero_copy_only=False), np.nan, 0.0)
    return numbers_of(values, name)[0]


def _check_output(seen: _Pass, request: Request) -> None:
    import pyarrow.types as types

    target = seen.target
    if types.is_temporal(target.type) or (target.dates and not target.numbers and seen.used):
        raise TableError(f"target {request.target!r} must hold numbers; it holds dates")
    if target.unparsable or (is_text(target.type) and not target.may_be_numbers and target.counts):
        example = next(iter(target.unparsable or target.counts or {}), "")
        if 2 * target.numbers >= target.rows - target.missing > 0:
            examples = times(target.unparsable)
            raise TableError(f"target {request.target!r} would be numbers but for {examples}; mend or remove such rows")
        text = f"target {request.target!r} must hold numbers; it holds text such as {example!r}"
        raise TableError(Advised(text, Advice.CLASSES))
    if seen.used == 0 and not target.numbers:
        raise TableError(f"target {request.target!r} holds no values")
    if target.infinite and not request.auxiliary:  # a bound may be
        raise TableError(f"target {request.target!r} holds infinity; mend those rows")
    if target.rounded:
        raise TableError(f"target {request.target!r} {target.rounded.message}; subtract its smallest value")
    for name, profile in seen.auxiliary.items():
        if profile.unparsable or not profile.numbers:
            raise TableError(f"column {name!r}, which belongs to target {request.target!r}, must hold numbers")
        if profile.rounded:
            raise TableError(f"column {name!r} {profile.rounded.message}; give it, and the target, in a larger unit")
    weights = seen.weights
    if weights is not None:
        column = request.weights
        if weights.unparsable or not weights.numbers:
            raise TableError(f"weights: column {column!r} must hold numbers")
        if weights.low < 0 or weights.infinite:
            raise TableError(f"weights: column {column!r} must hold finite numbers of at least 0; it has others")
        if weights.rounded:
            raise TableError(f"weights: column {column!r} {weights.rounded.message}; divide it by its largest value")


def _counts_rows(profile: ColumnProfile, nameless: Sequence[str], request: Request) -> bool:
    """Return whether a column only numbers the rows, by its values and its name."""
    if request.columns is not None or profile.numbers < profile.rows or profile.rows < 3:
        return False
    name = profile.name.lower()
    if profile.name in nameless or name in INDEX_NAMES:
        return profile.increasing
    return name in COUNTER_NAMES and profile.consecutive


def _is_text(decision: Decision, seen: _Pass) -> bool:
    """Return whether a column holds categories, or text that was left out."""
    if decision.column is not None:
        return decision.column.kind == "category"
    profile = seen.profiles.get(decision.name)
    return profile is not None and not profile.numbers and not profile.dates


def _counts(costs: Mapping[str, int]) -> str:
    most = sorted(costs.items(), key=lambda item: -item[1])
    return listed([f"{name} {count}" for name, count in most])
