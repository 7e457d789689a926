"""Array namespaces and devices: the one module that treats NumPy, PyTorch and CuPy differently.

Kernels elsewhere are written against the Array API standard. What the standard leaves out, and copies of small
matrices between the device of the rows and the host, is here.
"""

from __future__ import annotations

from typing import Any

import array_api_compat as compat
import numpy as np
from array_api_compat import device

Array = Any  # any array of an Array API namespace

__all__ = [
    "Array",
    "array_namespace",
    "columns",
    "design",
    "device",
    "exponentiate",
    "is_array",
    "multiply_into",
    "on_accelerator",
    "rows_last",
    "to_device",
    "to_numpy",
    "with_ones",
]


NUMPY = compat.array_namespace(np.empty(0))


def array_namespace(*arrays: Array) -> Any:
    """Return the namespace of some arrays, fast for NumPy, since kernels of small blocks call this often."""
    for x in arrays:
        if type(x) is not np.ndarray:
            return compat.array_namespace(*arrays)
    return NUMPY


def is_array(x: object) -> bool:
    """Return whether `x` belongs to an Array API namespace (a DataFrame or a list does not)."""
    return compat.is_array_api_obj(x)


def on_accelerator(x: Array) -> bool:
    """Return whether an array is on a GPU or another accelerator."""
    return compat.is_cupy_array(x) or (compat.is_torch_array(x) and x.device.type != "cpu")


def to_numpy(x: Array) -> np.ndarray:
    """Bring an array to the host as a float64 (or integer) NumPy array."""
    if isinstance(x, np.ndarray):
        return x
    if compat.is_torch_array(x):
        return x.detach().cpu().numpy()
    if compat.is_cupy_array(x):
        return x.get()
    return np.asarray(x)


def to_device(small: Any, like: Array) -> Array:
    """Send a small float64 host array to the namespace and device of `like`."""
    xp = array_namespace(like)
    return xp.asarray(np.asarray(small, dtype=np.float64), dtype=xp.float64, device=device(like))


def multiply_into(out: Array, a: Array, b: Array) -> None:
    """Write ``a * b`` into a slice of another array; the standard cannot, and one more copy costs time."""
    if isinstance(out, np.ndarray):
        np.multiply(a, b, out=out)
    elif compat.is_torch_array(out) or compat.is_cupy_array(out):
        array_namespace(out).multiply(a, b, out=out)
    else:
        out[...] = a * b


def exponentiate(x: Array) -> Array:
    """Return the exponential of `x`, overwriting it where the library can."""
    if isinstance(x, np.ndarray):
        return np.exp(x, out=x)
    return x.exp_() if compat.is_torch_array(x) else array_namespace(x).exp(x)


def columns(X: Array) -> Array:
    """Return the block of rows (b, d) as a float64 (d, b) view: for matrix products, which take any layout."""
    xp = array_namespace(X)
    return xp.astype(xp.matrix_transpose(X), xp.float64, copy=False)


def rows_last(X: Array) -> Array:
    """Return the block of rows (b, d) as a contiguous float64 (d, b) array.

    Channels by rows is the layout of every kernel: a channel is then contiguous, so that elementwise work runs at
    memory speed. The Array API does not define contiguity, hence the names of libraries below.
    """
    if isinstance(X, np.ndarray):
        return np.ascontiguousarray(X.T, dtype=np.float64)
    XT = columns(X)
    if compat.is_torch_array(XT):
        return XT.contiguous()
    if compat.is_cupy_array(XT):
        return array_namespace(XT).ascontiguousarray(XT)
    return XT


def design(X: Array, intercept: bool) -> Array:
    """Return the block of rows (b, d) as (d, b), or (d + 1, b) with a last channel of ones."""
    Z = rows_last(X)
    return with_ones(Z) if intercept else Z


def with_ones(Z: Array) -> Array:
    """Return a block (d, b) with a last channel of ones, (d + 1, b)."""
    xp = array_namespace(Z)
    return xp.concat([Z, xp.ones((1, Z.shape[1]), dtype=Z.dtype, device=device(Z))], axis=0)
