"""cgmm's MixtureOfExpertsRegressor: the same model, as shipped, and with its gate mended.

In cgmm 0.5.1 the gate is never trained. ``moe.py`` line 860 calls SciPy's ``cholesky`` with ``check_isfinite``, an
argument it does not have (it is ``check_finite``). The ``TypeError`` of every call is caught by ``except Exception``
on line 863, and line 864 then takes ``-pinv(H) @ rhs``, where ``rhs`` is already minus the gradient (line 858): a step
away from the optimum. The line search (lines 869 to 878) finds no gain along it and stops, so the gate keeps the random
values that ``_init_params`` gave it. The mended method lets ``cholesky`` take the misspelt argument and changes nothing
else: the Newton step written there then runs.

``shared_covariance=True`` has an error of its own (line 585 divides by the number of rows what `_weighted_cov` has
divided already) and is not used.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from . import Fitted, Method, packaged

STARTS = {"random": 1, "kmeans": 1}
OPTIONS = {
    "covariance_type": "diag",  # the same model for one output, and less work
    "gating_penalty": 1e-5,  # its default of .01 shrinks the gate; this is skmoe's
    "tol": 1e-6,  # its default stops early
    "max_iter": 100,
}


def fit_as_shipped(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    import cgmm

    runs = [
        cgmm.MixtureOfExpertsRegressor(k, init_params=start, n_init=times, random_state=seed, **OPTIONS).fit(X, y)
        for start, times in STARTS.items()
    ]
    best = max(runs, key=lambda run: run.lower_bound_)
    return Fitted(best.predict, best.log_prob, best._params.A[:, 0, :], k)


def fit_mended(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    import cgmm.moe
    from scipy.linalg import cholesky

    def forgiving(a: Any, check_isfinite: bool = False, **options: Any) -> np.ndarray:
        return cholesky(a, **{"check_finite": check_isfinite, **options})

    cgmm.moe.cholesky = forgiving  # every fit has a process of its own, so nothing needs to be put back
    return fit_as_shipped(X, y, k, seed)


HOW = "best of 2 starts (one random, one k-means), tol 1e-6, at most 100 iterations, gate penalty 1e-5"

PEER = packaged(
    "cgmm",
    {
        "cgmm, as shipped": Method(fit_as_shipped, HOW + "; its gate is not trained, see below"),
        "cgmm, gate mended": Method(fit_mended, HOW + "; with the work-round described below"),
    },
    "cgmm",
    "cgmm.moe",
)
