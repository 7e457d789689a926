"""Sums over a block of rows by compiled code, for linear experts with Gaussian noise on a CPU.

Elementwise work of a step is two dozen passes of NumPy over small arrays, and most of the time of a search; compiled,
it is one pass (``fused.c``). The library is built where the package is installed with a C compiler at hand. Without
one, for other families and on other devices, `skmoe.likelihood.batch` does the same by the Array API.
"""

from __future__ import annotations

import ctypes
import threading
import warnings
from ctypes import c_ssize_t, c_void_p
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skmoe.arrays.streamed import Streamed
from skmoe.likelihood.rows import Block
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily

__all__ = ["BLOCK_DOUBLES", "FusedSums", "fused_sums", "is_compiled", "is_library_built", "loaded"]

LIBRARY = Path(__file__).with_name("libfused.so")
VERSION = 1
"""Version of the functions' signature, as in ``fused.c``."""
STRIP = 64
"""Rows that the compiled loop works on at a time."""
BLOCK_DOUBLES = 2**16
"""Size of a block's channels: its four arrays stay in the level-2 cache, and calls are few."""

_thread = threading.local()


class FusedSums(NamedTuple):
    """Weighted sums over a block for S models, and channels for matrix products."""

    log_density: np.ndarray  # (S,), less the part that is the same for all experts
    share: np.ndarray  # (S, k)
    squares: np.ndarray  # (S, k) squared residuals
    channels: np.ndarray  # (2 S k, b) responsibilities less the gate, and residuals; overwritten by the next call
    hessian_weights: np.ndarray | None  # (2 S k, b) responsibilities, and p (1 - p) of the gate; likewise


@lru_cache(maxsize=1)
def loaded(path: Path) -> Any | None:
    """Load a compiled library; None where it was not built and, with a warning, where this machine cannot load it."""
    if not path.exists():
        return None
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        warnings.warn(
            f"the compiled code of skmoe cannot be loaded ({error}); NumPy does the work, and fits take up to five "
            "times as long: install skmoe again on this machine, with a C compiler",
            RuntimeWarning,
            stacklevel=2,
        )
        return None


@lru_cache(maxsize=1)
def _library() -> Any | None:
    """Return the compiled function, or None where it was not built, or for another version of this module."""
    library = loaded(LIBRARY)
    if library is None or not hasattr(library, "skmoe_fused_version") or library.skmoe_fused_version() != VERSION:
        return None
    function = library.skmoe_fused_sums
    table: list[Any] = [c_void_p, c_ssize_t, c_ssize_t]
    function.argtypes = [*[c_ssize_t] * 3, c_void_p, c_void_p, *table, *table, *[c_void_p] * 7]
    function.restype = None
    return function


def is_library_built() -> bool:
    """Return whether the compiled library is there and of this version."""
    return _library() is not None


def is_compiled(family: Family, X: Any) -> bool:
    """Return whether compiled code takes experts of a family, on rows in memory or in a file."""
    linear = type(family) is GaussianFamily and family.g.linear
    local = type(X) is np.ndarray or (isinstance(X, Streamed) and not X.remote)
    return linear and local and is_library_built()


def _table(values: np.ndarray | None, rows: int, models: int) -> tuple[int | None, int, int]:
    """Return the address of values (b,), (b, 1) or (b, S), and their steps between rows and between models."""
    if values is None:
        return None, 0, 0
    if values.shape not in ((rows,), (rows, 1), (rows, models)):  # compiled code would read beyond them
        raise ValueError(f"values of {rows} rows and {models} models cannot be of shape {values.shape}")
    steps: list[int] = [step // values.itemsize for step in values.strides]
    return values.ctypes.data, steps[0], steps[1] if len(steps) == 2 and values.shape[-1] > 1 else 0


def _buffers(shape: tuple[int, int], hessian_weights: bool) -> tuple[np.ndarray, np.ndarray | None]:
    """Return arrays to write to, reused by each thread: fresh memory costs more time than filling it."""
    size = shape[0] * shape[1]
    held = getattr(_thread, "numbers", None)
    if held is None or len(held) < 2 * size:
        held = _thread.numbers = np.empty(2 * size)
    return held[:size].reshape(shape), held[size : 2 * size].reshape(shape) if hessian_weights else None


def fused_sums(
    W: np.ndarray,
    A: np.ndarray,
    block: Block,
    scale: np.ndarray,
    weight: np.ndarray | None,
    *,
    hessian_weights: bool,
) -> FusedSums:
    """Return the sums over a block of rows.

    Parameters
    ----------
    W, A : (S k, Dg), (S k, De) arrays
        Gate vectors and experts.
    block : Block
        Inputs, and outputs (b,), (b, 1) or (b, S).
    scale : (S, k) array
        Noise.
    weight : (b,), (b, 1) or (b, S) array, optional
        Replaces the weights of the block.
    hessian_weights : bool
        Whether the weights of Gram matrices are computed.
    """
    function = _library()
    assert function is not None, "check is_compiled first"
    (S, k), b = scale.shape, block.U.shape[1]
    channels, weights = _buffers((2 * S * k, b), hessian_weights)
    if block.U is block.V:  # one product is faster than two thin ones
        np.matmul(np.concatenate([W, A]), block.U, out=channels)
    else:
        np.matmul(W, block.V, out=channels[: S * k])
        np.matmul(A, block.U, out=channels[S * k :])
    y = np.asarray(block.y, dtype=np.float64)
    weight = None if weight is None else np.asarray(weight, dtype=np.float64)
    scale = np.ascontiguousarray(scale)
    log_scale, half_precision = np.log(scale), 0.5 / scale**2
    log_density, share, squares = np.empty(S), np.empty((S, k)), np.empty((S, k))
    work = np.empty(2 * k * STRIP)
    first = channels.ctypes.data
    function(
        *(S, k, b, first, first + channels.nbytes // 2),
        *_table(y, b, S),
        *_table(weight, b, S),
        *(array.ctypes.data for array in (log_scale, half_precision, log_density, share, squares)),
        None if weights is None else weights.ctypes.data,
        work.ctypes.data,
    )
    return FusedSums(log_density, share, squares, channels, weights)
