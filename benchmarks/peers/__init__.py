"""Peers of skmoe, one file ``with_*.py`` each; ``run.py`` is the command that runs them side by side."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

__all__ = ["PLUGINS", "Cost", "Fitted", "Method", "Peer", "all_methods", "all_peers", "packaged"]

PLUGINS = ("with_skmoe", "with_flexmix", "with_cgmm", "with_scikit_learn", "with_stepmix", "with_smt")


class Cost(NamedTuple):
    """What a fit cost, memory being the peak above what was there before it."""

    cpu_seconds: float
    wall_seconds: float
    memory_mib: float | None


@dataclass(frozen=True)
class Fitted:
    """What a method learned, in the units of the rows it was given."""

    predict: Callable[[np.ndarray], np.ndarray]
    log_density: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None  # None: it has no density of y given x
    expert_coef: np.ndarray | None = None  # (k, d); None: there are no regressions to compare
    n_components: int | None = None
    cost: Cost | None = None  # set where the work was done in a process of another language


@dataclass(frozen=True)
class Method:
    """One way of using a peer."""

    fit: Callable[[np.ndarray, np.ndarray, int, int], Fitted]  # of X, y, k, seed
    how: str  # starts and options, as shown on the page
    tables_only: bool = False
    own_units: bool = False  # it is given raw rows; all others get rows standardised for them
    slow: bool = False  # left out unless asked for by name


@dataclass(frozen=True)
class Peer:
    """A library, what it needs, and the ways in which it is used."""

    name: str
    methods: dict[str, Method]
    missing: Callable[[], str | None]  # the reason to skip it, or None
    version: Callable[[], str]
    modules: tuple[str, ...] = ()  # imported before anything is measured


def packaged(name: str, methods: dict[str, Method], *modules: str) -> Peer:
    """Describe a peer that is a package of PyPI and is imported as `modules`."""
    top = modules[0].partition(".")[0]

    def missing() -> str | None:
        return None if importlib.util.find_spec(top) else f"{name} is not installed: pip install {name}"

    return Peer(name, methods, missing, lambda: importlib.metadata.version(name), modules)


def all_peers() -> list[Peer]:
    """Every peer, installed or not: no file imports its library before it fits."""
    return [importlib.import_module(f".{name}", __name__).PEER for name in PLUGINS]


def all_methods() -> dict[str, tuple[Peer, Method]]:
    """Every way of using every peer, by its name."""
    return {name: (peer, method) for peer in all_peers() for name, method in peer.methods.items()}
