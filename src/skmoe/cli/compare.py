"""``skmoe compare``: cross-validation of the mixture beside what else one might use."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from skmoe.cli import methods, tables
from skmoe.cli.failures import UNRELIABLE
from skmoe.cli.models import fit_watched, inside, parse_experts, parse_noise, with_most_experts
from skmoe.cli.shell import print_json, print_table

__all__ = ["compare"]

MEASURES = ("rmse", "r2", "log_density", "coverage", "seconds")
HEADINGS = ("RMSE", "R2", "log density", "inside 90% interval", "seconds")


def compare(
    data: tables.Data,
    target: tables.Target,
    experts: methods.Experts = "auto",
    noise: methods.Noise = "per-expert",
    average: methods.Average = 0,
    max_experts: methods.MaxExperts = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the table, each held out once.")] = 5,
    columns: tables.Columns = None,
    drop: tables.Drop = None,
    missing: tables.Missing = "level",
    categorical: tables.Categorical = None,
    dates: tables.Dates = "days,month,weekday,hour",
    separator: tables.Separator = None,
    decimal: tables.Decimal = None,
    encoding: tables.Encoding = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the folds and of the fits.")] = 0,
    as_machine: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
) -> None:
    """Compare the mixture with least squares, gradient boosting and joint EM on rows held out.

    Shown are mean and spread (standard deviation) over folds, and the number of experts in each; log density and
    intervals are of the methods that have them. Every method is fitted to the same rows and judged on the others.

    Example: skmoe compare houses.csv --target price --experts 3
    """
    settings = {
        "n_experts": parse_experts(experts),
        "noise": parse_noise(noise),
        "averaging": average,
        "random_state": seed,
    }
    import numpy as np
    from sklearn.model_selection import KFold

    table = tables.open_asked(data, separator, decimal, encoding)
    encoder = tables.learn_table(
        table, target, columns=columns, drop=drop, categorical=categorical, missing=missing, dates=dates
    )
    encoded, y, _ = encoder.rows(table)
    X: Any = encoded.X
    if len(y) < 4 * folds:
        raise ValueError(f"--folds {folds} needs at least {4 * folds} rows; there are {len(y)}")
    found: dict[str, list[dict[str, float]]] = {}
    for fold, (train, test) in enumerate(KFold(folds, shuffle=True, random_state=seed).split(X)):
        part = (X[train], y[train], X[test], y[test])
        for name, measured in _fold(part, settings, max_experts, f"fold {fold + 1} of {folds}"):
            found.setdefault(name, []).append(measured)
    results = {
        name: {m: (float(np.mean(v := [r[m] for r in rows])), float(np.std(v, ddof=1))) for m in MEASURES}
        for name, rows in found.items()
    }
    if as_machine:
        plain = {n: {m: {"mean": v[0], "spread": v[1]} for m, v in r.items()} for n, r in results.items()}
        print_json({"target": target, "rows": len(y), "folds": folds, "seed": seed, "methods": plain, "by_fold": found})
    else:
        numbers = {name: [row["n_experts"] for row in rows] for name, rows in found.items()}
        print_table(_table(results, numbers, f"{target}: {folds} folds over {len(y)} rows, mean ± spread"))
    if not all(row["converged"] for row in found["mixture of experts"]):
        raise typer.Exit(UNRELIABLE)


def _fold(part: Any, settings: dict[str, Any], most: int | None, what: str) -> Iterator[tuple[str, dict[str, float]]]:
    """Each method, fitted to one part of the rows and judged on the other."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import LinearRegression

    from skmoe import MoERegressor

    X, y, *_ = part
    start = time.perf_counter()
    asked = with_most_experts(MoERegressor(**settings), most)
    mixture = fit_watched(asked, X, y, what=f"{what}, mixture of experts")
    if mixture.history_["interrupted"]:  # an estimate of error from half a fit would be no use
        raise KeyboardInterrupt
    yield "mixture of experts", _judge(mixture, part, start)
    start = time.perf_counter()
    # joint EM chooses no number of experts by itself: it gets the one the mixture found
    baseline = MoERegressor(**{**settings, "n_experts": mixture.n_experts_, "averaging": 0}, method="joint-em")
    yield "joint EM", _judge(fit_watched(baseline, X, y, what=f"{what}, joint EM"), part, start)
    start = time.perf_counter()
    yield "least squares", _judge(LinearRegression().fit(X, y), part, start)
    start = time.perf_counter()
    boosting = HistGradientBoostingRegressor(random_state=settings["random_state"])
    yield "gradient boosting", _judge(boosting.fit(X, y), part, start)


def _judge(model: Any, part: Any, start: float) -> dict[str, float]:
    """How well a fitted model does on rows held out; NaN for what it does not say."""
    import numpy as np
    from scipy.stats import norm
    from sklearn.metrics import r2_score, root_mean_squared_error

    seconds = time.perf_counter() - start
    X, y, X_test, y_test = part
    predicted = model.predict(X_test)
    density = coverage = np.nan
    if hasattr(model, "log_density"):
        density = np.mean(model.log_density(X_test, y_test))
        coverage = inside(model.predict_interval(X_test, coverage=0.9), y_test)
    elif hasattr(model, "coef_"):  # least squares with its usual Gaussian noise
        freedom = max(len(y) - X.shape[1] - 1, 1)
        law = norm(scale=max(np.sqrt(np.sum((y - model.predict(X)) ** 2) / freedom), np.finfo(float).tiny))
        density = np.mean(law.logpdf(y_test - predicted))
        coverage = np.mean(np.abs(y_test - predicted) <= law.ppf(0.95))
    return {
        "rmse": float(root_mean_squared_error(y_test, predicted)),
        "r2": float(r2_score(y_test, predicted)),
        "log_density": float(density),
        "coverage": float(coverage),
        "seconds": seconds,
        "n_experts": getattr(model, "n_experts_", np.nan),
        "converged": getattr(model, "converged_", True),
    }


def _table(results: dict[str, dict[str, tuple[float, float]]], experts: dict[str, list[float]], title: str) -> Any:
    from skmoe.inference import Summary
    from skmoe.inference.formatting import with_spread

    table = Summary(title, ("method", *HEADINGS, "experts by fold"))
    for name, values in results.items():
        cells = [with_spread(*values[measure]) for measure in MEASURES]
        table.rows.append((name, *cells, " ".join(f"{k:.0f}" for k in experts[name] if k == k)))
    return table
