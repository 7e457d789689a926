"""The results file ``benchmarks/results/real.json``, and the tables of docs/real_tables.md that are filled from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from ..shared.pages import fill, markdown
from . import EARLIER, OURS, all_methods
from .aggregates import BOOSTING, RANKED, READABLE, Table, average_ranks, tables_of, uci_losses, uci_ranks
from .cells import Cell
from .checks import checks
from .held_out_rows import GROUPS, UCI, UCI_PREFIX
from .published import LOG_LOSS, RMSE, SOURCES

__all__ = ["PAGE", "RESULTS", "blocks", "results_of", "update"]

ROOT = Path(__file__).resolve().parents[2]
RESULTS, PAGE = ROOT / "benchmarks/results/real.json", ROOT / "docs/real_tables.md"
DENSITIES = (*READABLE[:0:-1], *BOOSTING, "quantile forest", EARLIER, *OURS)
ERRORS = (*DENSITIES[:-4], "random forest", *DENSITIES[-4:])
RIVALS = tuple(name for name in ERRORS if name not in (EARLIER, *OURS))
MET = {True: "met", False: "**missed**", None: "open"}


# -- results ----------------------------------------------------------------------------------------------------------


def results_of(records: dict[Cell, dict[str, Any]]) -> dict[str, Any]:
    """Aggregates of finished cells."""
    tables = tables_of(records)
    versions: dict[str, list[str]] = {}
    for cell, record in sorted(records.items()):
        known = versions.setdefault(cell.method, [])
        known += [] if record["version"] in known else [record["version"]]
    sizes = {name: max(r["fitted"] + r["rows"] for c, r in records.items() if c.table == name) for name in tables}
    continuous = [*GROUPS["larger"], *GROUPS["classics"]]
    losses = uci_losses(tables)
    return {
        "rows": sizes,
        "tables": {name: table.summary() for name, table in tables.items()},
        "average ranks": {
            f"{field}, {group}": average_ranks(tables, continuous, methods, field)
            for field in ("log_density", "crps")
            for group, methods in (("all", RANKED), ("readable", READABLE))
        },
        "beside": {name: beside({t: tables[t] for t in continuous if t in tables}, name) for name in RIVALS},
        "uci ranks": [uci_ranks(losses, method, pretrained=some) for some in (False, True) for method in OURS],
        "checks": [check._asdict() for check in checks(tables)],
        "methods": {name: method.how for name, method in all_methods().items()},
        "versions": versions,
    }


def beside(tables: dict[str, Table], rival: str) -> dict[str, Any]:
    """Return on how many tables each of ours is ahead of a rival, and the ratios of errors, on the splits of both."""
    found: dict[str, Any] = {}
    for method in OURS:
        figures: dict[str, Any] = {}
        for field, sign in (("log_density", 1), ("crps", -1)):
            found_gaps = (table.difference(method, rival, field) for table in tables.values())
            gaps = [gap.value for gap in found_gaps if gap is not None]
            if gaps:
                figures[field] = [sum(sign * gap >= 0 for gap in gaps), len(gaps)]
        ratios = {name: ratio for name, table in tables.items() if (ratio := table.ratio(method, rival)) is not None}
        if ratios:
            ends = (min(ratios, key=lambda name: ratios[name]), max(ratios, key=lambda name: ratios[name]))
            figures["rmse"] = [float(f"{np.median(list(ratios.values())):.4g}")]
            figures["rmse"] += [value for name in ends for value in (float(f"{ratios[name]:.4g}"), name)]
        found[method] = figures
    return found


# -- page -------------------------------------------------------------------------------------------------------------


def _cell(found: dict[str, Any] | None, field: str, digits: int) -> str:
    if found is None or field not in found:
        return "failed" if found and found.get("failed") else ""
    value, se, splits = found[field]
    some = f" ({splits})" if splits < 10 else ""
    return f"{value:.{digits}f}" + ("" if se is None else f" ± {se:.{digits}f}") + some


def _digits(found: dict[str, Any], field: str) -> int:
    """Decimals for the errors of a table: three figures of the smallest."""
    least = min((method[field][0] for method in found.values() if field in method), default=1.0)
    return next((digits for digits, bound in enumerate((100, 10, 1, 0.1)) if least >= bound), 4)


def _names(results: dict[str, Any], *groups: str) -> list[str]:
    return [name for group in groups for name in GROUPS[group] if name in results["tables"]]


def _head(results: dict[str, Any], name: str) -> str:
    return f"{name}, {results['rows'][name]}"


def density_table(results: dict[str, Any], *groups: str, methods: tuple[str, ...] = DENSITIES) -> str:
    rows = []
    for name in _names(results, *groups):
        found = results["tables"][name]
        rows.append([_head(results, name), *(_cell(found.get(method), "log_density", 2) for method in methods)])
    return markdown(["table, rows", *methods], rows)


def error_table(results: dict[str, Any], field: str, methods: tuple[str, ...]) -> str:
    """Return a table of figures in the units of the output."""
    rows = []
    for name in _names(results, "larger", "classics", "rounded"):
        found = results["tables"][name]
        digits = _digits(found, field)
        rows.append([_head(results, name), *(_cell(found.get(method), field, digits) for method in methods)])
    return markdown(["table, rows", *methods], rows)


def rank_table(results: dict[str, Any]) -> str:
    rows = []
    for field, name in (("log_density", "log density"), ("crps", "CRPS")):
        for group, which in (("all", "all"), ("readable", "one model that can be read")):
            ranks = results["average ranks"][f"{field}, {group}"]
            shown = [f"{method} {rank:.2f}" for method, rank in sorted(ranks.items(), key=lambda item: item[1])]
            rows.append([name, which, ", ".join(shown) or "not run"])
    return markdown(["", "methods", "average rank, best first"], rows)


def beside_table(results: dict[str, Any]) -> str:
    """Who is ahead where: numbers of tables, and ratios of errors, of both of ours beside each rival."""
    columns = [(method, field) for field in ("log_density", "crps", "rmse") for method in OURS]
    words = {"log_density": "log density", "crps": "CRPS", "rmse": "RMSE ratio"}
    rows = []
    for rival, found in results["beside"].items():
        cells = []
        for method, field in columns:
            value = found[method].get(field)
            if value is None:
                cells.append("")
            elif field == "rmse":
                cells.append("{:.2f} ({:.2f} {} to {:.2f} {})".format(*value))
            else:
                cells.append("{} of {}".format(*value))
        rows.append([rival, *cells])
    return markdown(["beside", *(f"{words[field]}, {method}" for method, field in columns)], rows)


def coverage_table(results: dict[str, Any]) -> str:
    """Coverage of 90% intervals of all, and of 50% and 95% intervals of skmoe."""
    columns = [(method, "cover 0.9") for method in DENSITIES]
    columns += [(method, level) for method in OURS for level in ("cover 0.5", "cover 0.95")]
    heads = [f"{method}, {float(level.split()[1]):.0%}" for method, level in columns]
    rows = []
    for name in _names(results, "larger", "classics", "rounded"):
        found = results["tables"][name]
        cells = [found.get(method, {}).get(level) for method, level in columns]
        rows.append([name, *("" if cell is None else f"{cell[0]:.2f}" for cell in cells)])
    return markdown(["table", *heads], rows)


def seconds_table(results: dict[str, Any]) -> str:
    rows = []
    for name in _names(results, "larger", "classics", "rounded"):
        found = results["tables"][name]
        sizes = found.get(OURS[0], {}).get("n_experts", [])
        cells = ["" if method not in found else f"{found[method].get('seconds', 0):.2g}" for method in ERRORS]
        rows.append([name, *cells, ", ".join(map(str, sizes))])
    return markdown(["table", *ERRORS, "experts"], rows)


def uci_table(results: dict[str, Any], field: str, published: dict[str, tuple[float | None, ...]], sign: int) -> str:
    rows = []
    for name in UCI:
        if name not in published:
            continue
        found = results["tables"].get(UCI_PREFIX + name, {})
        ours = [found.get(method, {}).get(field) for method in OURS]
        shown = [
            "" if cell is None else f"{sign * cell[0]:.2f}" + (f" ± {cell[1]:.2f}" if cell[1] else "") for cell in ours
        ]
        rows.append([name, *("" if value is None else f"{value:.2f}" for value in published[name]), *shown])
    return markdown(["table", *SOURCES, *OURS], rows)


def blocks(results: dict[str, Any]) -> dict[str, str]:
    """Text of each block of the page by name."""
    shown = [[c["item"], c["asked"], c["found"], MET[c["met"]]] for c in results["checks"]]
    ranks = [
        f"Average rank in log loss: {', '.join(f'{name} {rank:.2f}' for name, rank in found.items())}."
        for found in results["uci ranks"]
        if found
    ]
    versions = "; ".join(f"{name}: {', '.join(found)}" for name, found in results["versions"].items())
    return {
        "checks": markdown(["", "asked", "found", ""], shown),
        "density": density_table(results, "larger", "classics"),
        "ranks": rank_table(results),
        "beside": beside_table(results),
        "crps": error_table(results, "crps", DENSITIES),
        "error": error_table(results, "rmse", ERRORS),
        "coverage": coverage_table(results),
        "rounded": density_table(results, "rounded", methods=(*DENSITIES, "knows the grid")),
        "seconds": seconds_table(results),
        "uci density": "\n\n".join([uci_table(results, "log_density", LOG_LOSS, -1), *ranks]),
        "uci error": uci_table(results, "rmse", RMSE, 1),
        "sources": "\n".join(f"- {name}: {source}." for name, source in SOURCES.items()),
        "methods": markdown(["method", "how it was used"], [[name, how] for name, how in results["methods"].items()]),
        "versions": f"Versions: {versions}.",
    }


def update(records: dict[Cell, dict[str, Any]], results: Path = RESULTS, page: Path = PAGE) -> None:
    """Write the aggregates of finished cells, and put what they say between the page's markers."""
    found = results_of(records)
    results.write_text(json.dumps(found, indent=1) + "\n")
    fill(page, blocks(json.loads(results.read_text())))
    for check in found["checks"]:
        print(f"{MET[check['met']].strip('*'):7}{check['item']}. {check['asked']}: {check['found']}")
