"""How close a pass comes to the matrix products it must do, on the same arrays, taken in turn in one process.

There are several ways to write those products; the fastest on the machine is what skmoe is held against. Weights of
the Gram matrices are at hand for them: no softmax, no responsibilities, no residuals.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skmoe import make_moe
from skmoe.arrays.blocks import block_rows_for
from skmoe.arrays.products import monomials
from skmoe.model.gaussian import GaussianFamily
from skmoe.model.parameters import MoEParameters
from skmoe.spectral.gating.em import GateTask, gate_objective

from ..shared.linear_problem import em_sums, linear_problem
from ..shared.measuring import interleaved
from ..shared.pages import Grid
from . import fresh

TITLE = "one EM iteration over the bare matrix products it must do"
GOAL = 2.0
SEED = 0
ROWS = 4096  # of a block of the bare products, which then stays in cache


def missing() -> str | None:
    return None


def measure(quick: bool, folder: Any) -> dict[str, Any]:
    n, d, k, rounds = (20_000, 10, 3, 2) if quick else (1_000_000, 50, 8, 2)
    runs = [fresh("products", threads, n=n, d=d, k=k, rounds=rounds) for threads in (1, 2)]
    return {"seed": SEED, "n": n, "d": d, "k": k, "rounds": rounds, "goal": GOAL, "runs": runs}


def work(job: dict[str, Any]) -> dict[str, Any]:
    import os

    n, d, k = job["n"], job["d"], job["k"]
    X, y, truth = make_moe(n, d, k, random_state=SEED)
    m = k + k * (k - 1) // 2
    found = {
        "threads": int(os.environ["OMP_NUM_THREADS"]),
        "joint": _ratio(_joint(X, y, truth), _bare_joint(X, truth), job["rounds"]),
        "gate": _ratio(_gate(X, y, truth), _bare_gate(X, truth), 3 * job["rounds"]),
    }
    flops = n * (8 * d * k + m * d * (d + 1))
    found["joint"]["GFLOP"] = flops / 1e9
    found["joint"]["GFLOP_per_second"] = flops / 1e9 / found["joint"]["skmoe_s"]
    return found


def _ratio(ours: Callable[[], object], bare: dict[str, Callable[[], object]], rounds: int) -> dict[str, Any]:
    ours()  # loads code, starts threads
    least = {name: seconds for name, (seconds,) in interleaved({"skmoe": ours, **bare}, rounds).items()}
    skmoe, alone = least.pop("skmoe"), least.pop("product alone", None)
    fastest = min(least, key=lambda name: least[name])
    found = {"skmoe_s": skmoe, "bare_s": least, "fastest": fastest, "ratio": skmoe / least[fastest]}
    return found if alone is None else found | {"product_alone_s": alone, "ratio_to_product_alone": skmoe / alone}


def _joint(X: np.ndarray, y: np.ndarray, truth: MoEParameters) -> Callable[[], object]:
    problem = linear_problem(X, y, len(truth.A))
    theta = problem.rows.map.from_parameters(truth)
    return lambda: em_sums(problem, theta)


def _gate(X: np.ndarray, y: np.ndarray, truth: MoEParameters) -> Callable[[], object]:
    objective = gate_objective(GateTask(X, y, None, truth.A, float(truth.sigma[0]), GaussianFamily.linear()))
    W = truth.W[:-1].copy()
    return lambda: objective(W, W)


def _bare_joint(X: np.ndarray, truth: MoEParameters) -> dict[str, Callable[[], object]]:
    """Logits, means, two gradients and k + k (k - 1) / 2 weighted Gram matrices; rows in blocks that fit the cache."""
    n, d = X.shape
    k = len(truth.A)
    rng = np.random.default_rng(SEED + 1)
    R, C = rng.random((k, n)), rng.random((k + k * (k - 1) // 2, n))
    roots = np.sqrt(C)
    B = np.vstack([truth.A, truth.W])

    def over(rows: int, grams: Callable[[np.ndarray, slice], object]) -> Callable[[], object]:
        def call() -> None:
            for start in range(0, n, rows):
                part = slice(start, min(start + rows, n))
                x = X[part]
                B @ x.T, R[:, part] @ x, R[:, part] @ x
                grams(x, part)

        return call

    def a_channel(x: np.ndarray, part: slice) -> None:
        for c in C[:, part]:
            (x * c[:, None]).T @ x

    def half_a_channel(x: np.ndarray, part: slice) -> None:
        for c in roots[:, part]:
            v = x * c[:, None]
            v.T @ v  # the BLAS routine for symmetric results does half the work

    def all_channels(x: np.ndarray, part: slice) -> None:
        C[:, part] @ monomials(np.ascontiguousarray(x.T)).T

    few = block_rows_for(d * (d + 1) // 2)
    at_hand = monomials(np.ascontiguousarray(X[:few].T))

    def product_alone(x: np.ndarray, part: slice) -> None:
        C[:, part] @ at_hand[:, : len(x)].T

    return {
        "a product for each Gram matrix": over(ROWS, a_channel),
        "a symmetric product for each": over(ROWS, half_a_channel),
        "one product with all monomials": over(few, all_channels),
        "product alone": over(few, product_alone),  # as if monomials cost nothing: not a way, a floor
    }


def _bare_gate(X: np.ndarray, truth: MoEParameters) -> dict[str, Callable[[], object]]:
    """Two passes of X @ B and R.T @ X."""
    n, k = X.shape[0], len(truth.A)
    rng = np.random.default_rng(SEED + 1)
    R, B = rng.random((n, k)), np.ascontiguousarray(truth.W.T)

    def whole() -> None:
        for _ in range(2):
            X @ B, R.T @ X

    def in_blocks() -> None:
        for start in range(0, n, ROWS):
            x, r = X[start : start + ROWS], R[start : start + ROWS]
            for _ in range(2):
                x @ B, r.T @ x

    return {"whole arrays": whole, "rows in blocks": in_blocks}


def grids(result: dict[str, Any]) -> dict[str, Grid]:
    rows = []
    for run in result["runs"]:
        for name, words in (("joint", "joint EM"), ("gate", "gate only")):
            found = run[name]
            for way, seconds in sorted(found["bare_s"].items(), key=lambda pair: pair[1]):
                ratio = found["skmoe_s"] / seconds
                rows.append(
                    [
                        words,
                        str(run["threads"]),
                        f"{found['skmoe_s']:.3g}",
                        way,
                        f"{seconds:.3g}",
                        f"{ratio:.2f}",
                        "met" if ratio <= result["goal"] else "MISSED",
                    ]
                )
    title = f"One EM iteration over its bare products, n={result['n']:,}, d={result['d']}, k={result['k']}"
    heads = ["iteration", "BLAS threads", "skmoe, s", "bare products, written as", "bare, s", "ratio", "goal 2"]
    return {"products": Grid(title, heads, rows)}
