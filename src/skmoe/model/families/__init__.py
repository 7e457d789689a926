"""Laws of an expert's output beside the Gaussian one, and their names."""

from __future__ import annotations

from typing import Any

from skmoe.model.activations import get_activation
from skmoe.model.families.binomial import BinomialFamily
from skmoe.model.families.gamma import GammaFamily
from skmoe.model.families.lognormal import LognormalFamily
from skmoe.model.families.multinomial import MultinomialFamily
from skmoe.model.families.negative_binomial import NegativeBinomialFamily
from skmoe.model.families.poisson import PoissonFamily
from skmoe.model.families.student import StudentFamily
from skmoe.model.family import Family
from skmoe.model.gaussian import GaussianFamily

__all__ = [
    "FAMILIES",
    "BinomialFamily",
    "GammaFamily",
    "LognormalFamily",
    "MultinomialFamily",
    "NegativeBinomialFamily",
    "PoissonFamily",
    "StudentFamily",
    "get_family",
]

FAMILIES: dict[str, Family] = {
    "gaussian": GaussianFamily.linear(),
    "student": StudentFamily(learned=True),
    "poisson": PoissonFamily(),
    "negative-binomial": NegativeBinomialFamily(),
    "gamma": GammaFamily(),
    "lognormal": LognormalFamily(),
    "binomial": BinomialFamily(),
}
"""Families by name."""


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
