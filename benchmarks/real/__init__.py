"""Real tables: methods that predict rows not seen, one file ``by_*.py`` each; ``compare.py`` runs them side by side."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

__all__ = ["COVERAGES", "EARLIER", "OURS", "PLUGINS", "Method", "Predicted", "Rows", "all_methods", "installed"]

COVERAGES = (0.5, 0.9, 0.95)
INNER = 0.2
OURS = ("skmoe", "skmoe, averaging=20")
EARLIER = "skmoe c10dea2"
PLUGINS = (
    *("by_least_squares", "by_linear_tree", "by_ebm", "by_boosting", "by_forest", "by_ngboost", "by_catboost"),
    *("by_lightgbm", "by_skmoe", "by_earlier_skmoe", "by_grid"),
)


class Rows(NamedTuple):
    """Rows to be fitted and rows held out, in the units of the table."""

    X: np.ndarray
    y: np.ndarray
    X_new: np.ndarray
    y_new: np.ndarray

    def inner(self, seed: int) -> Rows:
        """Leave a random fifth of the rows to be fitted out, to choose settings by."""
        order = np.random.default_rng(seed).permutation(len(self.y))
        out, kept = np.split(order, [max(int(INNER * len(order)), 1)])
        return Rows(self.X[kept], self.y[kept], self.X[out], self.y[out])


@dataclass(frozen=True)
class Predicted:
    """What a method says of the rows held out."""

    prediction: np.ndarray  # (n,)
    log_density: np.ndarray | None = None  # (n,), of the outputs held out; None: it has no density
    intervals: dict[float, np.ndarray] | None = None  # (n, 2) for each coverage
    crps: np.ndarray | None = None  # (n,), continuous ranked probability score of the outputs held out
    seconds: float | None = None  # set where the work was done in another process
    notes: dict[str, Any] = field(default_factory=dict)  # what it chose


@dataclass(frozen=True)
class Method:
    """A way to predict; `run` is given rows and a seed, and reads of ``y_new`` only to evaluate its density there."""

    name: str
    run: Callable[[Rows, int], Predicted]
    how: str  # as shown on the page
    missing: Callable[[], str | None] = lambda: None  # the reason to skip it, or None
    version: Callable[[], str] = lambda: importlib.metadata.version("scikit-learn")
    modules: tuple[str, ...] = ()  # imported before time is counted
    rounded_only: bool = False
    slow_after: float = float("inf")  # seconds a fit from which only the first three splits are run


def installed(name: str) -> Callable[[], str | None]:
    """A reason to skip a method, where a package is not installed."""
    return lambda: None if importlib.util.find_spec(name) else f"{name} is not installed: pip install {name}"


def all_methods() -> dict[str, Method]:
    """Every method by its name, installed or not: no file imports its library before it fits."""
    found = [importlib.import_module(f".{name}", __name__).METHODS for name in PLUGINS]
    return {method.name: method for methods in found for method in methods}
