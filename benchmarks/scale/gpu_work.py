"""One GPU: the same answer as on the CPU, and the time of a fit and of an EM iteration over the bare products it needs.

    python -m benchmarks.scale.gpu_work [--rows 20000000] [--columns 64] [--experts 8] [--only-cpu] [--out FILE]

Needs a machine with CUDA and PyTorch (and CuPy for its part). Everything is measured in one run on the same arrays; the
result is one JSON object, kept in ``benchmarks/results/gpu.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.shared.linear_problem import em_sums, linear_problem
from benchmarks.shared.measuring import best
from skmoe import MoERegressor, make_moe, metrics
from skmoe.likelihood import gradient
from skmoe.model.parameters import MoEParameters


def same_answer(n: int = 300_000, d: int = 10, k: int = 3) -> dict[str, float]:
    """Largest difference of a parameter from the NumPy fit, over one plus its size."""
    X, y, _ = make_moe(n, d, k, noise_scale=0.3, random_state=0)
    reference = MoERegressor(k, noise="shared", random_state=0).fit(X, y)
    import torch

    sources: dict[str, Callable[[np.ndarray], Any]] = {
        "torch, CPU": torch.as_tensor,
        "torch, CUDA": lambda a: torch.as_tensor(a, device="cuda"),
    }
    try:
        import cupy

        sources["cupy"] = cupy.asarray
    except ImportError:
        print("cupy is not installed: left out", file=sys.stderr)  # what is printed on stdout is read as JSON
    found = {}
    for name, move in sources.items():
        A, b = move(X), move(y)
        model = MoERegressor(k, noise="shared", random_state=0).fit(A, b)
        assert type(model.predict(A)) is type(A)
        found[name] = max(
            float(np.max(np.abs(getattr(model, f) - getattr(reference, f)) / (1 + np.abs(getattr(reference, f)))))
            for f in ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_")
        )
    return found


def draw(n: int, d: int, k: int, dtype: Any) -> tuple[Any, Any, MoEParameters]:
    """Rows of a mixture drawn on the GPU, and the truth."""
    import torch

    truth = make_moe(100, d, k, noise_scale=0.3, random_state=0)[2]
    generator = torch.Generator(device="cuda").manual_seed(0)
    X = torch.empty((n, d), dtype=dtype, device="cuda")
    y = torch.empty(n, dtype=torch.float64, device="cuda")
    for start in range(0, n, 2**20):
        x = torch.randn((min(2**20, n - start), d), generator=generator, dtype=torch.float64, device="cuda").to(dtype)
        P = truth.gate_proba(x)
        pick = torch.rand((len(x), 1), generator=generator, dtype=torch.float64, device="cuda")
        expert = (pick > torch.cumsum(P, 1)).sum(1).clamp(max=k - 1)
        mean = torch.take_along_dim(truth.expert_means(x), expert[:, None], 1)[:, 0]
        noise = torch.randn(len(x), generator=generator, dtype=torch.float64, device="cuda")
        X[start : start + len(x)], y[start : start + len(x)] = x, mean + 0.3 * noise
    return X, y, truth


def bare_products(X: Any, truth: MoEParameters) -> dict[str, Callable[[], object]]:
    """The products an EM step needs (logits, means, gradients, k + k (k - 1) / 2 Gram matrices), in two ways."""
    import torch

    n, k = X.shape[0], len(truth.A)
    R = torch.rand((n, k), dtype=X.dtype, device="cuda")
    C = torch.rand((k * (k + 1) // 2, n), dtype=X.dtype, device="cuda")
    A, W = (torch.as_tensor(m, dtype=X.dtype, device="cuda").T.contiguous() for m in (truth.A, truth.W))

    def thin(x: Any, r: Any) -> None:
        x @ A, x @ W, r.T @ x, r.T @ x

    def whole() -> None:
        thin(X, R)
        for c in C:
            (X * c[:, None]).T @ X

    def blocked() -> None:
        for start in range(0, n, 2**16):
            x = X[start : start + 2**16]
            thin(x, R[start : start + 2**16])
            (C[:, start : start + 2**16, None] * x).transpose(1, 2).reshape(-1, len(x)) @ x

    return {"one channel at a time": whole, "blocks of all channels": blocked}


def measure(n: int, d: int, k: int, precision: str) -> dict[str, Any]:
    import torch

    wait = torch.cuda.synchronize
    X, y, truth = draw(n, d, k, getattr(torch, precision))
    size = X.numel() * X.element_size()
    copy = best(lambda: X.clone(), 3, wait)
    products = {name: best(call, 2, wait) for name, call in bare_products(X, truth).items()}
    torch.cuda.empty_cache()
    problem = linear_problem(X, y, k)
    theta = problem.rows.map.from_parameters(truth)
    iteration = best(lambda: em_sums(problem, theta), 3, wait)
    gradient_pass = best(lambda: gradient(problem, theta), 3, wait)
    start = time.perf_counter()
    stages: dict[str, float] = {}

    def note(progress: Any) -> None:
        stages.setdefault(progress.stage, time.perf_counter() - start)

    model = MoERegressor(k, noise="shared", random_state=0, verbose=note).fit(X, y)
    wait()
    seconds = time.perf_counter() - start
    bare = min(products.values())
    return {
        "precision": precision,
        "copy_bandwidth_TB_s": 2 * size / copy / 1e12,
        "bare_products_s": products,
        "em_iteration_s": iteration,
        "gradient_pass_s": gradient_pass,
        "iteration_over_bare": iteration / bare,
        "rows_per_second_iteration": n / iteration,
        "share_of_bandwidth_iteration": (size / iteration) / (2 * size / copy),
        "share_of_bandwidth_bare": (size / bare) / (2 * size / copy),
        "fit_s": seconds,
        "stage_began_s": stages,
        "passes": model.history_["passes"],
        "converged": model.converged_,
        "parameter_error": metrics.parameter_error(
            model.expert_coef_, model.gate_coef_, truth.expert_coef, truth.gate_coef
        ),
        "expert_coef": model.expert_coef_.tolist(),
        "peak_GPU_memory_GB": torch.cuda.max_memory_allocated() / 1e9,
    }


def on_cpu(n: int, d: int, k: int) -> dict[str, Any]:
    """A problem of the same kind on the CPU of the machine this runs on."""
    X, y, truth = make_moe(n, d, k, noise_scale=0.3, random_state=0)
    problem = linear_problem(X, y, k)
    theta = problem.rows.map.from_parameters(truth)
    iteration = best(lambda: em_sums(problem, theta), 1)
    start = time.perf_counter()
    model = MoERegressor(k, noise="shared", random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    return {
        "command": f"python -m benchmarks.scale.gpu_work --only-cpu --rows {n} --columns {d} --experts {k}",
        "rows": n,
        "cores": os.cpu_count(),
        "em_iteration_s": iteration,
        "fit_s": seconds,
        "passes": model.history_["passes"],
        "converged": model.converged_,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--experts", type=int, default=8)
    parser.add_argument("--only-cpu", action="store_true", help="the same kind of fit with NumPy, on this machine")
    parser.add_argument("--out", help="file to write after each part, beside what is printed at the end")
    arguments = parser.parse_args()
    n, d, k = arguments.rows, arguments.columns, arguments.experts
    if arguments.only_cpu:
        print(json.dumps(on_cpu(n, d, k), indent=1))
        return
    import torch

    result: dict[str, Any] = {
        "command": f"python -m benchmarks.scale.gpu_work --rows {n} --columns {d} --experts {k}",
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "python": platform.python_version(),
        "n": n,
        "d": d,
        "k": k,
    }

    def keep() -> None:
        if arguments.out:
            Path(arguments.out).write_text(json.dumps(result, indent=1) + "\n")

    result["difference_from_numpy"] = same_answer()
    keep()
    result["fits"] = [measure(n, d, k, precision) for precision in ("float64", "float32")]
    double, single = (np.array(fit.pop("expert_coef")) for fit in result["fits"])
    result["float32_difference"] = float(np.max(np.abs(double - single)))
    keep()
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
