"""The best known maxima of the likelihood of real tables, and how far fits fall short of them.

A record is what one fit gave: ``table``, ``split``, ``k``, ``seed``, ``code`` (which version of skmoe), ``n_init``
(None for the default), ``penalty``, ``rows`` (a checksum of the rows fitted) and what a worker answered. Values are
totals over rows that were standardised beforehand: the log-likelihood up to a penalty of 1e-5, which is there to keep
gates finite, and the penalised objective above, or where a record has ``by`` equal to "objective". Even a ridge of 1e-5
can take a few units from gates with coefficients in the hundreds: of two fits the better one by objective, at which
both aim, may be the worse one by log-likelihood.

Only admissible fits count: with a noise scale on its floor the likelihood has no maximum, and a fit says where the
floor is. Such fits, and those that failed, are misses where an admissible fit is known; they have no shortfall.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

__all__ = ["NEAR", "Summary", "best_of", "cell", "save", "stored", "summarise", "value_of"]

NEAR = 0.5  # in total log-likelihood
LIKELIHOOD = 1e-5  # the largest penalty that counts as none

Record = dict[str, Any]
Best = dict[str, dict[str, Any]]


def penalty_of(record: Record) -> float:
    """The penalty of a fit, whether it was asked for or chosen."""
    return float(record.get("chosen", "nan") if record["penalty"] == "auto" else record["penalty"])


def by_objective(record: Record) -> bool:
    """Whether a fit is measured by its penalised objective."""
    return bool(record["penalty"] == "auto" or record["penalty"] > LIKELIHOOD or record.get("by") == "objective")


def cell(record: Record) -> str:
    """Name of the problem that a record is about: all fits of it aim at the same maximum."""
    aim = f", penalty {penalty_of(record):g}" if by_objective(record) else ""
    return f"{record['table']}, split {record['split']}, k={record['k']}{aim}"


def value_of(record: Record) -> float | None:
    """What a fit reached; None for a fit that failed or is not admissible."""
    if "error" in record or record["at_floor"]:
        return None
    return float(record["objective" if by_objective(record) else "log_likelihood"])


def best_of(records: Iterable[Record], known: Best | None = None) -> Best:
    """The best of records and of what is known, by cell; what is known of other rows than the records' is dropped."""
    best = dict(known or {})
    fitted: dict[str, int] = {}
    for record in records:
        value, name = value_of(record), cell(record)
        if fitted.setdefault(name, record["rows"]) != record["rows"]:
            raise ValueError(f"records of {name} are about different rows: they cannot be compared")
        if value is None:
            continue
        before = best.get(name)
        if before is None or before["rows"] != record["rows"] or value > before["value"]:
            by = {key: record[key] for key in ("code", "n_init", "seed")}
            best[name] = {"value": value, "rows": record["rows"], **by}
    return best


def stored(path: Path) -> Best:
    """What a file holds; nothing where there is none."""
    return json.loads(path.read_text()) if path.is_file() else {}


def save(path: Path, records: Iterable[Record]) -> Best:
    """Add the best of records to a file and return all it then holds; a value that is not better stays out.

    The file is read again here, for another run may have written to it meanwhile.
    """
    before = stored(path)
    best = best_of(records, before)
    if best != before:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(f".{os.getpid()}")
        fresh.write_text(json.dumps(dict(sorted(best.items())), indent=1) + "\n")
        fresh.replace(path)
    return best


class Summary(NamedTuple):
    """Fits of one kind: how many, the share near the best known, by how much admissible fits fall short, their cost."""

    fits: int
    share: float
    shortfall: float
    worst: float
    at_floor: int
    failed: int
    seconds: float


def summarise(records: list[Record], best: Best) -> Summary:
    """Compare fits with the best known; cells in which no admissible fit is known count only as on the floor."""
    gaps = np.array([best[cell(r)]["value"] - value for r in records if (value := value_of(r)) is not None])
    compared = sum(cell(r) in best for r in records)
    seconds = [r["seconds"] for r in records if "seconds" in r]
    return Summary(
        fits=len(records),
        share=float(np.sum(gaps <= NEAR)) / compared if compared else np.nan,
        shortfall=float(np.mean(gaps)) if len(gaps) else np.nan,
        worst=float(np.max(gaps)) if len(gaps) else np.nan,
        at_floor=sum(r.get("at_floor", False) for r in records),
        failed=sum("error" in r for r in records),
        seconds=float(np.mean(seconds)) if seconds else np.nan,
    )
