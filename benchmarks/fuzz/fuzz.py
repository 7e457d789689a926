"""Hostile model files, checkpoints, CSV files, command lines and tables: none may end otherwise than by a sentence.

    python -m benchmarks.fuzz.fuzz [--target NAME ...] [--cases N] [--start 0] [--slice 500] [--seed 0] [--jobs 2]
                                   [--out FILE]

A case is drawn from the seed and its number, so that ``--target "model files" --start 1234 --cases 1`` runs one again.
A fault is an exception that is none of skmoe's refusals, an exit code that is not documented, an escape sequence on the
terminal, more than ten seconds, the death of the process, or a damaged file taken for another model. Slices run in
processes of their own, two at a time. Counts are kept in
``benchmarks/results/fuzz.json`` by slices, and fill the table of docs/reliability.md. With a fault the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before NumPy is imported

from benchmarks import fuzz  # noqa: E402
from benchmarks.fuzz import fuzz_page as page  # noqa: E402
from benchmarks.fuzz import harness  # noqa: E402

MOST_MIB = 500
COUNTS = {"cases": "cases", "refused": "refused", "taken": "taken", "n_faults": "faults"}


def arguments_of(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", nargs="+", choices=fuzz.TARGETS, default=list(fuzz.TARGETS), metavar="NAME")
    parser.add_argument("--cases", type=int, help="cases of each target, by default those of a full run")
    parser.add_argument("--start", type=int, default=0, help="number of the first case")
    parser.add_argument("--slice", type=int, default=500, help="cases of a process")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time")
    parser.add_argument("--out", type=Path, help="results file, in place of the repository's and its page")
    return parser.parse_args(words)


def slices_of(arguments: argparse.Namespace) -> list[tuple[str, int, int]]:
    """Target, first case and number of cases of each slice."""
    cases = {name: arguments.cases or fuzz.TARGETS[name][1] for name in arguments.target}
    return [
        (name, arguments.start + done, min(arguments.slice, cases[name] - done))
        for name in arguments.target
        for done in range(0, cases[name], arguments.slice)
    ]


def main(words: list[str] | None = None) -> int:
    arguments, failed = arguments_of(words), False

    def run(part: tuple[str, int, int]) -> dict[str, Any]:
        name, start, cases = part
        return harness.run_apart(fuzz.TARGETS[name][0], start, cases, arguments.seed)

    parts, began = slices_of(arguments), time.monotonic()
    with ThreadPoolExecutor(arguments.jobs) as pool:  # each waits for a process
        for (name, start, _), found in zip(parts, pool.map(run, parts), strict=True):
            page.kept(arguments.out or page.RESULTS, name, found)
            counts = ", ".join(f"{found[key]} {word}" for key, word in COUNTS.items())
            memory = "" if found["above_mib"] is None else f"{found['above_mib']:.0f} MiB above the base, "
            print(f"{name} from {start} on: {counts}, {memory}{found['seconds']:.0f} s", flush=True)
            for fault in found["faults"]:
                print(f"  {fault}", flush=True)
            failed |= found["n_faults"] > 0 or (found["above_mib"] or 0) > MOST_MIB
    print(f"{(time.monotonic() - began) / 60:.1f} minutes")
    if arguments.out is None:
        page.update()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
