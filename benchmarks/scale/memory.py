"""Memory and time of a fit to a Parquet file as its rows grow: memory flat, a pass linear.

Each file is written in pieces and deleted after it was measured. Every measurement has a fresh process: its peak is
the ``VmHWM`` of Linux, libraries included.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from ..shared.linear_problem import em_sums, linear_problem
from ..shared.measuring import interleaved, resident
from ..shared.pages import Grid
from . import fresh, without

TITLE = "peak memory of a fit to a Parquet file of 20 million rows, and how a pass grows with rows"
GOAL_MB, GOAL_SLOPE = 1000.0, (0.95, 1.05)
SEED = 0
GROUP_ROWS = 2**17
PASSES = ("read", "gradient", "em_sums")


def missing() -> str | None:
    return without("pyarrow")


def measure(quick: bool, folder: Path) -> dict[str, Any]:
    d, k = 20, 4
    sizes = (5_000, 20_000) if quick else (100_000, 1_000_000, 5_000_000, 20_000_000)
    tables = []
    for rows in sizes:
        path = folder / f"rows-{rows}.parquet"
        job = {"path": str(path), "rows": rows, "d": d, "k": k}
        try:
            written = fresh("memory", what="write", **job)
            rounds = 1 if quick else max(2, min(8, 4_000_000 // rows))
            found = fresh("memory", what="passes", rounds=rounds, **job)
            tables.append({"rows": rows, **written, **found, "fit": fresh("memory", what="fit", **job)})
        finally:
            path.unlink(missing_ok=True)
    largest = tables[-1]
    return {
        "seed": SEED,
        "d": d,
        "k": k,
        "goal_MB": GOAL_MB,
        "goal_slope": GOAL_SLOPE,
        "largest_as_float64_MB": 8 * largest["rows"] * d / 1e6,
        "peak_MB": largest["fit"]["peak_MB"],
        "slopes": {
            name: {clock: _slope(sizes, [t[name][clock] for t in tables]) for clock in ("cpu_s", "wall_s")}
            for name in PASSES
        },
        "slope_of_fit": _slope(sizes, [t["fit"]["wall_s"] for t in tables]),
        "tables": tables,
    }


def _slope(sizes: tuple[int, ...], seconds: list[float]) -> float:
    """Exponent of the rows in the time, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def work(job: dict[str, Any]) -> dict[str, Any]:
    return {"write": _write, "passes": _passes, "fit": _fit}[job["what"]](job)


def _truth(job: dict[str, Any]) -> Any:
    from skmoe import make_moe

    return make_moe(10, job["d"], job["k"], noise_scale=0.3, random_state=SEED)[2]


def _write(job: dict[str, Any]) -> dict[str, Any]:
    """Write a row group at a time; a smaller file is the beginning of a larger one."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    truth, names = _truth(job), [*(f"x{i}" for i in range(job["d"])), "y"]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pq.ParquetWriter(job["path"], schema, use_dictionary=False) as writer:
        for piece, start in enumerate(range(0, job["rows"], GROUP_ROWS)):
            rng = np.random.default_rng([SEED, piece])
            X = rng.standard_normal((GROUP_ROWS, job["d"]))
            columns = [*X.T, truth.sample(X, rng)[0]]
            rows = min(GROUP_ROWS, job["rows"] - start)
            writer.write_table(pa.table([pa.array(c[:rows]) for c in columns], schema=schema))
    return {"file_MB": os.path.getsize(job["path"]) / 1e6}


def _passes(job: dict[str, Any]) -> dict[str, Any]:
    """CPU and wall seconds of one pass of each kind, and of reading alone."""
    from skmoe.likelihood import gradient
    from skmoe.tables.inputs import stream

    X, y, _, _ = stream(job["path"], "y")
    problem = linear_problem(X, y, job["k"], whitened=True)
    theta = problem.rows.map.from_parameters(_truth(job))

    def read() -> None:
        for _ in X.chunks((X, y)):
            pass

    calls = {"read": read, "gradient": lambda: gradient(problem, theta), "em_sums": lambda: em_sums(problem, theta)}
    for call in calls.values():
        call()
    least = interleaved(calls, job["rounds"], (time.process_time, time.perf_counter))
    return {name: dict(zip(("cpu_s", "wall_s"), seconds, strict=True)) for name, seconds in least.items()}


def _fit(job: dict[str, Any]) -> dict[str, Any]:
    from skmoe import MoERegressor, metrics
    from skmoe.likelihood import Problem, batch, derivatives
    from skmoe.search import batch_optimiser

    counts = dict.fromkeys(("batch_sums", "information", "score_outer"), 0)
    large = job["rows"] if job["rows"] > 200_000 else 0  # only passes over all rows of a large table are counted
    plain, plain_sums = Problem.mean_of, batch.batch_sums

    def batch_sums(problem: Problem, *given: Any, **how: Any) -> Any:
        counts["batch_sums"] += problem.n == large
        return plain_sums(problem, *given, **how)

    def mean_of(self: Any, kernel: Any, *given: Any, **how: Any) -> Any:
        kind = kernel.__qualname__.partition(".")[0]  # the function that made the kernel
        if kind in counts:
            counts[kind] += self.n == large
        return plain(self, kernel, *given, **how)

    Problem.mean_of = mean_of  # type: ignore[method-assign]
    for module in (derivatives, batch_optimiser):
        module.batch_sums = batch_sums  # type: ignore[attr-defined]
    before = resident("VmHWM") / 1e6
    began: dict[str, float] = {}
    start, cpu = time.perf_counter(), time.process_time()

    def note(progress: Any) -> None:
        began.setdefault(progress.stage, time.perf_counter() - start)

    model = MoERegressor(job["k"], noise="shared", random_state=SEED, verbose=note).fit(job["path"], "y")
    truth = _truth(job)
    return {
        "wall_s": time.perf_counter() - start,
        "cpu_s": time.process_time() - cpu,
        "stage_began_s": began,
        "peak_MB": resident("VmHWM") / 1e6,
        "before_MB": before,
        "passes": model.history_["passes"],
        "passes_by_kind": counts,
        "searched": model.history_["searched"],
        "converged": model.converged_,
        "parameter_error": metrics.parameter_error(
            model.expert_coef_, model.gate_coef_, truth.expert_coef, truth.gate_coef
        ),
    }


def grids(result: dict[str, Any]) -> dict[str, Grid]:
    rows = []
    for t in result["tables"]:
        fit, seconds = t["fit"], (f"{t[name]['cpu_s']:.3g}" for name in PASSES)
        rows.append(
            [
                f"{t['rows']:,}",
                f"{t['file_MB']:,.0f}",
                f"{fit['peak_MB']:.0f}",
                *seconds,
                f"{fit['wall_s']:.0f}",
                str(fit["passes"]) if t["rows"] > fit["searched"] else "",
            ]
        )
    slopes = [f"{result['slopes'][name]['cpu_s']:.3f}" for name in PASSES]
    rows.append(["slope", "", "", *slopes, f"{result['slope_of_fit']:.2f}", ""])
    low, high = result["goal_slope"]
    inside = [low <= result["slopes"][name]["cpu_s"] <= high for name in PASSES]
    words = ["met" if ok else "MISSED" for ok in (result["peak_MB"] < result["goal_MB"], *inside)]
    rows.append([f"goal: < {result['goal_MB']:.0f} MB; {low:g} to {high:g}", "", *words, "", ""])
    heads = ["rows", "file, MB", "peak, MB", "read, CPU s", "gradient, CPU s", "EM, CPU s", "whole fit, s", "passes"]
    return {"memory": Grid(f"Parquet files of {result['d']} columns, k={result['k']}", heads, rows)}
