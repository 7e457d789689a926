"""Algorithm 1 alone: mean RegressorFit of `learn_experts` over seeds, beside the plain decompositions; then the gate.

    python -m benchmarks.spectral.accuracy [--seeds 20] [--first-seed 0] [--only 0 3]

Nothing is tuned on the seeds: ``--first-seed`` moves them, and every failure counts in the mean.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.shared.paper_rows import draw
from skmoe import learn_experts, learn_gate, metrics
from skmoe.spectral.decomposition import RankWarning


class Setting(NamedTuple):
    n: int
    d: int
    k: int
    sigma: float
    activation: str
    goal: float | None
    orthogonal: bool = False
    p: float | None = None  # share of the first of two Gaussians the inputs come from (table 1)


SETTINGS = [
    Setting(2000, 10, 2, 0.1, "linear", 0.98),
    Setting(8000, 10, 3, 0.5, "linear", 0.975),
    Setting(8000, 10, 4, 0.5, "linear", 0.955),
    Setting(20000, 10, 6, 0.1, "linear", 0.955),
    Setting(50000, 10, 8, 0.05, "linear", 0.97),
    Setting(10000, 5, 3, 0.1, "sigmoid", 0.97),
    Setting(10000, 5, 3, 0.1, "relu", 0.85),
    Setting(200000, 5, 3, 0.1, "relu", 0.995, orthogonal=True),
    Setting(200000, 5, 3, 0.1, "sigmoid", 0.993),
    *(Setting(2000, 10, 2, 0.1, "linear", 0.965, p=p) for p in (0.1, 0.3, 0.5, 0.7, 0.9)),
    # neighbours, with no goal of their own
    Setting(3000, 8, 2, 0.2, "linear", None),
    Setting(12000, 12, 4, 0.3, "linear", None),
    Setting(30000, 12, 7, 0.1, "linear", None),
    Setting(5000, 20, 3, 0.3, "linear", None),
    Setting(20000, 6, 3, 0.2, "tanh", None),
    Setting(20000, 6, 3, 0.2, "softplus", None),
]

METHODS = {
    "default": {},
    "power method": {"moments": "plain", "decomposition": "power"},
    "Orth-ALS on all of T3": {"moments": "plain", "decomposition": "orth-als"},
    "Orth-ALS inside T2": {"moments": "plain", "decomposition": "orth-als-t2"},
    "matching, plain moments": {"moments": "plain", "decomposition": "matching"},
}


def measure(setting: Setting, seeds: range) -> tuple[dict[str, np.ndarray], float, np.ndarray, np.ndarray]:
    fits: dict[str, list[float]] = {name: [] for name in METHODS}
    seconds, gates, iterations = [], [], []
    for seed in seeds:
        X, y, truth, law = draw(setting, seed)
        for name, choice in METHODS.items():
            start = time.perf_counter()
            experts = learn_experts(
                X,
                y,
                setting.k,
                activation=setting.activation,
                noise_scale=setting.sigma,
                input_law=law,
                random_state=seed,
                **choice,
            )
            if name == "default":
                seconds.append(time.perf_counter() - start)
                gate = learn_gate(
                    X, y, experts.coef, activation=setting.activation, noise_scale=setting.sigma, random_state=seed
                )
                gates.append(metrics.gating_fit(gate.coef, truth.gate_coef))
                iterations.append(gate.n_iter)
            missing = np.zeros((setting.k - len(experts.coef), setting.d))  # an expert not found counts as fit 0
            fits[name].append(metrics.regressor_fit(np.vstack([experts.coef, missing]), truth.expert_coef))
    values = {name: np.array(fit) for name, fit in fits.items()}
    return values, float(np.median(seconds)), np.array(gates), np.array(iterations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the settings to run")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", RankWarning)  # the fits tell
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    table = Table(title=f"RegressorFit of Algorithm 1, mean ± sd over seeds {seeds.start} to {seeds.stop - 1}")
    for column in ("n, d, k, sigma, g", "goal", *METHODS, "seconds", "GatingFit", "EM iterations"):
        table.add_column(column)
    console = Console(width=170)
    for number, setting in enumerate(SETTINGS):
        if arguments.only and number not in arguments.only:
            continue
        fits, seconds, gates, iterations = measure(setting, seeds)
        name = f"{setting.n}, {setting.d}, {setting.k}, {setting.sigma:g}, {setting.activation}"
        name += ", orthogonal gate" * setting.orthogonal + (f", p={setting.p}" if setting.p is not None else "")
        reached = "" if setting.goal is None else f"{setting.goal:g}"
        if setting.goal is not None and fits["default"].mean() < setting.goal:
            reached += " MISSED"
        cells = [f"{fit.mean():.4f} ± {fit.std(ddof=1):.4f}" for fit in fits.values()]
        table.add_row(
            name,
            reached,
            *cells,
            f"{seconds:.2f}",
            f"{gates.mean():.3f} ± {gates.std(ddof=1):.3f}",
            f"{np.median(iterations):.0f} (max {iterations.max()})",
        )
        console.print(f"{name}: {cells[0]}", style="dim")
    console.print(table)


if __name__ == "__main__":
    main()
