"""Columns of dates: the formats they are written in, and the numbers that they become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skmoe.tables.table_errors import arrow

__all__ = ["CLOCK", "DATE_PARTS", "FORMATS", "as_seconds", "date_part", "fitting_formats"]

DATE_PARTS = ("days", "year", "month", "weekday", "hour")
"""Numbers of a date: days since the first one, year, month (1 to 12), weekday (1 is Monday), hour of the day."""

DAY = 86400.0
FIRST_TEXTS = 20  # that a format must fit before all texts are parsed with it

_DAYS = (
    *("%Y-%m-%d", "%Y/%m/%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y"),
    *("%b %d %Y", "%b %d, %Y", "%d %b %Y", "%d-%b-%Y"),
)
_TIMES = ("", " %H:%M", " %H:%M:%S", " %I:%M %p", " %I:%M:%S %p")
CLOCK: tuple[str, ...] = tuple(time.strip() for time in _TIMES if time)
"""Ways to write a time of day without a date."""
_YEAR_FIRST, _QUARTER_FIRST = "%Y Q%q", "Q%q %Y"  # %q is a quarter, which strptime does not have
_QUARTERS = {_YEAR_FIRST: r"^(\d{4})[ :-]?[Qq]QUARTER$", _QUARTER_FIRST: r"^[Qq]QUARTER[ :-]?(\d{4})$"}
_SHAPES = {  # strptime alone would take "10-12" for December of the year 10, and "4:3" for a time
    "%Y-%m": r"^\d{4}-\d\d$",
    "%YM%m": r"^\d{4}[Mm]\d\d?$",
    "%Y %b": r"^\d{4} [A-Za-z]+\.?$",
    "%b %Y": r"^[A-Za-z]+ \d{4}$",
    "%b-%Y": r"^[A-Za-z]+-\d{4}$",
    **dict.fromkeys(CLOCK, r"^\d{1,2}:\d\d(:\d\d)?( ?[AaPp][Mm])?$"),
}
FORMATS: tuple[str, ...] = (
    *(day + time for day in _DAYS for time in _TIMES),
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M",
    *_QUARTERS,
    *_SHAPES,
)
"""Ways to write a date, month, quarter or time of day, as `strptime` has them; the first that fits all values is taken.

A month or quarter is its first day; %q is the number of a quarter.
"""


def fitting_formats(texts: Any, formats: Sequence[str]) -> tuple[str, ...]:
    """Return the given formats of dates that fit every text.

    Fractions of seconds and zones such as +02:00 are cut off: the hour is that of the local clock.
    """
    few = texts.slice(0, FIRST_TEXTS)
    formats = [how for how in formats if _parsed(few, how).null_count == few.null_count]
    return tuple(how for how in formats if _parsed(texts, how).null_count == texts.null_count)


def _parsed(texts: Any, how: str) -> Any:
    import pyarrow.compute as pc

    if "%M" in how:
        texts = pc.replace_substring_regex(texts, r"(:\d\d)\.\d+", r"\1")
        texts = pc.replace_substring_regex(texts, r"(:\d\d) ?[+-]\d\d:?\d\d$", r"\1")
    texts = pc.utf8_trim_whitespace(texts)
    if how in _QUARTERS:
        for quarter in range(1, 5):
            pattern = _QUARTERS[how].replace("QUARTER", str(quarter))
            texts = pc.replace_substring_regex(texts, pattern, rf"\1-{3 * quarter - 2:02}-01")
        how = "%Y-%m-%d"
    elif how in _SHAPES:
        texts = pc.if_else(pc.match_substring_regex(texts, _SHAPES[how]), texts, None)
    return pc.strptime(texts, format=how, unit="s", error_is_null=True)


def as_seconds(values: Any, how: str | None) -> np.ndarray:
    """Convert dates to seconds since 1970, as floats, NaN where there is no date.

    Parameters
    ----------
    values : pyarrow array of dates, timestamps, times or text
        The column.
    how : str or None
        Format of text; None for columns of dates or times.

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
    if types.is_time(values.type):
        seconds = values.cast(pa.time32("s"), safe=False).cast(pa.int32())
    else:
        seconds = values.cast(pa.timestamp("s"), safe=False).cast(pa.int64())
    return np.array(seconds.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def date_part(seconds: np.ndarray, part: str, first: float) -> np.ndarray:
    """Return one of `DATE_PARTS`, NaN where there is no date; `first` is the first day, in seconds."""
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
