"""Times and memory of calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["best", "interleaved", "resident", "restart_peak"]


def best(call: Callable[[], object], repeats: int = 5, wait: Callable[[], object] = lambda: None) -> float:
    """Best of a few timings, after one that warms up; `wait` returns once a device is done."""
    times = []
    for i in range(repeats + 1):
        start = time.perf_counter()
        call()
        wait()
        if i:
            times.append(time.perf_counter() - start)
    return min(times)


def interleaved(
    calls: dict[str, Callable[[], object]], rounds: int, clocks: tuple[Callable[[], float], ...] = (time.perf_counter,)
) -> dict[str, list[float]]:
    """Least seconds of each call by each clock, over rounds that take all calls in turn.

    On a machine that others use as well, calls taken in turn are slowed alike; the least time is what the work costs.
    """
    least: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, call in calls.items():
            start = [clock() for clock in clocks]
            call()
            taken = [clock() - s for clock, s in zip(clocks, start, strict=True)]
            least[name] = [min(pair) for pair in zip(taken, least.get(name, taken), strict=True)]
    return least


def resident(field: str = "VmRSS") -> float:
    """Bytes of this process as Linux counts them: ``VmHWM`` is the peak, ``VmRSS`` the present.

    The peak that ``getrusage`` tells begins at that of the process that started this one.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * float(line.split()[1]) for line in lines if line.startswith(field + ":"))


def restart_peak() -> float | None:
    """Let the peak begin at what is resident now, and say how many bytes that is; None where it cannot be known."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return resident("VmHWM")
