"""Sections are plain records, and say what is true of the model."""

import dataclasses

import numpy as np
import pytest

from report.pages import problem
from skmoe import MoERegressor, make_moe
from skmoe.plots.outputs import MOST_POINTS
from skmoe.report.data import report_data
from skmoe.report.sections import cautions, certainty, gate, numbers, overview, prediction, regimes

BIC = [(1, 30.0), (2, 20.0), (3, 25.0)]
ALL = (overview, regimes, gate, certainty, prediction, cautions, numbers)


@pytest.fixture(scope="module")
def given(model, data):
    return report_data(model, *data, None, None)


def texts_in(value):
    """All text of a record but the SVG of figures."""
    if dataclasses.is_dataclass(value):
        fields = [f.name for f in dataclasses.fields(value) if f.name != "svg"]
        return [text for name in fields for text in texts_in(getattr(value, name))]
    if isinstance(value, tuple):
        return [text for item in value for text in texts_in(item)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("section", ALL, ids=lambda section: section.__name__)
def test_section_is_a_frozen_record_without_markup(section, given):
    record = section(given)
    assert dataclasses.is_dataclass(record)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, dataclasses.fields(record)[0].name, None)
    assert not any("</" in text or "&amp;" in text for text in texts_in(record))


@pytest.mark.parametrize("n", [MOST_POINTS, MOST_POINTS + 1])
def test_captions_speak_of_chosen_rows_only_where_rows_are_left_out(model, n):
    some = report_data(model, *problem(n, 3), None, None)
    captions = (gate(some).responsibilities.caption, prediction(some).bands.caption)
    for caption in captions:
        assert ("chosen at random" in caption) == (n > MOST_POINTS)
        assert ("2,000" in caption) == (n > MOST_POINTS)


@pytest.mark.parametrize("settings", [{}, {"method": "joint-em", "n_init": 3}, {"method": "spectral"}])
def test_certainty_of_one_expert_does_not_speak_of_starts(settings):
    X, y, _ = make_moe(1500, 4, 1, random_state=0)
    fitted = MoERegressor(n_experts=1, random_state=0, **settings).fit(X, y)
    record = certainty(report_data(fitted, X, y, None, None))
    assert record.trace is None
    assert record.starts is None
    said = " ".join(record.paragraphs)
    assert "start" not in said
    assert "runs" not in said
    assert "random_state" not in said


@pytest.mark.parametrize(("agreement", "words"), [(3, "3 runs from different starts ended"), (1, "No two runs")])
def test_certainty_says_how_many_starts_agree(model, data, monkeypatch, agreement, words):
    monkeypatch.setitem(model.history_, "agreement", agreement)
    assert words in certainty(report_data(model, *data, None, None)).paragraphs[1]


def test_certainty_does_not_call_a_moment_estimate_a_maximum():
    X, y, _ = make_moe(1500, 4, 2, random_state=0)
    fitted = MoERegressor(method="spectral", random_state=0).fit(X, y)
    said = " ".join(certainty(report_data(fitted, X, y, None, None)).paragraphs)
    assert "reached" not in said
    assert "not maximised" in said


def test_certainty_lists_the_runs_on_all_rows_best_at_zero(given):
    table = certainty(given).starts
    assert {row[1] for row in table.rows} == {"all rows"}
    assert min(row[2].value for row in table.rows) == 0.0


def test_cautions_name_small_experts(model, data, monkeypatch):
    monkeypatch.setattr(model, "shares_", np.array([0.97, 0.03]))
    warnings = cautions(report_data(model, *data, None, None)).warnings
    assert any("Few rows belong to expert 2" in text for text in warnings)
    assert warnings[0].startswith("Expert 2 has 18.0 rows for 5 coefficients, ")


def test_overview_and_cautions_warn_of_few_rows_per_parameter(model, data, monkeypatch):
    assert not overview(report_data(model, *data, None, None)).notes
    monkeypatch.setattr(model, "n_parameters_", 400)
    given = report_data(model, *data, None, None)
    for texts in (overview(given).notes, cautions(given).warnings):
        assert texts[0].startswith("400 parameters were fitted to 600 rows, 1.5 rows for each: ")


def test_regimes_grey_coefficients_whose_interval_holds_zero(model, given):
    rows = regimes(given).coefficients.rows
    assert [row[0] for row in rows] == ["intercept", "dose", "age", "weight", "treated"]
    for j, row in enumerate(rows[1:]):
        for i, cell in enumerate(row[1:]):
            value, error = model.expert_coef_[i, j], model.expert_coef_se_[i, j]
            assert cell.value == value
            assert cell.muted == (abs(value) < 1.959964 * error)


def test_numbers_have_both_standard_errors(model, given):
    table = numbers(given).coefficients
    columns = dict(zip(table.columns, zip(*table.rows, strict=True), strict=True))
    for name, robust in (("std. error", False), ("robust", True)):
        np.testing.assert_equal([c.value for c in columns[name]], [row[3] for row in model.summary(robust=robust).rows])


def test_captions_name_the_output_once(model, data):
    X, y = data
    assert prediction(report_data(model, X, y, "harvest", None)).bands.caption.startswith("Predictions of harvest (y) ")
    assert prediction(report_data(model, X, y, "y", None)).bands.caption.startswith("Predictions of y with")


# -- what held-out rows and other models say --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def averaged(data):
    return MoERegressor("auto", averaging=6, random_state=0).fit(*data)


def test_regimes_say_where_they_are_seen(model, averaged, data, monkeypatch):
    for fitted, others in ((model, "5 fits that left rows out"), (averaged, "6 averaged models")):
        given = report_data(fitted, *data, None, None)
        assert all(others in text.text for text in regimes(given).experts)
        assert not any(text.startswith("Fits that left rows out") for text in cautions(given).warnings)
    monkeypatch.setattr(model, "stability_", np.array([1.0, 0.2]))
    given = report_data(model, *data, None, None)
    assert regimes(given).experts[1].text.endswith("It is seen in only 1 of 5 fits that left rows out.")
    for texts in (overview(given).notes, cautions(given).warnings):
        assert any(text.startswith("Fits that left rows out show expert 2 in 1 of 5 only: ") for text in texts)


def test_page_of_a_file_without_other_models_says_nothing_of_stability(model, data, monkeypatch):
    monkeypatch.setattr(model, "stability_", np.full(2, np.nan))
    given = report_data(model, *data, None, None)
    assert not any("seen in" in text for section in ALL for text in texts_in(section(given)))


def test_certainty_tells_what_was_averaged(averaged, data):
    given = report_data(averaged, *data, None, None)
    said = " ".join(certainty(given).paragraphs)
    assert "Predictions are averages of 6 models" in said
    assert f"penalty of strength {averaged.penalty_:g}" in said
    assert "By rows held out, predictive distributions were" in said
    assert "averages over 6 such models" in overview(given).lead
    assert prediction(given).paragraphs[0].startswith("Predictions are averages of 6 models. On the given rows")


def test_quality_is_that_of_the_averaged_law(averaged, data):
    given = report_data(averaged, *data, None, None)
    X, y = data
    mixture = given.quality[0]
    assert mixture.r2 == pytest.approx(averaged.score(X, y), rel=1e-12)
    low, high = averaged.predict_interval(X, coverage=0.9).T
    assert mixture.inside_most == pytest.approx(np.mean((low <= y) & (y <= high)))


def test_numbers_tried_are_those_of_the_history(averaged, data, monkeypatch):
    table = certainty(report_data(averaged, *data, None, None)).number.tried
    history = averaged.history_
    assert [row[2].value for row in table.rows] == [held for _, held, _ in history["held_out"]]
    assert [(int(row[0]), row[4].value) for row in table.rows] == history["bic"]
    assert [(int(row[0]), row[5].value) for row in table.rows] == history["icl"]
    assert [row[0] for row in table.rows if row[1] == "chosen"] == [str(averaged.n_experts_)]
    tie = [(1, -3.0, 0.1), (2, -2.0, 0.0), (3, -1.985, 0.02)]
    monkeypatch.setattr(averaged, "history_", {**history, "held_out": tie, **dict.fromkeys(("bic", "icl"), BIC)})
    record = certainty(report_data(averaged, *data, None, None)).number
    assert record.tried.rows[2][1] == "near tie"
    assert record.tried.rows[2][3].text == "0.015 ± 0.020"
    assert "3 experts gain 0.015 ± 0.020 of log density per row: within a standard error, so the smaller" in record.text
    words = {question: words for question, _, words in averaged.diagnose().rows}
    assert words["number of experts"].startswith("NEAR TIE: 3 experts gain 0.015 ± 0.020")


def test_numbers_of_an_old_file_are_told_by_bic(averaged, data, monkeypatch):
    monkeypatch.setattr(averaged, "history_", {**averaged.history_, "held_out": [], "icl": [], "bic": BIC})
    record = certainty(report_data(averaged, *data, None, None)).number
    assert "2 had the smallest BIC" in record.text
    assert record.tried.columns == ("experts", "BIC")
