"""Threads: the BLAS is held on one, and blocks of rows are shared out over as many as it was allowed.

A block is too small to be divided inside a matrix product, and elementwise work is never divided there, so whole blocks
are shared out instead. The BLAS on one thread gives the same digits however many threads there are, and does not
wait for threads of its own on a busy machine. What limits the BLAS (``OMP_NUM_THREADS``, threadpoolctl, a Dask worker)
limits the threads used here. Filters of warnings belong to the process as the BLAS does, and are handled alike.
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ContextDecorator, contextmanager
from contextvars import copy_context
from functools import lru_cache
from typing import Any

import scipy.linalg  # noqa: F401 - its own BLAS has to be loaded before the libraries are listed
from threadpoolctl import ThreadpoolController

__all__ = [
    "in_order",
    "one_blas_thread",
    "one_openmp_thread",
    "threads_allowed",
    "with_one_blas_thread",
    "without_warnings",
]

AHEAD = 3
"""Blocks handed out per thread before the first of them is asked for, so that memory stays flat."""


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _set_blas_threads(numbers: Iterable[int | None]) -> None:
    """Set the threads of each BLAS, from whichever Python thread.

    From 3.7 on threadpoolctl heeds one Python thread alone, the first that ever set a number, and silently ignores
    all others. The lock of `_Shared` serves its purpose here, so that thread is cleared.
    """
    for library, number in zip(_libraries().lib_controllers, numbers, strict=True):
        if number is None:  # a library that does not report its number
            continue
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(number)
        clear(force=True)


class _Shared(ContextDecorator):
    """A context, or decorator, that changes the whole process: the first Python thread enters it, the last leaves it.

    Where each thread restored what it found by itself, two that overlap would leave the wrong state.

    Parameters
    ----------
    change : callable
        Makes the change, and returns what was there before.
    restore : callable
        Takes that, and restores it.
    """

    def __init__(self, change: Callable[[], Any], restore: Callable[[Any], None]) -> None:
        self._change, self._restore, self._lock, self._depth = change, restore, threading.Lock(), 0
        self.before: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self.before = self._change()
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._restore(self.before)

    @property
    def active(self) -> bool:
        """Return whether any caller is inside the context."""
        return self._depth > 0


def _blas_threads() -> list[int | None]:
    return [library.num_threads for library in _libraries().lib_controllers]


def _hold_blas() -> list[int | None]:
    before = _blas_threads()
    _set_blas_threads([1] * len(before))
    return before


def _save_filters() -> warnings.catch_warnings:
    saved = warnings.catch_warnings()
    saved.__enter__()
    return saved


one_blas_thread = _Shared(_hold_blas, _set_blas_threads)
with_one_blas_thread = one_blas_thread  # the name of the decorator
_filters = _Shared(_save_filters, lambda saved: saved.__exit__(None, None, None))


@contextmanager
def without_warnings(category: type[Warning] = Warning) -> Iterator[None]:
    """Ignore warnings of a category; the filters are back when the last of all Python threads has left."""
    with _filters:
        warnings.simplefilter("ignore", category)
        yield


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Hold OpenMP, with which scikit-learn clusters rows, on one thread.

    On a busy machine its threads wait for one another far longer than a thousand rows take.
    """
    with ThreadpoolController().limit(limits=1, user_api="openmp"):
        yield


def threads_allowed() -> int:
    """Return threads that blocks may use: what the BLAS was allowed before it was held on one."""
    numbers = one_blas_thread.before if one_blas_thread.active else _blas_threads()
    return max((number or 1 for number in numbers), default=1)


def in_order(kernel: Callable[..., Any], blocks: Iterable[tuple[Any, ...]], threads: int) -> Iterator[Any]:
    """Yield what `kernel` makes of each block, in the order of the blocks, worked on by so many threads."""
    waiting: deque[Future[Any]] = deque()
    with one_blas_thread, ThreadPoolExecutor(threads) as pool:
        for block in blocks:
            # the caller's np.errstate holds in the threads as well
            waiting.append(pool.submit(copy_context().run, kernel, *block))
            if len(waiting) >= AHEAD * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
