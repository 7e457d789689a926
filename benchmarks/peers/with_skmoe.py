"""skmoe itself, as a user would call it: raw columns, one fit."""

from __future__ import annotations

import numpy as np

from . import Fitted, Method, packaged


def fit(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    return _fit(X, y, k, seed)


def fit_auto(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Fitted:
    return _fit(X, y, "auto", seed)


def _fit(X: np.ndarray, y: np.ndarray, k: int | str, seed: int) -> Fitted:
    from skmoe import MoERegressor

    model = MoERegressor(k, noise="per-expert", random_state=seed).fit(X, y)
    return Fitted(model.predict, model.log_density, model.expert_coef_, model.n_experts_)


HOW = "default search, a noise for each expert, raw columns; standard errors included"

PEER = packaged(
    "skmoe",
    {
        "skmoe": Method(fit, HOW, own_units=True),
        "skmoe, k by BIC": Method(
            fit_auto, '`n_experts="auto"`, else the same', tables_only=True, own_units=True, slow=True
        ),
    },
    "skmoe.estimators.regressor",
)
