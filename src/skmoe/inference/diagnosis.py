"""What a fit says of itself: the coefficient table, and a diagnosis in plain words."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from scipy.special import ndtr

from skmoe.inference.uncertainty import Summary, split_errors
from skmoe.rows.arrays import to_numpy
from skmoe.rows.blocks import take_rows
from skmoe.search.fitting import looks_gaussian
from skmoe.search.whitening import whitening_map

__all__ = ["diagnose", "look_at_inputs", "summarise"]

LOOK_ROWS = 20_000  # rows that a diagnosis looks at


def summarise(model: Any, *, robust: bool) -> Summary:
    """Coefficient table of a fitted `MoERegressor`."""
    k, d = model.expert_coef_.shape
    covariance = model.covariance_robust_ if robust else model.covariance_
    errors = split_errors(covariance, k, d)
    names = [str(name) for name in getattr(model, "feature_names_in_", [f"x{i}" for i in range(d)])]
    table = Summary(
        f"Mixture of {k} experts ({model.parameters_.g.name}), noise {model.noise!r}",
        ("part", "term", "estimate", "std. error", "z", "P>|z|", "[0.025", "0.975]"),
    )

    def add(part: str, term: str, value: float, error: float, tested: bool = True) -> None:
        z = value / error if tested and error > 0 else np.nan
        p = float(2 * ndtr(-abs(z)))
        table.rows.append(
            (part, term, float(value), float(error), float(z), p, value - 1.96 * error, value + 1.96 * error)
        )

    for i in range(k):
        part = f"expert {i + 1} ({100 * model.shares_[i]:.0f}%)"
        if model.fit_intercept and model.method != "spectral":
            add(part, "intercept", model.expert_intercept_[i], errors["expert_intercept"][i])
        for j in _used(model.expert_features, d, names):
            add(part, names[j], model.expert_coef_[i, j], errors["expert_coef"][i, j])
    for i in range(k - 1):
        part = f"gate {i + 1} against {k}"
        if model.fit_intercept and model.method != "spectral":
            add(part, "intercept", model.gate_intercept_[i], errors["gate_intercept"][i])
        for j in _used(model.gate_features, d, names):
            add(part, names[j], model.gate_coef_[i, j], errors["gate_coef"][i, j])
    for i in range(k if model.noise == "per-expert" else 1):
        part = "noise" if model.noise != "per-expert" else f"noise {i + 1}"
        add(part, "sigma", model.noise_scale_[i], errors["noise_scale"][i], tested=False)
    table.notes += [
        f"mean log-likelihood {model.log_likelihood_:.5f}, {model.n_parameters_} parameters, "
        f"{'converged' if model.converged_ else 'NOT CONVERGED'}",
        f"standard errors from the {'sandwich formula' if robust else 'observed information'}"
        if covariance is not None
        else "no standard errors: the data do not identify all parameters, or the method gives none",
    ]
    return table


def _used(features: Any, d: int, names: list[str]) -> list[int]:
    if features is None:
        return list(range(d))
    return [names.index(f) if isinstance(f, str) else int(f) for f in features]


def some_rows(*arrays: Any) -> tuple[np.ndarray, ...]:
    """At most `LOOK_ROWS` rows, evenly spaced, on the host."""
    n = arrays[0].shape[0]
    return tuple(to_numpy(a) for a in take_rows(arrays, np.arange(0, n, -(-n // LOOK_ROWS))))


def look_at_inputs(model: Any, X: Any) -> dict[str, Any]:
    """What a diagnosis needs to know of the inputs a `MoERegressor` was fitted to."""
    (rows,) = some_rows(X)
    center, transform = whitening_map(rows)
    Z = (rows - center) @ transform
    worst = 0.0
    if model.n_experts_ > 1 and Z.shape[1]:
        back = np.linalg.pinv(transform)
        A, W = model.expert_coef_ @ back.T, model.gate_coef_[:-1] @ back.T
        A, W = (M / np.maximum(np.linalg.norm(M, axis=1, keepdims=True), np.finfo(float).tiny) for M in (A, W))
        worst = float(np.max(np.abs(W @ A.T)))
    return {
        "skewness": float(np.max(np.abs(stats.skew(Z)), initial=0.0)),
        "kurtosis": float(np.max(stats.kurtosis(Z), initial=0.0)),
        "gaussian": bool(Z.shape[1] == 0 or looks_gaussian(Z)),
        "rank": Z.shape[1],
        "columns": X.shape[1],
        "gate_along_experts": worst,
    }


def diagnose(model: Any, X: Any, y: Any) -> Summary:
    """Diagnosis of a fitted `MoERegressor`: what was checked, what came out, what it means; with rows, calibration."""
    table = Summary("Diagnosis", ("question", "finding", "in words"))
    _inputs(table, model)
    _spectrum(table, model)
    _starts(table, model)
    _uncertainty(table, model)
    if X is not None and y is not None:
        _calibration(table, model, *some_rows(X, y))
    return table


def _inputs(table: Summary, model: Any) -> None:
    seen = model.history_["inputs"]
    words = (
        "inputs look Gaussian, as the consistent start assumes"
        if seen["gaussian"]
        else "inputs are far from Gaussian: the consistent start is only a guess here, and other starts matter"
    )
    finding = f"skewness up to {seen['skewness']:.2f}, excess kurtosis up to {seen['kurtosis']:.2f}"
    table.rows.append(("input law", finding, words))
    if seen["rank"] < seen["columns"]:
        words = "some columns are constant or repeat others: their coefficients are shared out, not told apart"
        table.rows.append(("columns", f"rank {seen['rank']} of {seen['columns']}", words))
    if model.n_experts_ > 1:
        worst = seen["gate_along_experts"]
        words = (
            "gate and experts look in other directions, as the paper's theory assumes"
            if worst < 0.3
            else "the gate looks along the experts: the consistent start is biased, which the likelihood corrects"
        )
        table.rows.append(("gate orthogonal to experts", f"largest correlation {worst:.2f}", words))


def _spectrum(table: Summary, model: Any) -> None:
    gap = model.history_["gap"]
    if gap is None:
        table.rows.append(("spectral gap", "not computed", "the consistent start could not be used here"))
        return
    k, level = model.n_experts_, model.history_["noise_level"]
    above = int(np.sum(model.history_["spectrum"] > level))
    words = (
        "the moments show as many directions as there are experts"
        if above >= k
        else f"the moments show {above} directions above their noise, fewer than the {k} experts: look at fewer experts"
    )
    table.rows.append(("spectral gap", f"{gap:.2f}, {above} eigenvalues above noise", words))


def _starts(table: Summary, model: Any) -> None:
    agreement = model.history_["agreement"]
    if model.method == "spectral":
        return
    words = (
        "starts agree: this is very likely the best optimum"
        if agreement >= 2
        else "no two starts ended at the same optimum: fit again with another random_state and compare"
    )
    if model.history_["searched"] < model.history_["rows"]:
        searched, rows, passes = (model.history_[name] for name in ("searched", "rows", "passes"))
        finding = f"{searched:,} of {rows:,} rows"
        words = f"starts were compared on a random sample; the winner was finished on all rows, in {passes} passes"
        table.rows.append(("rows searched", finding, words))
    table.rows.append(("agreement of starts", f"{agreement} reached the winner ({model.history_['winner']})", words))


def _uncertainty(table: Summary, model: Any) -> None:
    if not model.identified_ and model.method != "spectral":
        words = (
            "a direction of the likelihood is flat: there may be one expert too many, and there are no standard errors"
        )
        table.rows.append(("identified", "no", words))
    if model.history_["at_floor"]:
        words = "an expert fits its rows all but exactly: its noise was held at a thousandth of the spread of y"
        table.rows.append(("noise floor", "reached", words))
    small = float(np.min(model.shares_))
    if small < 0.02:
        table.rows.append(
            ("smallest expert", f"{100 * small:.1f}% of the rows", "an expert this small may be a few outliers")
        )


def _calibration(table: Summary, model: Any, X: np.ndarray, y: np.ndarray) -> None:
    P, mean = model.parameters_.gate_proba(X), model.parameters_.expert_means(X)
    pit = np.sum(P * ndtr((y[:, None] - mean) / model.noise_scale_), axis=1)
    distance = float(stats.kstest(pit, "uniform").statistic)
    words = (
        "predictive distribution agrees with these rows"
        if distance < 1.63 / np.sqrt(len(y))
        else "predictive distribution and rows differ: intervals may be off, see a PIT histogram"
    )
    table.rows.append(("calibration", f"Kolmogorov distance {distance:.3f}", words))
