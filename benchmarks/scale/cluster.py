"""A pass on a cluster, weak scaling: as many rows for each worker, and what the constants measured beside it foretell.

The cluster is simulated by processes of one thread each on this machine, so that more workers than cores share them.
Constants: seconds a row of each kind of pass on one core, and seconds a task costs whatever it does. From them and the
passes of a fit, `forecast` says how long a fit takes on other clusters.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..shared.linear_problem import em_sums, linear_problem
from ..shared.measuring import interleaved
from ..shared.pages import Grid
from . import THREADS, fresh, without

TITLE = "a pass over a simulated Dask cluster, beside what its constants foretell"
SEED = 0
KINDS = ("gradient", "em_sums", "information", "score_outer")
NAMES = {"gradient": "gradient", "em_sums": "EM", "information": "information", "score_outer": "outer product"}


def missing() -> str | None:
    return without("dask", "distributed")


def measure(quick: bool, folder: Path) -> dict[str, Any]:
    d, k = (5, 2) if quick else (100, 8)
    rows, parts, rounds = (4_000, 2, 1) if quick else (30_000, 2, 3)
    job = {"d": d, "k": k, "rows": rows, "parts": parts, "rounds": rounds}
    runs = [fresh("cluster", workers=workers, **job) for workers in ((1, 2) if quick else (1, 2, 4))]
    return {"seed": SEED, **job, "cpu_count": os.cpu_count(), "flops_a_row": flops_a_row(d, k), "runs": runs}


def flops_a_row(d: int, k: int) -> dict[str, int]:
    """Floating-point operations of the matrix products of each kind of pass, for one row."""
    D = d + 1
    p = (2 * k - 1) * D + 1
    thin = 2 * d * d + 8 * k * D  # whitening; logits, means, two gradients
    square = D * (D + 1)  # a weighted Gram matrix, its upper triangle
    return {
        "first_look": (D + 1) ** 2,
        "gradient": thin,
        "em_sums": thin + 2 * k * square,
        "information": thin + k * (2 * k - 1) * square + 4 * k * D,
        "score_outer": thin - 4 * k * D + p * p,
    }


def work(job: dict[str, Any]) -> dict[str, Any]:
    import dask
    import dask.array as da
    import distributed

    from skmoe.arrays.dask import DaskColumns

    d, workers, parts = job["d"], job["workers"], job["parts"]
    rows = job["rows"] // parts
    here = _calls(_block(rows, d, job["k"], 0), job)
    # Dask starts workers so that they give freed memory back at once, and threads do with heaps of their own; a block's
    # temporaries then cost page faults, half of the time. docs/scaling.md tells users
    environment = dict.fromkeys((*THREADS, "MALLOC_ARENA_MAX"), 1)
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": environment}),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs="CRITICAL"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.run(ready)
        addresses = list(client.scheduler_info()["workers"])
        table = dask.delayed(_block, pure=True)
        blocks = [
            client.compute(table(rows, d, job["k"], i), workers=addresses[i % workers]) for i in range(parts * workers)
        ]
        distributed.wait(blocks)

        def columns(at: int, *width: int) -> Any:
            one = [da.from_delayed(dask.delayed(_pick)(b, at), (rows, *width), dtype=float) for b in blocks]
            return client.persist(da.concatenate(one))

        X, y = columns(0, d), columns(1)
        distributed.wait([X, y])
        blocks.clear()  # workers keep the columns alone
        there = _calls((DaskColumns(X), DaskColumns(y)), job)
        shipped = _kernel_bytes(there)
        both = {
            f"{name}, {kind}": call
            for name, calls in (("here", here), ("there", there))
            for kind, call in calls.items()
        }
        for call in here.values():
            call()

        def workers_cpu() -> float:
            return sum(client.run(time.process_time).values())

        least = interleaved(both, job["rounds"], (time.perf_counter, time.process_time, workers_cpu))
        few, many = 8, 64 if job["rounds"] == 1 else 400
        idle = {tasks: _idle_pass(client, tasks) for tasks in (few, many)}
    a_task = max(idle[many] - idle[few], 0.0) / (many - few)
    a_pass = max(idle[few] - few * a_task, 0.0)
    cores, found = min(workers, os.cpu_count() or 1), {}
    tasks = parts * workers
    for kind in KINDS:
        row = least[f"here, {kind}"][1] / rows  # CPU seconds: others use the machine too
        wall, _, cpu = least[f"there, {kind}"]
        found[kind] = {
            "wall_s": wall,
            "workers_cpu_s": cpu,
            "foretold_cpu_s": row * rows * tasks,
            "foretold_s": row * rows * tasks / cores + tasks * a_task + a_pass,
            "seconds_a_row_on_one_core": row,
            "kernel_bytes": shipped[kind],
        }
    constants = {"seconds_a_task": a_task, "seconds_a_pass": a_pass}
    return {"workers": workers, "cores": cores, "tasks": tasks, **constants, "passes": found}


def ready() -> None:
    """Nothing: a worker that calls it has loaded this module, and knows its functions when it is sent them."""


def _block(rows: int, d: int, k: int, piece: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([SEED, piece])
    X = rng.standard_normal((rows, d))
    return X, _truth(d, k).sample(X, rng)[0]


def _pick(block: tuple[np.ndarray, np.ndarray], at: int) -> np.ndarray:
    return block[at]


def _truth(d: int, k: int) -> Any:
    from skmoe import make_moe

    return make_moe(10, d, k, noise_scale=0.3, random_state=SEED)[2]


def _calls(table: tuple[Any, Any], job: dict[str, Any]) -> dict[str, Callable[[], object]]:
    """One pass of each kind over a table, whitening included as in a fit."""
    from skmoe import likelihood

    problem = linear_problem(*table, job["k"], whitened=True)
    theta = problem.rows.map.from_parameters(_truth(job["d"], job["k"]))
    return {
        kind: lambda kind=kind: (em_sums if kind == "em_sums" else getattr(likelihood, kind))(problem, theta)
        for kind in KINDS
    }


def _kernel_bytes(calls: dict[str, Callable[[], object]]) -> dict[str, int]:
    """Size of the kernel each kind of pass sends out."""
    import cloudpickle

    from skmoe.arrays.dask import DaskColumns

    sizes: list[int] = []
    plain = DaskColumns.sum

    def sum_and_note(self: Any, kernel: Any, columns: Any, block_rows: int) -> Any:
        sizes.append(len(cloudpickle.dumps(kernel)))
        return plain(self, kernel, columns, block_rows)

    DaskColumns.sum = sum_and_note  # type: ignore[method-assign]
    try:
        for call in calls.values():
            call()
    finally:
        DaskColumns.sum = plain  # type: ignore[method-assign]
    return dict(zip(calls, sizes, strict=True))


def _idle_pass(client: Any, tasks: int) -> float:
    """Seconds of a pass of so many tasks that do nothing: scheduler and network, the tree of sums included."""
    import dask.array as da

    from skmoe.arrays.dask import DaskColumns

    held = client.persist(da.zeros((tasks, 1), chunks=(1, 1)))
    empty = DaskColumns(held)
    seconds = interleaved({"idle": lambda: empty.sum(_nothing, (empty,), 1)}, 4)
    return seconds["idle"][0]


def _nothing(x: np.ndarray) -> tuple[float]:
    return (0.0,)


def forecast(
    result: dict[str, Any], n: int, cores: int, partition_rows: int, passes: dict[str, int], read: float
) -> float:
    """Hours of all passes of a fit of n rows, read again at each pass at `read` bytes a second on a core."""
    one = result["runs"][0]
    tasks, bytes_read = -(-n // partition_rows), 8 * n * (result["d"] + 1)
    seconds = 0.0
    for kind, times in passes.items():
        row = one["passes"][kind]["seconds_a_row_on_one_core"] if kind != "read" else 0.0
        idle = tasks * one["seconds_a_task"] + one["seconds_a_pass"]
        seconds += times * ((n * row + bytes_read / read) / cores + idle)
    return seconds / 3600


def grids(result: dict[str, Any]) -> dict[str, Grid]:
    rows = [
        [
            str(run["workers"]),
            str(run["cores"]),
            f"{result['rows'] * run['workers']:,}",
            NAMES[kind],
            f"{run['passes'][kind]['wall_s']:.2f}",
            f"{run['passes'][kind]['foretold_s']:.2f}",
            f"{run['passes'][kind]['workers_cpu_s']:.2f}",
            f"{run['passes'][kind]['foretold_cpu_s']:.2f}",
            f"{run['passes'][kind]['workers_cpu_s'] / run['passes'][kind]['foretold_cpu_s']:.2f}",
        ]
        for kind in KINDS
        for run in result["runs"]
    ]
    one = result["runs"][0]
    flops = result["flops_a_row"]
    constants = [
        [
            NAMES[kind],
            f"{flops[kind]:,}",
            f"{1e6 * one['passes'][kind]['seconds_a_row_on_one_core']:.2f}",
            f"{flops[kind] / one['passes'][kind]['seconds_a_row_on_one_core'] / 1e9:.1f}",
            f"{one['passes'][kind]['kernel_bytes'] / 1e3:.0f}",
        ]
        for kind in KINDS
    ]
    constants.append(["a task that does nothing", "", f"{1e6 * one['seconds_a_task']:.0f} a task", "", ""])
    constants.append(["a pass that does nothing", "", f"{1e6 * one['seconds_a_pass']:.0f} a pass", "", ""])
    shape = f"d={result['d']}, k={result['k']}"
    return {
        "cluster": Grid(
            f"Weak scaling, {shape}, {result['rows']:,} rows a worker in {result['parts']} partitions",
            [
                "workers",
                "cores",
                "rows",
                "pass",
                "wall, s",
                "foretold",
                "workers' CPU, s",
                "foretold",
                "CPU over foretold",
            ],
            rows,
        ),
        "constants": Grid(
            f"Constants on one core, {shape}",
            ["pass", "flops a row", "µs a row", "GFLOP/s", "kernel, kB"],
            constants,
        ),
    }
