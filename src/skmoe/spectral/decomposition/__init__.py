"""Symmetric rank-k decompositions: each a function of (T2, T3, k) and a seed."""

from collections.abc import Callable

from skmoe.spectral.decomposition.common import Decomposition, RankWarning
from skmoe.spectral.decomposition.matching import WeightMode, matching
from skmoe.spectral.decomposition.orth_als import orth_als, orth_als_t2
from skmoe.spectral.decomposition.power import power_method

DECOMPOSITIONS: dict[str, Callable[..., Decomposition]] = {
    "matching": matching,
    "orth-als": orth_als,
    "orth-als-t2": orth_als_t2,
    "power": power_method,
}
INSIDE_T2 = frozenset({"matching", "orth-als-t2", "power"})
"""Decompositions that plain moments are given inside the leading space of T2; others get all of T3."""

__all__ = [
    "DECOMPOSITIONS",
    "INSIDE_T2",
    "Decomposition",
    "RankWarning",
    "WeightMode",
    "matching",
    "orth_als",
    "orth_als_t2",
    "power_method",
]
