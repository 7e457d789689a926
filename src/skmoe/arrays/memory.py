"""Memory: how much is there, requests for more refused before any is taken, and what is freed kept for the next."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

__all__ = ["bytes_there", "check_memory", "gigabytes", "keep_freed_memory"]

PART = 0.8  # of the memory that is there: others need some too
MEMINFO = Path("/proc/meminfo")
LARGEST_KEPT = 2**25 - 2**15  # bytes, a little below the most that glibc takes for its threshold
GROUP = Path("/sys/fs/cgroup")  # where a container's own limit stands


def bytes_there() -> float:
    """Memory that a request may take: most of what is free, any amount where the system does not tell."""
    found = [part for part in (_free(), _left_to_the_group()) if part is not None]
    if found:
        return PART * min(found)
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:  # how much of it is free is not told
        return 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return float("inf")


def _free() -> float | None:
    """Memory that programs can still be given, by the kernel's own estimate."""
    if not MEMINFO.exists():
        return None
    for line in MEMINFO.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return 1024.0 * int(line.split()[1])
    return None


def _left_to_the_group() -> float | None:
    """What a container may still take, where it has a limit."""
    try:
        most = (GROUP / "memory.max").read_text().strip()
        used = int((GROUP / "memory.current").read_text())
    except OSError:  # no such limit on this system
        return None
    return None if most == "max" else max(0.0, float(most) - used)


def keep_freed_memory() -> None:
    """Have the C library keep the memory of arrays that are freed, for those that come next.

    glibc gives blocks back to the system that are larger than the largest one freed so far, and the end of its memory
    where that is twice as large. The temporaries of a block of rows, a few megabytes each, would be had anew page by
    page in every pass, which takes longer than the sums. An array that is never written costs nothing, and once it is
    freed they are kept.
    """
    np.empty(LARGEST_KEPT, dtype=np.uint8)


def gigabytes(size: float) -> str:
    """A size in words."""
    return f"{size / 1e9:.0f} GB" if size >= 10e9 else f"{size / 1e9:.2g} GB"


def check_memory(needed: float, what: str, advice: str) -> None:
    """Refuse what needs more memory than is there.

    Parameters
    ----------
    needed : float
        Bytes.
    what, advice : str
        What needs them, and what to do instead.
    """
    there = bytes_there()
    if needed > there:
        raise ValueError(
            f"{what} needs about {gigabytes(needed)} of memory, and {gigabytes(there)} are there; {advice}"
        )
