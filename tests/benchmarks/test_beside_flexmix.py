"""What flexmix found, by ``benchmarks/families/beside_flexmix.py --record``, is reached."""

import json

import pytest

from benchmarks.families import beside_flexmix as beside

RECORDED = json.loads(beside.RESULTS.read_text())
ENOUGH = 1e-3


def test_every_case_is_recorded():
    assert set(RECORDED) == {case.title for case in beside.CASES}
    assert {title.split(",")[0] for title in RECORDED} >= {"patent", "seizure", "bioChemists", "dmft", "tribolium"}


@pytest.mark.parametrize("title", RECORDED)
def test_recorded_log_likelihood_is_at_least_that_of_flexmix(title):
    assert RECORDED[title]["skmoe"] >= RECORDED[title]["flexmix"] - ENOUGH


@pytest.mark.parametrize("title", [title for title, one in RECORDED.items() if one["coefficients_differ"] is not None])
def test_recorded_coefficients_and_errors_are_those_of_flexmix_at_the_same_optimum(title):
    found = RECORDED[title]
    assert found["coefficients_differ"] < ENOUGH
    assert found["errors_off_differences"] < ENOUGH
    assert found["errors_differ"] < ENOUGH or title == "NPreg yp, poisson, k=2"  # the Hessian of flexmix is not exact


@pytest.mark.parametrize("case", [case for case in beside.CASES if case.rows], ids=lambda case: case.title)
def test_log_likelihood_of_simulated_tables_is_at_least_that_of_flexmix(case, tmp_path):
    X, y, _ = beside.table_of(case, tmp_path)
    model, _ = beside.fitted(case, X, y)
    assert model.log_likelihood_ >= RECORDED[case.title]["flexmix"] - ENOUGH


@pytest.mark.parametrize("family", ["poisson", "binomial"])
def test_recorded_fit_of_5000_rows_takes_a_tenth_of_one_start_of_flexmix(family):
    found = RECORDED[f"simulated, {family}, k=2"]
    assert found["rows"] == 5000
    assert found["flexmix_seconds"] > 10 * found["skmoe_seconds"]


def test_standard_errors_by_differences_are_those_of_the_fit(tmp_path):
    case = beside.Case("simulated", "poisson", 2, rows=800)
    X, y, _ = beside.table_of(case, tmp_path)
    model, _ = beside.fitted(case, X, y)
    found = beside.errors_by_differences(case, model, X, y)
    assert abs(found[:, 1:] - model.expert_coef_se_).max() < 1e-4
    assert abs(found[:, 0] - model.expert_intercept_se_).max() < 1e-4
