"""A GPU: ``gpu_work.py`` beside this file is the measurement, here are its tables."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..shared.pages import Grid

TITLE = "a fit on one GPU: the same answer, and an EM iteration over its bare products"


def missing() -> str | None:
    if importlib.util.find_spec("torch") is None:
        return "PyTorch is not installed: pip install torch"
    import torch

    return None if torch.cuda.is_available() else "PyTorch sees no CUDA device"


def measure(quick: bool, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale.gpu_work"]
    command += ["--rows", "300000", "--columns", "8", "--experts", "2"] if quick else []
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def grids(result: dict[str, Any]) -> dict[str, Grid]:
    heads = ["precision", "EM iteration, s", "bare products, s", "ratio", "gradient pass, s", "fit, s", "passes", "GB"]
    rows = [
        [
            fit["precision"],
            f"{fit['em_iteration_s']:.3g}",
            f"{min(fit['bare_products_s'].values()):.3g}",
            f"{fit['iteration_over_bare']:.2f}",
            f"{fit['gradient_pass_s']:.3g}",
            f"{fit['fit_s']:.1f}",
            str(fit["passes"]),
            f"{fit['peak_GPU_memory_GB']:.1f}",
        ]
        for fit in result["fits"]
    ]
    title = f"{result['gpu']}, n={result['n']:,}, d={result['d']}, k={result['k']}"
    found = {"gpu": Grid(title, heads, rows)}
    parts = [("first passes and the sample", None, "starts"), ("starts", "starts", "finish")]
    parts += [("search on the sample", "finish", "all rows"), ("all rows, standard errors, regimes", "all rows", None)]
    shares = []
    for fit in result["fits"]:
        began = {None: 0.0, **fit["stage_began_s"]}
        ended = {**began, None: fit["fit_s"]}
        shares.append([fit["precision"], *(f"{(ended[b] - began[a]) / fit['fit_s']:.0%}" for _, a, b in parts)])
    heads = ["precision", *(name for name, _, _ in parts)]
    found["gpu-stages"] = Grid("Share of the fit's time by stage", heads, shares)
    if "cpu" in result:
        cpu = result["cpu"]
        found["gpu-cpu"] = Grid(
            f"The same kind of problem on a CPU, {cpu['rows']:,} rows (`{cpu['command']}`)",
            ["cores", "EM iteration, s", "fit, s", "passes"],
            [[str(cpu["cores"]), f"{cpu['em_iteration_s']:.3g}", f"{cpu['fit_s']:.0f}", str(cpu["passes"])]],
        )
    if "difference_from_numpy" in result:
        same = [[name, f"{value:.1g}"] for name, value in result["difference_from_numpy"].items()]
        found["gpu-same"] = Grid("Fits beside NumPy's", ["rows in", "largest difference of a parameter"], same)
    return found
