"""Whether a quick run gives the same numbers as the one kept in ``quick.json``, times aside.

With the packages, the BLAS kernel and the compiled code of the reference every number is the same to the last of its
ten digits. With others sums are rounded otherwise, and ``quick_rounding.json`` holds what that does to each method's
numbers: it was measured with the packages of the reference and four other kernels of its BLAS. Nearly all numbers stay
the same to 1e-6. Others do not, for two reasons:

- Stage 1 ends where a step gains less than 1e-10 of its cost, which leaves about 1e-5 of a coefficient open. With a
  tolerance of 1e-16 in its place no number of figures 3 and 5 moves by 1e-8.
- Iterations that never settle: of the starts of the power method on plain tensors of a few hundred rows a quarter
  still moves at its last iteration, and which of them wins is up to rounding. On the real tables stage 1 and the search
  for the likelihood's maximum, of 150 rows, end at another of their local optima now and then.

``python -m experiments.check keep`` keeps the present quick results as the reference, ``rounding`` measures again.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from threadpoolctl import threadpool_info

from skmoe.likelihood.fused import is_library_built

from . import runner

REFERENCE, ROUNDING = (Path(__file__).parent / name for name in ("quick.json", "quick_rounding.json"))
QUICK = runner.RESULTS / "quick"
KERNELS = ("Prescott", "Nehalem", "Sandybridge", "Haswell")  # of OpenBLAS, which every processor since 2013 can run
TOLERANCE = 1e-6
OTHER_DIGITS = 1e-3  # largest move of a number that is the same solution, found to fewer digits
MARGIN = 10  # such numbers, and means of those that are of other solutions, may move by so many times what was measured
MORE_MOVED = 0.25  # share of them that may move beside what was measured; there are six to forty of a method

Group = tuple[str, str]  # an experiment and a method, or what else it measures


@dataclass(frozen=True)
class Moves:
    """How far the numbers of a group differ from the reference, relative to the larger of one and themselves."""

    largest: float
    moved: float  # share of the numbers that differ by more than `TOLERANCE`
    mean: float  # of the differences with their signs, as a size

    @classmethod
    def of(cls, pairs: list[tuple[float, float]]) -> Moves:
        """From numbers found and those of the reference."""
        found, reference = np.array(pairs, dtype=float).T
        apart = (found - reference) / np.maximum(1.0, np.abs(reference))
        return cls(float(np.max(np.abs(apart))), float(np.mean(np.abs(apart) > TOLERANCE)), float(abs(np.mean(apart))))

    def refused(self, measured: Moves) -> str | None:
        """What is wrong with moves, by what other rounding was seen to do; None if nothing is."""
        if measured.largest <= OTHER_DIGITS:
            most = max(TOLERANCE, MARGIN * measured.largest)
            return None if self.largest <= most else f"a number differs by {self.largest:.2g}, and {most:.2g} may be"
        share, mean = measured.moved + MORE_MOVED, MARGIN * measured.mean
        if self.moved > share:
            return f"{self.moved:.0%} of the numbers differ, and {share:.0%} may"
        return None if self.mean <= mean else f"the mean differs by {self.mean:.2g}, and {mean:.2g} may be"


SAME = Moves(0.0, 0.0, 0.0)


def numbers(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Every leaf of nested results with its place."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from numbers(item, f"{place}/{key}")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from numbers(item, f"{place}/{i}")
    else:
        yield place, value


def without_times(value: Any) -> Any:
    """The same without what was timed."""
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key != "seconds"}
    return value


def collect(folder: Path) -> dict[str, Any]:
    """What was found, by experiment and by setting and trial."""
    return {
        path.stem: {f"{r['setting']}/{r['trial']}": without_times(r["found"]) for r in runner.read(path)[1]}
        for path in sorted(folder.glob("*.jsonl"))
    }


def environment() -> dict[str, Any]:
    """What digits depend on: packages, the BLAS with the kernel that it chose for the processor, compiled code."""
    packages = {name: version for name, version in runner.versions().items() if name != "torch"}
    blas = {f"{lib['internal_api']} {lib['version']} {lib.get('architecture')}" for lib in _blas()}
    return packages | {"blas": sorted(blas), "compiled": is_library_built()}


def _blas() -> list[dict[str, Any]]:
    import scipy.linalg  # noqa: F401 - brings a BLAS of its own

    return [library for library in threadpool_info() if library["user_api"] == "blas"]


def differences(folder: Path) -> list[str]:
    """What differs from the reference. Adam's numbers may be missing: PyTorch is optional."""
    rounding = json.loads(ROUNDING.read_text())
    if environment() == rounding["environment"]:
        measured = None
    else:
        measured = {(of["experiment"], of["method"]): Moves(**of["moves"]) for of in rounding["methods"]}
    return compared(collect(folder), json.loads(REFERENCE.read_text()), measured)


def compared(found: dict[str, Any], reference: dict[str, Any], measured: dict[Group, Moves] | None) -> list[str]:
    """What differs, number by number to the last digit, or by what other rounding does to a method's numbers."""
    ours, expected = (dict(numbers(tree, "")) for tree in (found, reference))
    if not any("/Adam, " in place for place in ours):
        expected = {p: v for p, v in expected.items() if "/Adam, " not in p}
    missing = [f"{place}: missing" for place in expected if place not in ours]
    new = [f"{place}: not in the reference" for place in ours if place not in expected]
    apart = {place: value for place, value in expected.items() if place in ours and ours[place] != value}
    words = [place for place, value in apart.items() if measured is None or isinstance(value, str)]
    moved = [f"{place}: {ours[place]!r}, reference {expected[place]!r}" for place in words]
    return missing + new + moved + ([] if measured is None else _beyond(moves(found, reference), measured))


def _beyond(found: dict[Group, Moves], measured: dict[Group, Moves]) -> list[str]:
    wrong = {group: moved.refused(measured.get(group, SAME)) for group, moved in found.items()}
    return [f"{' / '.join(group)}: {words}" for group, words in wrong.items() if words is not None]


def moves(found: dict[str, Any], reference: dict[str, Any]) -> dict[Group, Moves]:
    """How the numbers of each group differ from the reference, over all settings and trials."""
    ours, expected = (dict(_by_group(tree)) for tree in (found, reference))
    pairs: dict[Group, list[tuple[float, float]]] = {}
    for (group, place), value in expected.items():
        if not isinstance(value, str) and (group, place) in ours:
            pairs.setdefault(group, []).append((ours[group, place], value))
    return {group: Moves.of(both) for group, both in pairs.items()}


def _by_group(tree: dict[str, Any]) -> Iterator[tuple[tuple[Group, str], Any]]:
    for experiment, trials in tree.items():
        for trial, methods in trials.items():
            for method, value in methods.items():
                for place, number in numbers(value, trial):
                    yield ((experiment, method), place), number


def keep() -> None:
    """Keep the present quick results as the reference, and what they were made with."""
    rounding = json.loads(ROUNDING.read_text())
    REFERENCE.write_text(json.dumps(collect(QUICK), separators=(",", ":")).replace('},"', '},\n"') + "\n")
    _write(rounding | {"environment": environment()})


def measure() -> None:
    """Run the quick set with each of `KERNELS`, and keep the largest moves of each group that moves at all."""
    worst: dict[Group, Moves] = {}
    reference = json.loads(REFERENCE.read_text())
    for kernel in KERNELS:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-m", "experiments.check", "run", folder]
            subprocess.run(command, env=os.environ | {"OPENBLAS_CORETYPE": kernel}, check=True)
            for group, found in moves(collect(Path(folder)), reference).items():
                so_far = asdict(worst.get(group, SAME))
                worst[group] = Moves(**{name: max(value, so_far[name]) for name, value in asdict(found).items()})
    rounded = runner.rounded({group: asdict(moved) for group, moved in worst.items() if moved.largest > TOLERANCE}, 2)
    methods = [{"experiment": group[0], "method": group[1], "moves": moved} for group, moved in rounded.items()]
    _write(json.loads(ROUNDING.read_text()) | {"kernels": list(KERNELS), "methods": methods})


def _write(rounding: dict[str, Any]) -> None:
    ROUNDING.write_text(json.dumps(rounding, indent=1) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["keep", "rounding", "run"])
    parser.add_argument("folder", nargs="?", type=Path, default=QUICK)
    asked = parser.parse_args()
    if asked.what == "run":
        runner.run(list(runner.MODULES), folder=asked.folder, quick=True, console=Console(quiet=True))
    else:
        {"keep": keep, "rounding": measure}[asked.what]()
