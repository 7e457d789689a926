"""What comes in, and every word of input errors: what was expected, what came, and what to do."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from skmoe.rows.arrays import Array, array_namespace, device, is_array, to_numpy
from skmoe.rows.blocks import Streamed, sum_over_blocks, take_rows

__all__ = [
    "check_coef",
    "check_columns",
    "check_enough_rows",
    "check_look",
    "check_n_experts",
    "check_noise_scale",
    "check_positive",
    "check_rows",
    "check_spectral_rank",
    "check_varies",
    "generator",
]

CHECK_ROWS = 65536  # finiteness is looked at in blocks, so that no mask of the whole table is built


def _as_array(values: Any, name: str) -> Array:
    if isinstance(values, Streamed):
        return values
    if hasattr(values, "toarray"):
        raise TypeError(f"{name} is a sparse matrix; skmoe needs dense rows: pass {name}.toarray()")
    if not is_array(values):
        try:
            values = np.asarray(values)
        except ValueError as error:
            raise ValueError(f"{name} could not be read as an array of numbers: {error}") from error
    xp = array_namespace(values)
    if xp is not None and hasattr(values, "dtype") and getattr(values.dtype, "kind", "f") in "OUSV":
        try:
            values = values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name} holds values that are not numbers ({error}); encode text and categories first"
            ) from error
    if xp.isdtype(values.dtype, "complex floating"):
        raise ValueError(f"{name} is complex; pass real numbers")
    if not xp.isdtype(values.dtype, "real floating"):
        values = xp.astype(values, xp.float64)
    return values


def _check_finite(values: Array, name: str) -> None:
    def kernel(block: Array) -> tuple[Array]:
        xp = array_namespace(block)
        return (xp.sum(xp.astype(~xp.isfinite(block), xp.int64)),)

    bad = int(sum_over_blocks(kernel, values, block_rows=CHECK_ROWS)[0])
    if bad:
        raise ValueError(f"{name} contains NaN or infinity ({bad} such values found); drop or impute those rows")


def check_rows(X: Any, y: Any = None) -> tuple[Array, Array | None]:
    """Validate inputs (n, d) and outputs (n,); real, finite, matching. Arrays stay in the caller's library."""
    X = _as_array(X, "X")
    if X.ndim != 2:
        raise ValueError(f"X must be a table of shape (n_samples, n_features); got shape {tuple(X.shape)}")
    n, d = X.shape
    if n == 0 or d == 0:
        raise ValueError(f"X must have at least one row and one column; got shape {tuple(X.shape)}")
    _check_finite(X, "X")
    if y is None:
        return X, None
    y = _as_array(y, "y")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y must be one output a row, shape (n_samples,); got shape {tuple(y.shape)}")
    if y.shape[0] != n:
        raise ValueError(f"X has {n} rows and y has {y.shape[0]}; they must match")
    _check_finite(y, "y")
    if isinstance(X, Streamed):
        return X, y
    xp = array_namespace(X)
    if not isinstance(y, type(X)):  # outputs follow the inputs to their library and device
        y = xp.asarray(to_numpy(y), device=device(X))
    return X, xp.astype(y, xp.float64, copy=False)


def check_n_experts(n_experts: Any) -> int:
    """Validate the number of experts."""
    if isinstance(n_experts, bool) or not isinstance(n_experts, Integral):
        raise TypeError(f"n_experts must be a whole number; got {n_experts!r}")
    if n_experts < 1:
        raise ValueError(f"n_experts must be at least 1; got {n_experts}")
    return int(n_experts)


def check_spectral_rank(k: int, d: int) -> None:
    """Refuse more experts than inputs, which no moment matrix of rank d can hold."""
    if k > d:
        raise ValueError(
            f"n_experts={k} is more than the {d} columns of X, and the moment method reads at most one expert per "
            f"column; use n_experts <= {d}, or fit by likelihood with skmoe.joint_em"
        )


def check_enough_rows(n: int, needed: int, what: str) -> None:
    """Refuse a table with fewer rows than there are numbers to learn."""
    if n < needed:
        raise ValueError(
            f"X has {n} rows, too few for {what}: at least {needed} are needed; use fewer experts or columns"
        )


def check_varies(y: Array) -> None:
    """Refuse a constant output."""
    first = float(to_numpy(take_rows((y,), np.zeros(1, dtype=np.int64))[0])[0])

    def kernel(block: Array) -> tuple[Array]:
        xp = array_namespace(block)
        return (xp.sum(xp.astype(block != first, xp.int64)),)

    if not int(sum_over_blocks(kernel, y, block_rows=CHECK_ROWS)[0]):
        raise ValueError(f"y is constant ({first:g} in every row); there is nothing to learn from it")


def check_look(look: Any, names: Any) -> None:
    """Refuse a streamed table for what the first pass over it has shown."""
    bad = np.flatnonzero(~np.isfinite(np.diag(look.covariance)))
    if bad.size:
        which = [str(names[i]) if names is not None else int(i) for i in bad]
        raise ValueError(f"X contains NaN, missing values or infinity in columns {which}; drop or impute those rows")
    if look.negative:
        raise ValueError(f"sample_weight has {look.negative} negative values; weights must be zero or more")
    if not np.isfinite(look.total):
        raise ValueError("sample_weight contains NaN, missing values or infinity")
    if not np.isfinite(look.level) or not np.isfinite(look.spread):
        raise ValueError("y contains NaN, missing values or infinity; drop those rows")
    if look.rows < 2:
        raise ValueError(f"there are {look.rows} rows with weight; at least two are needed")
    if look.spread <= 1e-14 * abs(look.level):
        raise ValueError(f"y is constant ({look.level:g} in every row); there is nothing to learn from it")


def check_noise_scale(noise_scale: Any) -> float:
    """Validate a known noise scale."""
    if isinstance(noise_scale, bool) or not isinstance(noise_scale, Real):
        raise TypeError(f"noise_scale must be a number; got {noise_scale!r}")
    value = float(noise_scale)
    if not np.isfinite(value) or value <= 0:
        raise ValueError(f"noise_scale must be positive and finite; got {noise_scale}")
    return value


def check_coef(coef: Any, d: int, name: str, k: int | None = None) -> np.ndarray:
    """Validate a (k, d) matrix of coefficients."""
    coef = np.array(coef, dtype=np.float64)
    expected = f"({'n_experts' if k is None else k}, {d})"
    if coef.ndim != 2 or coef.shape[1] != d or (k is not None and coef.shape[0] != k):
        raise ValueError(f"{name} must have shape {expected} to match X; got {coef.shape}")
    if not np.all(np.isfinite(coef)):
        raise ValueError(f"{name} contains NaN or infinity")
    return coef


def check_positive(value: Any, name: str) -> None:
    """Refuse a setting that is not a positive number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not float(value) > 0:
        raise ValueError(f"{name} must be a positive number; got {value!r}")


def check_columns(features: Any, names: Any, d: int, name: str) -> list[int] | None:
    """Column indices for features given by name or index; None stands for all."""
    if features is None:
        return None
    known = None if names is None else [str(n) for n in names]
    columns = []
    for feature in features:
        if isinstance(feature, str):
            if known is None:
                raise ValueError(f"{name} names the column {feature!r}, but X has no column names; use indices")
            if feature not in known:
                raise ValueError(f"{name} names the column {feature!r}, which X does not have; it has {known}")
            columns.append(known.index(feature))
        elif isinstance(feature, Integral) and -d <= int(feature) < d:
            columns.append(int(feature) % d)
        else:
            raise ValueError(f"{name} must hold column names or indices below {d}; got {feature!r}")
    if not columns:
        raise ValueError(f"{name} is empty; leave it None for all columns")
    if len(set(columns)) < len(columns):
        raise ValueError(f"{name} names a column twice: {list(features)}")
    return columns


def generator(random_state: Any, purpose: str) -> np.random.Generator:
    """A generator of its own for each purpose: the seed that drew a problem must not draw its truth as a start."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, bool) or not isinstance(random_state, Integral) or int(random_state) < 0:
        raise ValueError(f"random_state must be a whole number, a numpy Generator or None; got {random_state!r}")
    return np.random.default_rng([int(random_state), *purpose.encode()])
