"""The same rows by skmoe and by R's flexmix: Poisson, binomial and gamma experts, flexmix's own tables and others.

    python -m benchmarks.families.beside_flexmix [--starts 20] [--only patent] [--recorded] [--record]

Needs R with flexmix (on Debian: r-cran-flexmix). Both by maximum likelihood, with a softmax gate over the inputs said
and no least share; flexmix from so many random starts with a tolerance of 1e-8, the best of which goes on to 1e-13.
Printed are the log-likelihood of skmoe and of flexmix's best start, CPU seconds of skmoe's fit and of one start of
flexmix, and, where both end at the same optimum, how far coefficients and standard errors of experts (flexmix's
``refit``) differ at most. The Hessian of ``refit`` is that of an optimiser and not always exact: standard errors are
compared with second differences of the log-likelihood as well.

Experts of 0 and 1 may go to infinity, where the likelihood has many maxima and none is an estimate; flexmix ends there
as anywhere else, skmoe prefers finite ones. Cases that say so let skmoe go there too, to compare like with like.

With --recorded, what flexmix found is taken from the results instead of running it again.

flexmix's gamma experts have the inverse link; with one input of two values it is the same model as with the log link.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.families import simulated_families as problems
from skmoe import MoERegressor
from skmoe.model.families import BinomialFamily

SCRIPT = Path(__file__).with_name("flexmix_families.R")
RESULTS = Path(__file__).parents[1] / "results" / "family_flexmix.json"
INFINITE = 100.0  # size of a coefficient of 0 and 1 from which on flexmix is on its way to infinity
STEP = 1e-3  # of second differences, for inputs of unit variance
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
    n_init: int = 10  # random starts of skmoe
    infinite: bool = False  # whether coefficients may go to infinity

    @property
    def title(self) -> str:
        """What it is called in the results."""
        return f"{self.table}, {self.family}, k={self.k}" + (", infinite coefficients" if self.infinite else "")


class Unbounded(BinomialFamily):
    """The law of 0 and 1 by which coefficients may go to infinity."""

    most_coef = np.inf


CASES = (
    Case("patent", "poisson", 3, (0,), (1,)),
    Case("patent", "poisson", 2, (0,), (1,)),
    Case("seizure", "poisson", 2, gate=(0, 1)),
    Case("bioChemists", "poisson", 2),
    Case("dmft", "poisson", 2, errors=False),
    Case("tribolium", "binomial", 2, (0, 1), (2, 3)),
    Case("NPreg yp", "poisson", 2),
    Case("NPreg yb", "binomial", 2),
    Case("NPreg yb", "binomial", 2, n_init=20, infinite=True),
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


def fitted(case: Case, X: np.ndarray, y: np.ndarray) -> tuple[MoERegressor, float]:
    """The fit of skmoe by maximum likelihood, and its CPU seconds."""
    begun = time.process_time()
    columns = {"expert_features": case.experts, "gate_features": case.gate}
    how = {"penalty": 0, "calibration": None, "random_state": 0, "n_init": case.n_init}
    model = MoERegressor(case.k, family=Unbounded() if case.infinite else case.family, **how, **columns)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    return model, time.process_time() - begun


def best_of_flexmix(case: Case, theirs: dict[str, Any]) -> float:
    """The log-likelihood of flexmix's best start, among finite ones where skmoe's are."""
    if case.infinite or case.family != "binomial":
        return theirs["log_likelihood"]
    finite = np.array(theirs["largest"]) < INFINITE
    return theirs["log_likelihood"] if np.all(finite) else float(np.max(np.array(theirs["all"])[finite]))


def errors_by_differences(case: Case, model: MoERegressor, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Standard errors of experts' intercepts and coefficients by second differences of the log-likelihood, (k, D)."""
    p, k = model.parameters_, case.k
    used, gate = (list(range(X.shape[1])) if c is None else list(c) for c in (case.experts, case.gate))
    step = STEP / np.concatenate([*[np.append(1.0, np.std(X[:, c], axis=0)) for c in [used] * k + [gate] * (k - 1)]])

    def total(move: np.ndarray) -> float:
        A, W, b, c = p.A.copy(), p.W.copy(), p.b.copy(), p.c.copy()
        experts, gates = np.split(move, [k * (1 + len(used))])
        experts, gates = experts.reshape(k, -1), gates.reshape(k - 1, -1)
        b, A[:, used] = b + experts[:, 0], A[:, used] + experts[:, 1:]
        c[:-1], W[:-1, gate] = c[:-1] + gates[:, 0], W[:-1, gate] + gates[:, 1:]
        return float(np.sum(replace(p, A=A, W=W, b=b, c=c, largest=None).log_density(X, y)))

    moves = np.diag(step)
    H = np.empty((len(step), len(step)))
    for i, e in enumerate(moves):
        for j, f in enumerate(moves[: i + 1]):
            change = total(e + f) - total(e - f) - total(f - e) + total(-e - f)
            H[i, j] = H[j, i] = change / (4 * step[i] * step[j])
    return np.sqrt(np.diag(np.linalg.inv(-H))[: k * (1 + len(used))]).reshape(k, -1)


def compared(case: Case, starts: int, recorded: dict[str, Any] | None) -> dict[str, Any]:
    """What both find, and how far they differ."""
    with tempfile.TemporaryDirectory() as folder:
        X, y, path = table_of(case, Path(folder))
        model, seconds = fitted(case, X, y)
        theirs = recorded or by_flexmix(case, path, X.shape[1], starts)
    found = {
        "rows": len(X),
        "n_init": case.n_init,
        "skmoe": model.log_likelihood_,
        "flexmix": best_of_flexmix(case, theirs),
        "skmoe_seconds": seconds,
        "flexmix_seconds": float(np.median(theirs["seconds"])),
        "coefficients_differ": None,
        "errors_differ": None,
        "errors_off_differences": None,
        "by_flexmix": theirs,
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
    found["errors_off_differences"] = float(np.max(np.abs(errors - errors_by_differences(case, model, X, y))))
    found["errors_differ"] = float(np.max(np.abs(errors - error[order])))
    return found


def in_words(found: dict[str, Any]) -> str:
    text = f"skmoe {found['skmoe']:.3f} in {found['skmoe_seconds']:.2f} s, flexmix {found['flexmix']:.3f}, "
    text += f"{found['flexmix_seconds']:.2f} s a start"
    if found["coefficients_differ"] is None:
        return text
    apart, errors, exact = (found[what] for what in ("coefficients_differ", "errors_differ", "errors_off_differences"))
    text += f"; coefficients differ by {apart:.1e}, standard errors by {errors:.1e}"
    return f"{text}, from second differences by {exact:.1e}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--only", help="a table")
    parser.add_argument("--recorded", action="store_true", help="take what flexmix found from the results")
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    args = parser.parse_args()
    figures = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    done: dict[Case, dict[str, Any]] = {}
    for case in CASES:
        if args.only and case.table != args.only:
            continue
        # skmoe with finite coefficients and without is beside one run of flexmix
        alike = replace(case, infinite=False, n_init=0)
        known = done.get(alike) or (figures[case.title]["by_flexmix"] if args.recorded else None)
        figures[case.title] = found = compared(case, args.starts, known)
        done[alike] = found["by_flexmix"]
        print(f"{case.title}, {found['rows']} rows: {in_words(found)}", flush=True)
        if args.record:
            RESULTS.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
