"""Peers: ``benchmarks/peers/run.py`` is the measurement; it keeps its own results and fills its own page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..peers.measure import measure as measure_peer
from ..peers.problems import PROBLEMS
from ..shared.pages import Grid
from . import RESULTS

TITLE = "skmoe beside flexmix, cgmm, scikit-learn, StepMix and SMT (docs/peers.md)"


def missing() -> str | None:
    return None  # peers that are not installed are skipped one by one


def measure(quick: bool, folder: Path) -> dict[str, Any]:
    if quick:
        problem = next(iter(PROBLEMS))
        return {
            "records": [{"problem": problem, "method": "skmoe", "seed": 0} | measure_peer("skmoe", problem, 0, 300)]
        }
    subprocess.run([sys.executable, str(Path(__file__).parents[1] / "peers" / "run.py")], check=True)
    return json.loads((RESULTS / "peers.json").read_text())


def grids(result: dict[str, Any]) -> dict[str, Grid]:
    heads = ["problem", "method", "seed", "log density", "RMSE", "CPU s"]
    rows = [
        [record["problem"], record["method"], str(record["seed"])]
        + [
            f"{record[key]:.3f}" if record.get(key) is not None else ""
            for key in ("log_density", "rmse", "cpu_seconds")
        ]
        for record in result["records"]
    ]
    return {"peers": Grid("skmoe beside its peers", heads, rows)}
