"""Values that are no numbers: text, dates, complex numbers, masked and sparse arrays are refused, each by a sentence.

NumPy converts many of them without a warning: a missing date to -9.2e18, a masked value to the one below the mask, text
to the number it spells, and whole numbers that are no doubles to doubles nearby.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import numpy as np

from skmoe.arrays.exactness import EXACT, rounded
from skmoe.arrays.namespaces import is_array, to_numpy

__all__ = ["plain_numbers", "unmasked"]

TEXT = "; encode it as numbers first (OneHotEncoder), or pass a DataFrame, whose text MoERegressor encodes itself"
DATES = "; turn them into numbers first, such as days since the first of them"
DESCRIPTIONS = {
    "M": "dates" + DATES,
    "m": "durations" + DATES.replace("days since the first of them", "seconds"),
    "c": "complex numbers. Complex data not supported: pass real and imaginary parts as columns of their own",
    "U": "text" + TEXT,
    "S": "text" + TEXT,
    "V": "records of several fields; pass the fields as columns of numbers",
}
"""Descriptions of values by the kind of their NumPy type, with advice."""
NAMES = {
    "datetime": "M",
    "date": "M",
    "timestamp": "M",
    "period": "M",
    "timedelta": "m",
    "time": "M",
    "duration": "m",
    "complex": "c",
    "torch.complex": "c",
    "string": "U",
    "str": "U",
    "large_string": "U",
    "categor": "O",
    "enum": "O",
    "object": "O",
}
"""Kinds of the types of other libraries, by the beginning of their names."""
LONG = ("int64", "int128", "decimal")
"""Substrings of the names of types that may hold whole numbers that are no doubles."""
REMEDIES = {"y": "subtract its smallest value", "sample_weight": "divide it by its largest value"}
"""Advice on whole numbers that are no doubles, by the caller's name of the values."""
REMEDY = "subtract its smallest value, or leave the column out"


def plain_numbers(values: Any, name: str) -> Any:
    """Return values as given, less a mask that hides nothing; refuse those that are no real numbers.

    Parameters
    ----------
    values : array, DataFrame, Series, list or anything else a caller passes as rows
    name : str
        The caller's name of them, for messages.
    """
    if hasattr(values, "toarray"):
        raise TypeError(
            f"{name} is sparse data, a sparse matrix; dense data is required: pass {name}.toarray()"
        )  # scikit-learn's checks look for the word sparse
    values = unmasked(values, name)
    for label, column in _columns(values, name):
        refusal = _refusal(column)
        if refusal is not None:
            classes = "; MoEClassifier takes classes" if name == "y" and refusal[1].startswith("text") else ""
            raise refusal[0](f"{label} holds {refusal[1]}{classes}")
        _refuse_rounding(column, label, REMEDIES.get(name, REMEDY))
    return values


def unmasked(values: Any, name: str) -> Any:
    """Return values as given, less a mask that hides nothing; refuse one that hides values."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    masked = int(np.sum(np.ma.getmaskarray(values)))
    if masked:
        raise ValueError(
            f"{name} is a masked array with {masked} masked values; fill them (.filled) or drop their rows"
        )
    return values.data


def _columns(values: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the columns of a DataFrame with their names; anything else as one."""
    if hasattr(values, "columns") and hasattr(values, "dtypes"):
        for i, column in enumerate(values.columns):
            yield f"column {str(column)!r} of {name}", values.iloc[:, i] if hasattr(values, "iloc") else values[column]
    else:
        yield name, values


Refusal = tuple[type[Exception], str]  # the exception, and the description of the values with advice


def _refusal(values: Any) -> Refusal | None:
    """Return the refusal of a column or an array that holds no real numbers, or None."""
    values = values if hasattr(values, "dtype") else _as_array(values)
    kind = "" if values is None else _kind(values.dtype)  # ragged lists are refused where they are read
    if kind != "O":
        return (ValueError, DESCRIPTIONS[kind]) if kind in DESCRIPTIONS else None
    held = np.asarray(values)
    return _refusal_of_objects(held) if held.dtype.kind == "O" else _refusal(held)


def _kind(dtype: Any) -> str:
    """Return the kind of a type as NumPy has it; of pandas, Polars, PyTorch and others by the name of the type."""
    if isinstance(dtype, np.dtype):
        return dtype.kind
    return next((kind for begin, kind in NAMES.items() if str(dtype).lower().startswith(begin)), "")


def _refuse_rounding(column: Any, label: str, remedy: str) -> None:
    """Refuse whole numbers that double precision would change, with the number of their column in a table."""
    values = _whole_numbers(column)
    found = rounded(values)
    if not found:
        return
    if values.ndim == 2 and values.shape[1] > 1:
        number, found = next((i, one) for i in range(values.shape[1]) if (one := rounded(values[:, i])))
        label = f"column {number} of {label}"
    raise ValueError(f"{label} {found.message}; {remedy}")


def _whole_numbers(column: Any) -> np.ndarray:
    """Return values as NumPy holds them without rounding, or nothing where they cannot be long whole numbers."""
    nothing, dtype = np.zeros(0), getattr(column, "dtype", None)
    if dtype is None:
        values = _as_array(column)
        if values is None:
            return nothing
        mixed = values.dtype.kind == "f" and bool(np.any(np.abs(values) >= EXACT))
        return np.asarray(column, dtype=object) if mixed else values  # NumPy makes floats of mixed numbers
    if isinstance(dtype, np.dtype):
        if not (dtype.kind == "O" or (dtype.kind in "iu" and dtype.itemsize >= 8)):
            return nothing  # nothing is copied from a GPU
    elif not any(name in str(dtype).lower() for name in LONG):
        return nothing
    if is_array(column):
        return to_numpy(column)
    drop_missing = next((drop for drop in ("dropna", "drop_nulls") if hasattr(column, drop)), None)
    return np.asarray(column if drop_missing is None else getattr(column, drop_missing)())


def _as_array(values: Any) -> np.ndarray | None:
    try:
        return np.asarray(values)
    except (TypeError, ValueError):
        return None


def _refusal_of_objects(values: np.ndarray) -> Refusal | None:
    """Return the refusal of Python objects: that of the first whose type is no real number."""
    for one in {type(v): v for v in values.ravel()}.values():
        if isinstance(one, str | bytes):
            return ValueError, f"text, such as {one!r:.40}{TEXT}"
        if isinstance(one, datetime.date | np.datetime64) or type(one).__name__ in ("NaTType", "Period"):
            return ValueError, DESCRIPTIONS["M"]
        if isinstance(one, datetime.timedelta | np.timedelta64):
            return ValueError, DESCRIPTIONS["m"]
        if isinstance(one, complex | np.complexfloating):
            return ValueError, DESCRIPTIONS["c"]
        if not hasattr(one, "__float__") and one is not None and type(one).__name__ != "NAType":
            # scikit-learn's checks expect the message of float()
            return TypeError, (
                f"objects that are no numbers: float() argument must be a string or a real number, not "
                f"{type(one).__name__!r}; pass columns of numbers"
            )
    return None
