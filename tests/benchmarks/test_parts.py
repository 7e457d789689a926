"""The benchmark of the search's parts changes every number of the search, and the page has what it found."""

import json
import re
from pathlib import Path

import pytest

from benchmarks.search import parts
from skmoe.search import SearchConfig

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("value", "factor", "expected"),
    [(8, 0.5, 4), (3, 0.5, 2), (1, 0.5, 1), (0.9, 2, 0.99), (0.35, 2, 0.7), (3.0, 2, 6.0), ((3, 60), 0.5, (2, 30))],
)
def test_scaled_keeps_whole_numbers_whole_and_parts_below_one(value, factor, expected):
    found = parts.scaled(value, factor)
    assert found == pytest.approx(expected)
    assert type(found) is type(value)


def test_there_are_45_numbers_and_each_can_be_changed_alone():
    numbers = SearchConfig().numbers()
    assert len(numbers) <= 45
    for name, value in numbers.items():
        changed = parts.changed({name: parts.scaled(value, 3)}).numbers()
        assert {other for other in numbers if changed[other] != numbers[other]} == {name}


def test_every_part_names_numbers_of_the_search():
    assert {name for changes in parts.PARTS.values() for name in changes} <= set(SearchConfig().numbers())


def test_page_has_the_recorded_shares_and_shortfalls():
    recorded = json.loads((ROOT / "benchmarks" / "results" / "parts.json").read_text())
    page = (ROOT / "docs" / "regressor.md").read_text()
    rows = re.findall(r"^\| (\d) \| (0\.3|0) \| ([\d.]+), ([\d.]+) \| ([\d.]+), ([\d.]+) \|$", page, re.MULTILINE)
    assert len(rows) == 10
    for k, penalty, *figures in rows:
        found = recorded[f"{penalty}, {k}"]
        shown = [
            f"{found[which][0]:.2f}" if i == 0 else f"{found[which][1]:.1f}"
            for which in ("before", "now")
            for i in (0, 1)
        ]
        assert figures == shown
