"""Runs experiments: trials in processes, a progress bar, results that a second run takes up where the first stopped.

``results/<experiment>.jsonl`` holds a header (settings, versions) and a line for each trial. A trial is a pure function
of its settings and its number, which is its seed, so that neither order nor processes matter.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import json
import multiprocessing
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from threadpoolctl import threadpool_limits

from .baselines import HAS_TORCH

RESULTS = Path(__file__).parent / "results"
MODULES = {
    "table1": "table1",
    "table2": "table2",
    "figure3": "figure3",
    "figure4": "figure4",
    "figure5": "figure5",
    "figure6": "figure6",
    "theory": "theory",
    "scaling-panel": "scaling",
}
QUICK_TRIALS = 2
NO_TORCH = "PyTorch is not installed: the Adam baselines are left out (pip install torch brings them in)"


class Task(NamedTuple):
    """One trial of one setting of an experiment."""

    experiment: str
    setting: str
    trial: int
    settings: dict[str, Any]


def module(experiment: str) -> Any:
    """The module of an experiment."""
    return importlib.import_module(f".{MODULES[experiment]}", __package__)


def settings_of(experiment: str, quick: bool) -> dict[str, dict[str, Any]]:
    """Settings by name; a quick run takes those of ``QUICK_SETTINGS``, where given, with what ``QUICK`` replaces."""
    chosen = module(experiment)
    if not quick:
        return chosen.SETTINGS
    return {
        name: setting | {key: value for key, value in chosen.QUICK.items() if key in setting}
        for name, setting in chosen.SETTINGS.items()
        if name in getattr(chosen, "QUICK_SETTINGS", chosen.SETTINGS)
    }


def versions() -> dict[str, str]:
    """What the numbers depend on, and whether PyTorch was there."""
    packages = ("numpy", "scipy", "scikit-learn")
    found = {name: importlib.metadata.version(name) for name in packages}
    return found | {"torch": importlib.metadata.version("torch") if HAS_TORCH else "not installed"}


def run_task(task: Task) -> dict[str, Any]:
    """Run a `Task` on one thread. Warnings of hard problems are expected: what comes of them is in the numbers."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.process_time()
        found = module(task.experiment).trial(task.settings, task.trial)
        return {"found": found, "seconds": time.process_time() - begin}


def rounded(value: Any, digits: int) -> Any:
    """The same with every number at so many significant digits, as JSON knows it."""
    if isinstance(value, dict):
        return {key: rounded(item, digits) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [rounded(item, digits) for item in value]
    if isinstance(value, float | np.floating):
        return float(f"{value:.{digits}g}")
    return int(value) if isinstance(value, np.integer) else value


class Results:
    """The results file of an experiment. Trials whose settings have changed since are forgotten."""

    def __init__(self, folder: Path, experiment: str, settings: dict[str, Any], digits: int) -> None:
        self.path, self.digits = folder / f"{experiment}.jsonl", digits
        self.header = {"experiment": experiment, "versions": versions(), "settings": settings}
        self.trials: dict[tuple[str, int], dict[str, Any]] = {}
        if self.path.is_file():
            old, records = read(self.path)
            same = {name for name, setting in settings.items() if old["settings"].get(name) == setting}
            self.trials = {(r["setting"], r["trial"]): r for r in records if r["setting"] in same}
        self.write()

    def add(self, task: Task, outcome: dict[str, Any]) -> None:
        """Append a trial at once, so that nothing done is lost."""
        record = {"setting": task.setting, "trial": task.trial, **rounded(outcome, self.digits)}
        self.trials[task.setting, task.trial] = record
        with self.path.open("a") as file:
            file.write(json.dumps(record) + "\n")

    def write(self) -> None:
        """Write the file anew, trials in order."""
        names = list(self.header["settings"])
        order = sorted(self.trials, key=lambda key: (names.index(key[0]), key[1]))
        lines = [self.header, *(self.trials[key] for key in order)]
        self.path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def read(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Header and trials of a results file."""
    header, *records = (json.loads(line) for line in path.read_text().splitlines())
    return header, records


def run(
    experiments: Iterable[str],
    *,
    folder: Path = RESULTS,
    trials: int | None = None,
    quick: bool = False,
    jobs: int = 1,
    console: Console | None = None,
) -> None:
    """Run what is not done yet of the experiments, and write it to `folder`."""
    console = console or Console()
    folder.mkdir(parents=True, exist_ok=True)
    if not HAS_TORCH:
        console.print(NO_TORCH)
    files, tasks = {}, []
    for experiment in experiments:
        settings = settings_of(experiment, quick)
        files[experiment] = Results(folder, experiment, settings, 10 if quick else 6)
        count = trials or (QUICK_TRIALS if quick else module(experiment).TRIALS)
        for name, setting in settings.items():
            missing = (i for i in range(count) if (name, i) not in files[experiment].trials)
            tasks += [Task(experiment, name, i, setting) for i in missing]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=console) as progress:
        bars = {
            name: progress.add_task(name, total=sum(task.experiment == name for task in tasks) or None)
            for name in files
            if any(task.experiment == name for task in tasks)
        }
        for task, outcome in _outcomes(tasks, jobs):
            files[task.experiment].add(task, outcome)
            progress.advance(bars[task.experiment])
    for file in files.values():
        file.write()


def _outcomes(tasks: list[Task], jobs: int) -> Iterator[tuple[Task, dict[str, Any]]]:
    if jobs == 1:
        yield from ((task, run_task(task)) for task in tasks)
        return
    # set before the children start, so that each keeps to one core
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        waiting = {pool.submit(run_task, task): task for task in tasks}
        try:
            for done in as_completed(waiting):
                yield waiting[done], done.result()
        finally:
            for future in waiting:
                future.cancel()
