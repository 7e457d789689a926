"""Symmetric rank-k decompositions: each a function of (T2, T3, k) and a seed."""

from collections.abc import Callable

from skmoe.decomposition.common import Decomposition, RankWarning
from skmoe.decomposition.matching import WeightMode, matching
from skmoe.decomposition.orth_als import orth_als
from skmoe.decomposition.power import power_method

DECOMPOSITIONS: dict[str, Callable[..., Decomposition]] = {
    "matching": matching,
    "orth-als": orth_als,
    "power": power_method,
}

__all__ = ["DECOMPOSITIONS", "Decomposition", "RankWarning", "WeightMode", "matching", "orth_als", "power_method"]
