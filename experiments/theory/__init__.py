"""The theorems, lemmas and remarks in samples: rates, floors, constants. Checks are functions, their settings data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import experts, gate, measures
from .draws import ACTIVATIONS, GATES

TITLE = "Theory: theorems 1, 2, 3 and 5, lemmas 3 and 4, conditions, constants and remarks in samples"
TRIALS = 10
SIZES = [1000, 4000, 16_000, 64_000, 256_000]
SIGMAS = [0.05, 0.1, 0.2, 0.5]
NUMBERS = (2, 3, 4)  # of experts
ALL = {"activations": list(ACTIVATIONS), "gates": list(GATES)}


def _settings() -> dict[str, dict[str, Any]]:
    """Settings by name; "kind" names the check."""
    chosen: dict[str, dict[str, Any]] = {}

    def add(kind: str, detail: str = "", **values: Any) -> None:
        chosen[f"{kind}, {detail}" if detail else kind] = {"kind": kind, **values}

    for g in ACTIVATIONS:
        add("tensor error", g, g=g, sigma=0.2, sizes=SIZES, limit_rows=400_000)
    for k in NUMBERS:
        add("tensor bias", f"k = {k}", k=k, length=1.0, rows=1_000_000, activations=[*ACTIVATIONS, "tanh"])
    for k, length in ((3, 0.0), (3, 2.0), (2, 2.0)):
        add("plain tensor", f"k = {k}, gate {length:g}", k=k, length=length, tensor_sizes=SIZES[1:])
    for gate_name, length in (("orthogonal gate", 2.0), ("free gate", 1.0)):
        orthogonal = GATES[gate_name]
        add(
            "ReLU constants",
            gate_name,
            sigma=0.1,
            length=length,
            orthogonal=orthogonal,
            sizes=SIZES[1:],
            limit_rows=400_000,
        )
    add("sigmoid system", sigmas=[0.1, 0.5])
    add("E[g''']")
    add("uniqueness", degrees=[3, 4, 5], rows=1_000_000)
    for k in NUMBERS:
        for g in ACTIVATIONS:
            add("orthogonality", f"k = {k}, {g}", k=k, g=g, sizes=[SIZES[2], SIZES[4]])
    add("dimension", d=6, experts=[2, 3, 4, 5], sizes=SIZES[2:])
    for k in NUMBERS:
        add("contraction", f"k = {k}", k=k, d=6, sigmas=[0.0125, *SIGMAS], rows=5000, **ALL)
    add("contraction", "d = 20", k=2, d=20, sigmas=SIGMAS, rows=20_000, activations=["linear"], gates=["free gate"])
    for k in NUMBERS:
        add("self-consistency", f"k = {k}", k=k, sizes=SIZES[1:])
        add("robustness", f"k = {k}", k=k, sigma=0.2, epsilons=[0.125, 0.25, 0.5, 1.0], rows=5000)
    for k, g in ((2, "linear"), (3, "linear"), (4, "linear"), (3, "sigmoid"), (3, "relu")):
        add("global start", f"k = {k}, {g}", k=k, g=g, sigmas=SIGMAS, rows=2000, starts=5)
    for k in NUMBERS:
        add("stability", f"k = {k}", k=k, sigmas=[0.0125, 0.025, *SIGMAS], rows=10_000)
    add("gradient EM", sigmas=SIGMAS, rows=20_000)
    add("moment gate", sizes=SIZES)
    for k in NUMBERS:
        add("error and fits", f"k = {k}", k=k)
    return chosen


SETTINGS = _settings()
QUICK = {
    "sizes": [500, 1000],
    "tensor_sizes": [4000],
    "sigmas": [0.05, 0.1],
    "epsilons": [0.25, 1.0],
    "rows": 1500,
    "starts": 2,
    "limit_rows": 10_000,
    "experts": [2, 3],
}
KINDS: dict[str, Callable[[dict[str, Any], np.random.Generator], dict[str, Any]]] = {
    "tensor error": experts.tensor_error,
    "tensor bias": experts.tensor_bias,
    "plain tensor": experts.plain_tensor,
    "ReLU constants": experts.relu_constants,
    "sigmoid system": experts.sigmoid_system,
    "E[g''']": experts.third_derivative,
    "uniqueness": experts.uniqueness,
    "orthogonality": experts.orthogonality,
    "dimension": experts.dimension,
    "contraction": gate.contraction,
    "self-consistency": gate.self_consistency,
    "robustness": gate.robustness,
    "global start": gate.global_start,
    "stability": gate.stability,
    "gradient EM": gate.gradient_em,
    "moment gate": gate.moment_gate,
    "error and fits": measures.error_and_fits,
}


def trial(setting: dict[str, Any], seed: int) -> dict[str, Any]:
    """One draw of the check that the setting names."""
    return KINDS[setting["kind"]](setting, np.random.default_rng([seed, 7]))
