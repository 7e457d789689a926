"""How often one default fit reaches the best of five, on real tables, where nobody knows the optimum.

Run ``python benchmarks/real_optimum.py``: concrete and airfoil, three random three-quarters of the rows, two to four
experts with their own noise, seeds 0 to 4.
"""

from __future__ import annotations

import warnings

import numpy as np
from rich.console import Console
from rich.table import Table

from skmoe import MoERegressor
from skmoe.datasets import load_airfoil, load_concrete

SAME = 0.1  # in total log-likelihood


def main() -> None:
    warnings.simplefilter("ignore")
    table = Table(title="total log-likelihood below the best of five seeds")
    for column in ("table", "split", "experts", "below the best, by seed", "agreeing starts, by seed"):
        table.add_column(column)
    reached = total = 0
    for name, load in (("concrete", load_concrete), ("airfoil", load_airfoil)):
        X, y = load(return_X_y=True)
        for split in range(3):
            rows = np.random.default_rng(split).permutation(len(y))[: 3 * len(y) // 4]
            for k in (2, 3, 4):
                fits = [
                    MoERegressor(k, noise="per-expert", random_state=seed).fit(X[rows], y[rows]) for seed in range(5)
                ]
                level = np.array([fit.log_likelihood_ for fit in fits]) * len(rows)
                below = level.max() - level
                reached, total = reached + int(np.sum(below < SAME)), total + len(fits)
                agreement = [str(fit.history_["agreement"]) for fit in fits]
                table.add_row(name, str(split), str(k), " ".join(f"{b:.1f}" for b in below), " ".join(agreement))
    console = Console()
    console.print(table)
    console.print(f"{reached} of {total} fits reached the best of their five")


if __name__ == "__main__":
    main()
