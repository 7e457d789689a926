"""NGBoost with Gaussian outputs."""

from __future__ import annotations

import importlib.metadata

import numpy as np

from . import COVERAGES, Method, Predicted, Rows, installed

ROUNDS, PATIENCE, SHARE = 2000, 100, 0.2


def run(rows: Rows, seed: int) -> Predicted:
    """Choose the number of rounds on a fifth of the rows, then fit all of them."""
    from ngboost import NGBRegressor
    from scipy.stats import norm

    order = np.random.default_rng(seed).permutation(len(rows.y))
    out, kept = np.split(order, [max(int(SHARE * len(order)), 1)])
    stopped = NGBRegressor(n_estimators=ROUNDS, verbose=False, random_state=seed)
    stopped.fit(*(rows.X[kept], rows.y[kept]), X_val=rows.X[out], Y_val=rows.y[out], early_stopping_rounds=PATIENCE)
    rounds = max(int(stopped.best_val_loss_itr or 0), 1)
    model = NGBRegressor(n_estimators=rounds, verbose=False, random_state=seed).fit(rows.X, rows.y)
    found = model.pred_dist(rows.X_new).params
    law = norm(found["loc"], found["scale"])
    intervals = {level: np.column_stack(law.interval(level)) for level in COVERAGES}
    return Predicted(found["loc"], law.logpdf(rows.y_new), intervals, notes={"rounds": rounds})


METHODS = [
    Method(
        "NGBoost",
        run,
        "Normal, its defaults; up to 2000 rounds, stopped early on a fifth of the rows, refitted on all",
        missing=installed("ngboost"),
        version=lambda: importlib.metadata.version("ngboost"),
        modules=("ngboost", "scipy.stats"),
    )
]
