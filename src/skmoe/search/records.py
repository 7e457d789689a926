"""Records that are passed through a fit: starts, progress, and what controls a run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count

from skmoe.likelihood import Theta
from skmoe.model.record import Stage, StartKind, StartRecord
from skmoe.search.checkpoint import Checkpoint

__all__ = ["Control", "OutOfTimeError", "Progress", "Stage", "Start", "StartKind", "StartRecord"]


@dataclass(frozen=True)
class Start:
    """The start of a run: a name, its kind, and the point itself."""

    name: str
    kind: StartKind
    theta: Theta


@dataclass(frozen=True)
class Progress:
    """Progress of a fit.

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
    most_experts : int
        The largest number of experts that may be tried.
    starts, most_starts : int
        Starts of the present run that have ended, and how many there may be at most.
    seconds : float
        Since the fit began.
    seconds_left : float
        At most about so many more: until ``max_time``, or for runs yet to come of joint EM. NaN elsewhere, since a
        search ends where its optima agree, and nobody knows when that will be.
    """

    stage: str
    n_experts: int
    step: int
    log_likelihood: float
    most_experts: int = 0
    starts: int = 0
    most_starts: int = 0
    seconds: float = 0.0
    seconds_left: float = float("nan")

    def __str__(self) -> str:
        experts = "1 expert" if self.n_experts == 1 else f"{self.n_experts} experts"
        if self.most_experts > self.n_experts:
            experts += f" (of at most {self.most_experts})"
        parts = [experts, f"{self.stage}, step {self.step}"]
        if self.most_starts > 1:
            parts.append(f"{self.starts} of at most {self.most_starts} starts")
        parts.append(f"log-likelihood per row {self.log_likelihood:.4f}")
        if self.seconds > 1:
            parts.append(f"{self.seconds:.0f} s so far")
        if self.seconds_left > 1:
            parts.append(f"about {self.seconds_left:.0f} s more at most")
        return ", ".join(parts)


class OutOfTimeError(Exception):
    """A fit has taken the time it may take."""


@dataclass(frozen=True)
class Control:
    """When a run ends, the callback of its progress, and its checkpoint."""

    tol: float = 1e-4
    max_iter: int = 500
    progress: Callable[[Progress], None] | None = None
    checkpoint: Checkpoint | None = None
    max_time: float | None = None  # seconds
    began: float = field(default_factory=time.monotonic)
    steps: Iterator[int] = field(default_factory=lambda: count(1), compare=False)  # numbers of progress reports

    @property
    def seconds(self) -> float:
        """Seconds since the fit began."""
        return time.monotonic() - self.began

    @property
    def seconds_left(self) -> float:
        """Seconds until the fit has taken the time it may take; NaN where it may take any."""
        return float("nan") if self.max_time is None else max(self.max_time - self.seconds, 0.0)

    @property
    def out_of_time(self) -> bool:
        """True once the fit has taken the time it may take."""
        return self.max_time is not None and self.seconds > self.max_time

    def report(
        self, stage: str, k: int, log_likelihood: float, most: int, starts: int = 0, most_starts: int = 0
    ) -> None:
        """Report progress of k experts, of `most` at most, and end a fit that is out of time."""
        if self.progress is not None:
            counts = next(self.steps), log_likelihood, most, starts, most_starts
            self.progress(Progress(stage, k, *counts, self.seconds, self.seconds_left))
        if self.out_of_time:
            raise OutOfTimeError
