"""Fit each method to one part of the rows and measure it on the other: of numbers, counts over exposures, classes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from skmoe.cli.models import fit_watched, inside, with_most_experts

__all__ = ["OF_CLASSES", "OF_NUMBERS", "Measures", "Part", "judged_classes", "judged_numbers"]


class Measures(NamedTuple):
    """Names of what is measured, and the headings of their columns."""

    names: tuple[str, ...]
    headings: tuple[str, ...]


OF_NUMBERS = Measures(
    ("rmse", "r2", "log_density", "coverage", "seconds"),
    ("RMSE", "R2", "log density", "inside 90% interval", "seconds"),
)
OF_CLASSES = Measures(("log_loss", "accuracy", "brier", "seconds"), ("log loss", "accuracy", "Brier score", "seconds"))


class Part(NamedTuple):
    """Rows to fit to and rows held out; outputs (n,), or (n, 2) of counts and exposures, or numbers of classes."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any


def judged_numbers(
    part: Part, settings: dict[str, Any], most: int | None, what: str
) -> Iterator[tuple[str, dict[str, float]]]:
    """Each method for numbers and counts, fitted to one part of the rows and judged on the other."""
    from dataclasses import replace

    from skmoe import MoERegressor
    from skmoe.report import held_out
    from skmoe.report.held_out_counts import OF_COUNTS_OVER_EXPOSURE

    methods = OF_COUNTS_OVER_EXPOSURE if part.y.ndim == 2 else held_out.OF_NUMBERS
    start = time.perf_counter()
    mixture = _fitted(with_most_experts(MoERegressor(**settings), most), part, f"{what}, mixture of experts")
    seconds = time.perf_counter() - start
    yield "mixture of experts", _of_numbers(methods.mixture(mixture, part.X_test, part.y_test), seconds, mixture)
    start = time.perf_counter()
    # joint EM chooses no number of experts by itself: it gets the one the mixture found
    baseline = MoERegressor(**{**settings, "n_experts": mixture.n_experts_, "averaging": 0}, method="joint-em")
    fitted = fit_watched(baseline, part.X, part.y, what=f"{what}, joint EM")
    seconds = time.perf_counter() - start
    yield "joint EM", _of_numbers(methods.mixture(fitted, part.X_test, part.y_test), seconds, fitted)
    for fit in methods.rivals:
        start = time.perf_counter()
        judge = fit(part.X, part.y, None)
        seconds = time.perf_counter() - start
        found = judge(part.X_test, part.y_test)
        if mixture.parameters_.family.discrete:  # a normal density beside the probability of a count says nothing
            found = replace(found, log_densities=found.log_densities * float("nan"))
        yield found.method, _of_numbers(found, seconds)


def judged_classes(
    part: Part, settings: dict[str, Any], most: int | None, what: str, n_classes: int
) -> Iterator[tuple[str, dict[str, float]]]:
    """The mixture, logistic regression and boosting, fitted to one part of the rows and judged on the other."""
    from skmoe import MoEClassifier, MoERegressor
    from skmoe.report.held_out_classes import of_classes

    start = time.perf_counter()
    make = MoERegressor if "family" in settings else MoEClassifier
    mixture = _fitted(with_most_experts(make(**settings), most), part, f"{what}, mixture of experts")
    methods = of_classes(n_classes)
    yield "mixture of experts", _of_classes(methods.mixture(mixture, part.X_test, part.y_test), start, mixture)
    for fit in methods.rivals:
        start = time.perf_counter()
        found = fit(part.X, part.y, None)(part.X_test, part.y_test)
        yield found.method, _of_classes(found, start)


def _fitted(model: Any, part: Part, what: str) -> Any:
    fitted = fit_watched(model, part.X, part.y, what=what)
    if fitted.history_["interrupted"]:  # an estimate of error from half a fit would be no use
        raise KeyboardInterrupt
    return fitted


def _of_numbers(found: Any, seconds: float, model: Any = None) -> dict[str, float]:
    """Measures of predictions; NaN for what a method does not say."""
    import numpy as np

    coverage = float("nan") if np.any(np.isnan(found.bounds)) else inside(found.bounds, found.y)
    measured = {"rmse": found.rmse, "r2": found.r2, "log_density": found.log_density, "coverage": coverage}
    return {**measured, "seconds": seconds, **_about(model)}


def _of_classes(found: Any, start: float, model: Any = None) -> dict[str, float]:
    measured = {name: float(getattr(found, name)) for name in OF_CLASSES.names[:-1]}
    return {**measured, "seconds": time.perf_counter() - start, **_about(model)}


def _about(model: Any) -> dict[str, Any]:
    """The number of experts, NaN for methods without, and whether the fit converged."""
    return {"n_experts": getattr(model, "n_experts_", float("nan")), "converged": getattr(model, "converged_", True)}
