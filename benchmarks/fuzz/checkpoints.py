"""Checkpoints, damaged and forged: refused, or the same points and random numbers; a forged one can be gone on from."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from skmoe import ModelFileError
from skmoe.likelihood import Theta
from skmoe.search import Checkpoint

from .harness import Observer, WrongError, numbered
from .mutations import mutated_archive, mutated_bytes

__all__ = ["Target"]

SETTINGS, ROWS, WIDTHS = {"n_experts": "'auto'", "noise": "'per-expert'"}, "0123456789abcdef", (4, 5)
FORGED = 0.25  # share of the cases


class Target:
    """A checkpoint with the points of one, two and three experts."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "case"
        rng = np.random.default_rng(0)
        whole = self._open()
        for k in (1, 2, 3):
            theta = Theta(rng.normal(size=(k, WIDTHS[0])), rng.normal(size=(k, WIDTHS[1])), np.ones(k))
            whole.put(theta, rng)
        self.content, self.expected = self.path.read_bytes(), _points(whole)

    def _open(self) -> Checkpoint:
        return Checkpoint(self.path, SETTINGS, ROWS, WIDTHS, np.random.default_rng(1))

    def run(self, observer: Observer, start: int, cases: int, seed: int) -> None:
        """Put cases to the observer; see `harness.Target`."""
        for number in range(start, start + cases):
            observer.observe(number, lambda number=number: self._case(numbered(seed, number)))

    def _case(self, rng: np.random.Generator) -> bool:
        forged, members = bool(rng.random() < FORGED), rng.integers(3) == 0
        if forged or members:
            self.path.write_bytes(mutated_archive(self.content, rng, sums=forged))
        else:
            self.path.write_bytes(mutated_bytes(self.content, rng))
        try:
            found = _points(self._open())
        except ModelFileError as error:
            said = str(error)
            if len(said.splitlines()) != 1 or "pickle" in said or not said.isprintable():
                raise WrongError(f"not a sentence to be shown: {said!r}") from error
            return False
        if not forged and found != self.expected:
            raise WrongError("a damaged checkpoint was opened as another")
        return True


def _points(checkpoint: Checkpoint) -> list[tuple[int, bytes, float]]:
    """Points by their numbers of experts, with the next random number after each."""
    found = []
    for k in sorted(checkpoint.points):
        rng = np.random.default_rng(0)
        theta = checkpoint.get(k, rng)
        assert theta is not None
        if not all(np.all(np.isfinite(part)) for part in (theta.A, theta.W, theta.sigma)) or np.any(theta.sigma <= 0):
            raise WrongError("a point that is none was opened")
        found.append((k, b"".join(part.tobytes() for part in (theta.A, theta.W, theta.sigma)), rng.random()))
    return found
