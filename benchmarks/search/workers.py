"""Fits in processes of their own, under this interpreter or another in which another version of skmoe is installed.

    python -m benchmarks.search.workers < tasks

A worker reads one task a line: ``{"rows": path of an npz file with X and y, "settings": arguments of MoERegressor,
"limit": seconds}``. For each it fits and writes one line: total log-likelihood, maximised objective, whether a noise
scale is on its floor, processor time. It needs NumPy and skmoe alone, and passes on only those settings that its
version of `MoERegressor` knows. Every worker uses one thread. A first fit of a few rows, which loads code, is not
counted.

A fit that takes more processor time than its limit ends its worker; the next task gets a fresh one. Where the system
has no timer of processor time, there is no limit.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["OVER", "Worker", "fit", "side_by_side"]

OVER = "over the limit"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
WARM_UP = 60  # rows


# -- in the worker ----------------------------------------------------------------------------------------------------


def fit(X: np.ndarray, y: np.ndarray, settings: dict[str, Any], limit: float = 0.0) -> dict[str, Any]:
    """Fit and say what was reached, in total over the rows; more processor time than `limit` ends the process."""
    from skmoe import MoERegressor, __version__

    known = inspect.signature(MoERegressor).parameters
    model = MoERegressor(**{name: value for name, value in settings.items() if name in known})
    timer = getattr(signal, "setitimer", lambda which, seconds: None)
    timer(getattr(signal, "ITIMER_PROF", 0), limit)
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was reached tells
        model.fit(X, y)
    seconds = time.process_time() - begin
    timer(getattr(signal, "ITIMER_PROF", 0), 0.0)
    value = float(np.sum(model.parameters_.log_density(X, y)))
    trace = model.history_.get("objective", model.history_.get("log_likelihood"))  # as earlier versions called it
    return {
        "log_likelihood": value,
        # the trace of the last run is on a standardised output, which is that of rows standardised beforehand
        "objective": value if trace is None or not len(trace) else float(trace[-1]) * len(y),
        "at_floor": bool(model.history_["at_floor"]),
        "least_share": float(np.min(model.shares_)),
        "n_experts": int(model.n_experts_),
        "n_parameters": int(model.n_parameters_),
        "seconds": seconds,
        "skmoe": __version__,
        **({"chosen": float(model.penalty_)} if hasattr(model, "penalty_") else {}),
    }


def _warm_up() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((WARM_UP, 2))
    fit(X, np.abs(X[:, 0]) + 0.1 * rng.standard_normal(WARM_UP), {"n_experts": 2, "random_state": 0})


def work() -> None:
    """Answer tasks from the standard input until it ends."""
    _warm_up()
    for line in sys.stdin:
        task = json.loads(line)
        try:
            with np.load(task["rows"]) as rows:
                found = fit(rows["X"], rows["y"], task["settings"], task["limit"])
        except Exception as error:  # whatever a fit raises is a result: it is counted and shown
            found = {"error": "".join(traceback.format_exception_only(error)).strip()[-300:]}
        print(json.dumps(found), flush=True)


# -- in the process that asks -----------------------------------------------------------------------------------------


class Worker:
    """A process that fits, started when it is first asked.

    Parameters
    ----------
    python : str
        The interpreter it runs under.
    """

    def __init__(self, python: str = sys.executable) -> None:
        self.python = python
        self.process: subprocess.Popen[str] | None = None

    def ask(self, rows: Path, settings: dict[str, Any], limit: float = 0.0) -> dict[str, Any]:
        """What a fit reached, or ``{"error": reason}``; `limit` is in seconds of processor time, 0 for none."""
        if self.process is None or self.process.poll() is not None:
            environment = {**os.environ, **dict.fromkeys(THREADS, "1")}
            if self.python != sys.executable:
                environment.pop("PYTHONPATH", None)  # it could lead to our own version
            self.process = subprocess.Popen(
                [self.python, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
            )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps({"rows": str(rows), "settings": settings, "limit": limit}) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if answer:
            return json.loads(answer)
        ended = self.process.wait()
        self.close()
        if ended == -getattr(signal, "SIGPROF", 0):
            return {"error": OVER}
        return {"error": f"the process ended with status {ended}"}

    def close(self) -> None:
        """End the process, if there is one; a fit in progress is lost."""
        if self.process is not None:
            self.process.kill()
            for stream in (self.process.stdin, self.process.stdout):
                if stream is not None:
                    stream.close()
            self.process.wait()
            self.process = None


def side_by_side(
    tasks: Iterable[Any], run: Callable[[Any, dict[str, Worker]], None], pythons: dict[str, str], jobs: int
) -> None:
    """Call ``run(task, workers)`` for every task, `jobs` at a time; workers are by label, one of each interpreter."""
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    teams = [{label: Worker(python) for label, python in pythons.items()} for _ in range(jobs)]
    errors: list[BaseException] = []

    def serve(team: dict[str, Worker]) -> None:
        try:
            while not errors:
                run(waiting.get_nowait(), team)
        except queue.Empty:
            pass
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=serve, args=(team,), daemon=True) for team in teams]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:  # after an interrupt as well
        for team in teams:
            for worker in team.values():
                worker.close()
    if errors:
        raise errors[0]


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    work()
