"""Profiles of the columns of a table from one pass, whatever its size: counts, ranges, categories, a sample.

Batches are added one after the other; nothing but counts, the categories and a sample of the numbers is kept.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skmoe.arrays.exactness import Rounded
from skmoe.arrays.row_hash import STEP, mixed
from skmoe.tables.columns import as_texts, is_text, read_numbers
from skmoe.tables.dates import DATE_PARTS, DAY, FORMATS, as_seconds, date_part, fitting_formats
from skmoe.tables.table_errors import arrow

__all__ = ["MOST_DIFFERENT", "ColumnProfile", "DateRange", "RowSample", "median"]

MOST_DIFFERENT = 10_000  # different texts of a column that are counted; with more it holds no categories
SAMPLE_ROWS = 100_000  # rows whose numbers are kept, for medians
SAMPLE_DOUBLES = 2**22  # but of wide tables no more numbers than these
LEAST_SAMPLE = 1000


class RowSample:
    """Rows sampled by their number alone, so that neither blocks nor machines matter; all rows of a small table."""

    def __init__(self, columns: int) -> None:
        self.most = max(LEAST_SAMPLE, min(SAMPLE_ROWS, SAMPLE_DOUBLES // max(columns, 1)))
        self.halvings, self.hashes = 0, np.zeros(0, dtype=np.uint64)

    def draw(self, start: int, rows: np.ndarray) -> np.ndarray:
        """Return which of some rows are sampled: `rows` are their places after row number `start`."""
        hashes = mixed((rows.astype(np.uint64) + np.uint64(start + 1)) * STEP)
        sampled = self._kept(hashes)
        self.hashes = np.concatenate([self.hashes, hashes[sampled]])
        return sampled

    def thin(self) -> np.ndarray | None:
        """Return which of the rows sampled so far stay, where they are too many."""
        if len(self.hashes) <= self.most:
            return None
        before = self.hashes
        stay = np.ones(len(before), dtype=bool)
        while np.sum(stay) > self.most:
            self.halvings += 1
            stay = self._kept(before)
        self.hashes = before[stay]
        return stay

    def _kept(self, hashes: np.ndarray) -> np.ndarray:
        if self.halvings == 0:
            return np.ones(len(hashes), dtype=bool)
        return hashes >> np.uint64(64 - self.halvings) == 0


@dataclass
class DateRange:
    """Dates read in one format: the first of them, and two values of each part that takes several."""

    first: float = np.inf
    parts: dict[str, set[float]] = field(default_factory=dict)
    sample: list[np.ndarray] = field(default_factory=list)  # seconds of sampled rows

    def add(self, seconds: np.ndarray) -> None:
        """Add dates, in seconds since 1970."""
        different = np.unique(seconds[np.isfinite(seconds)])
        if different.size == 0:
            return
        self.first = min(self.first, float(np.floor(different[0] / DAY) * DAY))
        days = different.astype(np.int64).astype("datetime64[s]").astype("datetime64[D]")
        of_month = (days - days.astype("datetime64[M]")).astype(np.int64)
        values = {part: date_part(different, part, 0.0) for part in DATE_PARTS}
        for part, found in {**values, "days": np.floor(different / DAY), "day": of_month}.items():
            held = self.parts.setdefault(part, set())
            if len(held) < 2:  # only whether there are several is needed
                held.update(np.unique(found)[:2].tolist())

    def varies(self, part: str) -> bool:
        """Return whether a part takes several values."""
        return len(self.parts.get(part, ())) > 1


def _increases(values: Any) -> bool:
    """Return whether whole numbers, as text or integers, none missing, increase; floats may be rounded to one value."""
    pa = arrow()
    try:
        exact = values if pa.types.is_integer(values.type) else values.cast(pa.int64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    numbers = exact.to_numpy()
    return bool(np.all(numbers[1:] > numbers[:-1]))


def _thinned(sample: list[np.ndarray], stay: np.ndarray) -> list[np.ndarray]:
    return [np.concatenate(sample)[stay]] if sample else []


def median(sample: list[np.ndarray]) -> float:
    """Return the median of the numbers among sampled values."""
    values = np.concatenate(sample)
    return float(np.median(values[np.isfinite(values)]))


class ColumnProfile:
    """Counts, ranges and categories of one column after some batches.

    Parameters
    ----------
    name : str
    kind : pyarrow.DataType
        Its type in the file.
    decimal : str
        Decimal mark of numbers that are text.
    categorical : bool
        Whether its values are categories whatever they hold.

    Attributes
    ----------
    rows, missing, numbers, infinite : int
        All rows, those without a value, those with a number, those with infinity.
    counts : dict or None
        Rows of each text; None where there are too many.
    order : list of str
        The categories of a type whose categories have an order.
    unparsable, missing_marks : dict
        Of a column that may be numbers: texts that are none, and texts that mean "no value".
    dates : dict
        For each format of dates that fits so far, their range.
    rounded : Rounded
        Whole numbers that double precision changed.
    """

    def __init__(self, name: str, kind: Any, decimal: str = ".", *, categorical: bool = False) -> None:
        types = arrow().types
        self.name, self.type, self.decimal, self.categorical = name, kind, decimal, categorical
        self.rows = self.missing = self.numbers = self.infinite = 0
        self.low, self.high, self.grouped, self.rounded = np.inf, -np.inf, False, Rounded()
        self.text = categorical or is_text(kind)
        self.temporal = types.is_date(kind) or types.is_timestamp(kind) or types.is_time(kind)
        self.counts: Counter[str] | None = Counter() if self.text else None
        self.order: list[str] = []
        self.unparsable: Counter[str] = Counter()
        self.missing_marks: Counter[str] = Counter()
        self.dates: dict[str | None, DateRange] = {}
        if self.temporal:
            self.dates = {None: DateRange()}
        elif self.text and not categorical:
            self.dates = {how: DateRange() for how in FORMATS}
        numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        counted = self.temporal or any(is_of(kind) for is_of in numbers)
        self.may_be_numbers = not categorical and (counted or (self.text and not types.is_dictionary(kind)))
        self.sample: list[np.ndarray] = []
        self.next: float | None = None  # the next row number, where the column counts rows
        self.consecutive = self.increasing = True

    def add(self, values: Any, used: np.ndarray, sampled: np.ndarray) -> None:
        """Add a batch, of which the rows `used` count; `sampled` says which of those are sampled."""
        pa = arrow()
        everything = bool(np.all(used))
        part = values if everything else values.filter(pa.array(used))
        self.rows += len(part)
        if pa.types.is_null(self.type):
            self.missing += len(part)
            self.consecutive = self.increasing = False
            return
        later = self.rows > len(part)
        if self.text and self.may_be_numbers and not self.numbers and later and len(self.unparsable) > 100:
            self._stop_reading_numbers()  # a long column of text is not parsed in every batch
        missing = self._add_numbers(values, part, everything, sampled) if self.may_be_numbers else None
        if self.text:
            self._add_texts(part, sampled)
        elif missing is not None:
            self.missing += int(np.sum(missing))

    def thin(self, stay: np.ndarray) -> None:
        """Keep some of the sampled numbers."""
        self.sample = _thinned(self.sample, stay)
        for found in self.dates.values():
            found.sample = _thinned(found.sample, stay)

    def _add_numbers(self, values: Any, part: Any, everything: bool, sampled: np.ndarray) -> np.ndarray:
        """Count numbers and other texts; return where there is no value."""
        if self.temporal:
            numbers = as_seconds(part, None)
            missing = np.isnan(numbers)
            self.dates[None].add(numbers)
            self.dates[None].sample.append(numbers[sampled])
            self.consecutive = self.increasing = False
        else:
            read = read_numbers(part, self.name, self.decimal)
            numbers, missing = read.values, read.missing
            self.grouped |= read.grouped
            self.rounded += read.rounded
            self.unparsable.update(read.unparsable)
            self.missing_marks.update(read.missing_marks)
        known = numbers[np.isfinite(numbers)]
        self.numbers += len(known)
        self.infinite += int(np.sum(np.isinf(numbers)))
        if known.size:
            self.low, self.high = min(self.low, float(np.min(known))), max(self.high, float(np.max(known)))
        self.sample.append(numbers[sampled])
        if self.consecutive or self.increasing:
            every = numbers if everything else read_numbers(values, self.name, self.decimal).values
            self._count_rows(every, values)
        return missing

    def _count_rows(self, numbers: np.ndarray, values: Any) -> None:
        """Update whether the column counts rows; `numbers` are of all rows of the batch, read from `values`."""
        if np.any(np.isinf(numbers)):  # bounds, and no counts
            self.consecutive = self.increasing = False
            return
        first = numbers[0] if self.next is None else self.next
        steps = np.diff(numbers, prepend=first - 1)
        if self.next is None and first not in (0.0, 1.0):
            self.consecutive = False
        self.consecutive &= bool(np.all(steps == 1))
        whole = bool(np.all(np.isfinite(numbers))) and bool(np.all(numbers == np.floor(numbers)))
        increases = bool(np.all(steps > 0)) or (bool(self.rounded) and bool(np.all(steps >= 0)) and _increases(values))
        self.increasing &= whole and increases
        self.next = float(numbers[-1]) + 1

    def _add_texts(self, part: Any, sampled: np.ndarray) -> None:
        """Count texts, and drop formats of dates that do not fit."""
        if not self.order and getattr(self.type, "ordered", False):
            self.order = as_texts(part.dictionary).drop_null().to_pylist()
        texts = as_texts(part)
        self.missing += texts.null_count
        if self.dates or self.counts is not None:
            entries = texts.drop_null().value_counts()
            different, times = entries.field("values"), entries.field("counts")
            fit = fitting_formats(different, [how for how in self.dates if how is not None])
            self.dates = {how: found for how, found in self.dates.items() if how in fit}
            for how, found in self.dates.items():
                found.add(as_seconds(different, how))
                found.sample.append(as_seconds(texts, how)[sampled])
            if self.counts is not None:
                self.counts.update(dict(zip(different.to_pylist(), times.to_pylist(), strict=True)))
                if len(self.counts) > MOST_DIFFERENT:
                    self.counts = None
        if len(self.unparsable) > MOST_DIFFERENT:
            self._stop_reading_numbers()

    def _stop_reading_numbers(self) -> None:
        """Treat the column as text from here on; its sample would no longer have an entry for each sampled row."""
        self.may_be_numbers, self.sample = False, []
        self.consecutive = self.increasing = False
