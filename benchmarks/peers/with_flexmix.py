"""R's flexmix: the same model, linear experts with a noise each and a multinomial gate, by EM from random starts.

Needs R with flexmix (on Debian: ``apt-get install r-base-core r-cran-flexmix``). ``benchmarks/flexmix/flexmix.py``
does the work; ``flexmix_cost.R`` beside this file runs its script and measures R's own time and memory, without the
start of R.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from skmoe.model.parameters import MoEParameters

from ..flexmix import flexmix
from . import Cost, Fitted, Method, Peer

STARTS = 2
ASK_VERSION = 'cat(as.character(packageVersion("flexmix")), "on", R.version.string)'


def _ask_version() -> subprocess.CompletedProcess[str]:
    return subprocess.run(["Rscript", "--vanilla", "-e", ASK_VERSION], capture_output=True, text=True, check=False)


def missing() -> str | None:
    if shutil.which("Rscript") is None:
        return "Rscript was not found on the path (on Debian: apt-get install r-base-core r-cran-flexmix)"
    return None if _ask_version().returncode == 0 else "R has no package flexmix (on Debian: r-cran-flexmix)"


def version() -> str:
    return _ask_version().stdout.strip()


def fit(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    with tempfile.TemporaryDirectory() as folder:
        cost = Path(folder) / "cost.json"
        os.environ.update(PEERS_COST=str(cost), PEERS_SCRIPT=str(flexmix.SCRIPT))
        script = Path(__file__).with_name("flexmix_cost.R")
        found = flexmix.run_flexmix(X, y, k, starts=STARTS, seed=1 + 1000 * seed, script=script)
        spent = Cost(**json.loads(cost.read_text()))
    best = found["best"]
    if best is None:
        raise RuntimeError(f"every start of flexmix failed: {found['errors']}")
    intercepts = {"b": best["expert_intercept"], "c": best["gate_intercept"]}
    model = MoEParameters(best["expert_coef"], best["gate_coef"], best["noise_scale"], **intercepts)
    return Fitted(model.predict, model.log_density, model.A, k, spent)


PEER = Peer(
    "flexmix",
    {"flexmix": Method(fit, f"best of {STARTS} random starts, otherwise its defaults; no standard errors")},
    missing,
    version,
)
