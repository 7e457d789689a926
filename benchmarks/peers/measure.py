"""One fit in a process of its own: how good, how long, how much memory."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..shared.measuring import resident, restart_peak
from . import Cost, Fitted, Method, all_methods
from .problems import PROBLEMS, Problem, coefficient_error

__all__ = ["judge", "measure", "truth_record", "work"]

PRELOADED = ["skmoe.estimators", "scipy.stats", "sklearn.mixture", "sklearn.model_selection"]


def truth_record(name: str, seed: int) -> dict[str, Any] | None:
    """What the true parameters would score on the new rows; None for a table."""
    problem = PROBLEMS[name](seed)
    if problem.truth is None:
        return None
    fitted = Fitted(problem.truth.predict, problem.truth.log_density, problem.truth.A, problem.k)
    return judge(fitted, problem, own_units=True)


def measure(method: str, problem: str, seed: int, limit: float) -> dict[str, Any]:
    """Fit in a fresh process and judge there; a fit that fails or takes longer than `limit` seconds gives an error."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOADED)  # so that a fresh process does not import for seconds
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sender, method, problem, seed))
    process.start()
    sender.close()
    if receiver.poll(limit):
        try:
            found = receiver.recv()
        except EOFError:
            found = {"error": "the process ended without an answer"}
    else:
        found = {"error": f"over the limit of {limit:g} seconds"}
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # with the R that it may have started
    process.join()
    return found


def work(sender: Any, name: str, problem_name: str, seed: int) -> None:
    """Fit and judge in this process, and send what was found."""
    os.setpgid(0, 0)
    try:
        peer, method = all_methods()[name]
        for module in peer.modules:
            importlib.import_module(module)
        problem = PROBLEMS[problem_name](seed)
        with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted, cost = _timed(method, problem, seed)
            found = judge(fitted, problem, own_units=method.own_units)
        sender.send({**found, **cost._asdict(), "n_components": fitted.n_components})
    except Exception as error:  # whatever a peer raises is a result: it is counted and shown
        sender.send({"error": "".join(traceback.format_exception_only(error)).strip()[-300:]})


def _timed(method: Method, problem: Problem, seed: int) -> tuple[Fitted, Cost]:
    X, y = problem.X, problem.y
    if not method.own_units:
        X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
    before = restart_peak()
    wall, cpu = time.perf_counter(), time.process_time()
    fitted = method.fit(X, y, problem.k, seed)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    memory = None if before is None else (resident("VmHWM") - before) / 2**20
    return fitted, fitted.cost or Cost(cpu, wall, memory)


def judge(fitted: Fitted, problem: Problem, *, own_units: bool) -> dict[str, Any]:
    """Log densities and error on new rows, y in units of its spread over the rows fitted; error of the experts."""
    mean, spread = problem.X.mean(axis=0), problem.X.std(axis=0)
    center, scale = problem.y.mean(), problem.y.std()
    X, y, X_fitted, y_fitted = problem.X_new, problem.y_new, problem.X, problem.y
    if not own_units:
        X, X_fitted = (X - mean) / spread, (X_fitted - mean) / spread
        y, y_fitted = (y - center) / scale, (y_fitted - center) / scale
    unit = scale if own_units else 1.0
    found: dict[str, Any] = {"rmse": float(np.sqrt(np.mean((y - fitted.predict(X)) ** 2)) / unit)}
    found |= {"log_density": None, "fitted_log_density": None, "coefficient_error": None}
    if fitted.log_density is not None:
        found["log_density"] = float(np.mean(fitted.log_density(X, y)) + np.log(unit))
        found["fitted_log_density"] = float(np.mean(fitted.log_density(X_fitted, y_fitted)) + np.log(unit))
    if problem.truth is not None and fitted.expert_coef is not None and len(fitted.expert_coef) == problem.k:
        coef = fitted.expert_coef if own_units else fitted.expert_coef * scale / spread
        found["coefficient_error"] = coefficient_error(coef, problem.truth.A, spread)
    if not all(np.isfinite(value) for value in found.values() if value is not None):
        return {"error": f"not finite on new rows: {found}"}
    return found
