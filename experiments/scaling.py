"""Who reaches the optimum: share of fits against the number of experts, and against rows per parameter.

Not in the paper. Experts are linear and the gate is free. Joint EM and the default fit learn the noise; the two stages
are told it, and the EM after them learns it.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from skmoe import MoERegressor, joint_em, make_moe

from .baselines import random_start
from .recovery import LIKELIHOOD, two_stages

TITLE = "Scaling panel: share of fits that reach the optimum against k and against n / (k d)"
TRIALS = 12
COMMON = {"d": 10, "sigma": 0.05, "starts": 10, "max_iter": 200}
SETTINGS = {f"k = {k}": {"k": k, "rows_per": 20} | COMMON for k in range(2, 11)}
SETTINGS |= {f"n / (k d) = {r}": {"k": 6, "rows_per": r} | COMMON for r in (10, 20, 40, 80, 160)}
QUICK = {"rows_per": 20, "starts": 2, "max_iter": 10}
QUICK_SETTINGS = ("k = 2", "k = 3", "n / (k d) = 20")


def trial(setting: dict[str, Any], seed: int) -> dict[str, Any]:
    """Mean log-likelihoods and seconds of each method; the fit started at the truth is one of them."""
    k, d, sigma = setting["k"], setting["d"], setting["sigma"]
    rng = np.random.default_rng([seed, 5])
    X, y, truth = make_moe(setting["rows_per"] * k * d, d, k, noise_scale=sigma, random_state=rng)
    em = {"max_iter": setting["max_iter"]}
    found: dict[str, Any] = {}

    begin = time.process_time()
    starts = [random_start(k, d, rng) for _ in range(setting["starts"])]
    runs = [joint_em(X, y, k, init=start, **em).log_likelihood for start in starts]
    spent = time.process_time() - begin
    found["joint EM, one start"] = {"log_likelihoods": runs, "seconds": spent / len(starts)}
    found["joint EM, best of 10"] = {"log_likelihood": max(runs), "seconds": spent}

    begin = time.process_time()
    A, gate = two_stages(X, y, k, sigma, "linear", None, seed)
    fit = joint_em(X, y, k, init=(A, gate.coef), **em)
    found["our two stages, then joint EM"] = {
        "log_likelihood": fit.log_likelihood,
        "seconds": time.process_time() - begin,
    }

    begin = time.process_time()
    model = MoERegressor(k, fit_intercept=False, **LIKELIHOOD, random_state=seed).fit(X, y)
    found["default fit"] = {"log_likelihood": model.log_likelihood_ / len(y), "seconds": time.process_time() - begin}
    fit = joint_em(X, y, k, init=(truth.expert_coef, truth.gate_coef), **em)
    found["from the truth"] = {"log_likelihood": fit.log_likelihood}
    return found
