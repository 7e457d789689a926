"""Memory: how much is available, refusal of requests for more before any is taken, and reuse of freed blocks."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

__all__ = ["available_bytes", "check_memory", "gigabytes", "keep_freed_memory"]

USABLE_SHARE = 0.8  # of the available memory: other programs need some too
MEMINFO = Path("/proc/meminfo")
LARGEST_KEPT = 2**25 - 2**15  # bytes, a little below the most that glibc takes for its threshold
GROUP = Path("/sys/fs/cgroup")  # where a container's own limit stands


def available_bytes() -> float:
    """Return the bytes that a request may take: most of the free memory, or infinity where that is not known."""
    found = [size for size in (_free(), _left_in_container()) if size is not None]
    if found:
        return USABLE_SHARE * min(found)
    if hasattr(os, "sysconf") and "SC_PHYS_PAGES" in os.sysconf_names:  # how much of it is free is not reported
        return 0.5 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return float("inf")


def _free() -> float | None:
    """Return the kernel's estimate of the memory that programs can still be given."""
    if not MEMINFO.exists():
        return None
    for line in MEMINFO.read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return 1024.0 * int(line.split()[1])
    return None


def _left_in_container() -> float | None:
    """Return the memory that a container may still take; None where it has no limit."""
    try:
        most = (GROUP / "memory.max").read_text().strip()
        used = int((GROUP / "memory.current").read_text())
    except OSError:  # no such limit on this system
        return None
    return None if most == "max" else max(0.0, float(most) - used)


def keep_freed_memory() -> None:
    """Let the C library keep the memory of arrays that are freed, for later ones.

    glibc gives blocks back to the system that are larger than the largest one freed so far, and the end of its memory
    where that is twice as large. The temporaries of a block of rows, a few megabytes each, would be had anew page by
    page in every pass, which takes longer than the sums. An array that is never written costs nothing, and once it is
    freed they are kept.
    """
    np.empty(LARGEST_KEPT, dtype=np.uint8)


def gigabytes(size: float) -> str:
    """Return a size as text."""
    return f"{size / 1e9:.0f} GB" if size >= 10e9 else f"{size / 1e9:.2g} GB"


def check_memory(needed: float, what: str, advice: str) -> None:
    """Refuse work that needs more memory than is available.

    Parameters
    ----------
    needed : float
        Bytes.
    what, advice : str
        The work that needs them, and what to do instead.
    """
    available = available_bytes()
    if needed > available:
        raise ValueError(
            f"{what} needs about {gigabytes(needed)} of memory, and {gigabytes(available)} are available; {advice}"
        )
