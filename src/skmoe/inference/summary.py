"""The coefficient table of a fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.special import stdtr

from skmoe.arrays.visible import listed, visible
from skmoe.inference.covariance import split_errors
from skmoe.inference.formatting import p_value, ratio_text
from skmoe.inference.held_out import compared_models, stability_counts
from skmoe.inference.intervals import estimates_of, gate_dof, intervals_of
from skmoe.inference.relations import found_in_words, is_exact, target_of
from skmoe.model.families import NegativeBinomialExposureFamily, PoissonExposureFamily, StudentFamily
from skmoe.model.fitted import FittedMixture
from skmoe.tables.chosen import chosen_inputs

P_VALUES = "P>|t|"
COLUMNS = ("part", "term", "estimate", "std. error", "t", P_VALUES, "[0.025", "0.975]")
RATIOS = {"rate ratio": "the mean count", "mean ratio": "the mean", "odds ratio": "the odds"}
MOST_LOG = 700.0  # whose exponential is a number
ROUNDING = 1e-10  # share of the largest effect below which a number is zero but for rounding

__all__ = ["Summary", "cell_text", "feature_names", "filled_values", "summarise"]


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

    def texts(self, digits: int = 4) -> list[list[str]]:
        """Return cells as text, a list for each row.

        Parameters
        ----------
        digits : int
            Significant digits of numbers.

        Returns
        -------
        list of list of str
            Texts; P values have three decimals, and NaN is empty.
        """
        columns = [p_value if name == P_VALUES else partial(cell_text, digits=digits) for name in self.columns]
        return [[text(value) for text, value in zip(columns, row, strict=True)] for row in self.rows]

    def __str__(self) -> str:
        cells = [[visible(text) for text in row] for row in self.texts()]
        columns = [visible(column) for column in self.columns]
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        number = [all(isinstance(row[i], float | int) for row in self.rows) for i in range(len(widths))]

        def line(parts: Sequence[str]) -> str:
            aligned = (p.rjust(w) if right else p.ljust(w) for p, w, right in zip(parts, widths, number, strict=True))
            return "  ".join(aligned).rstrip()

        rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
        title, *notes = (visible(text, keep="\n") for text in (self.title, *self.notes))
        return "\n".join([title, rule, line(columns), rule, *map(line, cells), rule, *notes])

    __repr__ = __str__


def cell_text(value: Any, digits: int = 4) -> str:
    """Format a cell: numbers with `digits` significant digits, nothing for NaN; ratios near 1 with more."""
    if isinstance(value, float):
        if 0 < abs(value - 1) < 0.5 * 10 ** (1 - digits):
            return ratio_text(value)
        return "" if np.isnan(value) else f"{value:.{digits}g}"
    return str(value)


def feature_names(model: FittedMixture) -> list[str]:
    """Return the names of a model's encoded inputs; x0, x1, ... where they have none."""
    return [str(name) for name in model.encoded_feature_names_]


def filled_values(model: FittedMixture) -> dict[str, int]:
    """Count the missing values of each column of a fit's table, which were filled in or became a category."""
    columns = () if model.encoder_ is None else model.encoder_.columns
    return {column.name: column.n_missing for column in columns if column.n_missing}


def summarise(model: FittedMixture, *, robust: bool, names: Sequence[str] | None = None) -> Summary:
    """Return the coefficient table of a fitted estimator; `names` are of its inputs, where it has none."""
    p = model.parameters_
    k, d = len(p.A), p.A.shape[-1]
    names = feature_names(model) if names is None else [str(name) for name in names]
    if len(names) != d:
        raise ValueError(f"feature_names has {len(names)} names; the model was fitted to {d} inputs")
    errors = split_errors(model.covariance_robust_ if robust else model.covariance_, p)
    intervals, dof, ratio = intervals_of(model, robust=robust), model.dof_, p.family.ratio
    # value, standard error and interval, along the last axis
    found = {name: np.stack([v, errors[name], *intervals[name]], axis=-1) for name, v in estimates_of(model).items()}
    table = Summary(_title(model), (*COLUMNS, *((ratio, "[0.025", "0.975]") if ratio else ())))
    for i in range(k):
        head = f"expert {i + 1} ({100 * model.shares_[i]:.0f}%)"
        parts = [(head, found["expert_coef"][i], found["expert_intercept"][i])]
        if hasattr(model, "classes_"):
            parts = _by_class(model, *parts[0])
        for part, *values in parts:
            for term in _terms(model, names, "expert", *values):
                table.rows.append(_row(part, *term, float(dof[i]), ratio=bool(ratio)))
    for i in range(k - 1):
        for term in _terms(model, names, "gate", found["gate_coef"][i], found["gate_intercept"][i]):
            table.rows.append(_row(f"gate {i + 1} against {k}", *term, gate_dof(model), blank=bool(ratio)))
    if p.family.has_scale and not is_exact(model):
        for i in range(k if model.noise == "per-expert" else 1):
            part = "noise" if model.noise != "per-expert" else f"noise {i + 1}"
            value = found["noise_scale"][i]
            row = _row(part, p.family.scale_name, value, float(dof[i]), blank=bool(ratio), tested=False)
            table.rows.append(row)
    table.notes += _notes(model, robust=robust)
    return table


def _notes(model: FittedMixture, *, robust: bool) -> list[str]:
    """Return what stands below the coefficient table of a fit."""
    family = model.parameters_.family
    notes = [found_in_words(one, target_of(model)) for one in model.record_.relations if one.of_output]
    if isinstance(family, StudentFamily):
        how = "learned" if family.learned else "given"
        each = ", ".join(f"{dof:.3g}" for dof in family.expert_dof)
        whose = "one for each expert in turn" if each else "shared by all experts"
        notes.append(f"Student t noise of {each or f'{family.dof:.3g}'} degrees of freedom, {how}, {whose}")
    notes += [
        f"log-likelihood {model.log_likelihood_:.2f}, {model.n_parameters_} parameters, "
        f"{'converged' if model.converged_ else 'NOT CONVERGED'}",
        f"standard errors from the {'sandwich formula' if robust else 'observed information'}"
        if (model.covariance_robust_ if robust else model.covariance_) is not None
        else "no standard errors: no degrees of freedom are left, since there are as many coefficients as rows"
        if np.any(model.dof_ == 0)
        else "no standard errors: the data do not identify all parameters, or the method gives none",
    ]
    if model.profile_intervals_ is not None and not robust:
        notes.append("intervals from the profile likelihood: rows of few values tell little, and errors are skewed")
    if gaps := filled_values(model):
        named = listed([f"{name} ({count})" for name, count in gaps.items()])
        notes.append(f"missing values that were filled in or are a category of their own: {named}")
    if ratio := family.ratio:
        notes.append(f"{ratio}: by how much one unit more of the input multiplies {RATIOS[ratio]}")
    if isinstance(family, PoissonExposureFamily | NegativeBinomialExposureFamily):
        notes.append("counts are over exposures: rates are for an exposure of one")
    if any(seen := stability_counts(model)) and model.n_experts_ > 1:
        counts = ", ".join(f"{i + 1} in {count}" for i, count in enumerate(seen))
        notes.append(f"experts seen in {compared_models(model)}: {counts}")
    return notes


def _title(model: FittedMixture) -> str:
    k, family = model.n_experts_, model.parameters_.family
    experts = "expert" if k == 1 else "experts"
    if family.name == "gaussian":
        return f"Mixture of {k} {experts} ({model.parameters_.g.name}), noise {model.noise!r}"
    if hasattr(model, "classes_"):
        return f"Mixture of {k} {experts}, classes against {model.classes_[0]}"
    return f"Mixture of {k} {family.name} {experts}"


def _by_class(model: FittedMixture, part: str, coef: np.ndarray, shift: np.ndarray) -> list[tuple[Any, ...]]:
    """Return the estimates of coefficients and intercept, for each class but the first."""
    others = len(model.classes_) - 1
    coef, shift = coef.reshape(others, -1, coef.shape[-1]), shift.reshape(others, -1)
    return [(f"{part}, {model.classes_[c + 1]}", coef[c], shift[c]) for c in range(others)]


def _terms(
    model: FittedMixture, names: Sequence[str], seen_by: str, coef: np.ndarray, shift: np.ndarray
) -> list[tuple[str, np.ndarray]]:
    """Return the names of an intercept and coefficients, and the estimate of each."""
    coef, shift = _without_rounding(model, coef, shift)
    terms = [("intercept", shift)] if model.fit_intercept and model.method != "spectral" else []
    chosen = chosen_inputs(model, seen_by)
    return terms + [(names[j], coef[j]) for j in (range(len(names)) if chosen is None else chosen)]


def _without_rounding(model: FittedMixture, coef: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Replace those of (d, 4) and (4,) numbers by zero that are no more than rounding.

    They are tiny beside the largest effect over the range of an input, or beside their own standard errors.
    """
    seen = model.record_.inputs
    span = np.append(np.subtract(seen.high, seen.low), 1.0)
    both = np.vstack([coef, shift])
    effect = np.abs(both) * span[:, None]
    both = np.where(effect < ROUNDING * np.max(effect[:-1, 0], initial=0.0), 0.0, both)
    both[np.abs(both[:, 0]) < ROUNDING * np.where(np.isfinite(both[:, 1]), both[:, 1], 0.0), 0] = 0.0
    return both[:-1], both[-1]


def _row(
    part: str,
    term: str,
    estimate: np.ndarray,
    dof: float,
    *,
    ratio: bool = False,
    blank: bool = False,
    tested: bool = True,
) -> tuple[Any, ...]:
    """Return a line of the table; exponentials of value and interval follow, or as many empty cells."""
    value, error, *interval = map(float, estimate)
    t = value / error if tested and error > 0 else np.nan
    line = (part, term, value, error, t, float(2 * stdtr(dof, -abs(t))), *interval)
    if ratio:
        return *line, *(float(np.exp(min(v, MOST_LOG))) for v in (value, *interval))
    return (*line, np.nan, np.nan, np.nan) if blank else line
