"""Columns of dates: how they are written, and the numbers that they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skmoe.rows.table_errors import arrow

__all__ = ["DATE_PARTS", "FORMATS", "as_seconds", "date_part", "fitting_formats"]

DATE_PARTS = ("days", "year", "month", "weekday", "hour")
"""What a date can become: days since the first one, year, month (1 to 12), weekday (1 is Monday), hour of the day."""

DAY = 86400.0
FIRST_LOOK = 20

_DAYS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y"),
    *("%b %d %Y", "%b %d, %Y", "%d %b %Y", "%d-%b-%Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
FORMATS: tuple[str, ...] = (
    *(day + time for day in _DAYS for time in _TIMES),
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M",
)
"""Ways to write a date, as `strptime` has them; the first that fits all values is taken."""


def fitting_formats(texts: Any, formats: Sequence[str]) -> tuple[str, ...]:
    """Those of the given ways to write a date that fit every text.

    Fractions of seconds and zones such as +02:00 are cut off: what counts is the hour on the clock there.
    """
    few = texts.slice(0, FIRST_LOOK)  # most ways do not fit the first values, and all need not be read for that
    formats = [how for how in formats if _parsed(few, how).null_count == few.null_count]
    return tuple(how for how in formats if _parsed(texts, how).null_count == texts.null_count)


def _parsed(texts: Any, how: str) -> Any:
    import pyarrow.compute as pc

    if "%M" in how:
        texts = pc.replace_substring_regex(texts, r"(:\d\d)\.\d+", r"\1")
        texts = pc.replace_substring_regex(texts, r"(:\d\d) ?[+-]\d\d:?\d\d$", r"\1")
    return pc.strptime(pc.utf8_trim_whitespace(texts), format=how, unit="s", error_is_null=True)


def as_seconds(values: Any, how: str | None) -> np.ndarray:
    """Seconds since 1970 as floats, NaN where there is no date.

    Parameters
    ----------
    values : pyarrow array of dates, timestamps or text
        The column.
    how : str or None
        How text is written; None for columns of dates.

    Returns
    -------
    (n,) array
        Seconds.
    """
    pa = arrow()
    types = pa.types
    if types.is_string(values.type) or types.is_large_string(values.type):
        values = _parsed(values, how or FORMATS[0])
    if types.is_timestamp(values.type) and values.type.tz is not None:
        values = values.cast(pa.timestamp(values.type.unit))  # the same instants, in UTC
    seconds = values.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    return np.array(seconds.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def date_part(seconds: np.ndarray, part: str, first: float) -> np.ndarray:
    """One of `DATE_PARTS`, NaN where there is no date; `first` is the first day, in seconds."""
    if part == "days":
        return (seconds - first) / DAY
    if part == "hour":
        return np.mod(seconds, DAY) / 3600.0
    known = np.isfinite(seconds)
    when = np.where(known, seconds, 0.0).astype(np.int64).astype("datetime64[s]")
    if part == "year":
        found = when.astype("datetime64[Y]").astype(np.int64) + 1970
    elif part == "month":
        found = when.astype("datetime64[M]").astype(np.int64) % 12 + 1
    else:
        found = (when.astype("datetime64[D]").astype(np.int64) + 3) % 7 + 1  # 1970 began on a Thursday
    return np.where(known, found.astype(np.float64), np.nan)
