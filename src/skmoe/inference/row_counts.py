"""Sentences on the rows of a fit, beside its parameters and the coefficients of its experts."""

from __future__ import annotations

import numpy as np

from skmoe.inference.formatting import listed
from skmoe.model.fitted import FittedMixture
from skmoe.tables.chosen import chosen_inputs

__all__ = [
    "FAR_TOO_FEW",
    "FewRowsWarning",
    "expert_coefficients",
    "few_rows",
    "few_rows_of_fit",
    "no_rows_left",
    "rows_fitted",
    "rows_of_experts",
    "rows_of_parameters",
]

TOO_FEW = 5.0  # rows for each parameter, or for each coefficient of an expert, below which a diagnosis warns
FAR_TOO_FEW = 3.0  # below which a fit warns
WHAT_TO_DO = "use fewer experts, fewer columns for experts or gate, or more rows"


class FewRowsWarning(UserWarning):
    """A model has more parameters than its rows can determine."""


def few_rows(model: FittedMixture, least: float = TOO_FEW) -> list[str]:
    """Describe a fit with fewer than `least` rows for each parameter, or for each coefficient of an expert."""
    texts = [rows_of_parameters(model, least), rows_of_experts(model, least)]
    if _faded(model):  # whose text has the advice
        texts.reverse()
    return [text for text in texts if text]


def few_rows_of_fit(model: FittedMixture) -> list[str]:
    """Return the warnings of a fit; for one expert only where it has as many coefficients as rows."""
    if model.n_experts_ == 1 and not no_rows_left(model):
        known_noise = np.all(np.isinf(model.dof_))
        if not known_noise or rows_fitted(model) > expert_coefficients(model):
            return []
    return few_rows(model, FAR_TOO_FEW)


def no_rows_left(model: FittedMixture) -> str:
    """Describe one expert with as many coefficients as rows, whose noise is unknown, or return an empty text."""
    if model.n_experts_ > 1 or not np.any(model.dof_ == 0):
        return ""
    return (
        f"{expert_coefficients(model)} coefficients were fitted to {rows_fitted(model):g} rows, which leaves no "
        "degrees of freedom: noise and standard errors are unknown and intervals infinite; use fewer columns or more "
        "rows"
    )


def rows_of_parameters(model: FittedMixture, least: float = TOO_FEW) -> str:
    """Describe a fit with fewer than `least` rows for each parameter, or return an empty text."""
    if none_left := no_rows_left(model):
        return none_left
    n, p = rows_fitted(model), model.n_parameters_
    if n >= least * p:
        return ""
    return (
        f"{p} parameters were fitted to {n:g} rows, {n / p:.1f} rows for each: expect intervals that are too narrow, "
        f"and regimes that other rows do not show; {WHAT_TO_DO}"
    )


def rows_of_experts(model: FittedMixture, least: float = TOO_FEW) -> str:
    """Describe experts with fewer than `least` rows for each coefficient, or return an empty text."""
    rows, coefficients = model.shares_ * rows_fitted(model), expert_coefficients(model)
    small = [i for i, mine in enumerate(rows) if mine < least * coefficients]
    if not small or model.n_experts_ == 1:
        return ""
    if faded := _faded(model):
        left = model.n_experts_ - len(faded)
        named = listed([f"expert {i + 1} ({rows[i]:.1f} rows)" for i in faded])
        return (
            f"the rows support {left} of {model.n_experts_} experts: {named} faded, with fewer rows than the "
            f"{coefficients} coefficients of an expert; use {left} of them, fewer columns or more rows"
        )
    named = listed([f"expert {i + 1} has {rows[i]:.1f} rows" for i in small])
    return f"{named} for {coefficients} coefficients, which other rows may not show; {WHAT_TO_DO}"


def _faded(model: FittedMixture) -> list[int]:
    """Return experts with fewer rows than coefficients, whose shares the penalty has reduced."""
    if not model.penalty_ or model.n_experts_ == 1:
        return []
    return np.flatnonzero(model.shares_ * rows_fitted(model) < expert_coefficients(model)).tolist()


def rows_fitted(model: FittedMixture) -> float:
    """Return the number of rows of the fit; whole weights count as repeated rows."""
    return model.record_.inputs.total


def expert_coefficients(model: FittedMixture) -> int:
    """Return the number of coefficients of an expert, with its intercept."""
    chosen = chosen_inputs(model, "expert")
    inputs = model.gate_coef_.shape[1] if chosen is None else len(chosen)
    return model.parameters_.family.predictors * (inputs + int(model.fit_intercept and model.method != "spectral"))
