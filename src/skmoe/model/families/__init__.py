"""Laws of an expert's output beside the Gaussian one, and their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.model.activations import get_activation
from skmoe.model.families.binomial import BinomialFamily
from skmoe.model.families.bounded import CensoredFamily, TruncatedFamily
from skmoe.model.families.gamma import GammaFamily
from skmoe.model.families.lognormal import LognormalFamily
from skmoe.model.families.multinomial import MultinomialFamily
from skmoe.model.families.negative_binomial import NegativeBinomialFamily
from skmoe.model.families.poisson import PoissonFamily
from skmoe.model.families.student import StudentFamily
from skmoe.model.families.trials import TrialsFamily
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily
from skmoe.rows.arrays import is_array, to_device, to_numpy

__all__ = [
    "FAMILIES",
    "BinomialFamily",
    "CensoredFamily",
    "GammaFamily",
    "LognormalFamily",
    "MultinomialFamily",
    "NegativeBinomialFamily",
    "PoissonFamily",
    "StudentFamily",
    "TrialsFamily",
    "TruncatedFamily",
    "get_family",
    "with_trials",
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


def with_trials(family: Family, y: Any, weight: Any) -> tuple[Family, Any, Any]:
    """Family, outputs and weights where binomial outputs are successes and failures, or proportions of trials.

    Two columns are successes and failures. A single column with values between 0 and 1 holds proportions, and weights
    are then numbers of trials.
    """
    if family != FAMILIES["binomial"] or y is None or isinstance(y, str) or hasattr(y, "compute"):
        return family, y, weight
    if isinstance(y, list | tuple) and all(isinstance(name, str) for name in y):
        return TrialsFamily(), y, weight
    values = to_numpy(y) if is_array(y) else np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 2:
        return TrialsFamily(), y, weight
    if values.ndim != 1 or values.dtype.kind != "f" or not np.any((values > 0) & (values < 1)):
        return family, y, weight
    if weight is None:
        raise ValueError(
            "y holds proportions: family='binomial' needs the numbers of trials, as sample_weight, or two columns, "
            "successes and failures; outputs of single trials are 0 and 1"
        )
    trials = np.asarray(to_numpy(weight) if is_array(weight) else weight, dtype=np.float64)
    pair = np.stack([values * trials, (1 - values) * trials], axis=1)
    return TrialsFamily(), to_device(pair, y) if is_array(y) else pair, None


def get_family(family: str | Family, activation: Any = "linear") -> Family:
    """Look a family up by name, or take a user's own; activations are for Gaussian experts."""
    g = get_activation(activation)
    if family == "gaussian":
        return GaussianFamily(g)
    if not g.linear:
        name = family.name if isinstance(family, Family) else family
        raise ValueError(f'activation={g.name!r} is for family="gaussian"; family is {name!r}: leave activation out')
    if isinstance(family, Family):
        return family
    if family in FAMILIES:
        return FAMILIES[family]
    raise ValueError(f"family must be one of {sorted(FAMILIES)}, or a skmoe.Family; got {family!r}")
