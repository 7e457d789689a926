"""Cost of each stage over the bare matrix products it needs, on the same arrays in the same run.

Run ``python benchmarks/cost.py`` (or ``make cost``). Times are the best of a few; only ratios mean anything.
Memory is the peak of resident memory above what the process held before the call, in a fresh process each.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

from skmoe import joint_em, learn_experts, learn_gate, make_moe
from skmoe.model.activations import get_activation
from skmoe.spectral.gating.em import gate_objective
from skmoe.likelihood.joint import JointLikelihood, Theta


def best(call: Callable[[], object], repeats: int = 5) -> float:
    """Best of a few timings, after one that warms up."""
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def stage_1(n: int = 200_000, d: int = 100, k: int = 5) -> tuple[str, float, float]:
    X, y, _ = make_moe(n, d, k, random_state=0)
    bare = best(lambda: (X * y[:, None]).T @ X)
    ours = best(lambda: learn_experts(X, y, k, noise_scale=0.1, random_state=0), 3)
    return f"learn_experts, n={n} d={d} k={k}, over one weighted X.T @ X", bare, ours


def gate_iteration(n: int = 100_000, d: int = 20, k: int = 5) -> tuple[str, float, float]:
    X, y, truth = make_moe(n, d, k, random_state=0)
    A, W, R = truth.expert_coef, truth.gate_coef, np.random.default_rng(0).random((n, k))
    weights = np.random.default_rng(1).random((k * (k - 1) // 2, n, 1))

    def bare() -> None:
        X @ A.T, X @ W.T, R.T @ X
        for weight in weights:
            (X * weight).T @ X

    objective = gate_objective(X, y, A, 0.1, get_activation("linear"))
    inner = W[:-1].copy()
    return f"learn_gate, one Newton pass, n={n} d={d} k={k}", best(bare), best(lambda: objective(inner, inner))


def gate_fit(n: int = 100_000, d: int = 20, k: int = 5) -> tuple[str, float, float]:
    """A whole fit: its passes are counted, each charged with the products of one pass."""
    X, y, truth = make_moe(n, d, k, random_state=0)
    _, bare, _ = gate_iteration(n, d, k)
    passes = count_passes(lambda: learn_gate(X, y, truth.expert_coef, noise_scale=0.1, random_state=0))
    ours = best(lambda: learn_gate(X, y, truth.expert_coef, noise_scale=0.1, random_state=0), 2)
    return f"learn_gate, whole fit of {passes} passes", bare * passes, ours


def joint_iteration(n: int = 100_000, d: int = 20, k: int = 5) -> tuple[str, float, float]:
    X, y, truth = make_moe(n, d, k, random_state=0)
    R = np.random.default_rng(0).random((n, k))
    weights = np.random.default_rng(1).random((k * (k - 1) // 2 + k, n, 1))

    def bare() -> None:
        X @ truth.expert_coef.T, X @ truth.gate_coef.T, R.T @ X, R.T @ X
        for weight in weights:
            (X * weight).T @ X

    likelihood = JointLikelihood(X, y, get_activation("linear"), k)
    theta = Theta(truth.expert_coef, truth.gate_coef[:-1], truth.noise_scale)
    return f"joint_em, one pass, n={n} d={d} k={k}", best(bare), best(lambda: likelihood.em_sums(theta))


def joint_fit(n: int = 100_000, d: int = 20, k: int = 5) -> tuple[str, float, float]:
    X, y, _ = make_moe(n, d, k, random_state=0)
    _, bare, _ = joint_iteration(n, d, k)
    passes = count_passes(lambda: joint_em(X, y, k, noise_scale=0.1, random_state=0))
    ours = best(lambda: joint_em(X, y, k, noise_scale=0.1, random_state=0), 2)
    return f"joint_em, whole fit of {passes} passes", bare * passes, ours


def count_passes(fit: Callable[[], object]) -> int:
    """Passes over the rows that a fit makes."""
    import skmoe.spectral.gating.em
    import skmoe.likelihood.joint

    counted = [0]
    rooms = (skmoe.spectral.gating.em, skmoe.likelihood.joint)
    originals = [room.sum_over_blocks for room in rooms]

    def counting(*arguments, original, **settings):
        counted[0] += 1
        return original(*arguments, **settings)

    for room, original in zip(rooms, originals, strict=True):
        room.sum_over_blocks = lambda *a, original=original, **s: counting(*a, original=original, **s)
    fit()
    for room, original in zip(rooms, originals, strict=True):
        room.sum_over_blocks = original
    return counted[0]


def peak_memory(n: int = 200_000, d: int = 100, k: int = 5) -> float:
    """Peak resident memory of `learn_experts` above what was held before, in MB; called in a fresh process."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = X[:, 0] + 0.1 * rng.standard_normal(n)
    learn_experts(X[:5000], y[:5000], 2, noise_scale=0.1, random_state=0)  # imports and threads
    before = current_memory()
    peak, done = [before], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            peak[0] = max(peak[0], current_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    learn_experts(X, y, k, noise_scale=0.1, random_state=0)
    done.set()
    watcher.join()
    return peak[0] - before


def current_memory() -> float:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", action="store_true", help="measure memory alone, and print it as JSON")
    if parser.parse_args().memory:
        import warnings

        warnings.simplefilter("ignore")  # the made rows hold one expert, not five
        print(json.dumps(peak_memory()))
        return
    table = Table(title="Cost over the bare matrix products")
    for column in ("stage", "bare, s", "skmoe, s", "ratio", "goal"):
        table.add_column(column)
    for stage, goal in ((stage_1, 6), (gate_iteration, 3), (gate_fit, 3), (joint_iteration, 3), (joint_fit, 3)):
        name, bare, ours = stage()
        table.add_row(name, f"{bare:.3f}", f"{ours:.3f}", f"{ours / bare:.2f}", str(goal))
    console = Console(width=130)
    console.print(table)
    memory = json.loads(subprocess.run([sys.executable, __file__, "--memory"], capture_output=True, check=True).stdout)
    console.print(f"learn_experts, n=200000 d=100 k=5: peak memory {memory:.0f} MB above the data (goal: under 500)")


if __name__ == "__main__":
    main()
