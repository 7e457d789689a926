"""Benchmarks of size: one file each, run by ``skmoe bench``, each measured part in a process of its own.

A benchmark is a module with

- ``TITLE``, one line for the list;
- ``missing()``, the reason why it cannot run here, or None;
- ``measure(quick, folder)``, the numbers as plain values; `folder` is where large files may be written;
- ``work(job)``, what a fresh process does for it (see `fresh`);
- ``grids(result)``, tables by the name of their block in ``docs/scaling.md``.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["MODULES", "RESULTS", "Grid", "describe", "fresh", "interleaved", "status", "without"]

MODULES = ("limit", "memory", "same", "cluster", "gpu", "peers")
RESULTS = Path(__file__).parent.parent / "results"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Grid(NamedTuple):
    """A table ready to be shown."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def describe(command: str) -> dict[str, Any]:
    """Say what was run, with which versions, on how many cores."""
    versions = {"python": platform.python_version()}
    for name in ("skmoe", "numpy", "scipy", "scikit-learn", "pyarrow", "torch", "distributed"):
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # an extra that is not installed has no version to tell
    return {"command": command, "versions": versions, "cpu_count": os.cpu_count()}


def without(*libraries: str) -> str | None:
    """Say which of the libraries a benchmark needs are not installed; None if all are."""
    absent = [name for name in libraries if importlib.util.find_spec(name) is None]
    return f"{', '.join(absent)} not installed" if absent else None


def fresh(module: str, threads: int = 1, **job: Any) -> dict[str, Any]:
    """Do a module's work in a fresh process with so many BLAS threads."""
    benchmarks = Path(__file__).parent.parent
    path = [str(benchmarks), str(benchmarks.parent / "src"), os.environ.get("PYTHONPATH", "")]
    environment = (
        os.environ | dict.fromkeys(THREADS, str(threads)) | {"PYTHONPATH": os.pathsep.join(filter(None, path))}
    )
    command = [sys.executable, "-m", "scale", module, json.dumps(job)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process for {module} {job} ended with code {done.returncode}; see above")
    return json.loads(done.stdout.splitlines()[-1])


def interleaved(
    calls: dict[str, Callable[[], object]], rounds: int, clocks: tuple[Callable[[], float], ...] = (time.perf_counter,)
) -> dict[str, list[float]]:
    """Least seconds of each call by each clock, over rounds that take all calls in turn.

    On a machine that others use as well, calls taken in turn meet the same weather; the least time is what the
    work costs.
    """
    least: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, call in calls.items():
            start = [clock() for clock in clocks]
            call()
            taken = [clock() - s for clock, s in zip(clocks, start, strict=True)]
            least[name] = [min(pair) for pair in zip(taken, least.get(name, taken), strict=True)]
    return least


def status(field: str) -> float:
    """MB of this process as Linux counts them: ``VmHWM`` is the peak, ``VmRSS`` the present."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field + ":")) * 1024 / 1e6
