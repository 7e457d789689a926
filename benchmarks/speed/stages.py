"""Cost of each stage over the bare matrix products it needs, on the same arrays in the same run.

    python -m benchmarks.speed.stages [--rows 100000]

Times are the best of a few; only ratios mean anything. Memory is the peak of resident memory above what the process
held before the call, in a fresh process each.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from unittest.mock import Mock, patch

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.shared.linear_problem import em_sums, linear_problem
from benchmarks.shared.measuring import best, resident
from skmoe import joint_em, learn_experts, learn_gate, make_moe
from skmoe.arrays.blocks import sum_over_blocks
from skmoe.model.gaussian import GaussianFamily
from skmoe.spectral.gating.em import GateTask, gate_objective


def experts(n: int, d: int = 100, k: int = 5) -> tuple[str, float, float]:
    X, y, _ = make_moe(n, d, k, random_state=0)
    bare = best(lambda: (X * y[:, None]).T @ X)
    ours = best(lambda: learn_experts(X, y, k, noise_scale=0.1, random_state=0), 3)
    return f"learn_experts, n={n} d={d} k={k}, over one weighted X.T @ X", bare, ours


def gate_iteration(n: int, d: int = 20, k: int = 5) -> tuple[str, float, float]:
    X, y, truth = make_moe(n, d, k, random_state=0)
    A, W, R = truth.expert_coef, truth.gate_coef, np.random.default_rng(0).random((n, k))
    weights = np.random.default_rng(1).random((k * (k - 1) // 2, n, 1))

    def bare() -> None:
        X @ A.T, X @ W.T, R.T @ X
        for weight in weights:
            (X * weight).T @ X

    objective = gate_objective(GateTask(X, y, None, A, 0.1, GaussianFamily.linear()))
    inner = W[:-1].copy()
    return f"learn_gate, one Newton pass, n={n} d={d} k={k}", best(bare), best(lambda: objective(inner, inner))


def gate_fit(n: int, d: int = 20, k: int = 5) -> tuple[str, float, float]:
    """A whole fit: its passes are counted, each charged with the products of one pass."""
    X, y, truth = make_moe(n, d, k, random_state=0)
    _, bare, _ = gate_iteration(n, d, k)
    passes = count_passes(lambda: learn_gate(X, y, truth.expert_coef, noise_scale=0.1, random_state=0))
    ours = best(lambda: learn_gate(X, y, truth.expert_coef, noise_scale=0.1, random_state=0), 2)
    return f"learn_gate, whole fit of {passes} passes", bare * passes, ours


def joint_iteration(n: int, d: int = 20, k: int = 5) -> tuple[str, float, float]:
    X, y, truth = make_moe(n, d, k, random_state=0)
    R = np.random.default_rng(0).random((n, k))
    weights = np.random.default_rng(1).random((k * (k - 1) // 2 + k, n, 1))

    def bare() -> None:
        X @ truth.expert_coef.T, X @ truth.gate_coef.T, R.T @ X, R.T @ X
        for weight in weights:
            (X * weight).T @ X

    problem = linear_problem(X, y, k)
    theta = problem.rows.map.from_parameters(truth)
    return f"joint_em, one pass, n={n} d={d} k={k}", best(bare), best(lambda: em_sums(problem, theta))


def joint_fit(n: int, d: int = 20, k: int = 5) -> tuple[str, float, float]:
    X, y, _ = make_moe(n, d, k, random_state=0)
    _, bare, _ = joint_iteration(n, d, k)
    passes = count_passes(lambda: joint_em(X, y, k, noise_scale=0.1, random_state=0))
    ours = best(lambda: joint_em(X, y, k, noise_scale=0.1, random_state=0), 2)
    return f"joint_em, whole fit of {passes} passes", bare * passes, ours


def count_passes(fit: Callable[[], object]) -> int:
    """Passes over the rows that a fit makes."""
    passes = Mock(side_effect=sum_over_blocks)
    with (
        patch("skmoe.spectral.gating.em.sum_over_blocks", passes),
        patch("skmoe.likelihood.problem.sum_over_blocks", passes),
    ):
        fit()
    return passes.call_count


def peak_memory(n: int, d: int = 100, k: int = 5) -> float:
    """Peak resident memory of `learn_experts` above what was held before, in MB; called in a fresh process."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + 0.1 * rng.standard_normal(n)
    learn_experts(X[:5000], y[:5000], 2, noise_scale=0.1, random_state=0)  # imports and threads
    before = resident()
    peak, done = [before], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    learn_experts(X, y, k, noise_scale=0.1, random_state=0)
    done.set()
    watcher.join()
    return (peak[0] - before) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="of the gate and of joint EM; twice for the experts")
    parser.add_argument("--memory", action="store_true", help="measure memory alone, and print it as JSON")
    arguments = parser.parse_args()
    rows = arguments.rows
    if arguments.memory:
        warnings.simplefilter("ignore")  # the simulated rows hold one expert, not five
        print(json.dumps(peak_memory(2 * rows)))
        return
    table = Table(title="Cost over the bare matrix products")
    for column in ("stage", "bare, s", "skmoe, s", "ratio", "goal"):
        table.add_column(column)
    stages = ((experts, 2 * rows, 6), (gate_iteration, rows, 3), (gate_fit, rows, 3))
    for stage, n, goal in (*stages, (joint_iteration, rows, 3), (joint_fit, rows, 3)):
        name, bare, ours = stage(n)
        table.add_row(name, f"{bare:.3f}", f"{ours:.3f}", f"{ours / bare:.2f}", str(goal))
    console = Console(width=130)
    console.print(table)
    command = [sys.executable, "-m", "benchmarks.speed.stages", "--memory", "--rows", str(rows)]
    memory = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    what = f"learn_experts, n={2 * rows} d=100 k=5"
    console.print(f"{what}: peak memory {memory:.0f} MB above the data (goal: under 500)")


if __name__ == "__main__":
    main()
