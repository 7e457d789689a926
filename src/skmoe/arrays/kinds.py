"""Values that are no numbers: text, dates, complex numbers, masked and sparse arrays are refused, each by a sentence.

NumPy turns many of them into numbers without a word: a missing date into -9.2e18, a masked value into what lies below
the mask, text into what it spells, and whole numbers that are no doubles into doubles nearby.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from typing import Any

import numpy as np

from skmoe.arrays.exactness import EXACT, Rounded, rounded
from skmoe.arrays.namespaces import is_array, to_numpy

__all__ = ["plain_numbers", "unmasked"]

TEXT = "; encode it as numbers first (OneHotEncoder), or pass a DataFrame, whose text MoERegressor encodes itself"
DATES = "; turn them into numbers first, such as days since the first of them"
WORDS = {
    "M": "dates" + DATES,
    "m": "durations" + DATES.replace("days since the first of them", "seconds"),
    "c": "complex numbers. Complex data not supported: pass real and imaginary parts as columns of their own",
    "U": "text" + TEXT,
    "S": "text" + TEXT,
    "V": "records of several fields; pass the fields as columns of numbers",
}
"""What values are, by the kind of their NumPy type, and what to do about them."""
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
}
"""The same for types that other libraries have of their own, by how their names begin."""
LONG = ("int64", "int128", "decimal")
"""What is in the names of their types that may hold whole numbers that are no doubles."""
REMEDIES = {"y": "subtract its smallest value", "sample_weight": "divide it by its largest value"}
"""What to do about whole numbers that are no doubles, by what the caller calls the values."""
REMEDY = "subtract its smallest value, or leave the column out"


def plain_numbers(values: Any, name: str) -> Any:
    """Values as they came, less a mask that hides nothing; what are no real numbers is refused.

    Parameters
    ----------
    values : array, DataFrame, Series, list or anything else a caller passes as rows
    name : str
        What the caller calls them, for messages.
    """
    if hasattr(values, "toarray"):
        raise TypeError(
            f"{name} is sparse data, a sparse matrix; dense data is required: pass {name}.toarray()"
        )  # scikit-learn's checks look for the word sparse
    values = unmasked(values, name)
    for column, part in _columns(values, name):
        refusal = _refusal(part)
        if refusal is not None:
            classes = "; MoEClassifier takes classes" if name == "y" and refusal[1].startswith("text") else ""
            raise refusal[0](f"{column} holds {refusal[1]}{classes}")
        _refuse_rounding(part, column, REMEDIES.get(name, REMEDY))
    return values


def unmasked(values: Any, name: str) -> Any:
    """Values as they came, less a mask that hides nothing; one that hides values is refused."""
    if not isinstance(values, np.ma.MaskedArray):
        return values
    masked = int(np.sum(np.ma.getmaskarray(values)))
    if masked:
        raise ValueError(
            f"{name} is a masked array with {masked} masked values; fill them (.filled) or drop their rows"
        )
    return values.data


def _columns(values: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The columns of a DataFrame with their names; anything else as a whole."""
    if hasattr(values, "columns") and hasattr(values, "dtypes"):
        for i, column in enumerate(values.columns):
            yield f"column {str(column)!r} of {name}", values.iloc[:, i] if hasattr(values, "iloc") else values[column]
    else:
        yield name, values


Refusal = tuple[type[Exception], str]  # what is raised, and what it says that the values are and what to do


def _refusal(part: Any) -> Refusal | None:
    """What is said of the values of a column or an array that are no real numbers."""
    dtype = getattr(part, "dtype", None)
    if dtype is None:
        part = _as_array(part)
        if part is None:  # ragged lists: whoever reads them says so
            return None
        dtype = part.dtype
    if not isinstance(dtype, np.dtype):
        return _refusal_by_name(part, str(dtype).lower())
    if dtype.kind == "O":
        return _refusal_of_objects(np.asarray(part))
    return (ValueError, WORDS[dtype.kind]) if dtype.kind in WORDS else None


def _refuse_rounding(part: Any, column: str, remedy: str) -> None:
    """Refuse whole numbers that double precision would change, with the number of their column in a table."""
    values = _whole_numbers(part)
    found = Rounded() if values is None else rounded(values)
    if not found or values is None:
        return
    if values.ndim == 2 and values.shape[1] > 1:
        number, found = next((i, one) for i in range(values.shape[1]) if (one := rounded(values[:, i])))
        column = f"column {number} of {column}"
    raise ValueError(f"{column} {found.words}; {remedy}")


def _whole_numbers(part: Any) -> np.ndarray | None:
    """Values as NumPy holds them without rounding, where there may be long whole numbers among them."""
    dtype = getattr(part, "dtype", None)
    if dtype is None:
        values = _as_array(part)
        mixed = values is not None and values.dtype.kind == "f" and bool(np.any(np.abs(values) >= EXACT))
        return np.asarray(part, dtype=object) if mixed else values  # NumPy makes floats of whole numbers beside others
    if isinstance(dtype, np.dtype):
        if not (dtype.kind == "O" or (dtype.kind in "iu" and dtype.itemsize >= 8)):
            return None  # and nothing is brought here from a GPU
    elif not any(name in str(dtype).lower() for name in LONG):
        return None
    if is_array(part):
        return to_numpy(part)
    gaps = next((drop for drop in ("dropna", "drop_nulls") if hasattr(part, drop)), None)
    return np.asarray(part if gaps is None else getattr(part, gaps)())


def _as_array(part: Any) -> np.ndarray | None:
    try:
        return np.asarray(part)
    except (TypeError, ValueError):
        return None


def _refusal_by_name(part: Any, name: str) -> Refusal | None:
    """Of types that pandas, Polars, PyTorch and others have of their own."""
    for begin, kind in NAMES.items():
        if name.startswith(begin):
            return ValueError, WORDS[kind]
    if name.startswith(("categor", "enum", "object")):
        values = _as_array(part)
        return None if values is None else _refusal(values)
    return None


def _refusal_of_objects(values: np.ndarray) -> Refusal | None:
    """Of Python objects: the first of a type that is no real number decides."""
    for one in {type(v): v for v in values.ravel()}.values():
        if isinstance(one, str | bytes):
            return ValueError, f"text, such as {one!r:.40}{TEXT}"
        if isinstance(one, datetime.date | np.datetime64) or type(one).__name__ in ("NaTType", "Period"):
            return ValueError, WORDS["M"]
        if isinstance(one, datetime.timedelta | np.timedelta64):
            return ValueError, WORDS["m"]
        if isinstance(one, complex | np.complexfloating):
            return ValueError, WORDS["c"]
        if not hasattr(one, "__float__") and one is not None and type(one).__name__ != "NAType":
            # scikit-learn's checks look for the words of float()
            return TypeError, (
                f"objects that are no numbers: float() argument must be a string or a real number, not "
                f"{type(one).__name__!r}; pass columns of numbers"
            )
    return None
