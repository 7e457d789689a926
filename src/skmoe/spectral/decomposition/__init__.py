"""Symmetric rank-k decompositions: each a function of (T2, T3, k) and a seed."""

from collections.abc import Callable

from skmoe.spectral.decomposition.common import Decomposition, RankWarning
from skmoe.spectral.decomposition.matching import WeightMode, matching
from skmoe.spectral.decomposition.orth_als import orth_als
from skmoe.spectral.decomposition.power import power_method

DECOMPOSITIONS: dict[str, Callable[..., Decomposition]] = {
    "matching": matching,
    "orth-als": orth_als,
    "power": power_method,
}

__all__ = ["DECOMPOSITIONS", "Decomposition", "RankWarning", "WeightMode", "matching", "orth_als", "power_method"]
