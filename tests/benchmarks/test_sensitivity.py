"""The sensitivity benchmark changes every field of the search's configuration, and only that."""

from dataclasses import fields

import numpy as np
import pytest

from skmoe import make_moe
from skmoe.cli import checkout
from skmoe.search import SearchConfig

if checkout.root() is None:
    pytest.skip("not in a checkout of the repository", allow_module_level=True)

sensitivity = checkout.load("benchmarks.search.sensitivity")
NAMES = [field.name for field in fields(SearchConfig)]


def small():
    X, y, _ = make_moe(400, 2, 2, random_state=0)
    return sensitivity.Rows(X, y, 0, {"n_experts": 2, "noise": "shared"})


@pytest.mark.parametrize(
    ("value", "factor", "expected"),
    [(8, 0.5, 4), (3, 0.5, 2), (1, 0.5, 1), (0.9, 2, 0.99), (0.35, 2, 0.7), (3.0, 2, 6.0), ((3, 60), 0.5, (2, 30))],
)
def test_scaled_keeps_whole_numbers_whole_and_parts_below_one(value, factor, expected):
    found = sensitivity.scaled(value, factor)
    assert found == pytest.approx(expected)
    assert type(found) is type(value)


def test_every_field_is_changed_both_ways_unless_it_is_one():
    problems = list(sensitivity.PROBLEMS.values())
    plan = sensitivity.variants(NAMES, problems, {problem.name: set(NAMES) for problem in problems})
    assert {variant.field for variant in plan} == set(NAMES)
    once = [name for name in NAMES if sum(variant.field == name for variant in plan) == 1]
    assert all(getattr(SearchConfig(), name) == 1 for name in once)
    assert set(sensitivity.ABOUT_LARGE_TABLES) < set(NAMES)


def test_fields_that_a_fit_does_not_read_do_not_matter_to_it():
    rows = small()
    read = sensitivity.fields_read(rows) & set(NAMES)
    assert "em_heat" in read
    assert "patience" not in read  # of the choice of the number of experts
    assert sensitivity.fit(rows, SearchConfig(patience=7)).value == sensitivity.fit(rows, SearchConfig()).value


def test_report_counts_against_the_best_of_all_runs():
    Run = sensitivity.Run
    variant = sensitivity.Variant("keep", 0.7, ("a", "b"))
    default = {"a": Run(-1.0, 1.0), "b": Run(-2.0, 1.0)}
    table = sensitivity.report(["keep", "gain"], default, {variant: {"a": Run(-1.0005, 3.0), "b": Run(-1.5, 1.0)}})
    first = [next(iter(column.cells)) for column in table.columns]
    assert first == ["keep", "0.5", "2", "1", "0.7", "2", "2.00", ""]
    assert [list(column.cells)[1] for column in table.columns][:3] == ["gain", "0.05", "0"]
    assert np.isfinite(sensitivity.WIN)
