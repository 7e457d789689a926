"""Sections are blocks of plain data, and say what is true of the model."""

import dataclasses

import numpy as np
import pytest

from fit_records import change_record, change_run, change_search, numbers_tried
from report.pages import captioned, cards, problem, regime_blocks, texts
from skmoe import MoERegressor, make_moe
from skmoe.cli.models import held_out_lines
from skmoe.model.record import Stage, StartKind, StartRecord
from skmoe.plots.outputs import MOST_POINTS
from skmoe.report.data import report_data
from skmoe.report.records import Block, Table, Verdict
from skmoe.report.sections.certainty import certainty
from skmoe.report.sections.coefficients import coefficients, numbers
from skmoe.report.sections.diagnosis import diagnosis
from skmoe.report.sections.gate import gate
from skmoe.report.sections.overview import overview
from skmoe.report.sections.prediction import prediction
from skmoe.report.sections.regimes import regimes
from skmoe.report.sections.trust import checks, trust

ALL = (overview, regimes, prediction, trust, gate, coefficients, certainty, diagnosis, numbers)


@pytest.fixture(scope="module")
def given(model, data):
    return report_data(model, *data, None, None, 2)


def without_folds(model, X, y, target=None):
    return report_data(model, X, y, target, None, 0)


def check_of(given, name):
    return next(check for check in checks(given) if check.name == name)


def texts_in(value):
    """All text of a record but the SVG of figures."""
    if dataclasses.is_dataclass(value):
        fields = [f.name for f in dataclasses.fields(value) if f.name != "svg"]
        return [text for name in fields for text in texts_in(getattr(value, name))]
    if isinstance(value, tuple):
        return [text for item in value for text in texts_in(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("section", ALL, ids=lambda section: section.__name__)
def test_section_is_of_frozen_blocks_without_markup(section, given):
    for block in section(given):
        if block is None:
            continue
        assert isinstance(block, Block)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(block, dataclasses.fields(block)[0].name, None)
        assert not any("</" in text or "&amp;" in text for text in texts_in(block))


@pytest.mark.parametrize("n", [MOST_POINTS, MOST_POINTS + 1])
def test_captions_speak_of_chosen_rows_only_where_rows_are_left_out(model, n):
    some = report_data(model, *problem(300, 4), None, problem(n, 3))
    assert "chosen at random" not in captioned(gate(some), "yield against").caption + texts(regimes(some), "remark")[0]
    many = report_data(model, *problem(n, 3), None, None, 0)
    for caption in (
        captioned(prediction(some), "yield against").caption,
        captioned(gate(many), "yield against").caption,
        texts(regimes(many), "remark")[0],
    ):
        assert ("chosen at random" in caption) == (n > MOST_POINTS)
        assert ("2,000" in caption) == (n > MOST_POINTS)


@pytest.mark.parametrize("settings", [{}, {"method": "joint-em", "n_init": 3}, {"method": "spectral"}])
def test_certainty_of_one_expert_does_not_speak_of_starts(settings):
    X, y, _ = make_moe(1500, 4, 1, random_state=0)
    fitted = MoERegressor(n_experts=1, random_state=0, **settings).fit(X, y)
    blocks = certainty(without_folds(fitted, X, y))
    assert captioned(blocks, "Left: mean log-likelihood") is None
    assert captioned(blocks, "The runs that got furthest") is None
    said = " ".join(texts(blocks))
    assert "start" not in said
    assert "runs" not in said
    assert "another seed" not in said


@pytest.mark.parametrize(("agreement", "words"), [(3, "3 runs from different starts ended"), (1, "No two runs")])
def test_certainty_says_how_many_starts_agree(model, data, monkeypatch, agreement, words):
    change_search(monkeypatch, model, agreement=agreement)
    assert words in texts(certainty(without_folds(model, *data)))[1]
    change_search(monkeypatch, model, limited=True)
    assert "ended for the work it took; 20 random starts" in texts(certainty(without_folds(model, *data)))[1]


def test_certainty_does_not_call_a_moment_estimate_a_maximum():
    X, y, _ = make_moe(1500, 4, 2, random_state=0)
    fitted = MoERegressor(method="spectral", random_state=0).fit(X, y)
    said = " ".join(texts(certainty(without_folds(fitted, X, y))))
    assert "reached" not in said
    assert "not maximised" in said


def test_certainty_lists_the_runs_on_all_rows_best_at_zero(model, data, monkeypatch):
    stages = (Stage.ALL_ROWS, Stage.ALL_ROWS, Stage.RACE)
    runs = tuple(map(StartRecord, "abc", [StartKind.RANDOM] * 3, [-1.5, -1.25, -1.0], stages))
    change_search(monkeypatch, model, starts=runs)
    table = captioned(certainty(without_folds(model, *data)), "The runs that got furthest")
    assert {row[1] for row in table.rows} == {"all rows"}
    assert [row[2].value for row in table.rows] == [0.25, 0.0]
    change_search(monkeypatch, model, starts=runs[1:])
    assert captioned(certainty(without_folds(model, *data)), "The runs that got furthest") is None  # nothing to compare


def test_certainty_shows_no_flat_line(model, data, monkeypatch):
    for steps, shown in (([-2.0, -1.5, -1.4], True), ([-1.4, -1.4], False), ([-1.4001, -1.4, -1.4], False)):
        change_run(monkeypatch, model, objective=tuple(steps))
        assert (captioned(certainty(without_folds(model, *data)), "Left: mean log-likelihood") is not None) == shown


def test_trust_names_small_experts(model, data, monkeypatch):
    monkeypatch.setattr(model, "shares_", np.array([0.97, 0.03]))
    given = without_folds(model, *data)
    assert "Few rows belong to expert 2" in check_of(given, "Small experts").text
    assert check_of(given, "Rows for each parameter").text.startswith("Expert 2 has 18.0 rows for 5 coefficients, ")


def test_overview_and_trust_warn_of_few_rows_per_parameter(model, data, monkeypatch):
    assert not texts(overview(without_folds(model, *data)), "note careful")
    change_run(monkeypatch, model, n_parameters=400)
    given = without_folds(model, *data)
    check = check_of(given, "Rows for each parameter")
    assert check.verdict is Verdict.CAREFUL
    assert check.text.startswith("400 parameters were fitted to 600 rows, 1.5 rows for each: ")
    assert texts(overview(given), "note careful") == [check.text]


def test_coefficients_are_grey_whose_interval_holds_zero(model, given):
    rows = captioned(coefficients(given), "Coefficients", Table).rows
    assert [row[0] for row in rows] == ["intercept", "dose", "age", "weight", "treated"]
    for j, row in enumerate(rows[1:]):
        for i, cell in enumerate(row[1:]):
            value, error = model.expert_coef_[i, j], model.expert_coef_se_[i, j]
            assert cell.value == value
            assert cell.muted == (abs(value) < 1.959964 * error)


def test_numbers_have_both_standard_errors(model, given):
    table = captioned(numbers(given), "All coefficients")
    columns = dict(zip(table.columns, zip(*table.rows, strict=True), strict=True))
    for name, robust in (("std. error", False), ("robust", True)):
        np.testing.assert_equal([c.value for c in columns[name]], [row[3] for row in model.summary(robust=robust).rows])


# -- what held-out rows and other models say --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def averaged(data):
    return MoERegressor("auto", averaging=6, random_state=0).fit(*data)


def test_regimes_say_where_they_are_seen(model, averaged, data, monkeypatch):
    for fitted, others in ((model, "5 fits that left rows out"), (averaged, "6 averaged models")):
        given = without_folds(fitted, *data)
        assert all(others in card.effects for card in regime_blocks(regimes(given)))
        assert check_of(given, "Stability of the regimes").verdict is Verdict.FINE
    monkeypatch.setattr(model, "stability_", np.array([1.0, 0.2]))
    given = without_folds(model, *data)
    assert regime_blocks(regimes(given))[1].effects.endswith("It is seen in only 1 of 5 fits that left rows out.")
    check = check_of(given, "Stability of the regimes")
    assert check.text.startswith("Fits that left rows out show expert 2 in 1 of 5 only: ")
    assert check.text in texts(overview(given), "note careful")
    assert "1 of them not stable" in cards(overview(given))[1].detail


def test_page_of_a_file_without_other_models_says_nothing_of_stability(model, data, monkeypatch):
    monkeypatch.setattr(model, "stability_", np.full(2, np.nan))
    given = without_folds(model, *data)
    assert not any("seen in" in text for section in ALL for text in texts_in(section(given)))


def test_certainty_tells_what_was_averaged(averaged, data):
    given = report_data(averaged, *data, None, problem(200, 9))
    said = " ".join(texts(certainty(given)))
    assert "Predictions are averages of 6 models" in said
    assert f"penalty of strength {averaged.penalty_:g}" in said
    assert "By rows held out, predictive distributions were" in said
    assert "averages over 6 such models" in texts(overview(given), "lead")[0]
    assert texts(prediction(given))[0].startswith("Predictions are averages of 6 models. On 200 rows held out")


def test_numbers_tried_are_those_of_the_history(averaged, data, monkeypatch):
    table = captioned(certainty(without_folds(averaged, *data)), "Numbers of experts tried")
    history = averaged.history_
    assert [row[2].value for row in table.rows] == [held for _, held, _ in history["held_out"]]
    assert [(int(row[0]), row[4].value) for row in table.rows] == history["bic"]
    assert [(int(row[0]), row[5].value) for row in table.rows] == history["icl"]
    assert [row[0] for row in table.rows if row[1] == "chosen"] == [str(averaged.n_experts_)]
    change_record(monkeypatch, averaged, tried=numbers_tried((1, -3.0, 0.1), (2, -2.0, 0.0), (3, -1.985, 0.02)))
    blocks = certainty(without_folds(averaged, *data))
    rows = captioned(blocks, "Numbers of experts tried").rows
    assert rows[2][1] == "near tie"
    assert rows[2][3].text == "0.015 ± 0.020"
    check = check_of(without_folds(averaged, *data), "Number of experts")
    assert check.verdict is Verdict.NOTE
    assert check.text.startswith("Near tie. 3 experts gain 0.015 ± 0.020 of log density per row: within a standard")
    assert (
        "3 experts gain 0.015 ± 0.020 of log density per row: within a standard error, so the smaller"
        in texts(blocks)[-1]
    )
    assert "3 experts gain 0.015 ± 0.020 of log density per row" in " ".join(held_out_lines(averaged))
    words = {question: words for question, _, words in averaged.diagnose().rows}
    assert words["number of experts"].startswith("NEAR TIE: 3 experts gain 0.015 ± 0.020")


def test_a_choice_of_the_largest_number_tried_is_said_to_be_at_the_limit(averaged, data, monkeypatch):
    given, said = without_folds(averaged, *data), "2 experts are the most that so many rows support"
    for tried, at_limit in (([(1, -3.0, 0.1), (2, -2.0, 0.0)], True), ([(2, -2.0, 0.0), (3, -2.5, 0.1)], False)):
        change_record(monkeypatch, averaged, tried=numbers_tried(*tried))
        words = {question: words for question, _, words in averaged.diagnose().rows}["number of experts"]
        assert words.startswith(f"AT THE LIMIT: {said}") == at_limit
        check = check_of(given, "Number of experts")
        assert check.text.startswith(f"At the limit. {said}") == at_limit
        assert (check.verdict is Verdict.NOTE) == at_limit
        assert (said in texts(certainty(given))[-1]) == at_limit
        assert (said in " ".join(held_out_lines(averaged))) == at_limit
    change_record(monkeypatch, averaged, tried=numbers_tried((1, -3.0, 0.1), (2, -2.0, 0.0)))
    monkeypatch.setattr(averaged, "max_experts", 2)
    said = "2 experts are the most that may be chosen: a higher limit may predict better"
    assert f"AT THE LIMIT: {said}" in str(averaged.diagnose())
