"""skmoe beside its peers on the same rows: density and error on new rows, error of the experts, time and memory.

    python -m benchmarks.peers.run [--seeds 5] [--jobs 1] [--limit 300] [--problem NAME ...] [--method NAME ...]
                                   [--fresh] [--out FILE] [--report]

One file ``with_*.py`` for each peer is beside this one; those not installed are skipped, with the reason. Each fit has
a process of its own. Results are kept in ``benchmarks/results/peers.json``, and fits that are there are not run again
(``--fresh`` begins anew); the tables of ``docs/peers.md`` are filled from it, which ``--report`` does alone.
``make bench-peers`` installs the peers beside the project, not into it, and runs this.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import os
import platform
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # before NumPy is imported: one core each, so that times compare

from benchmarks import peers  # noqa: E402
from benchmarks.peers import measure as measuring  # noqa: E402
from benchmarks.peers import peers_page as page  # noqa: E402
from benchmarks.peers.problems import PROBLEMS  # noqa: E402

RESULTS = Path(__file__).parents[1] / "results" / "peers.json"
PAGE = Path(__file__).parents[2] / "docs" / "peers.md"
TRUTH = "the truth"
Key = tuple[str, int, str]


def plan(problems: list[str], seeds: list[int], wanted: list[str] | None, skipped: dict[str, str]) -> list[Key]:
    """Fits to run, in the order of the page."""
    fits = []
    for problem in problems:
        is_table = not problem.startswith("n=")
        for seed in seeds:
            fits += [] if is_table else [(problem, seed, TRUTH)]
            for name, (peer, method) in peers.all_methods().items():
                asked = name in wanted if wanted else not method.slow
                if asked and peer.name not in skipped and (is_table or not method.tables_only):
                    fits.append((problem, seed, name))
    return fits


def run(key: Key, limit: float) -> dict[str, Any]:
    problem, seed, method = key
    if method == TRUTH:
        found = measuring.truth_record(problem, seed)
    else:
        found = measuring.measure(method, problem, seed, limit)
    record = {"problem": problem, "seed": seed, "method": method, **(found or {})}
    print(json.dumps(record), flush=True)
    return record


def describe(skipped: dict[str, str], limit: float) -> dict[str, Any]:
    """Record what was run, with which versions."""
    versions = {"Python": platform.python_version()}
    versions |= {name: importlib.metadata.version(name) for name in ("numpy", "scipy")}
    versions |= {peer.name: peer.version() for peer in peers.all_peers() if peer.name not in skipped}
    return {
        "limit": limit,
        "versions": versions,
        "skipped": skipped,
        "methods": {name: method.how for name, (_, method) in peers.all_methods().items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="draws of a simulated problem, splits of a table, from 0")
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time; CPU seconds bear more than one better")
    parser.add_argument("--limit", type=float, default=300, help="seconds after which a fit counts as failed")
    parser.add_argument("--problem", nargs="*", choices=list(PROBLEMS), default=list(PROBLEMS))
    methods = list(peers.all_methods())
    parser.add_argument("--method", nargs="*", choices=methods, help="by default all but the slow ones")
    parser.add_argument("--fresh", action="store_true", help="forget what was run before")
    parser.add_argument("--out", type=Path, help="results file in place of the repository's; the page is left alone")
    parser.add_argument("--report", action="store_true", help="fill the page from the results there are, run nothing")
    arguments = parser.parse_args()
    if arguments.report:
        page.update(json.loads(RESULTS.read_text()), PAGE)
        return
    skipped = {peer.name: reason for peer in peers.all_peers() if (reason := peer.missing()) is not None}
    for name, reason in skipped.items():
        print(f"skipped {name}: {reason}")
    file = arguments.out or RESULTS
    kept = {} if arguments.fresh or not file.is_file() else json.loads(file.read_text())
    done = {(r["problem"], r["seed"], r["method"]): r for r in kept.get("records", [])}
    seeds = list(range(arguments.seeds))
    fits = [key for key in plan(arguments.problem, seeds, arguments.method, skipped) if key not in done]
    fits.sort(key=lambda key: key[1])  # seed by seed, so that a run that is broken off has something of every problem
    results = describe(skipped, arguments.limit)
    command = shlex.join(["python", "-m", "benchmarks.peers.run", *sys.argv[1:]])
    results["commands"] = kept.get("commands", []) + ([command] if fits else [])
    problems, methods = list(PROBLEMS), [TRUTH, *methods]

    def save() -> None:
        page_order = sorted(done, key=lambda key: (problems.index(key[0]), key[1], methods.index(key[2])))
        results["records"] = [done[key] for key in page_order]
        results["seeds"] = sorted({seed for _, seed, _ in done})
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(results, indent=1) + "\n")

    with ThreadPoolExecutor(arguments.jobs) as pool:
        for key, record in zip(fits, pool.map(lambda key: run(key, arguments.limit), fits), strict=True):
            done[key] = record
            save()
    save()
    if arguments.out is None:
        page.update(results, PAGE)


if __name__ == "__main__":
    main()
