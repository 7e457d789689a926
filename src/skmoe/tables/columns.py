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
from skmoe.tables.text_numbers import text_numbers

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
    "warn_of_unseen",
]

KINDS = ("number", "boolean", "category", "date")
OTHER, GAP = "other", "missing"  # categories of rare values, and of values that are missing
UNSEEN = ("other", "empty", "error")
"""What becomes of a category not there in fitting: it counts as a rare one, or where there were none as the mean of the
categories that were; its row is left out; or it is refused."""

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
    """One thing that a column says: the inputs that hold it, and for categories which."""

    name: str
    features: tuple[str, ...]
    levels: tuple[str, ...] = ()


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
        What stands in for a missing value, if anything does.
    flag : bool
        Whether one more input says where a number, yes/no or date was missing.
    pool : str, optional
        The category that rare ones count as.
    pooled : tuple of str
        Those rare ones.
    parts : tuple of str
        What a date becomes, of `skmoe.tables.dates.DATE_PARTS`.
    first : float
        The first day of dates, in seconds since 1970.
    written : str, optional
        How dates are written where they are text, as `strptime` has it.
    gaps : int
        Rows of the fit in which it was missing, and was filled in or counted as a category.
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()
    fill: float | str | None = None
    flag: bool = False
    pool: str | None = None
    pooled: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    first: float = 0.0
    written: str | None = None
    gaps: int = 0

    @property
    def inputs(self) -> list[ColumnInput]:
        """What it says, in the order of its inputs."""
        if self.kind == "category":
            features = tuple(f"{self.name}={category}" for category in self.categories[1:])
            return [ColumnInput(self.name, features, self.categories)]
        if self.kind == "date":
            found = [ColumnInput(name, (name,)) for name in (f"{self.name}: {part}" for part in self.parts)]
        else:
            found = [ColumnInput(self.name, (self.name,), ("no", "yes") if self.kind == "boolean" else ())]
        if self.flag:
            found.append(ColumnInput(f"{self.name}={GAP}", (f"{self.name}={GAP}",), ("no", "yes")))
        return found

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TableError(f"column {self.name!r} must be one of {', '.join(KINDS)}; it is {self.kind!r}")
        if (self.kind == "category") != bool(self.categories) or len(set(self.categories)) < len(self.categories):
            raise TableError(f"column {self.name!r}: a category has its values, each once, and other columns have none")
        if self.fill is not None and isinstance(self.fill, str) != (self.kind == "category"):
            raise TableError(f"column {self.name!r} would be filled with {self.fill!r}, which is not of its kind")
        strange = [value for value in (self.fill, self.pool) if isinstance(value, str) and value not in self.categories]
        if strange:
            raise TableError(f"column {self.name!r}: {strange[0]!r} is none of its categories")
        if (self.kind == "date") != bool(self.parts) or not set(self.parts) <= set(DATE_PARTS):
            raise TableError(f"column {self.name!r}: a date has its parts, of {', '.join(DATE_PARTS)}")

    @property
    def features(self) -> list[str]:
        """Names of the inputs that it becomes."""
        return [feature for one in self.inputs for feature in one.features]

    @property
    def plain(self) -> bool:
        """Whether it is a number as it stands."""
        return self.kind in ("number", "boolean") and not self.flag

    def encode(
        self, values: Any, unseen: str = "error", decimal: str = ".", tally: Counter[str] | None = None
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Inputs, and the rows where they are known.

        Parameters
        ----------
        values : pyarrow array
            The column.
        unseen : {"other", "empty", "error"}
            What becomes of a category that was not there in fitting.
        decimal : str
            Decimal mark of numbers that are text.
        tally : Counter, optional
            Is told, by the column's name, how many rows hold such a category and count as "other".

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
            numbers = _truth(values, self.name)
        else:
            numbers = as_numbers(values, self.name, decimal)
        gaps = np.isnan(numbers)
        if self.fill is not None and np.any(gaps):
            numbers = np.where(gaps, float(self.fill), numbers)
        found = [date_part(numbers, part, self.first) for part in self.parts] if self.kind == "date" else [numbers]
        return [*found, *([gaps.astype(np.float64)] if self.flag else [])], np.isfinite(numbers)

    def _encode_categories(
        self, values: Any, unseen: str, tally: Counter[str] | None
    ) -> tuple[list[np.ndarray], np.ndarray]:
        pa = arrow()
        import pyarrow.compute as pc

        texts = as_texts(values)
        gaps = pc.is_null(texts).to_numpy(zero_copy_only=False)
        codes = pc.index_in(texts, value_set=pa.array(self.categories, pa.string()), skip_nulls=True)
        codes = np.array(pc.fill_null(codes, -1).to_numpy(zero_copy_only=False))
        if self.fill is not None:
            codes[gaps] = self.categories.index(str(self.fill))
        strange = (codes < 0) & ~gaps
        if np.any(strange):
            pool = -1 if self.pool is None else self.categories.index(self.pool)
            if self.pooled:
                rare = pc.is_in(texts, value_set=pa.array(self.pooled, pa.string())).to_numpy(zero_copy_only=False)
                codes[strange & rare] = pool
                strange &= ~rare
            if unseen == "error" and np.any(strange):
                self._refuse(texts[int(np.argmax(strange))].as_py())
            if unseen == "other":
                codes[strange] = pool
        encoded, known = [(codes == i).astype(np.float64) for i in range(1, len(self.categories))], codes >= 0
        if unseen == "other" and np.any(strange):
            if tally is not None:
                tally[self.name] += int(np.sum(strange))
            if not np.all(known):
                present = [category != GAP for category in self.categories]
                for column, there in zip(encoded, present[1:], strict=True):
                    column[strange & ~known] = there / sum(present)
                known |= strange
        return encoded, known

    def _refuse(self, value: str) -> None:
        known = listed(list(self.categories))
        found = f"column {self.name!r} holds {value!r}, which was not there in fitting (known: {known})"
        raise TableError(Advised(found, Advice.UNSEEN))


def is_text(kind: Any) -> bool:
    """Whether a type of pyarrow is text, or categories."""
    types = arrow().types
    return (
        types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_dictionary(kind)
    )


def as_numbers(values: Any, name: str, decimal: str = ".") -> np.ndarray:
    """Values as floats, NaN where there are none; text that is no number is refused, and what would be rounded."""
    pa = arrow()
    if is_text(values.type) and not pa.types.is_dictionary(values.type):
        read = text_numbers(values.cast(pa.string()), decimal)
        if read.odd:
            raise TableError(f"column {name!r} must hold numbers; it holds {listed(list(map(repr, read.odd)), 3)}")
        numbers, rounded = read.values, read.rounded
    else:
        numbers, rounded = numbers_of(values, name)
    if rounded:
        raise TableError(f"column {name!r} {rounded.message}; subtract its smallest value, or leave the column out")
    return numbers


def numbers_of(values: Any, name: str) -> tuple[np.ndarray, Rounded]:
    """Values that are no text as floats, NaN where there are none, and which of them were rounded."""
    pa = arrow()
    try:
        numbers = values.cast(pa.float64(), safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"column {name!r} must hold numbers ({str(error).splitlines()[0]})") from error
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64), rounded_in(values)


def as_texts(values: Any) -> Any:
    """Values as text without blanks around them, null where there are none."""
    pa = arrow()
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    texts = pc.utf8_trim_whitespace(values.cast(pa.string()))
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)


def _truth(values: Any, name: str) -> np.ndarray:
    """Yes/no as ones and zeros, NaN where there are none."""
    if not is_text(values.type):
        return as_numbers(values, name)
    import pyarrow.compute as pc

    coded = pc.utf8_lower(as_texts(values)).dictionary_encode()
    coded = coded.combine_chunks() if hasattr(coded, "combine_chunks") else coded
    different = coded.dictionary.to_pylist()
    odd = [text for text in different if text not in TRUTH]
    if odd:
        raise TableError(f"column {name!r} must hold true or false; it holds {listed(list(map(repr, odd)), 3)}")
    table = np.array([*(TRUTH[text] for text in different), np.nan])
    return table[coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)]
