"""Figures of the page on families are those that were recorded, and hard tables of its studies are not lost."""

import json

import pytest

from skmoe import MoERegressor, metrics
from skmoe.cli import checkout
from skmoe.model.families import StudentFamily

if checkout.root() is None:
    pytest.skip("not in a checkout of the repository", allow_module_level=True)

RESULTS = checkout.root() / "benchmarks" / "results"


def recorded(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


def page():
    return " ".join((checkout.root() / "docs" / "guide" / "families.md").read_text().split())


def test_page_tells_how_errors_grow_with_outliers():
    found = recorded("family_outliers")
    student, gaussian = (found[f"{name} with"] / found[f"{name} without"] for name in ("student", "gaussian"))
    assert student < 1.2
    assert f"Over {found['seeds']} simulated tables" in page()
    assert f"is {student:.2f} times that without the errors; for Gaussian experts it is {gaussian:.0f} times" in page()


@pytest.mark.parametrize("family", ["student", StudentFamily(4.0)])
@pytest.mark.parametrize("seed", [9, 14])  # tables where an expert that starts with the gross errors keeps them
def test_student_experts_do_not_follow_gross_errors(family, seed):
    X, _, spoilt, truth = checkout.load("benchmarks.families.outliers").outputs_of(seed, 2000)
    model = MoERegressor(2, family=family, penalty=0, calibration=None, random_state=0).fit(X, spoilt)
    order = metrics.match_experts(model.expert_coef_, truth)
    assert abs(model.expert_coef_[order] - truth).max() < 0.1


def test_starts_that_agree_on_a_lesser_optimum_of_yes_and_no_are_not_believed():
    reach = checkout.load("benchmarks.families.family_reach")
    gap, _ = reach.gap_and_seconds("binomial", 2000, 3, 3, 2)
    assert gap < reach.ENOUGH
