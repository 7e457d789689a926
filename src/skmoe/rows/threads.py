"""Blocks side by side: a thread a block, each with the BLAS on one thread.

Blocks are too small to be shared out inside a product, and elementwise work never is; whole blocks are shared out well.
As many threads are used as the BLAS may have, so what limits that (``OMP_NUM_THREADS``, threadpoolctl, a Dask worker)
limits this. Results come in the order of the blocks: the number of threads changes no digit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

__all__ = ["in_order", "threads_allowed"]

AHEAD = 3  # blocks handed out per thread before the first of them is asked for: memory stays flat


@lru_cache(maxsize=1)
def _libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def threads_allowed() -> int:
    """Threads that the BLAS may use at this moment."""
    return max((library.num_threads or 1 for library in _libraries().lib_controllers), default=1)


def in_order(kernel: Callable[..., Any], blocks: Iterable[tuple[Any, ...]], threads: int) -> Iterator[Any]:
    """Yield what `kernel` makes of each block, in their order, worked on by so many threads."""
    waiting: deque[Future[Any]] = deque()
    with _libraries().limit(limits=1), ThreadPoolExecutor(threads) as pool:
        for block in blocks:
            # what the caller asked of NumPy about overflow holds in the threads as well
            waiting.append(pool.submit(copy_context().run, kernel, *block))
            if len(waiting) >= AHEAD * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
