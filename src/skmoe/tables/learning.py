"""One pass over a table: profiles of its columns, and refusal of outputs that nothing can be learned from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.arrays.advice import Advice, Advised
from skmoe.tables.columns import Column, is_text, read_numbers
from skmoe.tables.decisions import times
from skmoe.tables.files import FileTable
from skmoe.tables.profiles import ColumnProfile, RowSample
from skmoe.tables.table_errors import TableError

__all__ = ["Outputs", "TablePass", "check_outputs", "check_rows_left", "profile_rows"]


@dataclass(frozen=True)
class Outputs:
    """Columns that a row must have to be used, and that are no inputs: target, auxiliary columns and weights."""

    target: str | None = None
    auxiliary: Sequence[str] = ()
    weights: str | None = None

    @property
    def needed(self) -> list[str]:
        """Names of the columns, each once."""
        return list(dict.fromkeys(n for n in (self.target, *self.auxiliary, self.weights) if n is not None))

    def __str__(self) -> str:
        others = [repr(name) for name in self.auxiliary] + ([] if self.weights is None else ["weight"])
        return " or ".join([f"target {self.target!r}", *others])


@dataclass(frozen=True)
class TablePass:
    """Profiles of the columns from one pass over the rows, the number of rows, and of those that are used."""

    profiles: dict[str, ColumnProfile]
    rows: int
    used: int


def profile_rows(
    table: FileTable,
    names: Sequence[str],
    needed: Sequence[str],
    categorical: Sequence[str],
    reference: Mapping[str, str],
    complete: Sequence[Column] = (),
) -> TablePass:
    """Make one pass over the rows that have what is `needed`, and lack nothing of the columns that are `complete`."""
    wanted = list(dict.fromkeys([*names, *needed]))
    profiles: dict[str, ColumnProfile] = {}
    sample, rows, used = RowSample(len(names) + 1), 0, 0
    for batch in table.cells(wanted):
        place = dict(zip(batch.schema.names, batch.columns, strict=True))
        if not profiles:
            forced = set(categorical)
            profiles = {n: ColumnProfile(n, place[n].type, table.decimal, categorical=n in forced) for n in wanted}
            for name in profiles.keys() & reference.keys():
                profiles[name].order = [reference[name]]
        keep = np.ones(batch.num_rows, dtype=bool)
        for name in needed:
            keep &= ~_lacking(place[name], name, table.decimal)
        for column in complete:
            keep &= column.encode(place[column.name], "empty", table.decimal)[1]
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
    return TablePass(profiles, rows, used)


def _lacking(values: Any, name: str, decimal: str) -> np.ndarray:
    """Return where a target, or another column that a row needs, has no value; text has one, and is refused later."""
    import pyarrow as pa

    if pa.types.is_null(values.type) or pa.types.is_temporal(values.type) or pa.types.is_nested(values.type):
        return np.ones(len(values), dtype=bool)
    if pa.types.is_dictionary(values.type):
        return values.is_null().to_numpy(zero_copy_only=False)
    return read_numbers(values, name, decimal).missing


def check_outputs(seen: TablePass, outputs: Outputs) -> None:
    """Refuse a target, auxiliary columns or weights that do not hold what they should."""
    if outputs.target is not None:
        _check_target(seen.profiles[outputs.target], seen.used, outputs)
    for name in outputs.auxiliary:
        profile = seen.profiles[name]
        if profile.unparsable or not profile.numbers:
            raise TableError(f"column {name!r}, which belongs to target {outputs.target!r}, must hold numbers")
        if profile.rounded:
            raise TableError(f"column {name!r} {profile.rounded.message}; give it, and the target, in a larger unit")
    if outputs.weights is not None:
        weights, column = seen.profiles[outputs.weights], outputs.weights
        if weights.unparsable or not weights.numbers:
            raise TableError(f"weights: column {column!r} must hold numbers")
        if weights.low < 0 or weights.infinite:
            raise TableError(f"weights: column {column!r} must hold finite numbers of at least 0; it has others")
        if weights.rounded:
            raise TableError(f"weights: column {column!r} {weights.rounded.message}; divide it by its largest value")


def check_rows_left(seen: TablePass, outputs: Outputs) -> None:
    """Refuse a table of which fewer than two rows can be used, or whose target is constant in them."""
    if seen.used < 2:
        raise TableError(f"{seen.used} of {seen.rows} rows can be used, and at least two are needed")
    target = None if outputs.target is None else seen.profiles[outputs.target]
    if target is not None and target.low == target.high and not outputs.auxiliary:
        raise TableError(f"target {target.name!r} is {target.low:g} in every row; there is nothing to learn from it")


def _check_target(target: ColumnProfile, used: int, outputs: Outputs) -> None:
    import pyarrow.types as types

    if types.is_temporal(target.type) or (target.dates and not target.numbers and used):
        raise TableError(f"target {target.name!r} must hold numbers; it holds dates")
    if target.unparsable or (is_text(target.type) and not target.may_be_numbers and target.counts):
        example = next(iter(target.unparsable or target.counts or {}), "")
        if 2 * target.numbers >= target.rows - target.missing > 0:
            examples = times(target.unparsable)
            raise TableError(f"target {target.name!r} would be numbers but for {examples}; mend or remove such rows")
        text = f"target {target.name!r} must hold numbers; it holds text such as {example!r}"
        raise TableError(Advised(text, Advice.CLASSES))
    if used == 0 and not target.numbers:
        raise TableError(f"target {target.name!r} holds no values")
    if target.infinite and not outputs.auxiliary:  # a bound may be
        raise TableError(f"target {target.name!r} holds infinity; mend those rows")
    if target.rounded:
        raise TableError(f"target {target.name!r} {target.rounded.message}; subtract its smallest value")
