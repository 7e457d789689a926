"""SMT's MOE: rows clustered by a Gaussian mixture on (x, y), a surrogate chosen and trained in each cluster.

It aims at the mean of y given x, as a surrogate for a computer model: there is no density, and no noise in most of its
experts. Kriging is cubic in the rows of a cluster, so it is left to the tables, in its cheaper form (KPLS); full
Kriging (KRG) takes minutes a table and runs only when asked for by name.
"""

from __future__ import annotations

import numpy as np

from . import Fitted, Method, packaged

KRIGING_ROWS = 1500


def _fit(X: np.ndarray, y: np.ndarray, k: int, seed: int, experts: list[str]) -> Fitted:
    from smt.applications import MOE

    np.random.seed(seed)  # noqa: NPY002  MOE takes no seed: its clustering draws from NumPy's global state
    model = MOE(n_clusters=k, allow=experts, smooth_recombination=True, heaviside_optimization=True)
    model.set_training_values(X, y[:, None])
    model.train()
    return Fitted(lambda rows: model.predict_values(rows)[:, 0], n_components=k)


def fit(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    return _fit(X, y, k, seed, ["LS", "QP", "RBF"] + (["KPLS"] if len(y) <= KRIGING_ROWS else []))


def fit_kriging(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    return _fit(X, y, k, seed, ["KRG"])


PEER = packaged(
    "smt",
    {
        "SMT MOE": Method(
            fit,
            "k clusters (20 starts, its own), best of least squares, quadratic, RBF and, on tables, KPLS in each; "
            "smooth recombination with its factor optimised",
        ),
        "SMT MOE, Kriging": Method(
            fit_kriging, "the same with full Kriging in each cluster", tables_only=True, slow=True
        ),
    },
    "smt.applications",
)
