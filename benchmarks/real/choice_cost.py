"""What held-out rows cost: processor seconds of default fits over those of fits that hold nothing out.

    python -m benchmarks.real.choice_cost [--seeds 3] [--out FILE]

Real tables that come with skmoe and simulated ones, a given number of experts. "Without" is ``penalty=0,
calibration=None``, maximum likelihood: no penalty is chosen and nothing calibrated. ``averaging=20`` is beside the
default fit of "auto". Means over seeds; one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from skmoe import MoERegressor, make_moe
from skmoe.datasets import load_airfoil, load_concrete

OUT = Path(__file__).resolve().parents[1] / "results" / "choice_cost.json"
Rows = Callable[[], tuple[Any, Any]]
TABLES: dict[str, tuple[Rows, tuple[int, ...]]] = {
    "concrete": (lambda: load_concrete(return_X_y=True), (2, 4)),
    "airfoil": (lambda: load_airfoil(return_X_y=True), (2, 4)),
    "simulated, 2000 x 3": (lambda: make_moe(2000, 3, 2, random_state=0)[:2], (2,)),
    "simulated, 5000 x 5": (lambda: make_moe(5000, 5, 3, random_state=0)[:2], (3,)),
}
WITHOUT = {"penalty": 0.0, "calibration": None}


def seconds(X: Any, y: Any, seeds: int, n_experts: int | str, **how: Any) -> float:
    """Mean processor seconds of a fit."""
    begin = time.process_time()
    for seed in range(seeds):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            MoERegressor(n_experts, random_state=seed, **how).fit(X, y)
    return (time.process_time() - begin) / seeds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    seconds(*make_moe(200, 2, 2, random_state=0)[:2], 1, 2)  # loads code
    found: dict[str, Any] = {"choice": {}, "averaging": {}}
    for name, (read, numbers) in TABLES.items():
        X, y = read()
        for k in numbers:
            cost = seconds(X, y, arguments.seeds, k), seconds(X, y, arguments.seeds, k, **WITHOUT)
            found["choice"][f"{name}, {k} experts"] = {"default": cost[0], "without": cost[1]}
            print(f"{name}, {k} experts: {cost[0]:.2f} s, {cost[1]:.2f} s without, ratio {cost[0] / cost[1]:.1f}")
        auto, average = (seconds(X, y, 1, "auto", averaging=m) for m in (0, 20))
        found["averaging"][name] = {"default": auto, "averaging": average}
        print(f"{name}: auto {auto:.1f} s, averaging=20 {average:.1f} s, ratio {average / auto:.1f}", flush=True)
    ratios = [one["default"] / one["without"] for one in found["choice"].values()]
    more = [one["averaging"] / one["default"] for one in found["averaging"].values()]
    found |= {
        "ratios": [min(ratios), float(np.median(ratios)), max(ratios)],
        "averaging_ratios": [min(more), max(more)],
    }
    arguments.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
