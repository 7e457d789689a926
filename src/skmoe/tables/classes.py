"""Classes of a classifier: their labels, and the numbers 0, 1, 2, ... that stand for them in a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.blocks import sum_over_blocks
from skmoe.arrays.kinds import unmasked
from skmoe.arrays.namespaces import Array, is_array, to_device, to_numpy
from skmoe.arrays.streamed import Streamed
from skmoe.tables.chosen import FittedColumns
from skmoe.tables.columns import is_text
from skmoe.tables.files import open_table
from skmoe.tables.inputs import RowsToFit, is_dask, is_streamable, rows_to_fit, rows_to_use

__all__ = ["class_rows_to_fit", "class_rows_to_use", "with_labels"]

ADVICE = "pass labels of one kind: text, whole numbers or booleans"
MOST_CLASSES = 1000  # more of them are numbers, not classes
BLOCK_ROWS = 2**16


def class_rows_to_fit(model: FittedColumns, X: Any, y: Any, weight: Any) -> tuple[RowsToFit, np.ndarray]:
    """Return the rows to fit a classifier to, outputs numbered by class, and the sorted labels of the classes."""
    X, y = with_labels(X, y)
    if y is None or _stays(y):
        rows = rows_to_fit(model, X, y, weight)
        if isinstance(rows.y, Streamed):
            return rows, _streamed_classes(rows.y)
        labels, codes = _numbered(to_numpy(rows.y))
        return replace(rows, y=to_device(codes, rows.X)), labels
    labels, codes = _numbered(_as_column(y))
    rows = rows_to_fit(model, X, _beside(X, codes), weight)
    if isinstance(rows.y, Streamed):
        return rows, _two_or_more(labels)
    left = np.unique(to_numpy(rows.y))  # classes whose rows have no weight are gone
    if len(left) < len(labels):
        back = np.searchsorted(left, to_numpy(rows.y)).astype(np.float64)
        rows, labels = replace(rows, y=to_device(back, rows.X)), labels[left.astype(np.intp)]
    return rows, _two_or_more(labels)


def class_rows_to_use(model: FittedColumns, X: Any, y: Any) -> tuple[Array, Array]:
    """Return inputs and numbered outputs for a fitted classifier."""
    X, y = with_labels(X, y)
    if _stays(y):
        return rows_to_use(model, X, y)
    values = _as_column(y)
    codes = np.searchsorted(model.classes_, values)
    codes = np.minimum(codes, len(model.classes_) - 1)
    unknown = model.classes_[codes] != values
    if np.any(unknown):
        raise ValueError(
            f"y has labels that the model was not fitted to, such as {values[unknown][0].item()!r}; it knows "
            f"{model.classes_[:10].tolist()}"
        )
    return rows_to_use(model, X, _beside(X, codes.astype(np.float64)))


def _stays(y: Any) -> bool:
    """Return whether outputs are the name of a column, or stay where they are: these are numbered already."""
    return isinstance(y, str | Streamed) or is_dask(y)


def _beside(X: Any, codes: np.ndarray) -> Array:
    """Send numbers of classes to the library and device of X, if that is an array."""
    return to_device(codes, X) if is_array(X) else codes


def with_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """Read rows and labels from a file or table of pyarrow where `y` names one of its columns and that holds text.

    The table is then held in memory; columns of numbers stay where they are.
    """
    if not isinstance(y, str) or not is_streamable(X) or is_dask(X):
        return X, y
    import pyarrow as pa

    table = open_table(X)
    table.check_names([y])
    held = next(iter(table.cells([y]))).schema.field(y).type
    if not (is_text(held) or pa.types.is_boolean(held)):
        return X, y
    whole = table.read()
    return whole.drop_columns([y]), np.array(whole[y].to_pylist(), dtype=object)


def _as_column(y: Any) -> np.ndarray:
    """Return labels as text, whole numbers or booleans; refuse missing labels, and labels of several kinds."""
    y = unmasked(y, "y")
    listed = isinstance(y, list | tuple)  # whose numbers and missing values NumPy would turn into text
    values = to_numpy(y) if is_array(y) else np.asarray(y, dtype=object if listed else None)
    values = column_or_1d(values, warn=True)
    if values.dtype.kind == "O":
        return _of_one_kind(values)
    if values.dtype.kind in "Mm":
        raise ValueError(f"y holds dates or durations ({values.dtype}), which are no classes; {ADVICE}")
    return values


def _of_one_kind(values: np.ndarray) -> np.ndarray:
    """Convert labels that are Python objects, all of one kind."""
    missing = sum(bool(_is_missing(v)) for v in values)
    if missing:
        raise ValueError(f"y has {missing} missing labels (NaN or None); drop those rows, or give them a class")
    for kind in (str, bool | np.bool_, Integral, Real):
        if all(isinstance(v, kind) for v in values):
            return values.astype(str) if kind is str else np.array(values.tolist())
    kinds = sorted({type(v).__name__ for v in values})
    if kinds == ["bytes"]:
        return values  # scikit-learn has a message for these
    held = f"type {kinds[0]}" if len(kinds) == 1 else f"several kinds ({', '.join(kinds)})"
    raise ValueError(f"y has labels of {held}; {ADVICE}")


def _is_missing(value: Any) -> bool:
    """Return whether a label is None, pandas' NA or NaT, or NaN, the only number that does not equal itself."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and value != value


def _numbered(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if values.dtype.kind == "f" and not np.all(np.isfinite(values)):
        raise ValueError("y contains NaN, missing values or infinity; drop those rows, or give them a class")
    labels, codes = np.unique(values, return_inverse=True)
    if len(labels) > MOST_CLASSES:
        found = f"y has {len(labels)} different labels, more than {MOST_CLASSES} classes"
        raise ValueError(Advised(found, Advice.NUMBERS))
    check_classification_targets(values)
    return labels, codes.ravel().astype(np.float64)


def _two_or_more(labels: np.ndarray) -> np.ndarray:
    if len(labels) < 2:
        raise ValueError(f"y has one class, {labels.tolist()[0]!r}, in all rows with weight; two or more are needed")
    return labels


@dataclass(frozen=True)
class _Labels:
    """Sorted labels, of which a few more than can be classes are kept; the sum of two is those of both."""

    values: np.ndarray

    def __add__(self, other: _Labels) -> _Labels:
        return _Labels(np.union1d(self.values, other.values)[: MOST_CLASSES + 1])


def _streamed_classes(y: Streamed) -> np.ndarray:
    """Return the classes of outputs that are read in blocks, which must be numbered already."""

    def kernel(block: Array) -> tuple[_Labels]:
        return (_Labels(np.unique(np.asarray(to_numpy(block), dtype=np.float64))),)

    found = sum_over_blocks(kernel, y, block_rows=BLOCK_ROWS)[0].values
    if len(found) > MOST_CLASSES or not np.array_equal(found, np.arange(len(found))):
        raise ValueError(
            "classes of rows that are streamed must be numbered 0, 1, 2, ... with none left out; the column has "
            f"{found[:5].tolist()}, ...: number them in the file"
        )
    return _two_or_more(found.astype(np.int64))
