"""R's flexmix as a peer: the same model (a noise scale per expert, intercepts everywhere), called through Rscript.

Needs R and its package flexmix on the machine (on Debian: ``apt-get install r-base-core r-cran-flexmix``); nothing else
in the project does. The R side is ``flexmix.R`` beside this file.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["SCRIPT", "available", "run_flexmix"]

SCRIPT = Path(__file__).with_suffix(".R")


def available() -> bool:
    """Whether Rscript is on the path; whether it has flexmix shows when it runs."""
    return shutil.which("Rscript") is not None


def _call(script: Path, arguments: list[str], timeout: float | None) -> dict[str, Any]:
    """Run the R script in a plain locale on one thread, and parse what it printed."""
    rscript = shutil.which("Rscript")
    if rscript is None:
        raise FileNotFoundError(
            "Rscript was not found on the path; install R with the package flexmix "
            "(on Debian: apt-get install r-base-core r-cran-flexmix), or leave flexmix out of the comparison"
        )
    environment = {**os.environ, "LC_ALL": "C", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [rscript, "--vanilla", str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=environment, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{script.name} failed with exit status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)


def _standard_errors(answer: dict[str, Any], k: int, d: int, order: list[int]) -> dict[str, Any]:
    """Name the parts of refit's flat vector: per component (intercept, coef, log sigma), then the gates of 2..k."""
    if answer["error"] is not None:
        return {"seconds": answer["seconds"], "error": answer["error"]}
    se = np.array([np.nan if s is None else s for s in answer["se"]])
    experts = se[: k * (d + 2)].reshape(k, d + 2)[order]
    gate = np.vstack([np.zeros((1, d + 1)), se[k * (d + 2) :].reshape(k - 1, d + 1)])[order]
    return {
        "seconds": answer["seconds"],
        "error": None,
        "expert_intercept": experts[:, 0],
        "expert_coef": experts[:, 1:-1],
        "log_noise_scale": experts[:, -1],
        "gate_intercept": gate[:, 0],
        "gate_coef": gate[:, 1:],
    }


def run_flexmix(
    X: Any,
    y: Any,
    k: int,
    *,
    starts: int,
    seed: int,
    standard_errors: bool = False,
    tolerance: float = 1e-6,
    max_iter: int = 1000,
    timeout: float | None = None,
    script: Path = SCRIPT,
) -> dict[str, Any]:
    """Fit `k` linear experts and a softmax gate with flexmix, from several random starts.

    Parameters
    ----------
    X : (n, d) array        y : (n,) array
    k : int
    starts : int        seed : int
        Start ``i`` uses R's seed ``seed + i``.
    standard_errors : bool
        Run flexmix's ``refit`` on the best fit as well.
    tolerance : float
        flexmix stops when the log-likelihood changes by less than this share of itself; 1e-6 is its default.
    max_iter : int
    timeout : float, optional
        Seconds after which R is stopped with ``subprocess.TimeoutExpired``.
    script : path
        The R script: this one, or one that runs it and measures what it costs.

    Returns
    -------
    dict
        ``log_likelihood`` (starts,) summed over rows, NaN where a start failed, ``seconds`` (starts,) of fitting
        without R's own start, ``iterations``, ``converged``, ``errors`` (a text or None each), ``r_version``,
        ``flexmix_version`` and ``best``, None if every start failed, else a dict with ``log_likelihood``,
        ``n_parameters``, ``expert_coef`` (k, d), ``expert_intercept`` (k,), ``gate_coef`` (k, d), ``gate_intercept``,
        ``noise_scale`` (k,) and ``standard_errors``: None, or the same names with their standard errors
        (``log_noise_scale`` for the noise) and ``seconds``. The last gate row is zero, as in skmoe: flexmix's first
        component comes last.
    """
    X, y = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if X.ndim != 2 or y.shape != X.shape[:1]:
        raise ValueError(f"X must be (n, d) and y (n,); got shapes {X.shape} and {y.shape}")
    d = X.shape[1]
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder) / "rows.csv"
        header = ",".join([*(f"x{j + 1}" for j in range(d)), "y"])
        np.savetxt(rows, np.column_stack([X, y]), fmt="%.17g", delimiter=",", header=header, comments="")
        settings = (k, starts, seed, tolerance, max_iter, int(standard_errors))
        answer = _call(script, [str(rows), *map(str, settings)], timeout)

    runs = answer["starts"]
    result: dict[str, Any] = {
        "log_likelihood": np.array([np.nan if r["log_likelihood"] is None else r["log_likelihood"] for r in runs]),
        "seconds": np.array([r["seconds"] for r in runs]),
        "iterations": [r["iterations"] for r in runs],
        "converged": [r["converged"] for r in runs],
        "errors": [r["error"] for r in runs],
        "r_version": answer["r_version"],
        "flexmix_version": answer["flexmix_version"],
        "best": None,
    }
    best = answer["best"]
    if best is not None:
        order = [*range(1, k), 0]
        experts, gate = np.array(best["expert"], dtype=float)[order], np.array(best["gate"], dtype=float)[order]
        errors = best["standard_errors"]
        result["best"] = {
            "log_likelihood": best["log_likelihood"],
            "n_parameters": int(best["n_parameters"]),
            "expert_coef": experts[:, 1:],
            "expert_intercept": experts[:, 0],
            "gate_coef": gate[:, 1:],
            "gate_intercept": gate[:, 0],
            "noise_scale": np.array(best["sigma"], dtype=float)[order],
            "standard_errors": None if errors is None else _standard_errors(errors, k, d, order),
        }
    return result
