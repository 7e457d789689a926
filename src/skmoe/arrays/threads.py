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
from contextlib import contextmanager
from contextvars import copy_context
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

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

P = ParamSpec("P")
T = TypeVar("T")


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def _set_blas_threads(numbers: Iterable[int | None]) -> None:
    """Set the threads of each BLAS, from whichever Python thread.

    From 3.7 on threadpoolctl heeds one Python thread alone, the first that ever set a number, and silently ignores
    all others. The lock of `_OneBlasThread` serves its purpose here, so that thread is cleared.
    """
    for library, number in zip(_libraries().lib_controllers, numbers, strict=True):
        if number is None:  # a library that does not report its number
            continue
        clear = getattr(library, "clear_controlling_thread", lambda force: None)
        clear(force=True)
        library.set_num_threads(number)
        clear(force=True)


class _OneBlasThread:
    """Context in which the BLAS runs on one thread; shared by all Python threads, since the BLAS is."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._before: list[int | None] = []
        self.allowed = 1

    def __enter__(self) -> None:
        with self._lock:
            if self._depth == 0:
                self.allowed = _blas_threads()
                self._before = [library.num_threads for library in _libraries().lib_controllers]
                _set_blas_threads([1] * len(self._before))
            self._depth += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                _set_blas_threads(self._before)

    @property
    def active(self) -> bool:
        """Return whether any caller is inside the context."""
        return self._depth > 0


one_blas_thread = _OneBlasThread()


class _WithoutWarnings:
    """Contexts in which warnings are ignored; the filters are back when the last of all Python threads has left.

    Filters belong to the process: where each thread restores them by itself, two that overlap leave the wrong ones.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._before = warnings.catch_warnings()

    @contextmanager
    def __call__(self, category: type[Warning] = Warning) -> Iterator[None]:
        with self._lock:
            if self._depth == 0:
                self._before = warnings.catch_warnings()
                self._before.__enter__()
            warnings.simplefilter("ignore", category)
            self._depth += 1
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
                if self._depth == 0:
                    self._before.__exit__(None, None, None)


without_warnings = _WithoutWarnings()


def with_one_blas_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function so that the BLAS runs on one thread inside it."""

    @wraps(function)
    def inside(*args: P.args, **kwargs: P.kwargs) -> T:
        with one_blas_thread:
            return function(*args, **kwargs)

    return inside


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Hold OpenMP, with which scikit-learn clusters rows, on one thread.

    On a busy machine its threads wait for one another far longer than a thousand rows take.
    """
    with ThreadpoolController().limit(limits=1, user_api="openmp"):
        yield


def _blas_threads() -> int:
    return max((library.num_threads or 1 for library in _libraries().lib_controllers), default=1)


def threads_allowed() -> int:
    """Return threads that blocks may use: what the BLAS was allowed before it was held on one."""
    return one_blas_thread.allowed if one_blas_thread.active else _blas_threads()


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
