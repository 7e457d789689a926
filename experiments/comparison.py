"""Figures 3b to 5: the error E(A, W) along the iterations of seven methods, on one problem with known noise."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from skmoe import joint_em, make_moe, metrics
from skmoe.model.parameters import MoEParameters

from .baselines import HAS_TORCH, adam, gradient_joint_em, random_start
from .recovery import PAPER_CHOICES, PAPER_RADIUS, two_stages

LIMITS = {"max_iter": 200, "adam_steps": 300, "orth_als": True, "radius": PAPER_RADIUS}  # the same for all trials
QUICK = {"rows": 600, "max_iter": 15, "adam_steps": 15, "orth_als": False}  # which is slow where rows are few
POINTS = 61  # of a path that are kept: evenly spread over the first steps of Adam, the first iterations of others


def problem(setting: dict[str, Any], seed: int) -> tuple[np.ndarray, np.ndarray, Any]:
    """Draw the paper's model with a free gate and standard Gaussian inputs."""
    return make_moe(
        setting["rows"],
        setting["d"],
        setting["k"],
        activation=setting["g"],
        noise_scale=setting["sigma"],
        random_state=np.random.default_rng([seed, 3]),
    )


def trial(setting: dict[str, Any], seed: int) -> dict[str, Any]:
    """All methods on one problem; those that start at random share their start."""
    X, y, truth = problem(setting, seed)
    k, sigma, g, most = setting["k"], setting["sigma"], setting["g"], setting["max_iter"]
    start = random_start(k, setting["d"], np.random.default_rng([seed, 4]))

    def spectral(**how: Any) -> list[Any]:
        A, gate = two_stages(X, y, k, sigma, g, None, seed, **how)
        return [(A, W) for W in gate.path]

    def em(init: Any) -> list[Any]:
        fit = joint_em(X, y, k, activation=g, noise_scale=sigma, init=init, max_iter=most)
        return [(A, W) for A, W, _ in fit.path]

    def refined() -> list[Any]:
        path = spectral()
        return path + em(path[-1])[1:]

    methods: dict[str, Callable[[], list[Any]]] = {
        "our two stages": spectral,
        "our two stages, refined": refined,
        "joint EM": lambda: em(start),
        "joint EM, gradient step": lambda: gradient_joint_em(X, y, start, sigma=sigma, activation=g, max_iter=most),
    }
    if setting["orth_als"]:
        methods["the paper's two stages"] = lambda: spectral(**PAPER_CHOICES, radius=setting["radius"])
    if HAS_TORCH:
        for loss in ("squared error", "likelihood"):
            methods[f"Adam, {loss}"] = lambda loss=loss: adam(
                X, y, start, sigma=sigma, activation=g, loss=loss, steps=setting["adam_steps"]
            )
    methods["from the truth"] = lambda: em((truth.expert_coef, truth.gate_coef))
    return {name: _measure(run, X, y, truth, name) for name, run in methods.items()}


def _measure(run: Callable[[], list[Any]], X: np.ndarray, y: np.ndarray, truth: Any, name: str) -> dict[str, Any]:
    begin = time.process_time()
    path = run()
    seconds = time.process_time() - begin
    every = max(1, -(-len(path) // POINTS)) if name.startswith("Adam") else 1
    ends = MoEParameters(*path[-1], truth.sigma, family=truth.family)
    errors = [metrics.parameter_error(A, W, truth.A, truth.W) for A, W in path[: every * POINTS : every]]
    return {
        "error": errors,
        "every": every,
        "final": metrics.parameter_error(*path[-1], truth.A, truth.W),
        "iterations": len(path) - 1,
        "log_likelihood": float(np.mean(ends.log_density(X, y))),
        "seconds": seconds,
    }
