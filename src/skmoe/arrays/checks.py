"""Checks of inputs; an error says what was expected, what was given, and what to do."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_array, check_random_state

from skmoe.arrays.blocks import sum_over_blocks
from skmoe.arrays.kinds import plain_numbers
from skmoe.arrays.namespaces import Array, array_namespace, device, is_array, to_numpy
from skmoe.arrays.sizes import LARGEST, Span, check_sizes, check_unit_sizes
from skmoe.arrays.streamed import Streamed

__all__ = [
    "RANDOM_STATE",
    "as_numbers",
    "check_coef",
    "check_enough_rows",
    "check_finite",
    "check_largest",
    "check_no_nan",
    "check_output_columns",
    "check_rows",
    "check_same_rows",
    "check_table_shape",
    "check_unit_rows",
    "check_varies",
    "check_weight",
    "generator",
    "weight_scale",
]

CHECK_ROWS = 65536  # finiteness is checked in blocks, so that no mask of all rows is built

MOST_COUNTED = 2.0**53  # whole weights that add up to more are no counts of rows
LEAST_WEIGHT = 1e-305  # below, one over a weight is no number

RANDOM_STATE = ["random_state", np.random.Generator]
"""Constraint on a `random_state` parameter, for scikit-learn's validation."""


def as_numbers(values: Any, name: str) -> Array:
    """Return values as an array of floats in the caller's library; refuse those that are no numbers."""
    if isinstance(values, Streamed):
        return values
    values = plain_numbers(values, name)
    if not is_array(values) or getattr(values.dtype, "kind", "f") == "O":
        every = {"ensure_2d": False, "allow_nd": True, "ensure_all_finite": False, "ensure_min_samples": 0}
        try:
            values = check_array(values, input_name=name, ensure_min_features=0, **every)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} could not be read as an array of numbers: {error}") from error
    xp = array_namespace(values)
    if not xp.isdtype(values.dtype, "real floating"):
        values = xp.astype(values, xp.float64)
    return values


def check_finite(values: Array, name: str) -> None:
    """Refuse NaN and infinity, in one pass."""

    def kernel(block: Array) -> tuple[Array]:
        xp = array_namespace(block)
        return (xp.sum(xp.astype(~xp.isfinite(block), xp.int64)),)

    bad = int(sum_over_blocks(kernel, values, block_rows=CHECK_ROWS)[0])
    if bad:
        raise ValueError(f"{name} contains NaN or infinity ({bad} such values found); drop or impute those rows")


def check_rows(X: Any, y: Any = None, *, finite: bool = True) -> tuple[Array, Array | None]:
    """Return inputs (n, d) and outputs (n,) in the caller's array library, checked to be real, finite and matching."""
    X = as_numbers(X, "X")
    check_table_shape(X.shape)
    if finite:
        check_finite(X, "X")
    if y is None:
        return X, None
    y = check_column(X, y, "y")
    if finite:
        check_finite(y, "y")
    return X, y


def check_table_shape(shape: tuple[int, ...]) -> None:
    """Refuse inputs that are no table of at least one row and one column."""
    if len(shape) != 2:
        raise ValueError(f"X must be a table of shape (n_samples, n_features); got shape {tuple(shape)}")
    if 0 in shape:
        raise ValueError(f"X must have at least one row and one column; got shape {tuple(shape)}")


def check_largest(X: Array, y: Array | None, names: Any = None) -> None:
    """Refuse rows to be predicted, and outputs, whose squares are no numbers any more."""
    xp = array_namespace(X)
    if not 0 <= max(float(xp.max(X)), -float(xp.min(X))) <= LARGEST:
        check_sizes(
            Span(*(np.asarray(to_numpy(f(X, axis=0)), dtype=np.float64) for f in (xp.min, xp.max))), None, names
        )
    if y is not None and max(float(xp.max(y)), -float(xp.min(y))) > LARGEST:
        raise ValueError(f"y holds numbers above {LARGEST:g}, whose squares are no numbers any more; drop those rows")


def check_no_nan(values: Array) -> Array:
    """Return predictions; refuse those that are no numbers, which would pass for missing values, or for a class."""
    xp = array_namespace(values)
    if xp.isdtype(values.dtype, "real floating") and bool(xp.any(xp.isnan(values))):
        rows = xp.any(xp.reshape(xp.isnan(values), (values.shape[0], -1)), axis=1)
        raise ValueError(
            f"the model has no number for {int(xp.sum(xp.astype(rows, xp.int64)))} of {values.shape[0]} rows: its "
            "coefficients, multiplied by their inputs, are beyond floating-point numbers; check these rows, and where "
            "the model comes from"
        )
    return values


def check_unit_rows(X: Any, y: Any = None, *, standard: bool = False) -> tuple[Array, Array | None]:
    """Check rows as `check_rows` does, and that their sizes suit a model with experts of unit length.

    With `standard` inputs are declared to be standard Gaussian.
    """
    X, y = check_rows(X, y)

    def kernel(*blocks: Array | None) -> tuple[Span, ...]:
        xp = array_namespace(blocks[0])
        return tuple(Span(xp.min(block, axis=0), xp.max(block, axis=0)) for block in blocks if block is not None)

    spans = sum_over_blocks(kernel, X, y, block_rows=CHECK_ROWS)
    inputs, *output = (Span(*(np.asarray(to_numpy(v), dtype=np.float64) for v in (one.low, one.high))) for one in spans)
    check_unit_sizes(inputs.largest, float(output[0].largest) if output else None, None, standard=standard)
    return X, y


def check_same_rows(n: int, m: int, name: str) -> None:
    """Refuse outputs or weights of another number of rows than X."""
    if n != m:
        raise ValueError(f"X has {n} rows and {name} has {m}; they must match")


def check_column(X: Array, values: Any, name: str) -> Array:
    """Return one number for each row of X, (n,), in the library and on the device of X."""
    values = as_numbers(values, name)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} must be one value a row, shape (n_samples,); got shape {tuple(values.shape)}")
    check_same_rows(X.shape[0], values.shape[0], name)
    return _beside(X, values)


def _beside(X: Array, values: Array) -> Array:
    """Return numbers as float64 in the library and on the device of X; streamed ones as they are."""
    if isinstance(X, Streamed):
        return values
    xp = array_namespace(X)
    if not isinstance(values, type(X)):
        values = xp.asarray(to_numpy(values), device=device(X))
    return xp.astype(values, xp.float64, copy=False)


def check_output_columns(X: Array, values: Any, columns: int) -> Array:
    """Return outputs (n, columns), which may be infinite, in the library and on the device of X."""
    values = as_numbers(values, "y")
    if tuple(values.shape) != (X.shape[0], columns):
        raise ValueError(
            f"y must have {columns} columns and a row for each of the {X.shape[0]} rows of X; got shape "
            f"{tuple(values.shape)}"
        )
    values = _beside(X, values)
    if not isinstance(X, Streamed) and bool(array_namespace(values).any(array_namespace(values).isnan(values))):
        raise ValueError("y contains NaN or missing values; drop those rows")
    return values


def check_weight(X: Array, values: Any) -> Array:
    """Return row weights (n,) as counts of rows, checked to be finite and not negative; see `weight_scale`."""
    weight = check_column(X, values, "sample_weight")
    if isinstance(weight, Streamed):
        return weight
    numbers = to_numpy(weight)
    refuse_weights(numbers)
    return weight * weight_scale(numbers[numbers > 0])


def refuse_weights(values: np.ndarray) -> None:
    """Refuse weights that are no numbers of rows, or leave too few."""
    refuse_weight_counts(*(int(np.sum(which)) for which in (values > 0, values < 0, ~np.isfinite(values))))
    if np.max(values) < LEAST_WEIGHT:
        raise ValueError(too_small_weights(float(np.max(values))))


def refuse_weight_counts(positive: int, negative: int, unknown: int) -> None:
    """Refuse weights by how many of them are positive, negative, and no numbers."""
    if negative:
        raise ValueError(f"sample_weight has {negative} negative values; weights must be zero or more")
    if unknown:
        raise ValueError(
            f"sample_weight contains NaN, missing values or infinity ({unknown} found); drop those rows, or give them "
            "weight 0"
        )
    if positive < 2:
        raise ValueError(f"there are {positive} rows with weight; at least two are needed")


def too_small_weights(size: float) -> str:
    """Return the message for weights so small that they have lost their digits."""
    return (
        f"sample_weight holds nothing above {size:.2g}, where numbers lose their digits; multiply it, by 1e+300 say: "
        "only how weights compare with each other counts"
    )


def weight_scale(values: np.ndarray) -> float:
    """Return the factor that makes weights counts of rows: one for whole numbers, else that of a mean of one."""
    largest = float(np.max(values))
    if largest <= MOST_COUNTED and np.all(values == np.floor(values)) and np.sum(values) <= MOST_COUNTED:
        return 1.0
    return 1.0 / largest / float(np.mean(values / largest))


def check_enough_rows(n: float, needed: int, what: str) -> None:
    """Refuse a table with fewer rows than there are numbers to learn."""
    if n < needed:
        raise ValueError(
            f"X has {n:g} rows, too few for {what}: at least {needed} are needed; use fewer experts or columns"
        )


def check_varies(y: Array) -> None:
    """Refuse a constant output."""

    def kernel(block: Array) -> tuple[Span]:
        xp = array_namespace(block)
        return (Span(xp.min(block), xp.max(block)),)

    (span,) = sum_over_blocks(kernel, y, block_rows=CHECK_ROWS)
    if bool(span.low == span.high):
        raise ValueError(f"y is constant ({float(span.low):g} in every row); there is nothing to learn from it")


def check_coef(coef: Any, d: int, name: str, k: int | None = None) -> np.ndarray:
    """Return a finite (k, d) matrix of coefficients."""
    coef = np.array(coef, dtype=np.float64)
    expected = f"({'n_experts' if k is None else k}, {d})"
    if coef.ndim != 2 or coef.shape[1] != d or (k is not None and coef.shape[0] != k):
        raise ValueError(f"{name} must have shape {expected} to match X; got {coef.shape}")
    if not np.all(np.isfinite(coef)):
        raise ValueError(f"{name} contains NaN or infinity")
    return coef


def generator(random_state: Any, purpose: str = "") -> np.random.Generator:
    """Return a generator from an int, a RandomState, a Generator or None.

    An int gives each purpose a stream of its own: the seed that drew a problem must not draw its truth as a start.
    """
    if isinstance(random_state, np.random.Generator):
        return random_state
    if purpose and isinstance(random_state, Integral):
        return np.random.default_rng([int(random_state), *purpose.encode()])
    return np.random.default_rng(check_random_state(random_state).randint(2**31))
