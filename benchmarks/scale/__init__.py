"""Benchmarks of size: one file each, run by `runner`, each measured part in a process of its own.

A benchmark is a module with

- ``TITLE``, one line for the list;
- ``missing()``, the reason why it cannot run here, or None;
- ``measure(quick, folder)``, the numbers as plain values; `folder` is where large files may be written;
- ``work(job)``, what a fresh process does for it (see `fresh`);
- ``grids(result)``, tables by the name of their block in ``docs/scaling.md``.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["MODULES", "RESULTS", "describe", "fresh", "without", "work"]

MODULES = {
    "products": "products",
    "memory": "memory",
    "table-memory": "table_memory",
    "same": "same",
    "cluster": "cluster",
    "gpu": "gpu",
}
RESULTS = Path(__file__).parent.parent / "results"
WORK = "import sys; from benchmarks.scale import work; work(*sys.argv[1:])"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


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
    root = Path(__file__).parents[2]
    path = [str(root), str(root / "src"), os.environ.get("PYTHONPATH", "")]
    environment = (
        os.environ | dict.fromkeys(THREADS, str(threads)) | {"PYTHONPATH": os.pathsep.join(filter(None, path))}
    )
    # -P: the working directory is not searched for modules
    command = [sys.executable, "-P", "-c", WORK, module, json.dumps(job)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the process for {module} {job} ended with code {done.returncode}; see above")
    return json.loads(done.stdout.splitlines()[-1])


def work(module: str, job: str) -> None:
    """Do one piece of work in this process; its result is the last line printed."""
    print(json.dumps(importlib.import_module(f".{module}", __name__).work(json.loads(job))))
