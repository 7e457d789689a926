"""The same answer wherever the rows are: parameters beside those of the NumPy fit, from the same seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from ..shared.pages import Grid
from . import fresh

TITLE = "parameters from a memory map, Parquet, CSV, PyTorch and Dask beside those from NumPy"
GOAL = 1e-8
SEED = 0
KINDS = ("memory map", "Parquet", "CSV", "PyTorch, CPU", "Dask, 2 processes")
PARAMETERS = ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_")


def missing() -> str | None:
    return None


def measure(quick: bool, folder: Path) -> dict[str, Any]:
    # above 200,000 rows the search is on a sample, which must be of the same rows everywhere
    n, d, k = (4_000, 4, 2) if quick else (400_000, 10, 3)
    found = fresh("same", n=n, d=d, k=k, folder=str(folder), kinds=KINDS)
    return {"seed": SEED, "n": n, "d": d, "k": k, "goal": GOAL, **found}


def work(job: dict[str, Any]) -> dict[str, Any]:
    from skmoe import MoERegressor, make_moe

    X, y, _ = make_moe(job["n"], job["d"], job["k"], noise_scale=0.3, random_state=SEED)
    X = X * 10.0 ** (np.arange(job["d"]) % 3 - 1) + 3.0  # columns in units of their own
    folder, k = Path(job["folder"]), job["k"]
    start = time.perf_counter()
    reference = MoERegressor(k, noise="shared", random_state=SEED).fit(X, y)
    found: dict[str, Any] = {"NumPy": {"difference": 0.0, "wall_s": time.perf_counter() - start}}
    skipped = {}
    for kind in job["kinds"]:
        try:
            opened = SOURCES[kind](X, y, folder)
        except ImportError as error:
            skipped[kind] = str(error)
            continue
        with opened as (inputs, outputs):
            start = time.perf_counter()
            model = MoERegressor(k, noise="shared", random_state=SEED).fit(inputs, outputs)
            found[kind] = {"difference": difference(model, reference), "wall_s": time.perf_counter() - start}
    searched = reference.history_["searched"]
    return {"searched": searched, "kinds": found, "skipped": skipped}


def difference(model: Any, reference: Any) -> float:
    """Largest difference of a parameter, over one plus its size."""
    pairs = ((getattr(model, name), getattr(reference, name)) for name in PARAMETERS)
    return max(float(np.max(np.abs(a - b) / (1 + np.abs(b)))) for a, b in pairs)


Source = AbstractContextManager[tuple[Any, Any]]


def _memory_map(X: np.ndarray, y: np.ndarray, folder: Path) -> Source:
    return _written(folder / "rows.npy", lambda path: np.save(path, X), lambda path: (np.load(path, mmap_mode="r"), y))


def _table(X: np.ndarray, y: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.table({**{f"x{i}": column for i, column in enumerate(X.T)}, "y": y})


def _parquet(X: np.ndarray, y: np.ndarray, folder: Path) -> Source:
    import pyarrow.parquet as pq

    path = folder / "rows.parquet"
    return _written(path, lambda p: pq.write_table(_table(X, y), p, row_group_size=2**16), lambda p: (p, "y"))


def _csv(X: np.ndarray, y: np.ndarray, folder: Path) -> Source:
    from pyarrow import csv

    return _written(folder / "rows.csv", lambda path: csv.write_csv(_table(X, y), path), lambda path: (path, "y"))


def _torch(X: np.ndarray, y: np.ndarray, folder: Path) -> Source:
    import torch

    return nullcontext((torch.as_tensor(X), torch.as_tensor(y)))


def _dask(X: np.ndarray, y: np.ndarray, folder: Path) -> Source:
    import dask.array as da
    import distributed

    @contextmanager
    def processes() -> Any:
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
            rows = -(-len(y) // 7)  # partitions that end elsewhere than blocks do
            yield client.persist([da.from_array(X, chunks=(rows, -1)), da.from_array(y, chunks=rows)])

    return processes()


@contextmanager
def _written(path: Path, write: Callable[[Path], object], opened: Callable[[Path], tuple[Any, Any]]) -> Any:
    write(path)
    try:
        yield opened(path)
    finally:
        path.unlink()


SOURCES: dict[str, Callable[[np.ndarray, np.ndarray, Path], Source]] = dict(
    zip(KINDS, (_memory_map, _parquet, _csv, _torch, _dask), strict=True)
)


def grids(result: dict[str, Any]) -> dict[str, Grid]:
    rows = [
        [
            kind,
            f"{found['difference']:.1g}" if kind != "NumPy" else "",
            "" if kind == "NumPy" else "met" if found["difference"] <= result["goal"] else "MISSED",
            f"{found['wall_s']:.1f}",
        ]
        for kind, found in result["kinds"].items()
    ]
    rows += [[kind, reason, "skipped", ""] for kind, reason in result["skipped"].items()]
    title = f"Fits of n={result['n']:,}, d={result['d']}, k={result['k']} beside NumPy's"
    heads = ["rows in", "largest difference of a parameter", f"goal {result['goal']:g}", "fit, s"]
    return {"same": Grid(title, heads, rows)}
