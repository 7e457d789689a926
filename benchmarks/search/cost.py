"""What fits cost, beside another version of skmoe: processor time on one thread, item by item.

    python -m benchmarks.search.cost [--python PATH] [--items NAME ...] [--seeds 3] [--uci FOLDER] [--limit 300]
                                     [--out FILE] [--plain] [--quick]

Items: concrete with the number of experts chosen; concrete and airfoil with four experts; the simulated families of
``optimum.py`` in total; many experts (ten inputs, the paper's model, noise .1); kin8nm and power with 16 experts and
naval with 8, from a folder of ``NAME.npz`` with ``X``, ``y`` and ``test_0``, the rows that are not fitted; and
simulated tables, about half their columns 0/1, of shapes that used to be slow. Seconds are the mean over seeds; an
item's time ends at the limit, and is shown as over it.

With ``--python`` the version installed for that interpreter makes each fit right after ours; shown are our time over
its, and the goal for that. "Better by" is ours less the other's total log-likelihood less BIC's penalty, the mean over
fits: a fit that is fast and worse is no gain. A ratio to a time over the limit is an upper bound. ``--plain`` leaves
out of ours what versions before 0.2 did not do: choosing a penalty and calibrating levels.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.search import optimum, workers
from skmoe.datasets import load_airfoil, load_concrete

Fit = tuple[np.ndarray, np.ndarray, dict[str, Any]]
OURS, OTHER = "current", "other"


class Item(NamedTuple):
    """What is timed: the fits of a seed, the goal for our time over the other's, and how many seeds at most."""

    fits: Callable[[int, argparse.Namespace], Iterator[Fit]]
    goal: float | None
    most_seeds: int = 1000


def table(read: Callable[..., Any], k: int | str, goal: float) -> Item:
    def fits(seed: int, arguments: argparse.Namespace) -> Iterator[Fit]:
        yield *read(return_X_y=True), {"n_experts": k, "noise": "per-expert"}

    return Item(fits, goal)


def of_case(case: Any) -> Fit:
    model = {"activation": case.truth.g.name, "fit_intercept": case.intercept, "noise": case.noise}
    return case.X, case.y, {"n_experts": len(case.truth.A), **model}


def families(seed: int, arguments: argparse.Namespace) -> Iterator[Fit]:
    for name, i, own in optimum.problems(arguments.problems, None, seed):
        X, y, settings = of_case(optimum.FAMILIES[name][0](i, own))
        yield X, y, {**settings, "random_state": own}


def many_experts(k: int, n: int) -> Item:
    def fits(seed: int, arguments: argparse.Namespace) -> Iterator[Fit]:
        yield of_case(optimum.paper(n, 10, k, 0.1, seed))

    return Item(fits, 1 / 2)


def uci(name: str, k: int) -> Item:
    def fits(seed: int, arguments: argparse.Namespace) -> Iterator[Fit]:
        with np.load(arguments.uci / f"{name}.npz") as rows:
            X, y = (np.delete(rows[part], rows["test_0"], axis=0) for part in ("X", "y"))
        yield X[:, X.std(axis=0) > 0], y, {"n_experts": k, "noise": "per-expert"}

    return Item(fits, 1 / 10, most_seeds=1)


def simulated_table(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A smooth output over correlated, skewed numbers, and 0/1 columns of categories with all their levels."""
    rng = np.random.default_rng(seed)
    numeric = (d + 1) // 2
    Z = rng.standard_normal((n, numeric)) + rng.standard_normal((n, 1))
    Z = np.where(np.arange(numeric) % 2, np.exp(0.5 * Z), Z)
    effects, columns = np.zeros(n), []
    left = d - numeric
    while left:
        levels = min(left, int(rng.integers(3, 9)))
        drawn = rng.integers(0, levels + (levels == 1), n)
        columns.append((drawn[:, None] == np.arange(levels)).astype(float))
        effects += 0.5 * rng.standard_normal(levels + 1)[drawn]
        left -= levels
    y = np.abs(Z[:, 0]) + np.sin(Z[:, 1 % numeric]) + effects
    return np.hstack([Z, *columns]), y + 0.3 * np.exp(0.3 * Z[:, 0]) * rng.standard_normal(n)


def shape(n: int, d: int, k: int | str = "auto") -> Item:
    def fits(seed: int, arguments: argparse.Namespace) -> Iterator[Fit]:
        yield *simulated_table(n, d, seed), {"n_experts": k, "noise": "per-expert"}

    return Item(fits, None, most_seeds=1)


ITEMS = {
    "concrete, auto": table(load_concrete, "auto", 1 / 10),
    "concrete, k=4": table(load_concrete, 4, 1 / 3),
    "airfoil, k=4": table(load_airfoil, 4, 1 / 3),
    "families": Item(families, 1.0, most_seeds=1),
    "k=9, n=12000": many_experts(9, 12_000),
    "k=12, n=20000": many_experts(12, 20_000),
    "kin8nm, k=16": uci("kin8nm", 16),
    "power, k=16": uci("power", 16),
    "naval, k=8": uci("naval", 8),
    "212 x 19, auto": shape(212, 19),
    "644 x 17, auto": shape(644, 17),
    "3525 x 21, auto": shape(3525, 21),
    "38881 x 23, auto": shape(38_881, 23),
    "2344 x 261, auto": shape(2344, 261),
    "1100 x 250, k=2": shape(1100, 250, 2),
}
FROM_FOLDER = [name for name, item in ITEMS.items() if item.fits.__qualname__.startswith("uci.")]


class Spent(NamedTuple):
    """What an item cost a version: seconds and score (less BIC's penalty) of each fit, and why it ended early."""

    seconds: float
    scores: list[float]
    problem: str | None


def score(found: dict[str, Any], n: int) -> float:
    return found["log_likelihood"] - 0.5 * found["n_parameters"] * float(np.log(n))


def measure(item: Item, seed: int, arguments: argparse.Namespace, available: dict[str, Any]) -> dict[str, Spent]:
    """The fits of one seed, each by every version in turn, within the limit for each."""
    spent = {label: Spent(0.0, [], None) for label in available}
    plain = {"penalty": 0.0, "calibration": None} if arguments.plain else {}
    with tempfile.TemporaryDirectory() as folder:
        for number, (X, y, settings) in enumerate(item.fits(seed, arguments)):
            place = Path(folder) / f"{number}.npz"
            np.savez(place, X=X, y=y)
            for label, worker in available.items():
                before = spent[label]
                if before.problem is not None:
                    continue
                left = max(arguments.limit - before.seconds, 1e-3)
                found = worker.ask(place, {"random_state": seed, **settings, **plain}, left)
                if "error" in found:
                    over = found["error"] == workers.OVER
                    spent[label] = Spent(arguments.limit if over else np.nan, before.scores, found["error"])
                else:
                    scores = [*before.scores, score(found, len(y))]
                    spent[label] = Spent(before.seconds + found["seconds"], scores, None)
            place.unlink()
    return spent


def seconds_of(runs: list[Spent]) -> tuple[float, str]:
    """Mean seconds over seeds, a lower bound where a run was over the limit, and how they are shown."""
    mean = float(np.mean([run.seconds for run in runs]))
    problems = [run.problem for run in runs if run.problem is not None]
    if not problems:
        return mean, f"{mean:.2f}"
    return mean, f"over {mean:.0f}" if set(problems) == {workers.OVER} else f"failed: {problems[0]}"


def row_of(name: str, goal: float | None, runs: dict[str, list[Spent]]) -> list[str]:
    ours, shown = seconds_of(runs[OURS])
    cells = [name, str(len(runs[OURS])), shown]
    if OTHER not in runs:
        return cells
    other, other_shown = seconds_of(runs[OTHER])
    ratio = ours / other
    over = any(run.problem for run in runs[OURS])  # then our time is a lower bound
    bound = "at most " if other_shown.startswith("over") else ""
    verdict = "" if np.isnan(ratio) else "met" if ratio <= (goal or 0.0) and not over else "MISSED"
    differences = [
        a - b
        for mine, its in zip(runs[OURS], runs[OTHER], strict=True)
        for a, b in zip(mine.scores, its.scores, strict=False)  # a run that ended early has fewer
    ]
    return [
        *cells,
        other_shown,
        "" if over or np.isnan(ratio) else f"{bound}{ratio:.3f}",
        "" if goal is None else f"{goal:.3g} {verdict}",
        f"{np.mean(differences):+.2f}" if differences else "",
    ]


def arguments_of(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", help="an interpreter with another version of skmoe, to be measured as well")
    parser.add_argument("--items", nargs="*", choices=list(ITEMS), default=list(ITEMS), metavar="NAME")
    parser.add_argument("--seeds", type=int, default=3, help="of tables and many experts; other items are run once")
    parser.add_argument("--problems", type=int, default=60, help="simulated problems, as in optimum.py")
    parser.add_argument(
        "--uci", type=Path, help="folder of kin8nm.npz, power.npz and naval.npz; without it they are out"
    )
    parser.add_argument("--limit", type=float, default=300, help="most seconds an item, seed and version")
    parser.add_argument("--out", type=Path, help="write the numbers to this file, as JSON")
    parser.add_argument("--plain", action="store_true", help="ours by maximum likelihood, levels not calibrated")
    parser.add_argument("--quick", action="store_true", help="one seed of the smallest items, thirteen families")
    arguments = parser.parse_args(words)
    if arguments.quick:
        arguments.items, arguments.seeds, arguments.problems = ["concrete, k=4", "families"], 1, 1
    return arguments


def main(words: list[str] | None = None) -> None:
    arguments, console = arguments_of(words), Console(width=150)
    left_out = [name for name in arguments.items if name in FROM_FOLDER and arguments.uci is None]
    if left_out:
        console.print(f"without {'; '.join(left_out)}: --uci names no folder", style="red")
    grid = Table(title="Processor time of fits on one thread")
    versus = ("seconds, other", "ratio", "goal", "better by") if arguments.python else ()
    for column in ("item", "seeds", "seconds", *versus):
        grid.add_column(column, justify="left" if column == "item" else "right")
    results: dict[str, dict[str, list[Spent]]] = {}

    def run(name: str, available: dict[str, Any]) -> None:
        item = ITEMS[name]
        runs: dict[str, list[Spent]] = {label: [] for label in available}
        for seed in range(min(arguments.seeds, item.most_seeds)):
            for label, spent in measure(item, seed, arguments, available).items():
                runs[label].append(spent)
        results[name] = runs
        row = row_of(name, item.goal, runs)
        grid.add_row(*row)
        console.print("  ".join(row), style="dim")
        if arguments.out is not None:
            plain = {
                item: {label: [s._asdict() for s in all_] for label, all_ in r.items()} for item, r in results.items()
            }
            arguments.out.write_text(json.dumps(plain, indent=1) + "\n")

    pythons = {OURS: sys.executable} | ({OTHER: arguments.python} if arguments.python else {})
    workers.side_by_side([name for name in arguments.items if name not in left_out], run, pythons, jobs=1)
    console.print(grid)


if __name__ == "__main__":
    main()
