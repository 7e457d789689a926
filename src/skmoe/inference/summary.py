"""Tables that a fit gives of itself: the coefficients with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from skmoe.inference.covariance import split_errors
from skmoe.inference.held_out import seen_counts, seen_where

__all__ = ["Summary", "cell_text", "feature_names", "summarise"]


@dataclass
class Summary:
    """A table with a heading: prints itself as text, and turns into a DataFrame where pandas is there.

    Attributes
    ----------
    title : str
    columns : sequence of str
    rows : list of tuple
    notes : list of str
        Lines below the table.
    """

    title: str
    columns: Sequence[str]
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_frame(self) -> Any:
        """Turn the table into a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row for each row of the table.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame needs pandas: pip install pandas; str() prints the table without it") from error
        return pd.DataFrame(self.rows, columns=list(self.columns))

    def __str__(self) -> str:
        cells = [[cell_text(value) for value in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.columns, *cells, strict=True)]
        number = [all(isinstance(row[i], float | int) for row in self.rows) for i in range(len(widths))]

        def line(parts: Sequence[str]) -> str:
            aligned = (p.rjust(w) if right else p.ljust(w) for p, w, right in zip(parts, widths, number, strict=True))
            return "  ".join(aligned).rstrip()

        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        return "\n".join([self.title, rule, line(self.columns), rule, *map(line, cells), rule, *self.notes])

    __repr__ = __str__


def cell_text(value: Any, digits: int = 4) -> str:
    """A cell as text: numbers with so many significant digits, nothing for NaN."""
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:.{digits}g}"
    return str(value)


def feature_names(model: Any) -> list[str]:
    """Names of the columns a model was fitted to, x0, x1, ... where it saw none."""
    return [str(name) for name in getattr(model, "feature_names_in_", [f"x{i}" for i in range(model.n_features_in_)])]


def summarise(model: Any, *, robust: bool, names: Sequence[str] | None = None) -> Summary:
    """Coefficient table of a fitted `MoERegressor`; `names` are of its inputs, where it saw none."""
    k, d = model.expert_coef_.shape
    covariance = model.covariance_robust_ if robust else model.covariance_
    errors = split_errors(covariance, k, d)
    known = feature_names(model)
    names = known if names is None else [str(name) for name in names]
    if len(names) != d:
        raise ValueError(f"feature_names has {len(names)} names; the model was fitted to {d} inputs")
    intercept = model.fit_intercept and model.method != "spectral"
    experts = "expert" if k == 1 else "experts"
    table = Summary(
        f"Mixture of {k} {experts} ({model.parameters_.g.name}), noise {model.noise!r}",
        ("part", "term", "estimate", "std. error", "t", "P>|t|", "[0.025", "0.975]"),
    )

    def add(part: str, term: str, value: float, error: float, dof: float, tested: bool = True) -> None:
        t = value / error if tested and error > 0 else np.nan
        half = float(stdtrit(dof, 0.975)) * error
        table.rows.append(
            (
                part,
                term,
                float(value),
                float(error),
                float(t),
                float(2 * stdtr(dof, -abs(t))),
                value - half,
                value + half,
            )
        )

    gate_dof = float(max(model.history_["rows"] - model.n_parameters_, 2))

    for what, count, features in (("expert", k, model.expert_features), ("gate", k - 1, model.gate_features)):
        coef, shift = getattr(model, f"{what}_coef_"), getattr(model, f"{what}_intercept_")
        for i in range(count):
            about = f"({100 * model.shares_[i]:.0f}%)" if what == "expert" else f"against {k}"
            part = f"{what} {i + 1} {about}"
            dof = float(model.dof_[i]) if what == "expert" else gate_dof
            if intercept:
                add(part, "intercept", shift[i], errors[f"{what}_intercept"][i], dof)
            for j in _used(features, d, known):
                add(part, names[j], coef[i, j], errors[f"{what}_coef"][i, j], dof)
    for i in range(k if model.noise == "per-expert" else 1):
        part = "noise" if model.noise != "per-expert" else f"noise {i + 1}"
        add(part, "sigma", model.noise_scale_[i], errors["noise_scale"][i], float(model.dof_[i]), tested=False)
    table.notes += [
        f"mean log-likelihood {model.log_likelihood_:.5f}, {model.n_parameters_} parameters, "
        f"{'converged' if model.converged_ else 'NOT CONVERGED'}",
        f"standard errors from the {'sandwich formula' if robust else 'observed information'}"
        if covariance is not None
        else "no standard errors: the data do not identify all parameters, or the method gives none",
    ]
    if any(seen := seen_counts(model)) and k > 1:
        counts = ", ".join(f"{i + 1} in {count}" for i, count in enumerate(seen))
        table.notes.append(f"experts seen in {seen_where(model)}: {counts}")
    return table


def _used(features: Any, d: int, names: list[str]) -> list[int]:
    if features is None:
        return list(range(d))
    return [names.index(f) if isinstance(f, str) else int(f) for f in features]
