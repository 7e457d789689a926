"""The same rows by skmoe and by R's flexmix: Poisson, binomial and gamma experts, flexmix's own tables and others.

    python benchmarks/families/beside_flexmix.py [--starts 20] [--only patent] [--record]

Needs R with flexmix (on Debian: r-cran-flexmix). Both by maximum likelihood, with a softmax gate over the inputs said
and no least share; flexmix from so many random starts with a tolerance of 1e-8. Printed are the log-likelihood of
skmoe and of flexmix's best start, seconds of skmoe's fit and of one start of flexmix, and, where both end at the same
optimum, how far coefficients and standard errors of experts (flexmix's ``refit``) differ at most.

flexmix's gamma experts have the inverse link; with one input of two values it is the same model as with the log link.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skmoe import MoERegressor
from skmoe.cli.checkout import load

problems = load("benchmarks.families.simulated_families")
SCRIPT = Path(__file__).with_name("flexmix_families.R")
RESULTS = Path(__file__).parents[1] / "results" / "family_flexmix.json"
SAME = 1e-3  # difference of log-likelihoods below which both are at one optimum


@dataclass(frozen=True)
class Case:
    """A table, the family, the number of experts, and the inputs of experts and gate (all by default)."""

    table: str
    family: str
    k: int
    experts: tuple[int, ...] | None = None
    gate: tuple[int, ...] | None = None
    rows: int = 0  # of a simulated table
    errors: bool = True


CASES = (
    Case("patent", "poisson", 3, (0,), (1,)),
    Case("patent", "poisson", 2, (0,), (1,)),
    Case("bioChemists", "poisson", 2),
    Case("dmft", "poisson", 2, errors=False),
    Case("tribolium", "binomial", 2, errors=False),
    Case("NPreg yp", "poisson", 2),
    Case("NPreg yb", "binomial", 2),
    Case("simulated", "poisson", 2, rows=5000),
    Case("simulated", "poisson", 3, rows=5000),
    Case("simulated", "binomial", 2, rows=5000),
    Case("simulated two-valued", "gamma", 2, (0,), (1, 2), rows=2000),
)


def table_of(case: Case, folder: Path) -> tuple[np.ndarray, np.ndarray, Path]:
    """Inputs, outputs and the file that R reads."""
    path = folder / "rows.csv"
    if case.rows:
        X, y, truth = problems.simulated(case.family, case.rows, 3, case.k, 0)
        if case.table == "simulated two-valued":
            rng = np.random.default_rng(0)
            X[:, 0] = X[:, 0] > 0
            y = np.asarray(truth.sample(X, rng)[0])
        header = ",".join([*(f"x{j + 1}" for j in range(X.shape[1])), "y"])
        np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="", fmt="%.17g")
        return X, y, path
    subprocess.run(["Rscript", "--vanilla", SCRIPT, "--table", case.table, path], check=True, capture_output=True)
    names = path.read_text().splitlines()[0].replace('"', "").split(",")
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    inputs = [i for i, name in enumerate(names) if name.startswith("x")]
    outputs = values[:, [i for i, name in enumerate(names) if not name.startswith("x")]]
    return values[:, inputs], outputs if outputs.shape[1] > 1 else outputs[:, 0], path


def by_flexmix(case: Case, path: Path, d: int, starts: int) -> dict[str, Any]:
    inputs = [",".join(f"x{j + 1}" for j in (columns or range(d))) for columns in (case.experts, case.gate)]
    family = "Gamma" if case.family == "gamma" else case.family
    command = ["Rscript", "--vanilla", SCRIPT, path, family, case.k, starts, 1, *inputs, int(case.errors)]
    done = subprocess.run([str(part) for part in command], check=True, capture_output=True, text=True)
    return json.loads(done.stdout.replace("NaN", "null").replace("nan", "null"))


def compared(case: Case, starts: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y, path = table_of(case, Path(folder))
        begun = time.perf_counter()
        columns = {"expert_features": case.experts, "gate_features": case.gate}
        model = MoERegressor(case.k, family=case.family, penalty=0, calibration=None, random_state=0, **columns)
        model.fit(X, y)
        seconds = time.perf_counter() - begun
        theirs = by_flexmix(case, path, X.shape[1], starts)
    found = {
        "rows": len(X),
        "skmoe": model.log_likelihood_ * len(X),
        "flexmix": theirs["log_likelihood"],
        "skmoe_seconds": seconds,
        "flexmix_seconds": float(np.median(theirs["seconds"])),
        "flexmix_version": theirs["version"],
        "coefficients_differ": None,
        "errors_differ": None,
    }
    if theirs["refit"] is None or abs(found["skmoe"] - found["flexmix"]) > SAME or case.family == "gamma":
        return found
    used = list(range(X.shape[1])) if case.experts is None else list(case.experts)
    ours = np.column_stack([model.expert_intercept_, model.expert_coef_[:, used]])
    errors = np.column_stack([model.expert_intercept_se_, model.expert_coef_se_[:, used]])
    shape = (case.k, 1 + len(used))
    estimate, error = (np.reshape(theirs["refit"][what], shape) for what in ("estimate", "error"))
    order = [int(np.argmin(np.sum((estimate - mine) ** 2, axis=1))) for mine in ours]
    found["coefficients_differ"] = float(np.max(np.abs(ours - estimate[order])))
    found["errors_differ"] = float(np.max(np.abs(errors / error[order] - 1)))
    return found


def in_words(found: dict[str, Any]) -> str:
    text = f"skmoe {found['skmoe']:.3f} in {found['skmoe_seconds']:.2f} s, flexmix {found['flexmix']:.3f}, "
    text += f"{found['flexmix_seconds']:.2f} s a start"
    if found["coefficients_differ"] is None:
        return text
    apart, errors = found["coefficients_differ"], 100 * found["errors_differ"]
    return f"{text}; coefficients differ by {apart:.1e}, standard errors by {errors:.2f}%"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--only", help="a table")
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    args = parser.parse_args()
    figures = json.loads(RESULTS.read_text()) if args.record and RESULTS.exists() else {}
    for case in CASES:
        if args.only and case.table != args.only:
            continue
        found = compared(case, args.starts)
        figures[f"{case.table}, {case.family}, k={case.k}"] = found
        print(f"{case.table}, {case.family}, k={case.k}, {found['rows']} rows: {in_words(found)}", flush=True)
        if args.record:
            RESULTS.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
