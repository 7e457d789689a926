"""Settings of the estimator as they are written, fitting with progress, models from files and as JSON."""

from __future__ import annotations

import math
import warnings
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from skmoe.cli.shell import note, watching

if TYPE_CHECKING:
    import numpy as np

    from skmoe.estimators import MoERegressor
    from skmoe.tables import EncodedTable, TableEncoder

__all__ = [
    "as_json",
    "fit_watched",
    "held_out_lines",
    "named",
    "number_in",
    "open_model",
    "parse_calibration",
    "parse_experts",
    "parse_noise",
    "parse_penalty",
]


def parse_experts(text: str) -> int | str:
    """Return the number of experts, or "auto"."""
    if text == "auto":
        return text
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"--experts must be a whole number of at least 1, or auto; got {text!r}")
    return number


def number_in(text: str) -> float:
    """Return a finite number, NaN where the text is none."""
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def parse_noise(text: str) -> float | str:
    """Return a kind of noise, or its known scale."""
    if text in ("shared", "per-expert"):
        return text
    if not number_in(text) > 0:
        raise ValueError(f"--noise must be shared, per-expert or a positive number; got {text!r}")
    return number_in(text)


def parse_penalty(text: str) -> float | str:
    """Return the penalty, or "auto"."""
    if text == "auto":
        return text
    if not number_in(text) >= 0:
        raise ValueError(f"--penalty must be auto or a number of at least 0; got {text!r}")
    return number_in(text)


def parse_calibration(text: str) -> str | None:
    """Return the kind of calibration of intervals: "loo", or None for "none"."""
    if text not in ("loo", "none"):
        raise ValueError(f"--calibration must be loo or none; got {text!r}")
    return None if text == "none" else text


def fit_watched(model: MoERegressor, X: Any, y: Any, weight: Any = None, *, what: str = "fitting") -> MoERegressor:
    """Fit a model, showing how far it is."""
    from skmoe.inference import RelationWarning

    with watching(what) as show, warnings.catch_warnings():
        warnings.simplefilter("ignore", RelationWarning)  # they are reported in the words of the command line
        model.set_params(verbose=show).fit(X, y, sample_weight=weight)
    return model.set_params(verbose=0)


def open_model(path: str) -> tuple[MoERegressor, TableEncoder]:
    """Load a model, and the encoder that turns the columns of a table into its inputs."""
    import skmoe
    from skmoe.tables import TableEncoder
    from skmoe.tables.columns import Column

    model = skmoe.load(path)
    if model.encoder_ is not None:
        return model, model.encoder_
    if not hasattr(model, "feature_names_in_"):
        raise ValueError(f"{path}: the model knows no column names; fit it with skmoe fit, or to a DataFrame")
    note("the model was not fitted to a table of the command line; columns are taken as numbers, by name")
    return model, TableEncoder(None, tuple(Column(str(name), "number") for name in model.feature_names_in_))


def as_json(model: MoERegressor) -> dict[str, Any]:
    """Return a fitted model as values that JSON can hold."""
    from skmoe.inference import describe_regimes

    names, regimes = list(model.encoded_feature_names_), describe_regimes(model) or ()

    def part(i: int, what: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for end in ("", "_se"):
            found[f"intercept{end}"] = getattr(model, f"{what}_intercept{end}_")[i]
            values = getattr(model, f"{what}_coef{end}_")[i]  # a row for each class but the first, of a classifier
            found[f"coef{end}"] = dict(zip(names, values.T if values.ndim == 2 else values, strict=True))
        return found

    return {
        "n_experts": model.n_experts_,
        "family": model.family_.name,
        **({"classes": model.classes_.tolist()} if hasattr(model, "classes_") else _noise_of(model)),
        "converged": model.converged_,
        "interrupted": model.record_.search.interrupted,
        "identified": model.identified_,
        "log_likelihood": model.log_likelihood_,
        "n_parameters": model.n_parameters_,
        "n_iter": model.n_iter_,
        "penalty": model.penalty_,
        "calibration": None if model.calibration_ is None else asdict(model.calibration_),
        "held_out_coverage": model.record_.coverage,
        "members": [
            {"n_experts": len(m.A), "weight": w} for m, w in zip(model.members_, model.member_weights_, strict=True)
        ],
        "by_experts": [
            {
                "n_experts": t.n_experts,
                "held_out_log_density": t.held_out,
                "standard_error_of_gain": t.error,
                "bic": t.bic,
                "icl": t.icl,
            }
            for t in model.record_.tried
        ],
        "experts": [
            {
                "share": model.shares_[i],
                **part(i, "expert"),
                **_scale(model, i),
                "stability": model.stability_[i],
                "holds_at": regime.where,
                "mean_prediction": regime.prediction,
            }
            for i, regime in enumerate(regimes)
        ],
        "gate": [part(i, "gate") for i in range(model.n_experts_)],
    }


def _noise_of(model: MoERegressor) -> dict[str, Any]:
    return {"activation": model.parameters_.g.name, "noise": model.noise}


def _scale(model: MoERegressor, i: int) -> dict[str, Any]:
    if not model.parameters_.family.has_scale:
        return {}
    return {"noise_scale": model.noise_scale_[i], "noise_scale_se": model.noise_scale_se_[i]}


def held_out_lines(model: MoERegressor) -> list[str]:
    """Describe a fit by held-out rows and by other models of the same rows, a sentence a line."""
    from skmoe.inference import held_out

    ties = [f"{text}." for text in (held_out.limit_text(model), *held_out.near_tie_texts(model)) if text]
    lines = [*ties, held_out.penalty_text(model), held_out.ensemble_text(model)]
    lines += [held_out.calibration_text(model), held_out.coverage_text(model)]
    return [line for line in lines if line]


def named(X: np.ndarray, encoder: TableEncoder) -> EncodedTable:
    """Return inputs as a model fitted to a table takes them."""
    from skmoe.tables import EncodedTable

    return EncodedTable(X, encoder.features, encoder)
