"""How much the numbers that steer a search matter: each is halved and doubled, one at a time.

    python benchmarks/search/sensitivity.py [--fields NAME ...] [--problems NAME ...] [--seed 0]

For every field of `SearchConfig` the table shows how many of the problems it is tried on reach the optimum, and the
processor time over that of the default. The optimum is reached when the mean log-likelihood is within 0.001 of the best
of all runs here, among fits without noise on its floor; where the number of experts is chosen, that is less BIC's
penalty. Problems are those of ``optimum.py`` that react to the search, two real tables, one whose number of experts is
chosen, and a table that is searched on a sample, for fields about large tables.

A problem on which the default fit never reads a field is left out for that field: its run would be the same. One
problem more or less is chance, since every change also draws other starts. All runs use one thread. In full it takes
about a quarter of an hour.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from skmoe import MoERegressor, make_moe
from skmoe.cli.checkout import load
from skmoe.datasets import load_airfoil, load_concrete
from skmoe.search import SearchConfig

FAMILIES = load("benchmarks.search.optimum").FAMILIES
WIN = load("benchmarks.search.optimum").WIN
CHOSEN = {  # indices of the problems of each family
    "figure5": (1, 5),
    "many-experts": (0, 4, 6, 7),
    "unequal": (0, 6),
    "correlated": (5,),
    "skewed": (7,),
    "heavy-tailed": (2,),
    "mixed-01": (0, 4),
    "noise-levels": (7,),
    "nonlinear": (3,),
}
LARGE_ROWS = 250_000
ABOUT_LARGE_TABLES = (
    "canonical_rows",
    "sample_rows",
    "sample_doubles",
    "sample_rows_per_coefficient",
    "spectral_rows",
    "most_rows",
)
FACTORS = (0.5, 2.0)
BELOW_ONE = 0.99  # what is a part of something stays one


class Rows(NamedTuple):
    """A table, the seed of its fits, and the model to be fitted to it."""

    X: np.ndarray
    y: np.ndarray
    seed: int
    settings: dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """A name, how its rows are drawn from a seed, and whether it is there for fields about large tables."""

    name: str
    draw: Callable[[int], Rows]
    large: bool = False

    def tries(self, field: str) -> bool:
        """Whether a field is tried on it."""
        return self.large == (field in ABOUT_LARGE_TABLES)


def of_family(name: str, i: int) -> Problem:
    place = list(FAMILIES).index(name)

    def draw(seed: int) -> Rows:
        own = 100_000 * seed + 1000 * place + i  # as in optimum.py
        case = FAMILIES[name][0](i, own)
        model = {"activation": case.truth.g, "fit_intercept": case.intercept, "noise": case.noise}
        return Rows(case.X, case.y, own, {"n_experts": len(case.truth.A), **model})

    return Problem(f"{name}-{i}", draw)


def of_table(name: str, read: Callable[..., Any]) -> Problem:
    return Problem(name, lambda seed: Rows(*read(return_X_y=True), seed, {"n_experts": 3, "noise": "per-expert"}))


def auto(seed: int) -> Rows:
    return of_family("unequal", 0).draw(seed)._replace(settings={"n_experts": "auto", "noise": "per-expert"})


def large(seed: int) -> Rows:
    X, y, _ = make_moe(LARGE_ROWS, 5, 3, noise_scale=0.3, random_state=seed)
    return Rows(X, y, seed, {"n_experts": 3, "noise": "shared"})


PROBLEMS = {
    problem.name: problem
    for problem in (
        *(of_family(name, i) for name, numbers in CHOSEN.items() for i in numbers),
        of_table("concrete", load_concrete),
        of_table("airfoil", load_airfoil),
        Problem("auto", auto),
        Problem("large", large, large=True),
    )
}


class Run(NamedTuple):
    """What a fit reached (minus infinity with noise on its floor), and its processor time."""

    value: float
    seconds: float


def fit(rows: Rows, config: SearchConfig) -> Run:
    with patch.object(MoERegressor, "_search_config", config), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was reached tells
        begin = time.process_time()
        model = MoERegressor(**rows.settings, random_state=rows.seed).fit(rows.X, rows.y)
        seconds = time.process_time() - begin
    n = len(rows.y)
    value = model.log_likelihood_ / n
    if rows.settings["n_experts"] == "auto":
        value -= model.n_parameters_ * np.log(n) / (2 * n)
    return Run(-np.inf if model.history_["at_floor"] else value, seconds)


def fields_read(rows: Rows) -> set[str]:
    """Fields that a default fit reads."""
    read: set[str] = set()

    class Noting(SearchConfig):
        def __getattribute__(self, name: str) -> Any:
            if sys._getframe(1).f_globals["__name__"] != "dataclasses":  # a copy reads all of them
                read.add(name)
            return super().__getattribute__(name)

    fit(rows, Noting())
    return read


def scaled(value: Any, factor: float) -> Any:
    """A number times a factor: whole numbers stay whole and at least 1, those below 1 stay below it."""
    if isinstance(value, tuple):
        return tuple(scaled(part, factor) for part in value)
    if isinstance(value, int):
        return max(1, int(value * factor + 0.5))
    return min(value * factor, BELOW_ONE) if value < 1 else value * factor


@dataclass(frozen=True)
class Variant:
    """A field at another value, and the problems on which that may matter."""

    field: str
    value: Any
    problems: tuple[str, ...]


def variants(names: list[str], problems: list[Problem], read: dict[str, set[str]]) -> list[Variant]:
    """Each field halved and doubled; what comes out as it was, is left out."""
    default, found = SearchConfig(), []
    for name in names:
        tried = tuple(p.name for p in problems if p.tries(name) and name in read[p.name])
        before = getattr(default, name)
        values = [value for factor in FACTORS if (value := scaled(before, factor)) != before]
        found += [Variant(name, value, tried) for value in values if tried]
    return found


def shown(value: Any) -> str:
    return ", ".join(map(shown, value)) if isinstance(value, tuple) else f"{value:g}"


def report(names: list[str], default: dict[str, Run], runs: dict[Variant, dict[str, Run]]) -> Table:
    best = {name: run.value for name, run in default.items()}
    for found in runs.values():
        best |= {name: max(best[name], run.value) for name, run in found.items()}

    def gaps(found: dict[str, Run], problems: tuple[str, ...]) -> dict[str, float]:
        below = {name: best[name] - found[name].value for name in problems}
        return {name: gap for name, gap in below.items() if gap > WIN}

    table = Table(title="Problems at the optimum, and processor time over the default's, with one field changed")
    for column in ("field", "default", "problems", "reached", "changed to", "reached", "time", "missed, by how much"):
        table.add_column(column, justify="left" if column in ("field", "missed, by how much") else "right")
    for name in names:
        mine = [variant for variant in runs if variant.field == name]
        before = shown(getattr(SearchConfig(), name))
        if not mine:
            table.add_row(name, before, "0")
        for i, variant in enumerate(mine):
            found, problems = runs[variant], variant.problems
            seconds = sum(found[p].seconds for p in problems) / sum(default[p].seconds for p in problems)
            missed, count = gaps(found, problems), len(problems)
            first = [name, before, str(count), str(count - len(gaps(default, problems)))] if i == 0 else [""] * 4
            words = ", ".join(f"{p} {gap:.4f}" for p, gap in missed.items())
            table.add_row(*first, shown(variant.value), str(count - len(missed)), f"{seconds:.2f}", words)
    return table


def main() -> None:
    numeric = [field.name for field in fields(SearchConfig)]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fields", nargs="*", choices=numeric, default=numeric, metavar="NAME")
    parser.add_argument("--problems", nargs="*", choices=list(PROBLEMS), default=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--seed", type=int, default=0, help="offset of all seeds")
    arguments = parser.parse_args()
    console = Console(width=140)
    problems = [PROBLEMS[name] for name in arguments.problems if any(map(PROBLEMS[name].tries, arguments.fields))]
    rows = {problem.name: problem.draw(arguments.seed) for problem in problems}
    read, default = {}, {}
    for name, table in rows.items():
        read[name] = fields_read(table)  # a run that also loads code
        twice = [fit(table, SearchConfig()) for _ in range(2)]
        default[name] = Run(twice[0].value, float(np.mean([run.seconds for run in twice])))
        console.print(f"{name}: {default[name].seconds:.2f} s by default", style="dim")
    plan = variants(arguments.fields, problems, read)
    expected = [sum(default[name].seconds for name in variant.problems) for variant in plan]
    console.print(f"{len(plan)} changes to try, about {sum(expected) / 60:.1f} minutes at the default's speed")
    runs: dict[Variant, dict[str, Run]] = {}
    begin = time.perf_counter()
    for done, variant in enumerate(plan, start=1):
        config = replace(SearchConfig(), **{variant.field: variant.value})
        runs[variant] = {name: fit(rows[name], config) for name in variant.problems}
        pace = (time.perf_counter() - begin) / sum(expected[:done])
        remaining = f"{done} of {len(plan)} done, about {pace * sum(expected[done:]) / 60:.1f} minutes remain"
        console.print(f"{variant.field} = {shown(variant.value)}: {remaining}", style="dim")
    console.print(report(arguments.fields, default, runs))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
