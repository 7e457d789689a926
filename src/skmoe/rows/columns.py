"""One column of a table: what it holds, which inputs it becomes, and how its values turn into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skmoe.rows.table_errors import TableError, arrow, listed

__all__ = ["Column", "absent_in", "as_numbers", "as_texts", "is_number", "kind_of", "learn_column"]

MOST_CATEGORIES = 50
KINDS = ("number", "boolean", "category")


@dataclass(frozen=True)
class Column:
    """A column of the table: numbers and yes/no are one input, categories one input each but the first (reference)."""

    name: str
    kind: str  # "number", "boolean" or "category"
    categories: tuple[str, ...] = ()
    fill: float | str | None = None  # what stands in for a missing value, if anything does

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise TableError(f"column {self.name!r} must be one of {', '.join(KINDS)}; it is {self.kind!r}")
        if (self.kind == "category") != bool(self.categories) or len(set(self.categories)) < len(self.categories):
            raise TableError(f"column {self.name!r}: a category has its values, each once, and other columns have none")
        if self.fill is not None and isinstance(self.fill, str) != (self.kind == "category"):
            raise TableError(f"column {self.name!r} would be filled with {self.fill!r}, which is not of its kind")

    @property
    def features(self) -> list[str]:
        """Names of the inputs that it becomes."""
        if self.kind == "category":
            return [f"{self.name}={category}" for category in self.categories[1:]]
        return [self.name]

    @property
    def about_categories(self) -> str:
        """What became of categories, in words; empty for other columns."""
        if self.kind != "category":
            return ""
        return (
            f"column {self.name!r}: {len(self.categories)} categories became {len(self.features)} inputs; coefficients "
            f"compare with {self.categories[0]!r}"
        )

    @property
    def type(self) -> Any:
        """What it is read as where the file does not say."""
        pa = arrow()
        return {"number": pa.float64(), "boolean": pa.bool_(), "category": pa.string()}[self.kind]

    def encode(self, values: Any, unseen: str) -> tuple[list[np.ndarray], np.ndarray]:
        """Inputs, and the rows where they are known."""
        if self.kind != "category":
            numbers = as_numbers(values, self.name)
            if self.fill is not None:
                numbers = np.where(np.isnan(numbers), float(self.fill), numbers)
            return [numbers], np.isfinite(numbers)
        pa = arrow()
        import pyarrow.compute as pc

        texts = as_texts(values)
        if self.fill is not None:
            texts = pc.fill_null(texts, self.fill)
        codes = pc.index_in(texts, value_set=pa.array(self.categories, pa.string()), skip_nulls=True)
        codes = pc.fill_null(codes, -1).to_numpy(zero_copy_only=False)
        strange = (codes < 0) & ~pc.is_null(texts).to_numpy(zero_copy_only=False)
        if unseen == "error" and np.any(strange):
            value = texts[int(np.argmax(strange))].as_py()
            raise TableError(
                f"column {self.name!r} holds {value!r}, which was not there in fitting (known: "
                f"{listed(list(self.categories))}); mend it, or leave such predictions empty with --unseen empty"
            )
        return [(codes == i).astype(np.float64) for i in range(1, len(self.categories))], codes >= 0


def kind_of(values: Any, name: str) -> str:
    """What a column holds: "number", "boolean", "category", or "empty"."""
    types = arrow().types
    kind = values.type
    if types.is_null(kind):
        return "empty"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind):
        return "category"
    if types.is_temporal(kind):
        raise TableError(
            f"column {name!r} holds dates or times; turn it into numbers first (days since a date, month, hour), or "
            f"leave it out with --drop {name}"
        )
    if types.is_binary(kind) or types.is_large_binary(kind):
        raise TableError(f"column {name!r} holds text that is not UTF-8; save the file as UTF-8, or --drop {name}")
    raise TableError(f"column {name!r} holds {kind}, which is neither number nor category; leave it out: --drop {name}")


def as_numbers(values: Any, name: str) -> np.ndarray:
    """Values as floats, NaN where there are none."""
    pa = arrow()
    try:
        return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False), dtype=np.float64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"column {name!r} must hold numbers ({str(error).splitlines()[0]})") from error


def as_texts(values: Any) -> Any:
    """Values as text, null where there are none."""
    pa = arrow()
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values.cast(pa.string())


def absent_in(values: Any, kind: str) -> np.ndarray:
    """Which rows lack a value."""
    import pyarrow.compute as pc

    return pc.is_null(values, nan_is_null=kind == "number").to_numpy(zero_copy_only=False)


def learn_column(values: Any, name: str, kind: str, impute: bool) -> Column | None:
    """What a column becomes; None if all its values are the same."""
    if kind == "category":
        return _learn_categories(as_texts(values).drop_null(), name, impute)
    numbers = as_numbers(values, name)
    if np.any(np.isinf(numbers)):
        raise TableError(f"column {name!r} holds infinity; mend those rows, or leave it out with --drop {name}")
    numbers = numbers[~np.isnan(numbers)]
    if len(numbers) == 0 or np.min(numbers) == np.max(numbers):
        return None
    middle = float(np.median(numbers)) if kind == "number" else float(np.mean(numbers) > 0.5)
    return Column(name, kind, fill=middle if impute else None)


def _learn_categories(texts: Any, name: str, impute: bool) -> Column | None:
    counts = {entry["values"]: entry["counts"] for entry in texts.value_counts().to_pylist()}
    categories = sorted(counts)
    if len(categories) < 2:
        return None
    if len(categories) > MOST_CATEGORIES or (len(categories) == len(texts) and len(texts) > 2):
        odd = [text for text in categories if not is_number(text)]
        if 2 * len(odd) < len(categories):
            raise TableError(
                f"column {name!r} would be numbers but for {listed(list(map(repr, odd)), 3)}; mend those, or leave it "
                f"out with --drop {name}"
            )
        raise TableError(
            f"column {name!r} is text with {len(categories)} different values in {len(texts)} rows, too many for "
            f"categories (at most {MOST_CATEGORIES}, and not one a row); leave it out with --drop {name}"
        )
    often = max(categories, key=lambda category: counts[category])
    return Column(name, "category", tuple(categories), fill=often if impute else None)


def is_number(text: str) -> bool:
    """Whether a text reads as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
