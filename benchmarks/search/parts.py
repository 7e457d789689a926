"""What each part of the search is worth: the same fits with one part switched off, or one number changed.

    python -m benchmarks.search.parts [--parts NAME ...] [--numbers NAME ...] [--experts 2 3 4 6 8] [--seeds 3]
                                         [--penalties 0.3 0] [--simulated] [--folder FOLDER] [--jobs 2] [--minutes M]
                                         [--out FILE] [--merge FILE ...]

Twelve real tables and three curves (those of ``reach.py``), a random 90% of the rows each, with penalty and by maximum
likelihood; with ``--simulated`` the problems of ``optimum.py`` too. A part is switched off by the values of
`SearchConfig` that ``PARTS`` gives; ``--numbers`` halves and doubles numbers instead.

The best known of a problem is the best admissible fit of all variants and seeds of this run, so that a variant that is
better than the present search makes the present search look worse. Shown are the share of fits within 0.5 of it in
total log-likelihood, the mean shortfall, and processor time on one thread. Problems are run in a random order, all
variants of one together: with ``--minutes`` no further problem is begun after so long, and what there is compares.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
import warnings
from collections import defaultdict
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before NumPy is imported: one core each, so that times compare

import numpy as np  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402

from benchmarks.search import optimum, reach, workers  # noqa: E402
from skmoe.search import SearchConfig  # noqa: E402

NEAR = 0.5  # total log-likelihood within which a fit is at the best known
SIMULATED_NEAR = 1e-3  # the same per row, for simulated problems
PRESENT = "present"
PARTS: dict[str, dict[str, Any]] = {
    PRESENT: {},
    "no reweighted restarts": {"moves.reweighted": 0},
    "no expert more or fewer": {"moves.splits": 0},
    "no rounds": {"moves.patience": 0},
    "patience of five rounds": {"moves.patience": 5},
    "no consistent start": {"starts.spectral_rows_per_parameter": 10**9},
    "gates stay steep": {"moves.softening": (1.0, 1.0)},
    "none dropped on the way": {"race.catch_up": 1e9},
}
FACTORS = (0.5, 2.0)
BELOW_ONE = 0.99  # what is a part of something stays one


class Problem(NamedTuple):
    """One table, or one simulated problem, and the model to be fitted to it."""

    source: str
    k: int
    penalty: float
    seed: int

    @property
    def simulated(self) -> bool:
        """Whether the problem is drawn, by its name "FAMILY:NUMBER"."""
        return ":" in self.source


def rows_of(problem: Problem, folder: Path | None) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Inputs, outputs, and settings of the model beside those of the problem."""
    if not problem.simulated:
        return *reach.split_rows(problem.source, 0, folder), {"noise": "per-expert"}
    name, number = problem.source.split(":")
    case = optimum.FAMILIES[name][0](int(number), problem.seed)
    how = {"activation": case.truth.g, "fit_intercept": case.intercept, "noise": case.noise}
    return case.X, case.y, how


def changed(changes: dict[str, Any]) -> SearchConfig:
    """Return the present search with numbers changed, named by stage and name, such as "race.gain"."""
    config = SearchConfig()
    for name, value in changes.items():
        stage, number = name.split(".")
        config = config.changed(stage, **{number: value})
    return config


def scaled(value: Any, factor: float) -> Any:
    """Return a number times a factor: whole numbers stay whole and at least 1, those below 1 stay below it."""
    if isinstance(value, tuple):
        return tuple(scaled(part, factor) for part in value)
    if isinstance(value, int):
        return max(1, int(value * factor + 0.5))
    return min(value * factor, BELOW_ONE) if value < 1 else value * factor


def shown(value: Any) -> str:
    return ", ".join(map(shown, value)) if isinstance(value, tuple) else f"{value:g}"


@lru_cache(maxsize=1)
def warm_up() -> None:
    """Fit a few rows, once a process: what loads code is not to be counted."""
    workers._warm_up()


def run_all(problem: Problem, variants: dict[str, dict[str, Any]], folder: Path | None) -> list[dict[str, Any]]:
    """Fit a problem with each variant of the search."""
    from skmoe import MoERegressor

    warm_up()
    X, y, how = rows_of(problem, folder)
    settings = {"n_experts": problem.k, "penalty": problem.penalty, "calibration": None, "random_state": problem.seed}
    found = []
    for name, changes in variants.items():
        MoERegressor._search_config = changed(changes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what was reached is compared instead
            try:
                record = workers.fit(X, y, settings | how)
            except Exception as error:  # whatever a fit raises is a result: it is counted and shown
                record = {"error": f"{type(error).__name__}: {error}"}
        found.append({**problem._asdict(), "variant": name, "n": len(y), **record})
    MoERegressor._search_config = SearchConfig()
    return found


def problems_of(arguments: argparse.Namespace) -> list[Problem]:
    """Every problem that is asked for, in a random order."""
    found = [
        Problem(table, k, penalty, seed)
        for table in arguments.tables
        for k in arguments.experts
        for penalty in arguments.penalties
        for seed in range(arguments.seeds)
    ]
    if arguments.simulated:
        for name, i, seed in optimum.problems(200, None, arguments.first_simulated):
            k = len(optimum.FAMILIES[name][0](i, seed).truth.A)
            found.append(Problem(f"{name}:{i}", k, 0.0, seed))
    order = np.random.default_rng(0).permutation(len(found))
    return [found[i] for i in order]


def variants_of(arguments: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Changes of the search by name, the present one first."""
    found = {name: PARTS[name] for name in dict.fromkeys([PRESENT, *(arguments.parts or [])])}
    for name in arguments.numbers:
        before = SearchConfig().numbers()[name]
        for factor in FACTORS:
            value = scaled(before, factor)
            if value != before:
                found[f"{name} = {shown(value)}"] = {name: value}
    return found


def run(arguments: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """Fit all problems side by side, and return the records."""
    todo, variants = problems_of(arguments), variants_of(arguments)
    records, begin, left = list[dict[str, Any]](), time.perf_counter(), list(reversed(todo))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.jobs, mp_context=context) as pool:
        running: set[Any] = set()
        while left or running:
            late = arguments.minutes and time.perf_counter() - begin > 60 * arguments.minutes
            if late:
                left = []
            while left and len(running) < arguments.jobs:
                running.add(pool.submit(run_all, left.pop(), variants, arguments.folder))
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                records += future.result()
                if arguments.out:
                    with arguments.out.open("a") as file:
                        file.writelines(json.dumps(record) + "\n" for record in future.result())
        seconds = time.perf_counter() - begin
    problems = len({tuple(r[name] for name in Problem._fields) for r in records})
    console.print(f"{problems} of {len(todo)} problems in {seconds:.0f} s", style="dim")
    return records


def value_of(record: dict[str, Any]) -> float | None:
    """What a fit is measured by, in total over the rows; None for one that failed or has noise on its floor."""
    if "error" in record or record["at_floor"]:
        return None
    return record["objective" if record["penalty"] else "log_likelihood"]


def gaps_of(records: list[dict[str, Any]]) -> dict[int, float]:
    """By how much each record falls short of the best known of its problem; infinite where it counts as missed."""
    best: dict[Any, float] = defaultdict(lambda: -np.inf)

    def problem(record: dict[str, Any]) -> Any:
        # what is drawn in a simulated problem depends on the seed, which a real table is fitted with alone
        return (record["source"], record["k"], record["penalty"], record["seed"] if ":" in record["source"] else None)

    for record in records:
        if (value := value_of(record)) is not None:
            best[problem(record)] = max(best[problem(record)], value)
    return {i: np.inf if (value := value_of(r)) is None else best[problem(r)] - value for i, r in enumerate(records)}


def group(record: dict[str, Any]) -> str:
    if ":" in record["source"]:
        return "simulated"
    return f"{'penalty' if record['penalty'] else 'likelihood'}, k={record['k']}"


def report(records: list[dict[str, Any]]) -> Table:
    """A line for each variant: share, shortfall and seconds of each group of problems."""
    gaps = gaps_of(records)
    groups = sorted({group(r) for r in records}, key=lambda name: (len(name), name))
    table = Table(title="share within 0.5 of the best known, mean shortfall, processor seconds a fit")
    table.add_column("search")
    for name in groups:
        table.add_column(name, justify="right")
    for variant in dict.fromkeys(r["variant"] for r in records):
        cells = []
        for name in groups:
            mine = [i for i, r in enumerate(records) if r["variant"] == variant and group(r) == name]
            near = [gaps[i] <= (SIMULATED_NEAR * records[i]["n"] if name == "simulated" else NEAR) for i in mine]
            short = [gaps[i] for i in mine if np.isfinite(gaps[i])]
            seconds = [records[i].get("seconds", np.nan) for i in mine]
            share = f"{sum(near)}/{len(near)}" if name == "simulated" else f"{np.mean(near):.2f}"
            cells.append(f"{share} {np.mean(short):.2f} {np.mean(seconds):.2f}" if mine else "")
        table.add_row(variant, *cells)
    return table


def arguments_of() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = list(SearchConfig().numbers())
    parser.add_argument("--tables", nargs="*", choices=reach.TABLES, default=list(reach.TABLES), metavar="NAME")
    parser.add_argument("--parts", nargs="*", choices=list(PARTS), default=list(PARTS), metavar="NAME")
    parser.add_argument("--numbers", nargs="*", choices=numbers, default=[], metavar="NAME")
    parser.add_argument("--experts", type=int, nargs="*", default=[2, 3, 4, 6, 8])
    parser.add_argument("--penalties", type=float, nargs="*", default=[0.3, 0.0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("--first-simulated", type=int, default=4711, help="offset of the seeds of simulated problems")
    parser.add_argument("--folder", type=Path, help="a folder of NAME.npz, as common_tables.py --write makes")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=0.0, help="begin no problem after so long; 0 for all")
    parser.add_argument("--out", type=Path, help="append a line of JSON for each fit")
    parser.add_argument("--merge", nargs="*", type=Path, default=[], help="show these records, run nothing")
    return parser.parse_args()


def main() -> None:
    arguments, console = arguments_of(), Console(width=220)
    if arguments.merge:
        records = [json.loads(line) for path in arguments.merge for line in path.read_text().splitlines()]
    else:
        records = run(arguments, console)
    console.print(report(records))
    failed = [r for r in records if "error" in r]
    for record in failed[:10]:
        console.print(f"{record['variant']}, {record['source']}, k={record['k']}: {record['error']}", style="red")


if __name__ == "__main__":
    main()
