"""Means over splits of the finished cells, differences on the same rows, and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from . import COVERAGES, OURS
from .cells import Cell
from .held_out_rows import GROUPS, UCI, UCI_PREFIX
from .published import LOG_LOSS, PRETRAINED, SOURCES, SPIKED

__all__ = ["RANKED", "READABLE", "Mean", "Table", "average_ranks", "tables_of", "uci_losses", "uci_ranks"]

BOOSTING = ("NGBoost", "CatBoost", "LightGBM quantiles", "HistGradientBoosting")
RANKED = (OURS[1], *BOOSTING, "quantile forest", "EBM", "linear model tree")
READABLE = (OURS[0], "EBM", "linear model tree", "least squares")
LEVELS = [f"cover {coverage:g}" for coverage in COVERAGES]


class Mean(NamedTuple):
    """A mean over the rows held out, its standard error over splits, and their number."""

    value: float
    se: float
    splits: int


def mean(values: Sequence[float], rows: Sequence[int]) -> Mean:
    """Weighted by the rows of each split, which differ only between folds."""
    found, size = np.asarray(values, dtype=float), np.asarray(rows, dtype=float)
    se = float(np.std(found, ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("nan")
    return Mean(float(np.sum(found * size) / size.sum()), se, len(found))


class Table:
    """Finished cells of one table.

    Parameters
    ----------
    records : list of dict
        As kept by `cells`; those with an error are counted and otherwise left out.
    """

    def __init__(self, records: list[dict[str, Any]]) -> None:
        self.methods: dict[str, dict[int, dict[str, Any]]] = {}
        self.failed: dict[str, int] = {}
        for record in records:
            if "error" in record:
                self.failed[record["method"]] = self.failed.get(record["method"], 0) + 1
            else:
                self.methods.setdefault(record["method"], {})[record["split"]] = record

    def values(self, method: str, field: str) -> dict[int, float]:
        """A figure of a method by split: a name of the record, or ``cover`` with its level."""
        done = self.methods.get(method, {}).values()
        if field in LEVELS:
            return {r["split"]: r["cover"][LEVELS.index(field)] for r in done if "cover" in r}
        return {r["split"]: r[field] for r in done if field in r}

    def mean(self, method: str, field: str) -> Mean | None:
        """Mean of a figure over the splits there are; None where there are none."""
        found = self.values(method, field)
        if not found:
            return None
        return mean(list(found.values()), [self.methods[method][split]["rows"] for split in found])

    def difference(self, method: str, other: str, field: str = "log_density") -> Mean | None:
        """Mean of a figure less that of another method, over the splits that both have."""
        ours, theirs = self.values(method, field), self.values(other, field)
        both = sorted(ours.keys() & theirs.keys())
        if not both:
            return None
        return mean([ours[s] - theirs[s] for s in both], [self.methods[method][s]["rows"] for s in both])

    def ratio(self, method: str, other: str, field: str = "rmse") -> float | None:
        """Mean of a figure over that of another method, on the splits that both have."""
        gap = self.difference(method, other, field)
        if gap is None:
            return None
        ours, theirs = self.values(method, field), self.values(other, field)
        both = sorted(ours.keys() & theirs.keys())
        return 1 + gap.value / mean([theirs[s] for s in both], [self.methods[method][s]["rows"] for s in both]).value

    def ranks(self, methods: Sequence[str] = RANKED, field: str = "log_density") -> dict[str, float] | None:
        """One and the number of methods that are better on the same splits; a tie counts half."""
        found, higher = {}, -1.0 if field == "crps" else 1.0
        for method in methods:
            gaps = [self.difference(other, method, field) for other in methods if other != method]
            if any(gap is None for gap in gaps):
                return None
            found[method] = 1 + sum(0.5 + 0.5 * float(np.sign(higher * gap.value)) for gap in gaps if gap is not None)
        return found

    def summary(self) -> dict[str, Any]:
        """Aggregates of every method, for the results file."""
        found: dict[str, Any] = {}
        for method, done in self.methods.items():
            fields = [name for name in ("log_density", "crps", "rmse", *LEVELS) if self.values(method, name)]
            figures = {name: _rounded(self.mean(method, name)) for name in fields}
            found[method] = {"splits": len(done), **figures}
            seconds = list(self.values(method, "seconds").values())
            if seconds:
                found[method]["seconds"] = float(f"{np.median(seconds):.3g}")
            sizes = [r["notes"]["n_experts"] for r in done.values() if "n_experts" in r.get("notes", {})]
            if sizes:
                found[method]["n_experts"] = sizes
        for method, times in self.failed.items():
            found.setdefault(method, {"splits": 0})["failed"] = times
        return found


def _rounded(found: Mean | None) -> list[float | None] | None:
    if found is None:
        return None
    return [float(f"{found.value:.5g}"), None if np.isnan(found.se) else float(f"{found.se:.3g}"), found.splits]


def tables_of(records: dict[Cell, dict[str, Any]]) -> dict[str, Table]:
    """Tables in the order of the page; those of UCI are last."""
    names = [name for group in GROUPS.values() for name in group] + [UCI_PREFIX + name for name in UCI]
    found = {name: [record for cell, record in sorted(records.items()) if cell.table == name] for name in names}
    return {name: Table(these) for name, these in found.items() if these}


def average_ranks(
    tables: dict[str, Table], names: Sequence[str], methods: Sequence[str] = RANKED, field: str = "log_density"
) -> dict[str, float]:
    """Mean rank over the tables that every method has been run on; empty where there is none."""
    found = [ranks for name in names if name in tables and (ranks := tables[name].ranks(methods, field)) is not None]
    return {method: float(np.mean([ranks[method] for ranks in found])) for method in methods} if found else {}


def uci_losses(tables: dict[str, Table]) -> dict[str, dict[str, float]]:
    """Mean negative log density of published methods and of ours, by UCI table, where there are figures."""
    found: dict[str, dict[str, float]] = {}
    for name, published in LOG_LOSS.items():
        table = tables.get(UCI_PREFIX + name)
        ours = {method: table.mean(method, "log_density") for method in OURS} if table else {}
        found[name] = {source: value for source, value in zip(SOURCES, published, strict=True) if value is not None}
        found[name] |= {method: -value.value for method, value in ours.items() if value is not None}
    return found


def uci_ranks(losses: dict[str, dict[str, float]], method: str, *, pretrained: bool = True) -> dict[str, float]:
    """Mean rank of `method` and the published ones, each to the two digits that are published; ties share a rank.

    Over the tables that all have figures for, without the one whose outputs are rounded.
    """
    names = [name for name in (*SOURCES, method) if pretrained or name != PRETRAINED]
    ranks = []
    for table, row in losses.items():
        if table == SPIKED or not row.keys() >= set(names):
            continue
        shown = {name: round(row[name], 2) for name in names}
        ranks.append(
            {
                name: 1 + sum(other < value for other in shown.values()) + (list(shown.values()).count(value) - 1) / 2
                for name, value in shown.items()
            }
        )
    return {name: float(np.mean([row[name] for row in ranks])) for name in names} if ranks else {}
