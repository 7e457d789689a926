"""Families of an expert's output other than the Gaussian one, and their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.namespaces import is_array, to_device, to_numpy
from skmoe.arrays.streamed import Streamed
from skmoe.model.activations import get_activation
from skmoe.model.families.binomial import BinomialFamily
from skmoe.model.families.bounded import CensoredFamily, TruncatedFamily
from skmoe.model.families.exposure import NegativeBinomialExposureFamily, PoissonExposureFamily
from skmoe.model.families.gamma import GammaFamily
from skmoe.model.families.lognormal import LognormalFamily
from skmoe.model.families.multinomial import MultinomialFamily
from skmoe.model.families.negative_binomial import NegativeBinomialFamily
from skmoe.model.families.poisson import PoissonFamily
from skmoe.model.families.student import StudentFamily
from skmoe.model.families.trials import TrialsFamily
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily

__all__ = [
    "FAMILIES",
    "OF_TWO_COLUMNS",
    "BinomialFamily",
    "CensoredFamily",
    "GammaFamily",
    "LognormalFamily",
    "MultinomialFamily",
    "NegativeBinomialExposureFamily",
    "NegativeBinomialFamily",
    "PoissonExposureFamily",
    "PoissonFamily",
    "StudentFamily",
    "TrialsFamily",
    "TruncatedFamily",
    "get_family",
    "with_second_column",
]

FAMILIES: dict[str, Family] = {
    "gaussian": GaussianFamily.linear(),
    "student": StudentFamily(learned=True),
    "poisson": PoissonFamily(),
    "negative-binomial": NegativeBinomialFamily(),
    "gamma": GammaFamily(),
    "lognormal": LognormalFamily(),
    "binomial": BinomialFamily(),
    "censored-gaussian": CensoredFamily(),
    "censored-lognormal": CensoredFamily(lognormal=True),
    "truncated-gaussian": TruncatedFamily(),
    "truncated-lognormal": TruncatedFamily(lognormal=True),
}
"""Families by name."""

OF_TWO_COLUMNS: dict[str, Family] = {
    "binomial": TrialsFamily(),
    "poisson": PoissonExposureFamily(),
    "negative-binomial": NegativeBinomialExposureFamily(),
}
"""Families of outputs with a second column, failures or an exposure, by the name of those of one column."""


def with_second_column(family: Family, y: Any, weight: Any) -> tuple[Family, Any, Any]:
    """Return family, outputs and weights where outputs have two columns, or are proportions of trials.

    Two columns are successes and failures, or counts and exposures. A single column of binomial outputs with values
    between 0 and 1 holds proportions, and weights are then numbers of trials.
    """
    known = family == FAMILIES.get(family.name) and family.name in OF_TWO_COLUMNS
    if not known or y is None or isinstance(y, str):
        return family, y, weight
    pair = OF_TWO_COLUMNS[family.name]
    if isinstance(y, Streamed) or hasattr(y, "compute"):  # of Dask, or read in blocks
        return (pair if y.ndim == 2 and y.shape[1] == 2 else family), y, weight
    if isinstance(y, list | tuple) and all(isinstance(name, str) for name in y):
        return pair, y, weight
    values = to_numpy(y) if is_array(y) else np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 2:
        return pair, y, weight
    if (
        family.name != "binomial"
        or values.ndim != 1
        or values.dtype.kind != "f"
        or not np.any((values > 0) & (values < 1))
    ):
        return family, y, weight
    if weight is None:
        message = "y holds proportions, and the binomial family needs the numbers of trials"
        raise ValueError(Advised(message, Advice.TRIALS))
    trials = np.asarray(to_numpy(weight) if is_array(weight) else weight, dtype=np.float64)
    both = np.stack([values * trials, (1 - values) * trials], axis=1)
    return pair, to_device(both, y) if is_array(y) else both, None


def get_family(family: str | Family, activation: Any = "linear") -> Family:
    """Look a family up by name, or take a user's own; activations are for Gaussian experts."""
    g = get_activation(activation)
    if family == "gaussian":
        return GaussianFamily(g)
    if not g.linear:
        name = family.name if isinstance(family, Family) else family
        raise ValueError(f"activation {g.name!r} is for the gaussian family, and the family is {name!r}: leave it out")
    if isinstance(family, Family):
        return family
    if family in FAMILIES:
        return FAMILIES[family]
    raise ValueError(f"family must be one of {sorted(FAMILIES)}, or a skmoe.Family; got {family!r}")
