"""Fits of one table in extreme units, beside the fit in ordinary ones: the same to 1e-6, or refused.

Each case multiplies or shifts inputs, output or weights. A fit is the same when coefficients, standard errors,
predictions, intervals and log densities are those of the ordinary fit, taken to the units of the case. The paper's
model, with unit experts and no intercepts, is another one in other units, and takes no part.

    python -m benchmarks.reliability.extremes [--methods NAME ...] [--only WORDS] [--jobs 2] [--write]

With ``--write`` outcomes are kept in ``benchmarks/results/extremes.json``, and fill the table of docs/reliability.md.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before NumPy is imported

import numpy as np  # noqa: E402

from benchmarks.shared import pages  # noqa: E402
from skmoe import MoERegressor  # noqa: E402

RESULTS = Path(__file__).parents[1] / "results" / "extremes.json"
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
N, D = 300, 3
SAME = 1e-6
REFUSALS = ("X has columns ", "y ", "sample_weight ")
"""How a refusal that names what is refused begins."""


@dataclass(frozen=True)
class Case:
    """Inputs are ``X * scale + offset``, outputs ``y * y_scale + y_offset``, weights ``weight``."""

    name: str
    scale: Any = 1.0
    offset: Any = 0.0
    y_scale: float = 1.0
    y_offset: float = 0.0
    weight: float | None = None


def table() -> tuple[np.ndarray, np.ndarray]:
    """A table of two regimes, whose numbers are multiples of 1/64, so that shifts up to 1e13 lose no digit."""
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((N, D)) * 64) / 64
    first = X @ [1.0, -2.0, 0.5] + 1
    second = X @ [-1.5, 0.5, 1.0] - 2
    which = rng.random(N) < 1 / (1 + np.exp(-2 * X[:, 0] + X[:, 1]))
    y = np.where(which, first, second) + 0.3 * rng.standard_normal(N)
    return X, np.round(y * 64) / 64


def cases() -> Iterator[Case]:
    """All cases."""
    one = np.array([1.0, 1.0, 1.0])
    for power in (-308, -300, -200, -160, -140, -100, 100, 140, 160, 200, 300, 307):
        s = 10.0**power
        yield Case(f"X x 1e{power}", scale=s)
        yield Case(f"one column x 1e{power}", scale=one * [1, s, 1])
        yield Case(f"y x 1e{power}", y_scale=s)
    yield Case("X subnormal (x 1e-315)", scale=1e-315)
    yield Case("y subnormal (x 1e-315)", y_scale=1e-315)
    yield Case("columns x 1e-100, 1, 1e100", scale=np.array([1e-100, 1, 1e100]))
    yield Case("columns x 1e-12, 1, 1e12", scale=np.array([1e-12, 1, 1e12]))
    yield Case("X x 1e-100, y x 1e100", scale=1e-100, y_scale=1e100)
    yield Case("X x 1e100, y x 1e-100", scale=1e100, y_scale=1e-100)
    for power in (3, 6, 9, 12, 15):
        yield Case(f"X + 1e{power}", offset=10.0**power)
        yield Case(f"one column + 1e{power}", offset=one * [0, 10.0**power, 0])
        yield Case(f"y + 1e{power}", y_offset=10.0**power)
    yield Case("X x 1e-100 + 1e-85", scale=1e-100, offset=1e-85)
    for power in (-300, -160, -10, 10, 160, 300):
        yield Case(f"weights 1e{power} / 3", weight=10.0**power / 3)
    yield Case("weights 1/n", weight=1 / N)
    yield Case("weights subnormal", weight=5e-324)


def measures(model: Any, X: np.ndarray, y: np.ndarray, case: Case) -> dict[str, np.ndarray]:
    """What is compared, in ordinary units."""
    s, t = np.broadcast_to(case.scale, (D,)), case.y_scale
    offset = np.broadcast_to(case.offset, (D,))
    with np.errstate(over="ignore"):
        A, W = model.expert_coef_ / t * s, model.gate_coef_ * s
    found = {
        "expert_coef": A,
        "gate_coef": W,
        "noise": model.noise_scale_ / t,
        "expert_coef_se": model.expert_coef_se_ / t * s,
        "gate_coef_se": model.gate_coef_se_ * s,
        "noise_se": model.noise_scale_se_ / t,
        "predict": (model.predict(X) - case.y_offset) / t,
        "interval": (model.predict_interval(X) - case.y_offset) / t,
        "log_density": model.log_density(X, y) + np.log(t),
        "gate": model.gate_proba(X),
        "log_likelihood": np.array([model.log_likelihood_ / N + np.log(t)]),
        "score": np.array([model.score(X, y)]),
    }
    if not np.any(offset) and not case.y_offset:
        found["intercept"] = model.expert_intercept_ / t
        found["intercept_se"] = model.expert_intercept_se_ / t
    return found


def in_units(X: np.ndarray, y: np.ndarray, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The table of a case."""
    return X * case.scale + case.offset, y * case.y_scale + case.y_offset


def back(X: np.ndarray, y: np.ndarray, case: Case) -> tuple[np.ndarray, np.ndarray]:
    """The table that a case's digits still tell, in ordinary units."""
    return (X - case.offset) / case.scale, (y - case.y_offset) / case.y_scale


@cache
def ordinary(X: bytes, y: bytes, weighted: bool, settings: tuple[tuple[str, Any], ...]) -> dict[str, np.ndarray]:
    """What is compared, of the fit in ordinary units."""
    table, outputs = np.frombuffer(X).reshape(N, D), np.frombuffer(y)
    weight = np.where(np.arange(N) % 3 == 0, 1.5, 1.0) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MoERegressor(random_state=0, **dict(settings)).fit(table, outputs, weight)
        return measures(model, table, outputs, Case("ordinary"))


def outcome(case: Case, settings: dict[str, Any]) -> tuple[str, str]:
    """What became of a case: "same", "refused", "differs" or "error", and how."""
    X0, y0 = table()
    X, y = in_units(X0, y0, case)
    X0, y0 = back(X, y, case) if np.any(case.offset) or case.y_offset else (X0, y0)
    weight = None if case.weight is None else np.full(N, case.weight)
    if case.weight is not None:  # not all the same, which would be none
        weight[::3] *= 1.5
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            model = MoERegressor(random_state=0, **settings).fit(X, y, weight)
            found = measures(model, X, y, case)
        except ValueError as error:
            words = str(error)
            return ("refused" if words.startswith(REFUSALS) else "error"), words
        except Exception as error:
            return "error", f"{type(error).__name__}: {error}"
    expected = ordinary(X0.tobytes(), y0.tobytes(), weight is not None, tuple(settings.items()))
    overflow = [str(w.message) for w in said if issubclass(w.category, RuntimeWarning)]
    worst, what = 0.0, ""
    for name, values in found.items():
        if values.shape != expected[name].shape:
            return "differs", f"{name} has shape {values.shape}, not {expected[name].shape}"
        with np.errstate(all="ignore"):
            size = float(np.max(np.abs(expected[name]), initial=1e-300, where=~np.isnan(expected[name])))
            gap = np.abs(values - expected[name]) / size
        both = np.isnan(values) & np.isnan(expected[name])
        far = float(np.max(np.where(both, 0.0, np.where(np.isnan(gap), np.inf, gap))))
        if far > worst:
            worst, what = far, name
    rounding = max(np.finfo(float).eps * abs(case.y_offset) * 4 / case.y_scale, SAME)
    if worst > rounding:
        return "differs", f"{what} by {worst:.1e} {overflow[:1]}"
    return ("same", f"{worst:.0e}") if not overflow else ("warns", overflow[0])


METHODS: dict[str, dict[str, Any]] = {
    "one": {"n_experts": 1},
    "two": {"n_experts": 2},
    "auto": {"n_experts": "auto"},
    "joint-em": {"n_experts": 2, "method": "joint-em", "max_iter": 2000},
}


TOLD = {
    "one": "one expert",
    "two": "two experts",
    "auto": "number of experts chosen",
    "joint-em": '`method="joint-em"`',
}


def tried(method: str, name: str) -> dict[str, str]:
    """What became of a case by a method, for the results file."""
    case = next(case for case in cases() if case.name == name)
    what, words = outcome(case, METHODS[method])
    return {"method": method, "case": name, "outcome": what, "words": words}


def counts(rows: list[dict[str, str]]) -> str:
    """The table of the page: cases of each method by outcome, and the largest difference among the same."""
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        of = [row for row in rows if row["method"] == method]
        same = [float(row["words"]) for row in of if row["outcome"] == "same"]
        refused = sum(row["outcome"] == "refused" for row in of)
        others = len(of) - len(same) - refused
        lines.append([TOLD[method], str(len(of)), str(len(same)), f"{max(same):.0e}", str(refused), str(others)])
    heads = ["fit", "cases", "the same", "largest difference", "refused", "anything else"]
    return pages.markdown(heads, lines)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS), metavar="NAME")
    parser.add_argument("--only", default="", help="cases whose name holds this")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    given = parser.parse_args(arguments)
    asked = [(method, case.name) for method in given.methods for case in cases() if given.only in case.name]
    rows, bad = [], 0
    with ProcessPoolExecutor(given.jobs, mp_context=get_context("spawn")) as pool:
        # several cases at a time, since those of a method share the fit in ordinary units
        for row in pool.map(tried, *zip(*asked, strict=True), chunksize=8):
            rows.append(row)
            bad += row["outcome"] not in ("same", "refused")
            print(f"{row['method']:9s} {row['case']:28s} {row['outcome']:8s} {row['words'][:170]}", flush=True)
    print(f"{len(rows)} cases, {bad} of them neither the same nor refused")
    if given.write:
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
        pages.fill(PAGE, {"extremes": counts(rows)})
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
