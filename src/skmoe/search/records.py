"""Records that are passed through a fit: starts and where they ended, progress, and what controls a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from skmoe.likelihood import Theta
from skmoe.search.checkpoint import Checkpoint

__all__ = ["Control", "Progress", "Stage", "Start", "StartKind", "StartRecord"]


class Stage(StrEnum):
    """How far a start came."""

    RACE = "race"
    SUBSAMPLE = "subsample"
    SAMPLE = "sample"
    ALL_ROWS = "all rows"


class StartKind(StrEnum):
    """Where a start came from."""

    REGRESSION = "regression"
    SPECTRAL = "spectral"
    RANDOM = "random"
    VORONOI = "voronoi"
    OVERFULL = "overfull"
    LONG = "long run"
    POOLED = "pooled"  # two models' experts put side by side, and pruned
    SPLIT = "split"  # one expert dropped, another split
    GROWN = "grown"  # a smaller model with one expert split
    CHOSEN = "chosen"  # the best fit of a quick search
    CHECKPOINT = "checkpoint"


@dataclass(frozen=True)
class Start:
    """Where a run begins: a name, its kind, the starts it was made of, and the point itself."""

    name: str
    kind: StartKind
    theta: Theta
    parents: tuple[str, ...] = ()


@dataclass(frozen=True)
class StartRecord:
    """Where a start ended: the mean log-likelihood it reached, and at which stage."""

    name: str
    kind: StartKind
    log_likelihood: float
    stage: Stage


@dataclass(frozen=True)
class Progress:
    """How far a fit is.

    Attributes
    ----------
    stage : str
        "starts" are raced on some of the rows, "finish" on all that are searched, "all rows" of a larger table.
    n_experts : int
        Number of experts of the present run.
    step : int
        Iterations so far.
    log_likelihood : float
        The best so far, mean per row, in the units of the data.
    """

    stage: str
    n_experts: int
    step: int
    log_likelihood: float


@dataclass(frozen=True)
class Control:
    """When a run ends, who is told of its progress, and where it is noted."""

    tol: float = 1e-4
    max_iter: int = 500
    progress: Callable[[Progress], None] | None = None
    checkpoint: Checkpoint | None = None
