"""Tables that hypothesis draws, through `MoERegressor`: refused in a sentence, or fitted with finite numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from skmoe import MoERegressor

from .harness import Observer, WrongError, refuse_raw

__all__ = ["Target"]

REFUSALS = (ValueError, TypeError)
SCALES, EXTREMES = (1.0, 1e3, 1e-3, 1e8, 1e-8, 0.0), (1e100, 1e-100, 1e300, 1e-300, 1.0)
OFFSETS, FAR = (0.0, 1.0, 100.0), (1e6, 1e12, 0.0)  # in spreads
KINDS = ("float32", "int64", "bool", "object", "U8", "complex128", "datetime64[s]")
SPECIAL = (np.nan, np.inf, -np.inf)
WRONG = {
    "n_experts": (0, -1, "two", None, 2.5),
    "noise": (0.0, -1, "none", np.nan, np.inf),
    "penalty": (-1, np.nan, "none"),
    "activation": ("none", 3),
    "max_iter": (0, 1.5),
    "expert_features": ([7], ["x"], [0, 0]),
}
"""Settings that are refused."""
Hazard = Literal["none", "size", "kind", "special", "weight", "length", "list", "setting", "shape"]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """Inputs, outputs, weights and settings, as a careless caller hands them in: with at most one thing odd."""
    hazard: Hazard = draw(st.sampled_from(("none", "none", "none", *get_args(Hazard)[1:])))
    # hypothesis prefers what stands first
    n, d = draw(st.sampled_from([40, 20, 60, 80])), draw(st.sampled_from([2, 1, 3, 4, 5]))
    if hazard == "shape":
        n, d = draw(st.sampled_from([(3, 2), (1, 2), (0, 2), (40, 0), (2, 30)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes, offsets = (EXTREMES, FAR) if hazard == "size" else (SCALES, OFFSETS)
    scales = np.array(draw(st.lists(st.sampled_from(sizes), min_size=d, max_size=d)))
    with np.errstate(over="ignore"):
        X = scales * (rng.normal(size=(n, d)) + draw(st.sampled_from(offsets)))
    y = np.where(X[:, 0] > 0, 1.0, -1.0) * rng.normal(size=n) if d else rng.normal(size=n)
    y *= draw(st.sampled_from(EXTREMES)) if hazard == "size" else 1.0
    if draw(st.booleans()):
        y = np.round(y, draw(st.integers(0, 2)))
    if hazard == "special":
        part = draw(st.sampled_from((X, y)))
        part.flat[rng.integers(part.size)] = draw(st.sampled_from(SPECIAL))
    weight = rng.choice([1.0, 2.0, 0.5, 0.0], n) if draw(st.integers(0, 3)) == 3 else None
    if hazard == "weight":
        weight = rng.choice([1.0, 0.0, draw(st.sampled_from([-1.0, np.nan, np.inf, 0.0, 1e6]))], n)
    if hazard == "kind":
        kind = draw(st.sampled_from(KINDS))
        X = X.astype(kind) if kind != "datetime64[s]" else X.astype("int64").astype(kind)
    if hazard == "length":
        y = y[:-1]
    how = {
        "n_experts": draw(st.sampled_from([1, 2, 1, 3, "auto", 1000])),
        "noise": draw(st.sampled_from(["per-expert", "shared", 0.5])),
        "penalty": draw(st.sampled_from(["auto", 0, 0.3, 10])),
        "fit_intercept": draw(st.sampled_from([True, True, False])),
        "calibration": draw(st.sampled_from([None, "loo"])),
        "activation": draw(st.sampled_from(["linear", "linear", "linear", "tanh", "relu"])),
    }
    if hazard == "setting":
        name = draw(st.sampled_from(list(WRONG)))
        how[name] = draw(st.sampled_from(WRONG[name]))
    return {"X": X.tolist() if hazard == "list" else X, "y": y, "weight": weight, "how": how}


class Target:
    """Fits of small tables, of at most two seconds each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, observer: Observer, start: int, cases: int, seed_of: int) -> None:
        """Put cases to the observer; hypothesis draws them from the seed and the first number together."""
        numbers = iter(range(start, start + 10 * cases))

        @seed(1_000_003 * seed_of + start)
        @settings(
            max_examples=cases,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(tables())
        def put(table: dict[str, Any]) -> None:
            observer.observe(next(numbers), lambda: _case(**table))

        put()


def _case(X: Any, y: Any, weight: Any, how: dict[str, Any]) -> bool:
    try:
        model = MoERegressor(**how, max_time=2.0, random_state=0).fit(X, y, sample_weight=weight)
    except REFUSALS as error:
        refuse_raw(str(error))
        return False
    if np.asarray(X).dtype.kind in "cMm":
        raise WrongError(f"inputs of type {np.asarray(X).dtype} were fitted")
    parts = (model.expert_coef_, model.gate_coef_, model.noise_scale_, model.predict(X), model.predict_interval(X))
    if not all(np.all(np.isfinite(part)) for part in parts) or np.any(model.noise_scale_ <= 0):
        raise WrongError(f"numbers that are not finite from {how}")
    str(model.summary())
    str(model.diagnose())
    return True
