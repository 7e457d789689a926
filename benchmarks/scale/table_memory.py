"""Peak memory of ``skmoe fit`` on Parquet files, of numbers alone and with text and gaps: the command line as it comes.

Each file is written in pieces and deleted after it was measured; the peak is that of the command's own process,
libraries included.
"""

from __future__ import annotations

import contextlib
import io
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..shared.measuring import resident
from ..shared.pages import Grid
from . import fresh, without

TITLE = "peak memory of skmoe fit on tables of numbers, text and gaps, up to 20 million rows"
GOAL_MB, GOAL_FACTOR, GOAL_LEAST_MB = 1000.0, 1.5, 600.0
SEED = 0
GROUP_ROWS = 2**17
D = 20
TABLES = (
    (385_000, False),  # just few enough to be held in memory, as the next
    (230_000, True),
    (1_000_000, True),
    (4_000_000, False),
    (20_000_000, True),
)


def missing() -> str | None:
    return without("pyarrow")


def measure(quick: bool, folder: Path) -> dict[str, Any]:
    tables = []
    for rows, messy in ((5_000, False), (20_000, True)) if quick else TABLES:
        path = folder / f"rows-{rows}.parquet"
        job = {"path": str(path), "rows": rows, "messy": messy}
        try:
            fresh("table_memory", what="write", **job)
            tables.append({**job, "path": path.name, **fresh("table_memory", what="fit", **job)})
        finally:
            path.unlink(missing_ok=True)
    return {"seed": SEED, "goal_MB": GOAL_MB, "tables": tables}


def work(job: dict[str, Any]) -> dict[str, Any]:
    return {"write": _write, "fit": _fit}[job["what"]](job)


def _write(job: dict[str, Any]) -> dict[str, Any]:
    """Write a row group at a time: twenty inputs, of which two are text and one has gaps where `messy` says so."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer = None
    for piece, start in enumerate(range(0, job["rows"], GROUP_ROWS)):
        rng = np.random.default_rng([SEED, piece])
        n = min(GROUP_ROWS, job["rows"] - start)
        X = rng.standard_normal((n, D))
        y = np.where(X[:, 0] > 0, 2 * X[:, 1] + 1, -X[:, 1]) + 0.5 * X[:, 2] + 0.3 * rng.standard_normal(n)
        columns = {f"x{i}": pa.array(X[:, i]) for i in range(D - 2 if job["messy"] else D)}
        if job["messy"]:
            town = np.array([f"town {i}" for i in range(12)])[np.minimum(rng.geometric(0.3, n) - 1, 11)]
            columns["x3"] = pa.array(X[:, 3], mask=rng.random(n) < 0.05)
            columns["town"] = pa.array(town, mask=rng.random(n) < 0.03)
            columns["kind"] = pa.array(np.array(["brick", "stone", "wood"])[rng.integers(0, 3, n)])
        table = pa.table({**columns, "y": y})
        writer = writer or pq.ParquetWriter(job["path"], table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
    return {}


def _fit(job: dict[str, Any]) -> dict[str, Any]:
    """Run the command in this process, which is a fresh one."""
    from skmoe.cli import app

    start, cpu, said = time.perf_counter(), time.process_time(), io.StringIO()
    words = ["fit", job["path"], "--target", "y", "--experts", "2", "--json", "--out", job["path"] + ".skmoe"]
    try:
        with contextlib.redirect_stdout(said):
            app(words)
    except SystemExit as left:
        if left.code:
            raise RuntimeError(f"skmoe fit ended with code {left.code}") from left
    finally:
        Path(job["path"] + ".skmoe").unlink(missing_ok=True)
    return {
        "numbers_MB": 8 * job["rows"] * (D + 1) / 1e6,
        "peak_MB": resident("VmHWM") / 1e6,
        "wall_s": time.perf_counter() - start,
        "cpu_s": time.process_time() - cpu,
    }


def grids(result: dict[str, Any]) -> dict[str, Grid]:
    rows = []
    for t in result["tables"]:
        bound = min(max(GOAL_FACTOR * t["numbers_MB"], GOAL_LEAST_MB), result["goal_MB"])
        rows.append(
            [
                f"{t['rows']:,}",
                "numbers, text and gaps" if t["messy"] else "numbers",
                f"{t['numbers_MB']:,.0f}",
                f"{t['peak_MB']:.0f}",
                f"{bound:.0f}: {'met' if t['peak_MB'] <= bound else 'MISSED'}",
                f"{t['cpu_s']:.0f}",
            ]
        )
    heads = ["rows", "columns", "as numbers, MB", "peak, MB", "bound, MB", "CPU s"]
    return {"table-memory": Grid("skmoe fit on Parquet files of 21 columns, k=2", heads, rows)}
