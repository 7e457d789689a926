"""Fit each method to one part of the rows and measure it on the other: of numbers, counts over exposures, classes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from skmoe.cli.models import fit_watched

__all__ = [
    "OF_CLASSES",
    "OF_NUMBERS",
    "FoldResult",
    "Measures",
    "Part",
    "judged_by_methods",
    "measures_of",
    "methods_for",
]


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


class FoldResult(NamedTuple):
    """Predictions of a method for the rows of a fold, the seconds of its fit, and the model, where it has experts."""

    judged: Any
    seconds: float
    model: Any = None

    def measured(self) -> dict[str, Any]:
        """Measures, the number of experts, NaN for methods without, and whether the fit converged."""
        about = {"n_experts": getattr(self.model, "n_experts_", float("nan"))}
        converged = getattr(self.model, "converged_", True)
        return {**measures_of(self.judged), "seconds": self.seconds, **about, "converged": converged}


def measures_of(judged: Any) -> dict[str, float]:
    """Measures of predictions, of one fold or of all; NaN for what a method does not say."""
    from skmoe.report.held_out_classes import EvaluatedClasses

    if isinstance(judged, EvaluatedClasses):
        return {name: float(getattr(judged, name)) for name in OF_CLASSES.names[:-1]}
    found = {name: float(getattr(judged, name)) for name in ("rmse", "r2", "log_density")}
    return {**found, "coverage": judged.inside(0.9)}


def methods_for(n_classes: int, y: Any) -> Any:
    """What is compared, as in a report: of classes if there are any, counts over exposures, or numbers."""
    from skmoe.report import held_out
    from skmoe.report.held_out_classes import of_classes
    from skmoe.report.held_out_counts import OF_COUNTS_OVER_EXPOSURE

    if n_classes:
        return of_classes(n_classes)
    return OF_COUNTS_OVER_EXPOSURE if y.ndim == 2 else held_out.OF_NUMBERS


def judged_by_methods(
    part: Part, settings: dict[str, Any], what: str, methods: Any, *, classes: bool
) -> Iterator[FoldResult]:
    """Each method, fitted to one part of the rows and judged on the other; joint EM for numbers and counts alone."""
    from dataclasses import replace

    from skmoe import MoEClassifier, MoERegressor

    def judged(model: Any, what: str) -> FoldResult:
        start = time.perf_counter()
        fitted = fit_watched(model, part.X, part.y, what=what)
        if fitted.record_.search.interrupted:  # an estimate of error from half a fit would be no use
            raise KeyboardInterrupt
        seconds = time.perf_counter() - start
        return FoldResult(methods.mixture(fitted, part.X_test, part.y_test), seconds, fitted)

    make = MoEClassifier if classes and "family" not in settings else MoERegressor
    mixture = judged(make(**settings), f"{what}, mixture of experts")
    yield mixture
    if not classes:  # joint EM chooses no number of experts by itself: it gets the one the mixture found
        given = {**settings, "n_experts": mixture.model.n_experts_, "averaging": 0}
        found = judged(MoERegressor(**given, method="joint-em"), f"{what}, joint EM")
        yield found._replace(judged=replace(found.judged, method="joint EM"))
    for fit in methods.baselines:
        start = time.perf_counter()
        judge = fit(part.X, part.y, None)
        seconds = time.perf_counter() - start
        rival = judge(part.X_test, part.y_test)
        if not classes and mixture.model.parameters_.family.discrete:
            # a normal density beside the probability of a count says nothing
            rival = replace(rival, log_densities=rival.log_densities * float("nan"))
        yield FoldResult(rival, seconds)
