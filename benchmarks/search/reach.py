"""How often a default fit comes near the best known maximum on real tables and smooth curves, and what it misses.

    python -m benchmarks.search.reach [--tables NAME ...] [--experts 2 3 4 6] [--splits 3] [--seeds 7] [--long 100]
                                      [--n-init N] [--penalty 1e-5|auto] [--python PATH] [--jobs 2] [--out FILE]
                                      [--merge FILE ...] [--quick]

Twelve real tables (``benchmarks/real/common_tables.py`` says where they are) and three curves, which no mixture of few
lines describes; a split is a random 90% of the rows, standardised. Nobody knows the maximum: the best known is the best
admissible fit of this run, of the records merged and of ``benchmarks/results/reach_best.json``, where better ones are
kept. ``--long N`` adds runs with ``n_init=N`` that make it better; they are shown in rows of their own, where a run
that is itself the best known counts as near it. What more starts buy is shown by ``--n-init`` and several seeds.

Shown are the share of fits within 0.5 in total log-likelihood of the best known, the mean shortfall, and processor time
a fit on one thread. Fits with a noise scale on its floor and fits that failed are misses, and have no shortfall.

``--python`` runs the same fits with the version of skmoe that is installed for another interpreter, by its defaults,
each right after ours. ``--out`` appends a line of JSON for each fit; fits found in files to ``--merge`` are not run
again. ``--by objective`` measures all by the log-likelihood less the ridge on the gate, at which the fits aim.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.real import common_tables
from benchmarks.search import best_known, workers

TABLES = (
    *("concrete", "airfoil", "yacht", "autoMPG6", "laser", "wankara"),
    *("wizmir", "insurance", "treasury", "ele_1", "baseball", "fish"),
    *common_tables.CURVES,
)
BEST = Path(__file__).resolve().parents[1] / "results" / "reach_best.json"
SHARE = 0.9  # of the rows that are fitted
FIRST_LONG_SEED = 1000


class Fit(NamedTuple):
    """One fit to be made."""

    table: str
    split: int
    k: int
    seed: int
    code: str
    n_init: int | None
    penalty: float | str

    def settings(self, own: bool) -> dict[str, Any]:
        """Arguments of `MoERegressor`, of which a version takes those it knows; the width of the search is our own."""
        found: dict[str, Any] = {"n_experts": self.k, "noise": "per-expert", "random_state": self.seed}
        found |= {"penalty": self.penalty} if self.penalty == "auto" else {"penalty": self.penalty, "calibration": None}
        if own and self.n_init is not None:
            found["n_init"] = self.n_init
        return found


def split_rows(table: str, split: int, folder: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """A random 90% of the rows of a table, standardised; columns that are constant there are left out."""
    X, y = common_tables.read(table, folder)
    rows = np.random.default_rng(split).permutation(len(y))[: int(SHARE * len(y))]
    X, y = X[rows], y[rows]
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()


def checksum(X: np.ndarray, y: np.ndarray) -> int:
    """Tells whether two runs fitted the same rows, up to the last digits."""
    return zlib.crc32((np.round(np.column_stack([X, y]), 6) + 0.0).astype("<f4").tobytes())


def plan(arguments: argparse.Namespace) -> Iterator[list[Fit]]:
    """Fits to be made, those that are compared beside each other."""
    for table in arguments.tables:
        for split in range(arguments.splits):
            for k in arguments.experts:
                here, penalty = (table, split, k), arguments.penalty
                for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
                    ours = Fit(*here, seed, arguments.label, arguments.n_init, penalty)
                    other = [Fit(*here, seed, arguments.other_label, None, penalty)] if arguments.python else []
                    yield [ours, *other]
                if penalty != "auto":
                    yield from ([fit] for fit in long_runs(*here, penalty, arguments))


def long_runs(table: str, split: int, k: int, penalty: float, arguments: argparse.Namespace) -> Iterator[Fit]:
    """Long runs of one problem."""
    for seed in range(FIRST_LONG_SEED, FIRST_LONG_SEED + bool(arguments.long) * arguments.long_seeds):
        yield Fit(table, split, k, seed, arguments.label, arguments.long, penalty)


def chosen_problems(records: Iterable[dict[str, Any]], arguments: argparse.Namespace) -> Iterator[list[Fit]]:
    """Long runs with the penalties that default fits chose."""
    default = [record for record in records if record["penalty"] == "auto" and "chosen" in record]
    chosen = {(r["table"], r["split"], r["k"], r["chosen"]) for r in default}
    for problem in sorted(chosen):
        yield from ([fit] for fit in long_runs(*problem, arguments))


def merged(paths: list[Path]) -> dict[Fit, dict[str, Any]]:
    """Records of earlier runs by their fit, the last one of each."""
    lines = [json.loads(line) for path in paths if path.is_file() for line in path.read_text().splitlines()]
    return {Fit(**{name: line[name] for name in Fit._fields}): line for line in lines}


def run(arguments: argparse.Namespace, console: Console) -> list[dict[str, Any]]:
    """Make the fits that are not among those merged, and return the records of all."""
    records = merged(arguments.merge)
    if not arguments.only_report:
        make_fits(plan(arguments), records, arguments, console)
        make_fits(chosen_problems(list(records.values()), arguments), records, arguments, console)
    return list(records.values())


def make_fits(
    groups: Iterable[list[Fit]], records: dict[Fit, dict[str, Any]], arguments: argparse.Namespace, console: Console
) -> None:
    """Make those of the fits that have no record yet, and add their records."""
    todo = [group for group in ([fit for fit in group if fit not in records] for group in groups) if group]
    lock, begin, done = threading.Lock(), time.perf_counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        places: dict[tuple[str, int], tuple[Path, int]] = {}
        for table, split in dict.fromkeys((fit.table, fit.split) for group in todo for fit in group):
            X, y = split_rows(table, split, arguments.folder)
            places[table, split] = Path(folder) / f"{table}-{split}.npz", checksum(X, y)
            np.savez(places[table, split][0], X=X, y=y)

        def make(group: list[Fit], available: dict[str, Any]) -> None:
            nonlocal done
            for fit in group:
                place, rows = places[fit.table, fit.split]
                settings = fit.settings(own=fit.code == arguments.label)
                record = {**fit._asdict(), "rows": rows, **available[fit.code].ask(place, settings, arguments.limit)}
                with lock:
                    records[fit] = record
                    if arguments.out is not None:
                        with arguments.out.open("a") as file:
                            file.write(json.dumps(record) + "\n")
                    if "error" in record:
                        console.print(f"{best_known.cell(record)}, seed {fit.seed}, {fit.code}: {record['error']}")
            with lock:
                done += 1
                if done % 10 == 0 or done == len(todo):
                    minutes = (time.perf_counter() - begin) / done * (len(todo) - done) / 60
                    console.print(f"{done} of {len(todo)} done, about {minutes:.1f} minutes remain", style="dim")

        pythons = {arguments.label: sys.executable}
        pythons |= {arguments.other_label: arguments.python} if arguments.python else {}
        workers.side_by_side(todo, make, pythons, min(arguments.jobs, max(len(todo), 1)))


# -- tables -----------------------------------------------------------------------------------------------------------

HEADS = ("fits", "within 0.5", "mean shortfall", "worst", "on the floor", "failed", "seconds a fit")
RATIOS = ("shortfall / other", "seconds / other")


def cells_of(found: Any) -> list[str]:
    numbers = (f"{found.share:.2f}", f"{found.shortfall:.2f}", f"{found.worst:.1f}")
    return [str(found.fits), *numbers, str(found.at_floor), str(found.failed), f"{found.seconds:.2f}"]


def variant(record: dict[str, Any]) -> str:
    auto, width = record["penalty"] == "auto", "" if record["n_init"] is None else f", n_init={record['n_init']}"
    chosen = not auto and record["penalty"] > best_known.LIKELIHOOD
    default = ", default fit" if auto else ""
    return record["code"] + default + width + (", penalty chosen by default fits" if chosen else "")


def grouped(records: list[dict[str, Any]], *keys: Any) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for record in records:
        found[tuple(key(record) for key in keys)].append(record)
    return found


def ratios(found: Any, other: Any) -> list[str]:
    """Shortfall and seconds over those of the other version; empty where there is nothing to divide by."""
    pairs = [] if other is None else [(found.shortfall, other.shortfall), (found.seconds, other.seconds)]
    return [f"{mine / its:.2f}" if its > 0 else "" for mine, its in pairs]


def report(records: list[dict[str, Any]], best: dict[str, Any], other: str) -> list[Table]:
    """One table for each number of experts, and one over all; `other` is what the rest is compared with."""
    tables = []
    overall = Table(title="All tables and curves, beside the best known")
    for column in ("experts", "code", *HEADS, *RATIOS):
        overall.add_column(column, justify="left" if column == "code" else "right")
    for k in (*sorted({record["k"] for record in records}), "all"):
        mine = [record for record in records if k in (record["k"], "all")]
        if k != "all":
            tables.append(Table(title=f"{k} experts, beside the best known"))
            for column in ("table", "code", *HEADS):
                tables[-1].add_column(column, justify="left" if column in ("table", "code") else "right")
            names = list(dict.fromkeys(record["table"] for record in mine))
            by_table = grouped(mine, lambda r: r["table"], variant)
            for name in names:
                for (table, code), group in by_table.items():
                    if table == name:
                        tables[-1].add_row(name, code, *cells_of(best_known.summarise(group, best)))
        found = {code: best_known.summarise(group, best) for (code,), group in grouped(mine, variant).items()}
        for code, summary in found.items():
            overall.add_row(str(k), code, *cells_of(summary), *ratios(summary, found.get(other)))
    return [*tables, overall]


def summary(records: list[dict[str, Any]], best: dict[str, Any]) -> list[dict[str, Any]]:
    """The figures of each number of experts and version, as records."""
    groups = grouped(records, lambda record: record["k"], variant)
    found = {key: best_known.summarise(group, best)._asdict() for key, group in sorted(groups.items())}
    rounded = {key: {name: round(value, 4) for name, value in figures.items()} for key, figures in found.items()}
    return [{"experts": k, "code": code, **figures} for (k, code), figures in rounded.items()]


def arguments_of(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", default=list(TABLES), metavar="NAME", help=", ".join(TABLES))
    parser.add_argument("--folder", type=Path, help="where the tables are: raw files or NAME.npz")
    parser.add_argument("--experts", type=int, nargs="*", default=[2, 3, 4, 6])
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--seeds", type=int, default=7)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--long", type=int, default=0, help="n_init of long runs; 0: none")
    parser.add_argument("--long-seeds", type=int, default=1, help="long runs a table, split and number of experts")
    parser.add_argument("--n-init", type=int, help="of our fits, in place of the default")
    parser.add_argument(
        "--penalty",
        type=lambda word: word if word == "auto" else float(word),
        default=1e-5,
        help='of our fits; "auto": fits as by default, each beside the best known with the penalty it chose',
    )
    parser.add_argument("--by", choices=("likelihood", "objective"), default="likelihood", help="what is compared")
    parser.add_argument("--python", help="an interpreter with another version of skmoe, to be measured as well")
    parser.add_argument("--label", default="current", help="name of our fits in records and tables")
    parser.add_argument("--other-label", default="other", help="name of the other version's fits")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time, each on one thread")
    parser.add_argument("--limit", type=float, default=600, help="most seconds of processor time a fit")
    parser.add_argument("--out", type=Path, help="append records to this file, one line of JSON each")
    parser.add_argument("--merge", type=Path, nargs="*", default=[], help="records of earlier runs")
    parser.add_argument("--only-report", action="store_true", help="show what was merged, fit nothing")
    parser.add_argument("--best", type=Path, default=BEST, help="file of best known values, kept up to date")
    parser.add_argument("--summary", type=Path, help="JSON file for the figures of each number of experts")
    parser.add_argument("--quick", action="store_true", help="two seeds of one curve, two experts; nothing is kept")
    arguments = parser.parse_args(words)
    if arguments.quick:
        arguments.tables, arguments.experts, arguments.splits, arguments.seeds = ["sine"], [2], 1, 2
    if arguments.python and (arguments.penalty == "auto" or arguments.penalty > best_known.LIKELIHOOD):
        parser.error("--python compares fits by maximum likelihood: leave --penalty at its default")
    if arguments.label == arguments.other_label:
        parser.error("--label and --other-label must differ")
    return arguments


def main(words: list[str] | None = None) -> None:
    arguments = arguments_of(words)
    console = Console(width=170)
    records = run(arguments, console)
    if not arguments.quick:
        for by in ("likelihood", "objective"):
            best_known.save(arguments.best, [{**record, "by": by} for record in records])
    records = [{**record, "by": arguments.by} for record in records]
    best = best_known.best_of(records, {} if arguments.quick else best_known.stored(arguments.best))
    for table in report(records, best, arguments.other_label):
        console.print(table)
    if arguments.summary:
        arguments.summary.write_text(json.dumps(summary(records, best), indent=1) + "\n")


if __name__ == "__main__":
    main()
