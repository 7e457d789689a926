"""How often `test_n_experts` rejects two experts: its level where rows have two, its power where they have three.

    python -m benchmarks.inference.bootstrap_level [--tables 200] [--bootstrap 99] [--jobs 2] [--out FILE] [--quick]

Each table is one of `make_moe` with n=400, d=2 and noise .5, a truth per seed, drawn anew until no two experts have a
cosine beyond .8, of either sign, and every expert has a tenth of the rows. A model with two experts is fitted and
tested against three. At 5% an exact test rejects 5% of the tables with two experts; the goal is 2 to 9%. Beside it
stands what BIC says of the same two fits. The cost is measured as well, in processor seconds: a test with 99
drawn tables, n=500, d=3, beside default fits with two and three experts.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.table import Table
from sklearn.exceptions import ConvergenceWarning

from skmoe import MoERegressor, make_moe
from skmoe.inference import FewRowsWarning

RESULT = Path(__file__).resolve().parents[1] / "results" / "bootstrap.json"
N, D, NOISE = 400, 2, 0.5
MOST_COSINE, LEAST_SHARE = 0.8, 0.1
LEVEL, GOAL = 0.05, (0.02, 0.09)
COST_ROWS, COST_COLUMNS, COST_SEEDS = 500, 3, 8


def drawn(k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a truth whose experts can be told apart."""
    rng = np.random.default_rng([seed, k])
    while True:
        X, y, truth = make_moe(N, D, k, noise_scale=NOISE, random_state=rng)
        cosines = np.abs(truth.A @ truth.A.T - np.eye(k))  # experts have unit length
        if cosines.max() < MOST_COSINE and truth.gate_proba(X).mean(axis=0).min() >= LEAST_SHARE:
            return X, y


def without_words() -> None:
    """Leave out warnings of fits with more experts than there are."""
    for category in (ConvergenceWarning, FewRowsWarning):
        warnings.simplefilter("ignore", category)


def tested(k: int, seed: int, n_bootstrap: int) -> dict[str, Any]:
    """One table with k experts: the test of two against three, and whether BIC takes three."""
    without_words()
    X, y = drawn(k, seed)
    two, three = (MoERegressor(j, random_state=seed).fit(X, y) for j in (2, 3))
    test = two.test_n_experts(X, y, n_bootstrap=n_bootstrap, random_state=seed)
    return {"p": test.p_value, "ratio": test.ratio, "bic": bool(three.bic(X, y) < two.bic(X, y))}


def cost(seeds: int) -> dict[str, float]:
    """Median processor seconds of default fits with two and three experts, and of a test."""
    without_words()
    seconds = []
    for seed in range(seeds):
        X, y, _ = make_moe(COST_ROWS, COST_COLUMNS, 2, noise_scale=0.3, random_state=seed)
        marks = [time.process_time()]
        model = MoERegressor(2, random_state=seed).fit(X, y)
        marks.append(time.process_time())
        MoERegressor(3, random_state=seed).fit(X, y)
        marks.append(time.process_time())
        model.test_n_experts(X, y, random_state=seed)
        marks.append(time.process_time())
        seconds.append(np.diff(marks))
    two, three, test = np.median(seconds, axis=0)
    return {"fit_2": float(two), "fit_3": float(three), "test": float(test)}


def share(values: list[bool]) -> dict[str, float]:
    mean = float(np.mean(values))
    return {"share": mean, "error": float(np.sqrt(mean * (1 - mean) / len(values)))}


def arguments_of(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200, help="tables with two experts, and as many with three")
    parser.add_argument("--bootstrap", type=int, default=99, help="tables drawn by each test")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=RESULT)
    parser.add_argument("--quick", action="store_true", help="a few tables, and no file written")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> None:
    arguments = arguments_of(words)
    tables, draws, seeds = (4, 19, 1) if arguments.quick else (arguments.tables, arguments.bootstrap, COST_SEEDS)
    found: dict[str, Any] = {
        "n": N,
        "d": D,
        "noise": NOISE,
        "tables": tables,
        "n_bootstrap": draws,
        "cost": cost(seeds),
    }
    with Parallel(arguments.jobs) as parallel:
        for k in (2, 3):
            tests = parallel(delayed(tested)(k, seed, draws) for seed in range(tables))
            found[f"true_{k}"] = {
                "rejected": share([test["p"] <= LEVEL for test in tests]),
                "bic": share([test["bic"] for test in tests]),
                "median_ratio": float(np.median([test["ratio"] for test in tests])),
                "deciles_of_p": np.quantile([test["p"] for test in tests], np.arange(1, 10) / 10).tolist(),
            }
    table = Table(title=f"two experts against three, {tables} tables each, n={N}, d={D}, {draws} drawn tables a test")
    for head in ("true experts", f"rejected at {LEVEL:.0%}", "BIC takes three", "median ratio"):
        table.add_column(head, justify="right")
    for k in (2, 3):
        one = found[f"true_{k}"]
        cells = (f"{one[name]['share']:.1%} ± {one[name]['error']:.1%}" for name in ("rejected", "bic"))
        table.add_row(str(k), *cells, f"{one['median_ratio']:.1f}")
    console = Console(width=120)
    console.print(table)
    met = GOAL[0] <= found["true_2"]["rejected"]["share"] <= GOAL[1]
    console.print(f"level between {GOAL[0]:.0%} and {GOAL[1]:.0%}: {'met' if met else 'MISSED'}")
    taken = found["cost"]
    console.print(
        f"a test, n=500, d=3: {taken['test']:.2f} s; default fits with two and three experts {taken['fit_2']:.2f} and "
        f"{taken['fit_3']:.2f} s"
    )
    if not arguments.quick:
        arguments.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
