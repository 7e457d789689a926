"""Thousands of fits, predictions, saves and loads by threads and processes on the same files; kills, a full disk.

Workers fit small tables with fixed seeds, so that every answer is known; save them under a few names that all workers
share; and load what others saved. Beside them children are killed in the middle of a fit or a save, and others write
with a limit on the size of files, as on a full disk. Every model that is loaded has to be one of those that were
fitted, digit by digit, and memory must not grow.

    python -m benchmarks.reliability.soak [--fits 10000] [--kills 2000] [--seed 0] [--write]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skmoe import MoERegressor, load, make_moe

RESULTS = Path(__file__).parents[1] / "results" / "soak.json"
PROBLEMS = 12  # tables of which every worker fits one at a time
NAMES = 6  # files that all workers share
WARM = 0.2  # part of the work before memory is looked at: caches are filled by then
MOST_GROWTH = 30e6  # bytes by which a worker may have grown at its end
LEAST_LIMIT, MOST_LIMIT = 200, 20_000  # bytes of files on a full disk: models here have about 10,000


@dataclass(frozen=True)
class Work:
    """What a worker is to do: "fit" in threads, "kill" children, or write to a "full" disk."""

    kind: str
    rounds: int
    threads: int
    seed: int
    folder: str
    answers: dict[str, int]  # tables by the digests of their models


def problem(i: int) -> tuple[np.ndarray, np.ndarray]:
    """A small table."""
    X, y, _ = make_moe(40 + 5 * i, 1 + i % 3, 1, noise_scale=0.3, random_state=i)
    return X, y + (np.abs(X[:, 0]) if i % 2 else 0.0)


def fitted(i: int) -> MoERegressor:
    """The model of a table: one expert or two, with settings that take all ways through a fit."""
    experts = 2 if i % 4 == 3 else 1
    how: dict[str, Any] = {"calibration": None, "penalty": 0.3} if i % 8 == 3 else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tables this small are warned of
        return MoERegressor(experts, n_init=2, random_state=i, **how).fit(*problem(i))


def digest(model: MoERegressor) -> str:
    """Fingerprint of a model's coefficients, and of what it predicts."""
    X = np.linspace(-2, 2, 3 * len(model.encoded_feature_names_)).reshape(3, -1)
    predicted = model.predict(X), model.predict_interval(X), model.log_density(X, X[:, 0])
    values = (model.expert_coef_, model.gate_coef_, model.noise_scale_, *predicted)
    return hashlib.sha256(b"".join(np.ascontiguousarray(v).tobytes() for v in values)).hexdigest()


def look(path: Path, answers: dict[str, int], counts: Counter[str]) -> None:
    """Load a file that others write to, and count what is in it."""
    try:
        model = load(path)
    except FileNotFoundError:  # nobody saved there yet
        return
    except ValueError as error:
        counts["damaged files"] += 1
        print(f"damaged: {error}", file=sys.stderr)
        return
    counts["loads"] += 1
    counts["wrong answers"] += digest(model) not in answers


def names(folder: str) -> list[Path]:
    """The files that workers share."""
    return [Path(folder) / f"model{i}.skmoe" for i in range(NAMES)]


def fit_round(work: Work, rng: np.random.Generator, counts: Counter[str]) -> None:
    """Fit, predict, save, and load what somebody saved."""
    i = int(rng.integers(len(work.answers)))
    model = fitted(i)
    counts["fits"] += 1
    counts["wrong answers"] += work.answers.get(digest(model)) != i
    counts["predictions"] += 1
    paths = names(work.folder)
    model.save(paths[rng.integers(NAMES)])
    counts["saves"] += 1
    look(paths[rng.integers(NAMES)], work.answers, counts)


def in_child(action: Callable[[], int]) -> int:
    """The number of a new process that does something and ends with its answer."""
    child = os.fork()
    if child:
        return child
    code = 70
    try:
        code = action()
    finally:
        os._exit(code)


def kill_round(work: Work, rng: np.random.Generator, counts: Counter[str]) -> None:
    """Kill a child that fits and saves without end at a random moment, then look at every file."""
    seed = int(rng.integers(2**32))

    def endless() -> int:
        mine = np.random.default_rng(seed)
        model, paths = fitted(0), names(work.folder)
        while True:
            model.save(paths[mine.integers(NAMES)])

    child = in_child(endless)
    time.sleep(float(rng.uniform(0.0, 0.06)))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    counts["kills"] += 1
    look(names(work.folder)[rng.integers(NAMES)], work.answers, counts)
    for left in Path(work.folder).glob(".*"):
        try:
            old = time.time() - left.stat().st_mtime > 60
        except FileNotFoundError:  # a saver at work has moved it into place
            continue
        if old:
            left.unlink(missing_ok=True)
            counts["temporary files of killed savers"] += 1


def full_round(work: Work, rng: np.random.Generator, counts: Counter[str]) -> None:
    """Save with a limit on the size of files: either all of it is there, or the error says so and nothing changed."""
    size, i = int(rng.integers(LEAST_LIMIT, MOST_LIMIT)), int(rng.integers(len(work.answers)))
    path = names(work.folder)[rng.integers(NAMES)]

    def save() -> int:
        model = fitted(i)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails with an error, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        try:
            model.save(path)
        except OSError:
            return 3
        return 0

    code = os.waitstatus_to_exitcode(os.waitpid(in_child(save), 0)[1])
    counts["saves to a full disk that failed"] += code == 3
    counts["saves to a full disk that had room"] += code == 0
    counts["unexpected ends"] += code not in (0, 3)
    look(path, work.answers, counts)


ROUNDS = {"fit": fit_round, "kill": kill_round, "full": full_round}


def memory() -> float:
    """Memory of this process in bytes, now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1]) if Path("/proc/self/statm").exists() else 0
    return float(pages * resource.getpagesize())


def do(work: Work) -> dict[str, Any]:
    """All rounds of a worker, shared out over its threads."""
    parts = [Counter[str]() for _ in range(work.threads)]
    sizes = [0.0] * work.threads
    each = work.rounds // work.threads

    def run(thread: int) -> None:
        rng = np.random.default_rng([work.seed, thread])
        for i in range(each):
            if i == int(WARM * each):
                sizes[thread] = memory()
            try:
                ROUNDS[work.kind](work, rng, parts[thread])
            except Exception as error:
                parts[thread]["unexpected errors"] += 1
                print(f"unexpected: {type(error).__name__}: {error}", file=sys.stderr)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(1, work.threads)]
    for thread in threads:
        thread.start()
    run(0)
    for thread in threads:
        thread.join()
    counts = sum(parts, Counter[str]())
    counts["slow growth"] += memory() - max(sizes) > MOST_GROWTH
    return {"counts": dict(counts), "warm": max(sizes), "end": memory()}


def start(work: Work) -> subprocess.Popen[str]:
    """A worker as a process of its own."""
    told = json.dumps(work.__dict__)
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--worker", told]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def soak(fits: int, kills: int, seed: int) -> dict[str, Any]:
    """Run all workers side by side, and add up what they saw."""
    began = time.time()
    answers = {digest(fitted(i)): i for i in range(PROBLEMS)}
    folder = tempfile.mkdtemp(prefix="skmoe-soak-")
    try:
        shares = [("fit", fits // 2, 1), ("fit", fits - fits // 2, 4)]
        shares += [("kill", kills, 1), ("full", kills // 4, 1)] if hasattr(os, "fork") else []
        works = [Work(kind, n, t, seed + i, folder, answers) for i, (kind, n, t) in enumerate(shares)]
        running = [start(work) for work in works]
        ends = [process.communicate()[0] for process in running]
        total, workers = Counter[str](), []
        for work, process, said in zip(works, running, ends, strict=True):
            if process.returncode != 0:
                total["unexpected ends"] += 1
                continue
            found = json.loads(said)
            total.update(found["counts"])
            sizes = {"MB when warm": round(found["warm"] / 1e6, 1), "MB at the end": round(found["end"] / 1e6, 1)}
            workers.append({"kind": work.kind, "threads": work.threads} | sizes)
        for path in names(folder):
            look(path, answers, total)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return {
        "seed": seed,
        "seconds": round(time.time() - began),
        "counts": dict(sorted(total.items())),
        "workers": workers,
    }


BAD = ("wrong answers", "damaged files", "unexpected errors", "unexpected ends", "slow growth")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fits", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.worker is not None:
        print(json.dumps(do(Work(**json.loads(given.worker)))))
        return 0
    found = soak(given.fits, given.kills, given.seed)
    print(json.dumps(found, indent=1))
    if given.write:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    return int(any(found["counts"].get(name) for name in BAD))


if __name__ == "__main__":
    sys.exit(main())
