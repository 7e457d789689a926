"""skmoe as of commit c10dea2, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from . import COVERAGES, EARLIER, Method, Predicted, Rows

COMMIT = "c10dea2"
VARIABLE = "SKMOE_EARLIER"
WORKER = Path(__file__).parent / "earlier_worker.py"
LIMIT = 1800  # seconds


def folder() -> Path:
    """Where the source of that commit is: named by the environment, or in the folder of this interpreter."""
    return Path(os.environ.get(VARIABLE, Path(sys.prefix) / f"skmoe-{COMMIT}" / "src"))


def missing() -> str | None:
    if (folder() / "skmoe" / "__init__.py").is_file():
        return None
    return f"the source of commit {COMMIT} is not in {folder()}: `make bench-real` puts it there, or set {VARIABLE}"


def run(rows: Rows, seed: int) -> Predicted:
    with tempfile.TemporaryDirectory() as place:
        given, answer = Path(place) / "rows.npz", Path(place) / "answer.npz"
        np.savez(given, **rows._asdict(), seed=seed, coverages=COVERAGES)
        environment = {**os.environ, "PYTHONPATH": str(folder())}
        # -P: modules beside the worker are not to be found before that version's own
        done = subprocess.run(
            [sys.executable, "-P", WORKER, given, answer],
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        with np.load(answer) as found:
            intervals = dict(zip(COVERAGES, found["intervals"], strict=True))
            notes = {"n_experts": int(found["n_experts"])}
            return Predicted(
                found["prediction"], found["log_density"], intervals, seconds=float(found["seconds"]), notes=notes
            )


METHODS = [
    Method(
        EARLIER,
        run,
        '`MoERegressor(n_experts="auto", noise="per-expert")` of that commit; where a fit takes more than 20 seconds, '
        "three splits only",
        missing=missing,
        version=lambda: COMMIT,
        slow_after=20.0,
    )
]
