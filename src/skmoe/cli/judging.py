"""What methods are compared by, on rows held out: of numbers, of counts over exposures, and of classes."""

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
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression

    from skmoe import MoERegressor

    start = time.perf_counter()
    mixture = _fitted(with_most_experts(MoERegressor(**settings), most), part, f"{what}, mixture of experts")
    yield "mixture of experts", _judge_mixture(mixture, part, start)
    start = time.perf_counter()
    # joint EM chooses no number of experts by itself: it gets the one the mixture found
    baseline = MoERegressor(**{**settings, "n_experts": mixture.n_experts_, "averaging": 0}, method="joint-em")
    fitted = fit_watched(baseline, part.X, part.y, what=f"{what}, joint EM")
    yield "joint EM", _judge_mixture(fitted, part, start)
    boosting = HistGradientBoostingRegressor(random_state=settings["random_state"])
    normal = not mixture.parameters_.family.discrete  # a normal density beside the probability of a count says nothing
    for name, rival in (("least squares", LinearRegression()), ("gradient boosting", boosting)):
        start = time.perf_counter()
        yield name, _judge_rival(rival, part, start, normal and name == "least squares")


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


def _judge_mixture(model: Any, part: Part, start: float) -> dict[str, float]:
    import numpy as np

    seconds = time.perf_counter() - start
    law = model.predictive(part.X_test, exposure=part.y_test[:, 1] if part.y_test.ndim == 2 else None)
    density = float(np.mean(model.log_density(part.X_test, part.y_test)))
    coverage = inside(law.interval(0.9), _counts(part.y_test))
    about = {"n_experts": model.n_experts_, "converged": model.converged_}
    return {**_errors(part, law.mean()), "log_density": density, "coverage": coverage, "seconds": seconds, **about}


def _judge_rival(model: Any, part: Part, start: float, normal: bool) -> dict[str, float]:
    """How well another method does; counts over exposures by rates. NaN for what it does not say."""
    import numpy as np
    from scipy.stats import norm

    times = part.y[:, 1] if part.y.ndim == 2 else np.ones(len(part.y))
    test_times = part.y_test[:, 1] if part.y_test.ndim == 2 else np.ones(len(part.y_test))
    model.fit(part.X, _counts(part.y) / times, sample_weight=None if part.y.ndim == 1 else times)
    seconds = time.perf_counter() - start
    predicted, density, coverage = model.predict(part.X_test) * test_times, np.nan, np.nan
    if normal:  # least squares with its usual Gaussian noise
        freedom = max(len(part.y) - part.X.shape[1] - 1, 1)
        residual = part.y - model.predict(part.X)
        law = norm(scale=max(np.sqrt(np.sum(residual**2) / freedom), np.finfo(float).tiny))
        density = np.mean(law.logpdf(part.y_test - predicted))
        coverage = np.mean(np.abs(part.y_test - predicted) <= law.ppf(0.95))
    found = {"log_density": float(density), "coverage": float(coverage), "seconds": seconds, "n_experts": np.nan}
    return {**_errors(part, predicted), **found, "converged": True}


def _counts(y: Any) -> Any:
    return y[:, 0] if y.ndim == 2 else y


def _errors(part: Part, predicted: Any) -> dict[str, float]:
    from sklearn.metrics import r2_score, root_mean_squared_error

    y = _counts(part.y_test)
    return {"rmse": float(root_mean_squared_error(y, predicted)), "r2": float(r2_score(y, predicted))}


def _of_classes(found: Any, start: float, model: Any = None) -> dict[str, float]:
    measured = {name: float(getattr(found, name)) for name in OF_CLASSES.names[:-1]}
    about = {"n_experts": getattr(model, "n_experts_", float("nan")), "converged": getattr(model, "converged_", True)}
    return {**measured, "seconds": time.perf_counter() - start, **about}
