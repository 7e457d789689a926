"""How often one default fit reaches the best of five, on real tables, where nobody knows the optimum.

    python -m benchmarks.search.real_tables [--table concrete] [--experts 2 3 4] [--splits 3] [--seeds 5]

Concrete and airfoil, three random three-quarters of the rows, two to four experts with their own noise, seeds 0 to 4.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from rich.console import Console
from rich.table import Table

from skmoe import MoERegressor
from skmoe.datasets import load_airfoil, load_concrete

TABLES = {"concrete": load_concrete, "airfoil": load_airfoil}
SAME = 0.1  # in total log-likelihood


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", nargs="*", choices=list(TABLES), default=list(TABLES))
    parser.add_argument("--experts", type=int, nargs="*", default=[2, 3, 4])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table(title=f"total log-likelihood below the best of {arguments.seeds} seeds")
    for column in ("table", "split", "experts", "below the best, by seed", "agreeing starts, by seed"):
        table.add_column(column)
    reached = total = 0
    for name in arguments.table:
        X, y = TABLES[name](return_X_y=True)
        for split in range(arguments.splits):
            rows = np.random.default_rng(split).permutation(len(y))[: 3 * len(y) // 4]
            for k in arguments.experts:
                fits = [
                    MoERegressor(k, noise="per-expert", random_state=seed).fit(X[rows], y[rows])
                    for seed in range(arguments.seeds)
                ]
                totals = np.array([fit.log_likelihood_ for fit in fits])
                below = totals.max() - totals
                reached, total = reached + int(np.sum(below < SAME)), total + len(fits)
                agreement = [str(fit.history_["agreement"]) for fit in fits]
                table.add_row(name, str(split), str(k), " ".join(f"{b:.1f}" for b in below), " ".join(agreement))
    console = Console()
    console.print(table)
    console.print(f"{reached} of {total} fits reached the best of their {arguments.seeds} seeds")


if __name__ == "__main__":
    main()
