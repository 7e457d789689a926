"""Real tables: density, CRPS, error and coverage on rows held out, skmoe beside trees, forests and boosting.

    python -m benchmarks.real.compare [--tables NAME ...] [--methods NAME ...] [--splits 10] [--jobs 1]
                                      [--fresh METHOD ...] [--from FOLDER] [--export FOLDER] [--uci FOLDER]
                                      [--merge FILE ...] [--out FILE] [--report]

Nineteen larger tables and three with a rounded output, ten random splits of 90/10 each, and eight small classics by
five folds, twice. Names of tables may be those of the groups: larger, rounded, classics. Methods are in the files
``by_*.py`` beside this one; those not installed are skipped, with the reason. ``make bench-real`` installs them and
the tables apart from the project, and runs this.

Cells (a table, a split, a method) are kept in ``benchmarks/results/real_cells.jsonl`` and not run again; ``--fresh``
runs those again that another version made, which for skmoe is every change of its source. On a machine without the
packages of the tables, ``--from`` reads what ``--export`` wrote; ``--merge`` takes over the cells of other files.

``--uci`` runs skmoe on the nine UCI tables with their usual splits instead: the folder holds ``NAME.npz`` with X, y and
the row numbers ``test_0``, ``test_1``, ... of each split. ``--report`` fills the results file and the page.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before NumPy is imported: one core each, so that times compare

from benchmarks import real  # noqa: E402
from benchmarks.real import cells, held_out_rows, real_page  # noqa: E402
from benchmarks.real import common_tables as tables  # noqa: E402

CELLS = Path(__file__).resolve().parents[1] / "results" / "real_cells.jsonl"
FEW_SPLITS = 3
Records = dict[Any, dict[str, Any]]


def names_of(words: Iterable[str]) -> list[str]:
    """Tables by their own names or by those of their groups."""
    return list(dict.fromkeys(name for word in words for name in held_out_rows.GROUPS.get(word, (word,))))


def plan(names: list[str], methods: list[str], splits: range) -> Iterator[Any]:
    """Cells to be had, table by table and split by split."""
    known = real.all_methods()
    for table in names:
        limit = held_out_rows.UCI_SPLITS.get(table.removeprefix(held_out_rows.UCI_PREFIX), splits.stop)
        is_uci = table.startswith(held_out_rows.UCI_PREFIX)
        for split in range(splits.start, min(splits.stop, limit) if is_uci else splits.stop):
            for method in methods:
                if table in held_out_rows.GROUPS["rounded"] or not known[method].rounded_only:
                    yield cells.Cell(table, split, method)


def is_too_slow(cell: Any, done: Records) -> bool:
    """Whether the first splits have shown that the others of this table would take too long."""
    limit = real.all_methods()[cell.method].slow_after
    earlier = (done.get(cell._replace(split=split), {}) for split in range(FEW_SPLITS))
    return cell.split >= FEW_SPLITS and any(record.get("seconds", 0) > limit for record in earlier)


def run(todo: list[Any], done: Records, jobs: int, folder: str | None, versions: dict[str, str], out: Path) -> None:
    """Run cells in processes of their own, keep each as it is finished, and put it into `done`."""
    begin, left = time.perf_counter(), list(reversed(todo))
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        running = set()
        while left or running:
            while left and len(running) < jobs:
                cell = left.pop()
                if not is_too_slow(cell, done):
                    running.add(pool.submit(cells.run_cell, *cell, folder, versions[cell.method]))
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for record in (future.result() for future in finished):
                done[cells.Cell(**{name: record[name] for name in cells.Cell._fields})] = record
                cells.append(out, record)
                _show(record, len(todo) - len(left) - len(running), len(todo), time.perf_counter() - begin)


def _show(record: dict[str, Any], number: int, total: int, seconds: float) -> None:
    what = f"{record['table']}, split {record['split']}, {record['method']}"
    found = record.get("error") or " ".join(
        f"{name} {record[name]}" for name in ("log_density", "crps", "rmse", "cover", "seconds") if name in record
    )
    print(f"[{number} of {total}, {seconds:.0f} s] {what}: {found}", flush=True)


def arguments_of(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    groups = held_out_rows.GROUPS
    known = [*groups, *(name for group in groups.values() for name in group)]
    known += [held_out_rows.UCI_PREFIX + name for name in held_out_rows.UCI]
    methods = list(real.all_methods())
    parser.add_argument("--tables", nargs="+", choices=known, metavar="NAME", help="tables or groups of tables")
    parser.add_argument("--methods", nargs="+", choices=methods, metavar="NAME", help=", ".join(methods))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--first-split", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time")
    parser.add_argument("--fresh", nargs="+", choices=methods, default=[], metavar="METHOD")
    parser.add_argument("--version", help="the name of skmoe's version, in place of a checksum of its source")
    parser.add_argument("--from", dest="folder", type=Path, help="a folder of NAME.npz, as --export writes")
    parser.add_argument("--export", type=Path, help="write NAME.npz there and run nothing")
    parser.add_argument("--uci", type=Path, help="a folder of the UCI tables with their splits")
    parser.add_argument(
        "--merge", nargs="+", type=Path, default=[], metavar="FILE", help="take over cells, run nothing"
    )
    parser.add_argument("--out", type=Path, help="cells in place of the repository's; the page is left alone")
    parser.add_argument("--report", action="store_true", help="fill the page from the cells there are, run nothing")
    return parser.parse_args(words)


def todo_of(arguments: argparse.Namespace, done: Records, versions: dict[str, str]) -> list[Any]:
    """Cells that are asked for and not there."""
    prefix = held_out_rows.UCI_PREFIX
    if arguments.uci:
        names = [name for name in arguments.tables or [] if name.startswith(prefix)]
        names = names or [prefix + name for name in held_out_rows.UCI]
    else:
        names = names_of(arguments.tables or held_out_rows.GROUPS)
    methods = arguments.methods or list(real.OURS if arguments.uci else real.all_methods())
    splits = range(arguments.first_split, arguments.first_split + arguments.splits)
    wanted = plan(names, [method for method in methods if method in versions], splits)

    def is_there(cell: Any) -> bool:
        record = done.get(cell)
        return record is not None and (cell.method not in arguments.fresh or record["version"] == versions[cell.method])

    return [cell for cell in wanted if not is_there(cell)]


def main(words: list[str] | None = None) -> None:
    arguments = arguments_of(words)
    out = arguments.out or CELLS
    if arguments.export:
        tables.write(names_of(arguments.tables or held_out_rows.GROUPS), arguments.export, arguments.folder)
        return
    if arguments.merge:
        cells.write_cells(out, cells.read_cells([out, *arguments.merge]))
    elif not arguments.report:
        known = real.all_methods()
        skipped = {name: reason for name, method in known.items() if (reason := method.missing()) is not None}
        versions = {name: method.version() for name, method in known.items() if name not in skipped}
        versions |= {name: arguments.version for name in real.OURS if arguments.version and name in versions}
        for name, reason in skipped.items():
            print(f"skipped {name}: {reason}")
        done = cells.read_cells([out])
        folder = arguments.uci or arguments.folder
        todo = todo_of(arguments, done, versions)
        run(todo, done, arguments.jobs, None if folder is None else str(folder), versions, out)
        cells.write_cells(out, cells.read_cells([out]))
    if arguments.out is None:
        real_page.update(cells.read_cells([CELLS]))


if __name__ == "__main__":
    main()
