"""One column of a table: which inputs it becomes, and how its values turn into them."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.exactness import Rounded, rounded_in
from skmoe.arrays.visible import listed
from skmoe.tables.dates import DATE_PARTS, as_seconds, date_part
from skmoe.tables.table_errors import TableError, arrow
from skmoe.tables.text_numbers import TextNumbers, text_numbers

__all__ = [
    "OTHER",
    "UNSEEN",
    "Column",
    "ColumnInput",
    "UnseenCategoryWarning",
    "as_numbers",
    "as_texts",
    "is_text",
    "numbers_of",
    "read_numbers",
    "warn_of_unseen",
]

KINDS = ("number", "boolean", "category", "date")
OTHER, MISSING = "other", "missing"  # categories of infrequent values, and of missing ones
UNSEEN = ("other", "empty", "error")
"""Treatments of a category not there in fitting: it counts as an infrequent one, or where there were none as the mean
of the known categories; its row is left out; or it is refused."""

TRUTH = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


class UnseenCategoryWarning(UserWarning):
    """Rows hold categories that were not there in fitting."""


def warn_of_unseen(tally: Counter[str]) -> None:
    """Warn of so many rows by column that hold categories not there in fitting."""
    if tally:
        held = [f"{name} ({'1 row' if count == 1 else f'{count} rows'})" for name, count in tally.items()]
        warnings.warn(
            f"columns that hold categories which were not there in fitting: {listed(held)}; these count as the rare "
            "ones, or where there were none as the mean of the known ones",
            UnseenCategoryWarning,
            stacklevel=3,
        )


@dataclass(frozen=True)
class ColumnInput:
    """A quantity that a column holds: the inputs that encode it, and its categories if it has any."""

    name: str
    features: tuple[str, ...]
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Column:
    """A column of the table, and what it becomes.

    Numbers and yes/no are one input, categories one input each but the first (reference), dates one for each part.

    Parameters
    ----------
    name : str
    kind : {"number", "boolean", "category", "date"}
    categories : tuple of str
        Categories with inputs of their own, the reference first.
    fill : float or str, optional
        Replacement of missing values, if they are filled in.
    missing_indicator : bool
        Whether one more input is 1 where a number, yes/no or date was missing.
    infrequent_as : str, optional
        The category that infrequent ones count as.
    infrequent : tuple of str
        The infrequent categories.
    parts : tuple of str
        Parts of `skmoe.tables.dates.DATE_PARTS` that a date becomes.
    first : float
        The first day of dates, in seconds since 1970.
    written : str, optional
        Format of dates that are text, as `strptime` has it.
    n_missing : int
        Rows of the fit in which it was missing, and was filled in or counted as a category.
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    fill: float | str | None = None
    missing_indicator: bool = False
    infrequent_as: str | None = None
    infrequent: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    first: float = 0.0
    written: str | None = None
    n_missing: int = 0

    @property
    def inputs(self) -> list[ColumnInput]:
        """Quantities that it holds, in the order of its inputs."""
        if self.kind == "category":
            features = tuple(f"{self.name}={category}" for category in self.categories[1:])
            return [ColumnInput(self.name, features, self.categories)]
        if self.kind == "date":
            found = [ColumnInput(name, (name,)) for name in (f"{self.name}: {part}" for part in self.parts)]
        else:
            found = [ColumnInput(self.name, (self.name,), ("no", "yes") if self.kind == "boolean" else ())]
        if self.missing_indicator:
            found.append(ColumnInput(f"{self.name}={MISSING}", (f"{self.name}={MISSING}",), ("no", "yes")))
        return found

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TableError(f"column {self.name!r} must be one of {', '.join(KINDS)}; it is {self.kind!r}")
        if (self.kind == "category") != bool(self.categories) or len(set(self.categories)) < len(self.categories):
            raise TableError(f"column {self.name!r}: a category has its values, each once, and other columns have none")
        if self.fill is not None and isinstance(self.fill, str) != (self.kind == "category"):
            raise TableError(f"column {self.name!r} would be filled with {self.fill!r}, which is not of its kind")
        used = (self.fill, self.infrequent_as)
        unknown = [value for value in used if isinstance(value, str) and value not in self.categories]
        if unknown:
            raise TableError(f"column {self.name!r}: {unknown[0]!r} is none of its categories")
        if (self.kind == "date") != bool(self.parts) or not set(self.parts) <= set(DATE_PARTS):
            raise TableError(f"column {self.name!r}: a date has its parts, of {', '.join(DATE_PARTS)}")

    @property
    def features(self) -> list[str]:
        """Names of the inputs that it becomes."""
        return [feature for one in self.inputs for feature in one.features]

    @property
    def plain(self) -> bool:
        """True for a number that needs no encoding."""
        return self.kind in ("number", "boolean") and not self.missing_indicator

    def encode(
        self, values: Any, unseen: str = "error", decimal: str = ".", tally: Counter[str] | None = None
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the inputs, and the rows where they are known.

        Parameters
        ----------
        values : pyarrow array
            The column.
        unseen : {"other", "empty", "error"}
            Treatment of a category that was not there in fitting.
        decimal : str
            Decimal mark of numbers that are text.
        tally : Counter, optional
            Adds up, by the column's name, the rows that hold such a category and count as "other".

        Returns
        -------
        list of (n,) arrays
            The inputs.
        (n,) array of bool
            Where they are known.
        """
        if self.kind == "category":
            return self._encode_categories(values, unseen, tally)
        if self.kind == "date":
            numbers = as_seconds(values, self.written)
        elif self.kind == "boolean":
            numbers = _booleans(values, self.name)
        else:
            numbers = as_numbers(values, self.name, decimal)
        missing = np.isnan(numbers)
        if self.fill is not None and np.any(missing):
            numbers = np.where(missing, float(self.fill), numbers)
        found = [date_part(numbers, part, self.first) for part in self.parts] if self.kind == "date" else [numbers]
        return [*found, *([missing.astype(np.float64)] if self.missing_indicator else [])], np.isfinite(numbers)

    def _encode_categories(
        self, values: Any, unseen: str, tally: Counter[str] | None
    ) -> tuple[list[np.ndarray], np.ndarray]:
        pa = arrow()
        import pyarrow.compute as pc

        texts = as_texts(values)
        missing = pc.is_null(texts).to_numpy(zero_copy_only=False)
        codes = pc.index_in(texts, value_set=pa.array(self.categories, pa.string()), skip_nulls=True)
        codes = np.array(pc.fill_null(codes, -1).to_numpy(zero_copy_only=False))
        if self.fill is not None:
            codes[missing] = self.categories.index(str(self.fill))
        unknown = (codes < 0) & ~missing
        if np.any(unknown):
            other = -1 if self.infrequent_as is None else self.categories.index(self.infrequent_as)
            if self.infrequent:
                rare = pc.is_in(texts, value_set=pa.array(self.infrequent, pa.string())).to_numpy(zero_copy_only=False)
                codes[unknown & rare] = other
                unknown &= ~rare
            if unseen == "error" and np.any(unknown):
                self._refuse(texts[int(np.argmax(unknown))].as_py())
            if unseen == "other":
                codes[unknown] = other
        encoded, known = [(codes == i).astype(np.float64) for i in range(1, len(self.categories))], codes >= 0
        if unseen == "other" and np.any(unknown):
            if tally is not None:
                tally[self.name] += int(np.sum(unknown))
            if not np.all(known):
                present = [category != MISSING for category in self.categories]
                for column, counts in zip(encoded, present[1:], strict=True):
                    column[unknown & ~known] = counts / sum(present)
                known |= unknown
        return encoded, known

    def _refuse(self, value: str) -> None:
        known = listed(list(self.categories))
        found = f"column {self.name!r} holds {value!r}, which was not there in fitting (known: {known})"
        raise TableError(Advised(found, Advice.UNSEEN))


def is_text(kind: Any) -> bool:
    """Return whether a type of pyarrow is text, or categories."""
    types = arrow().types
    return (
        types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_dictionary(kind)
    )


def as_numbers(values: Any, name: str, decimal: str = ".") -> np.ndarray:
    """Convert values to floats, NaN where missing; refuse text that is no number, and numbers that would be rounded."""
    read = read_numbers(values, name, decimal)
    if read.unparsable:
        raise TableError(f"column {name!r} must hold numbers; it holds {listed(list(map(repr, read.unparsable)), 3)}")
    if read.rounded:
        message = f"column {name!r} {read.rounded.message}"
        raise TableError(f"{message}; subtract its smallest value, or leave the column out")
    return read.values


def read_numbers(values: Any, name: str, decimal: str = ".") -> TextNumbers:
    """Read values of any type but dates as numbers, and what is none of them."""
    pa = arrow()
    if is_text(values.type) and not pa.types.is_dictionary(values.type):
        return text_numbers(values.cast(pa.string()), decimal)
    numbers, rounded = numbers_of(values, name)
    return TextNumbers(numbers, np.isnan(numbers), {}, {}, False, rounded)


def numbers_of(values: Any, name: str) -> tuple[np.ndarray, Rounded]:
    """Convert values that are not text to floats, NaN where missing, and return which of them were rounded."""
    pa = arrow()
    try:
        numbers = values.cast(pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"column {name!r} must hold numbers ({str(error).splitlines()[0]})") from error
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64), rounded_in(values)


def as_texts(values: Any) -> Any:
    """Convert values to text without blanks around them, null where missing."""
    pa = arrow()
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    texts = pc.utf8_trim_whitespace(values.cast(pa.string()))
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _booleans(values: Any, name: str) -> np.ndarray:
    """Convert yes/no to ones and zeros, NaN where missing."""
    if not is_text(values.type):
        return as_numbers(values, name)
    import pyarrow.compute as pc

    texts = pc.utf8_lower(as_texts(values))
    coded = pc.index_in(texts, value_set=arrow().array(list(TRUTH)), skip_nulls=True)
    unparsable = pc.unique(texts.filter(pc.and_(texts.is_valid(), coded.is_null()))).to_pylist()
    if unparsable:
        raise TableError(f"column {name!r} must hold true or false; it holds {listed(list(map(repr, unparsable)), 3)}")
    return np.array([*TRUTH.values(), np.nan])[pc.fill_null(coded, -1).to_numpy(zero_copy_only=False)]
