"""Between the words of the command line and the estimator: settings, fitting by name, opening a model."""

from __future__ import annotations

from typing import Any

from skmoe.cli.shell import note, watching

__all__ = ["as_json", "fit_named", "names_in", "open_model", "parse_experts", "parse_noise"]


def parse_experts(text: str) -> int | str:
    """The number of experts, or "auto"."""
    if text == "auto":
        return text
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError(f"--experts must be a whole number of at least 1, or auto; got {text!r}")
    return number


def parse_noise(text: str) -> float | str:
    """A kind of noise, or its known scale."""
    if text in ("shared", "per-expert"):
        return text
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ValueError(f"--noise must be shared, per-expert or a positive number; got {text!r}")
    return number


def names_in(text: str | None) -> list[str]:
    """Column names split at commas."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def fit_named(model: Any, X: Any, y: Any, names: list[str], *, weight: Any = None, what: str = "fitting") -> Any:
    """Fit to an array whose columns have names, with progress; the names go into the model as a DataFrame's would."""
    import numpy as np

    with watching(what) as tell:
        model.set_params(verbose=tell).fit(X, y, sample_weight=weight)
    model.set_params(verbose=0)
    model.feature_names_in_ = np.array(names, dtype=object)
    for setting in ("expert_features", "gate_features"):
        if getattr(model, setting) is not None:
            model.set_params(**{setting: [names[i] for i in getattr(model, setting)]})
    return model


def open_model(path: str) -> tuple[Any, Any]:
    """A saved model, and the recipe of the table it was fitted to."""
    import skmoe
    from skmoe.rows.columns import Column
    from skmoe.rows.encoder import Recipe

    model = skmoe.load(path)
    if hasattr(model, "table_"):
        recipe = Recipe.from_json(model.table_)
        if len(recipe.features) != model.n_features_in_:
            raise ValueError(f"{path}: its recipe of columns is not of this model; fit it again with skmoe fit")
        return model, recipe
    if not hasattr(model, "feature_names_in_"):
        raise ValueError(f"{path}: the model knows no column names; fit it with skmoe fit, or to a DataFrame")
    note("the model holds no recipe of columns; they are taken as numbers, by name")
    return model, Recipe(None, tuple(Column(str(name), "number") for name in model.feature_names_in_))


def as_json(model: Any) -> dict[str, Any]:
    """A fitted model for machines."""
    names = list(model.feature_names_in_)

    def part(i: int, what: str) -> dict[str, Any]:
        values = {"": (f"{what}_coef_", f"{what}_intercept_"), "_se": (f"{what}_coef_se_", f"{what}_intercept_se_")}
        found: dict[str, Any] = {}
        for end, (coef, intercept) in values.items():
            found[f"intercept{end}"] = getattr(model, intercept)[i]
            found[f"coef{end}"] = dict(zip(names, getattr(model, coef)[i], strict=True))
        return found

    return {
        "n_experts": model.n_experts_,
        "activation": model.parameters_.g.name,
        "noise": model.noise,
        "converged": model.converged_,
        "interrupted": bool(model.history_["interrupted"]),
        "identified": model.identified_,
        "log_likelihood": model.log_likelihood_,
        "n_parameters": model.n_parameters_,
        "n_iter": model.n_iter_,
        "bic_by_experts": [{"n_experts": k, "bic": bic} for k, bic in model.history_["bic"]],
        "experts": [
            {
                "share": model.shares_[i],
                **part(i, "expert"),
                "noise_scale": model.noise_scale_[i],
                "noise_scale_se": model.noise_scale_se_[i],
            }
            for i in range(model.n_experts_)
        ],
        "gate": [part(i, "gate") for i in range(model.n_experts_)],
    }
