"""NGBoost with Gaussian outputs."""

from __future__ import annotations

import importlib.metadata

from . import Method, Predicted, Rows, installed
from .laws import normal

ROUNDS, PATIENCE = 2000, 100


def choose(rows: Rows, seed: int) -> int:
    """Return the number of rounds that is best on a fifth of the rows."""
    from ngboost import NGBRegressor

    X, y, X_out, y_out = rows.inner(seed)
    stopped = NGBRegressor(n_estimators=ROUNDS, verbose=False, random_state=seed)
    stopped.fit(X, y, X_val=X_out, Y_val=y_out, early_stopping_rounds=PATIENCE)
    return max(int(stopped.best_val_loss_itr or 0), 1)


def run(rows: Rows, seed: int) -> Predicted:
    """Fit all rows with the number of rounds chosen."""
    from ngboost import NGBRegressor

    rounds = choose(rows, seed)
    model = NGBRegressor(n_estimators=rounds, verbose=False, random_state=seed).fit(rows.X, rows.y)
    found = model.pred_dist(rows.X_new).params
    return normal(found["loc"], found["scale"], rows.y_new, rounds=rounds)


METHODS = [
    Method(
        "NGBoost",
        run,
        "Normal, its defaults; up to 2000 rounds, stopped early on a fifth of the rows, refitted on all",
        missing=installed("ngboost"),
        version=lambda: importlib.metadata.version("ngboost"),
        modules=("ngboost", "scipy.stats", "skmoe.model.crps"),
    )
]
