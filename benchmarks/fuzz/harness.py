"""Cases run one after the other: each ends by itself, in time, as refused or as taken; anything else is a fault."""

from __future__ import annotations

import importlib
import multiprocessing
import re
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..shared.measuring import resident, restart_peak

__all__ = ["Observer", "Target", "WrongError", "numbered", "refuse_raw", "run_apart", "run_slice"]

MOST_SECONDS = 10.0
RAW = re.compile(
    "array must not contain|did not converge|[Ss]ingular|out of bounds|broadcast|cannot convert float|positive definite"
    "|math (range|domain) error|unsupported operand|object has no attribute|unhashable|^$"
)
"""What libraries and Python say of their own troubles, which is no sentence for a user."""
QUOTED = re.compile(r"(?<=: is damaged, cut short or no )[\w ]+ \(.*\)")
"""What a library says of a damaged file, after skmoe's own words."""
MOST_FAULTS = 20  # told of a slice; more are counted


class WrongError(AssertionError):
    """What was taken should have been refused, or is not what was meant."""


def refuse_raw(said: str) -> None:
    """Refuse a refusal in words that are not skmoe's own."""
    if RAW.search(QUOTED.sub("", said)):
        raise WrongError(f"refused in words of a library: {said[:300]!r}")


class HangError(BaseException):
    """A case took too long; no `except Exception` on the way holds it up."""


class Target(Protocol):
    """What is attacked. It is made in an empty folder, and a case leaves that folder as it found it."""

    def __init__(self, folder: Path) -> None: ...

    def run(self, observer: Observer, start: int, cases: int, seed: int) -> None:
        """Put cases to the observer, numbered from `start` on, each drawn from the seed and its number alone."""


@dataclass
class Observer:
    """Counts of a slice of cases.

    Attributes
    ----------
    present : shared value of an int, optional
        Where the number of the case that runs is noted, for who watches this process.
    refused, taken : int
        How cases ended.
    slowest : float
        Seconds of the slowest case.
    faults : list of str
        The number of a case, and what it did that it should not have.
    """

    present: Any = None
    cases: int = 0
    refused: int = 0
    taken: int = 0
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)
    n_faults: int = 0

    def observe(self, number: int, case: Callable[[], bool]) -> None:
        """Run a case, which says whether what it gave was taken."""
        self.cases += 1
        if self.present is not None:
            self.present.value = number
        start = time.monotonic()
        try:
            with _limited(MOST_SECONDS), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                taken = case()
        except HangError:
            self._fault(number, f"took more than {MOST_SECONDS:g} s")
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            self._fault(number, _last_lines(error))
        else:
            self.taken += taken
            self.refused += not taken
        self.slowest = max(self.slowest, time.monotonic() - start)

    def _fault(self, number: int, what: str) -> None:
        self.n_faults += 1
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(f"case {number}: {what}")


def _last_lines(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-3:]
    where = " > ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames)
    return f"{type(error).__name__}: {str(error)[:500]} ({where})"


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """End what takes longer."""

    def stop(*_: Any) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def run_slice(make: Callable[[Path], Target], start: int, cases: int, seed: int, present: Any = None) -> dict[str, Any]:
    """Run some cases of a target, and tell how they ended, the time they took and the memory above the base.

    The base is what is resident after the target is made and two cases of another seed have warmed it up.
    """
    with tempfile.TemporaryDirectory() as folder:
        target = make(Path(folder))
        target.run(Observer(), 0, 2, seed + 1)
        base = restart_peak()
        observer, began = Observer(present), time.monotonic()
        target.run(observer, start, cases, seed)
        above = None if base is None else max(0.0, resident("VmHWM") - base) / 2**20
    seconds, counts = time.monotonic() - began, asdict(replace(observer, present=None))
    del counts["present"]
    return {"start": start, "seed": seed, **counts, "seconds": seconds, "above_mib": above}


def run_apart(module: str, start: int, cases: int, seed: int) -> dict[str, Any]:
    """`run_slice` in a process of its own, whose death is a fault of the case that it was at; the others run again.

    The target is that of a module, by its name.
    """
    context = multiprocessing.get_context("spawn")
    present, (ours, theirs) = context.Value("q", -1), context.Pipe(duplex=False)
    process = context.Process(target=send_slice, args=(theirs, module, start, cases, seed, present))
    process.start()
    theirs.close()
    try:
        found: dict[str, Any] = ours.recv()
    except EOFError:
        process.join()
        died = present.value
        if not start <= died < start + cases:
            raise RuntimeError(f"a slice ended with {process.exitcode} before its first case") from None
        parts = [(start, died - start), (died + 1, start + cases - died - 1)]
        found = _joined([run_apart(module, *part, seed) for part in parts if part[1]])
        found |= {"start": start, "seed": seed, "cases": found["cases"] + 1, "n_faults": found["n_faults"] + 1}
        found["faults"] = [f"case {died}: the process died with {process.exitcode}", *found["faults"]]
    process.join()
    return found


def send_slice(place: Any, module: str, *slice_: Any) -> None:
    """What the process of `run_apart` does."""
    place.send(run_slice(importlib.import_module(module).Target, *slice_))


def _joined(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts of several slices as one."""
    together: dict[str, Any] = asdict(Observer()) | {"seconds": 0.0, "above_mib": None}
    del together["present"]
    for part in parts:
        for name in ("cases", "refused", "taken", "faults", "n_faults", "seconds"):
            together[name] += part[name]
        together["slowest"] = max(together["slowest"], part["slowest"])
        above = [one["above_mib"] for one in (together, part) if one["above_mib"] is not None]
        together["above_mib"] = max(above, default=None)
    return together


def numbered(seed: int, number: int) -> np.random.Generator:
    """Random numbers of one case, the same whichever slice it is in."""
    return np.random.default_rng([seed, number])
