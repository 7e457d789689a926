"""What the coefficients say, in sentences."""

import re

import numpy as np
import pandas as pd
import pytest

import skmoe
from report.pages import captioned, table_with_text, up_expert, words_of
from skmoe import MoEClassifier, MoERegressor, report
from skmoe.inference.formatting import percent, three_digits, with_interval
from skmoe.report.data import report_data
from skmoe.report.records import Table
from skmoe.report.sections.coefficients import coefficients
from skmoe.tables import EncodedTable, TableEncoder
from skmoe.tables.columns import Column


def test_gate_in_words_names_the_inputs_that_decide(model, data):
    said = report.gate_in_words(model, data[0])
    i = up_expert(model)
    assert len(said) == 2
    assert re.match(rf"Expert {i + 1} holds at dose from [-\d.]+ up \(all rows: ", said[i])
    assert re.match(rf"Expert {2 - i} holds at dose up to [-\d.]+ \(all rows: ", said[1 - i])
    assert "smaller age" in said[i] or "age up to" in said[i]
    assert "larger age" in said[1 - i] or "age from" in said[1 - i]
    assert "weight" not in "".join(said)  # it has nothing to do with the gate


def test_gate_in_words_without_rows_speaks_of_those_of_the_fit(model, data):
    inputs = [re.findall(r"dose|age|weight|treated", said) for said in report.gate_in_words(model)]
    assert inputs == [re.findall(r"dose|age|weight|treated", said) for said in report.gate_in_words(model, data[0])]


def test_gate_in_words_names_a_text_column_that_decides():
    X, y = table_with_text()
    fitted = MoERegressor(2, random_state=0).fit(X, y)
    said = report.gate_in_words(fitted, X)
    assert len(set(said)) == 2
    assert "holds at rank: full (" in said[int(np.argmax(fitted.noise_scale_))]
    assert "holds at rank: not full (" in said[int(np.argmin(fitted.noise_scale_))]


@pytest.mark.parametrize("seed", range(3))
def test_gate_in_words_names_the_only_input_for_every_expert(seed):
    rng = np.random.default_rng(seed)
    time = rng.uniform(2, 58, 133)
    accel = np.where(time < 14, 0, np.where(time < 22, -14 * (time - 14), -112 + 6 * (time - 22)))
    accel = np.where(time < 45, accel, 26) + (2 + 10 * (time > 14)) * rng.normal(size=133)
    fitted = MoERegressor(3, random_state=0).fit(pd.DataFrame({"time": time}), accel)
    said = report.gate_in_words(fitted)
    assert len(set(said)) == 3
    assert all(re.match(r"Expert \d holds at time (up to|from|\d)", sentence) for sentence in said)


def test_words_go_by_the_rows_of_the_fit_or_by_those_given(model, data):
    assert report.gate_in_words(model)[0].startswith("Expert 1 holds at dose")
    assert report.gate_in_words(model, data[0]) == report.gate_in_words(model)
    assert "per unit of weight" in report.experts_in_words(model)[0]


def test_experts_in_words_predict_where_they_hold():
    """Far from an expert's rows its line says nothing."""
    rng = np.random.default_rng(5)
    x = rng.uniform(0, 100, size=600)
    y = np.where(x > 90, 1000 * (x - 95), 3.0) + 0.5 * rng.normal(size=600)
    fitted = MoERegressor(penalty=0, random_state=0).fit(x[:, None], y)
    steep = int(np.argmax(np.abs(fitted.expert_coef_[:, 0])))
    P = fitted.gate_proba(x[:, None])[:, steep]
    expected = np.average(fitted.expert_predict(x[:, None])[:, steep], weights=P)
    said = report.experts_in_words(fitted, x[:, None])[steep]
    assert f"Over its rows it predicts {three_digits(expected)} on average." in said
    assert abs(expected) < 5000 < abs(fitted.expert_predict([[50.0]])[0, steep])


def test_experts_in_words_name_levels_of_a_text_column():
    rng = np.random.default_rng(6)
    smoker, size = rng.random(400) < 0.4, rng.normal(size=400)
    encoder = TableEncoder("y", (Column("smoker", "category", ("no", "yes")), Column("size", "number")))
    X = EncodedTable(np.column_stack([smoker, size]), encoder.features, encoder)
    fitted = MoERegressor(1).fit(X, 3.0 * smoker + size + 0.1 * rng.normal(size=400))
    said = report.experts_in_words(fitted, X)[0]
    assert "higher where smoker is yes rather than no" in said
    assert "smoker=yes" not in said
    assert "higher where smoker is yes rather than no" in report.experts_in_words(fitted)[0]


def test_experts_in_words_give_slopes_with_intervals(model, data):
    i = up_expert(model)
    said = report.experts_in_words(model, data[0], target="yield")
    slope, error = model.expert_coef_[i, 2], model.expert_coef_se_[i, 2]
    assert f"yield rises by {with_interval(slope, error, model.dof_[i])} per unit of weight" in said[i]
    slope, error = -model.expert_coef_[1 - i, 2], model.expert_coef_se_[1 - i, 2]
    assert f"falls by {with_interval(slope, error, model.dof_[1 - i])} per unit of weight" in said[1 - i]
    assert "higher where treated is 1 rather than 0" in said[1 - i]
    rows = model.responsibilities(*data)
    assert said[0].startswith(f"Expert 1, {percent(model.shares_[0])} of the rows (")
    counted = report.experts_in_words(model, *data, target="yield")
    assert counted[0].startswith(f"Expert 1, {percent(model.shares_[0])} of the rows ({np.sum(rows[:, 0]):,.0f}): ")
    treated, others = (np.sum(rows[data[0]["treated"] == value, 1 - i]) for value in (1, 0))
    assert f"where treated is 1 rather than 0 ({treated:,.0f} against {others:,.0f} rows)" in counted[1 - i]


def claims(seed=0):
    """Charges of which one regime, of the old, holds all but four of the smokers."""
    rng = np.random.default_rng(seed)
    age, region = rng.uniform(18, 64, 600), rng.choice(["north", "south", "west"], 600)
    smoker = (age > 41) & (rng.random(600) < 0.4)
    smoker[np.flatnonzero(age < 41)[:4]] = True
    charges = np.where(age > 41, 30000 + 9000 * smoker + 3000 * (region == "south"), 50 * age + 15400 * smoker)
    frame = pd.DataFrame({"age": age, "smoker": np.where(smoker, "yes", "no"), "region": region})
    return frame, charges + rng.normal(size=600) * np.where(age > 41, 300, 30)


def test_effects_of_fewer_than_ten_rows_are_unknown_and_never_lead():
    X, y = claims()
    fitted = MoERegressor(2, random_state=0).fit(X, y)
    young = int(np.argmin(fitted.noise_scale_))
    column = list(fitted.encoder_.features).index("smoker=yes")
    assert abs(fitted.expert_coef_[young, column]) > 5 * fitted.expert_coef_se_[young, column]  # it looks clear
    for said in (report.experts_in_words(fitted, X, y), report.experts_in_words(fitted, X)):
        assert "What these do is unknown here, for want of rows: smoker yes (4 rows)." in said[young]
        assert "rises by " in said[young].partition("What these do is unknown")[0]
        assert "where smoker" not in said[young]
        assert " higher where region is south rather than north (" in said[1 - young]
        assert " higher where smoker is yes rather than no (" in said[1 - young]
    page = words_of(report.html(fitted, X, y, folds=0))
    assert report.experts_in_words(fitted, X, y, target="y")[young] in page
    cells = {
        row[0]: row[1:]
        for row in captioned(coefficients(report_data(fitted, X, y, None, None, 0)), "Coefficients", Table).rows
    }
    assert (cells["smoker=yes"][young].shown, cells["smoker=yes"][young].detail) == ("unknown", "4 rows")
    assert cells["smoker=yes"][1 - young].value == fitted.expert_coef_[1 - young, column]
    noted = report.experts_in_words(fitted)[young]
    assert "for want of rows: smoker yes (4 rows)" in noted
    assert "where smoker" not in noted


def test_two_values_and_their_rows_are_known_without_rows():
    X, y = claims()
    numbers = np.column_stack([X["age"], X["smoker"] == "yes", np.where(X["region"] == "south", 3.0, 1.0)])
    frame = pd.DataFrame(numbers, columns=["age", "smoker", "rooms"])
    fitted = MoERegressor(2, random_state=0).fit(frame, y)
    old, young = np.argsort(-fitted.noise_scale_)
    with_rows, without = report.experts_in_words(fitted, frame), report.experts_in_words(fitted)
    assert with_rows == without
    assert "higher where rooms is 3 rather than 1 (" in without[old]
    assert "for want of rows: smoker 1 (4 rows)" in without[young]


def test_weights_are_repeated_rows_in_what_carries_an_effect():
    X, y = claims()
    weight = 1 + 2 * (X["smoker"] == "yes") * (X["age"] < 41)  # each of the four comes three times
    fitted = MoERegressor(2, random_state=0).fit(X, y, sample_weight=weight)
    young = int(np.argmin(fitted.noise_scale_))
    given = report_data(fitted, X, y, None, None, 0, weight)
    assert given.support.unknown(young, np.ones(len(fitted.encoder_.features), dtype=bool)) == []
    np.testing.assert_allclose(np.sum(given.support.rows), np.sum(weight))


def test_experts_in_words_count_clear_effects_that_are_not_named():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 6))
    y = X @ [5.0, 4.0, 3.0, 2.0, 0.1, 0.0] + 0.2 * rng.normal(size=2000)
    fitted = MoERegressor(n_experts=1).fit(X, y)
    assert abs(fitted.expert_coef_[0, 5]) < 1.96 * fitted.expert_coef_se_[0, 5]
    assert "of x2; 2 more inputs have a clear effect." in report.experts_in_words(fitted, X)[0]


def test_experts_in_words_say_a_verb_once_in_a_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    fitted = MoERegressor(n_experts=1).fit(X, X @ [3.0, 2.0, -1.0] + 0.1 * rng.normal(size=300))
    said = re.sub(r"[-−\d.]+ \(.*?\)", "#", report.experts_in_words(fitted, X)[0])
    assert "y rises by # per unit of x0, by # per unit of x1 and falls by # per unit of x2." in said


def test_experts_in_words_of_a_curved_expert_speak_of_its_index():
    X, y, _ = skmoe.make_moe(800, 3, 2, activation="sigmoid", noise_scale=0.05, random_state=0)
    fitted = MoERegressor(activation="sigmoid", random_state=0).fit(X, y)
    assert all("the index inside its sigmoid" in s for s in report.experts_in_words(fitted, X))


def test_small_effects_on_odds_are_told_per_many_units():
    rng = np.random.default_rng(0)
    income = rng.uniform(1e4, 5e4, 400)
    y = rng.random(400) < 1 / (1 + np.exp(-(income - 3e4) / 5e3))
    model = MoEClassifier(1, penalty=0).fit(income[:, None], y)
    coef, error = model.expert_coef_[0, 0, 0], model.expert_coef_se_[0, 0, 0]
    assert 5e-5 < coef < 5e-4
    (said,) = report.experts_in_words(model, target="sale")
    low, high = np.exp(1000 * (coef - 1.959964 * error)), np.exp(1000 * (coef + 1.959964 * error))
    assert f"multiplied by {np.exp(1000 * coef):.3g} ({low:.3g} to {high:.3g}) per 1,000 units of x0" in said
    line = next(row for row in str(model.summary()).splitlines() if "x0" in row)
    assert float(line.split()[-3]) == pytest.approx(np.exp(coef), abs=1e-5)
    assert line.split()[-3] != "1"


@pytest.mark.parametrize(
    ("family", "words", "card"),
    [
        ("gaussian", "Its noise has a standard deviation of {:.3g}.", "standard deviation of sales"),
        ("lognormal", "Its noise has a standard deviation of {:.3g} in the logs.", "standard deviation of the logs of"),
        (
            "gamma",
            "Its outputs have a coefficient of variation of {:.3g} about their mean.",
            "coefficient of variation",
        ),
        ("student", "Its noise is Student's t of scale {:.3g} with ", "scale of Student's t"),
        ("negative-binomial", "their rate has a coefficient of variation of {:.3g}.", "variation of the rate"),
    ],
)
def test_noise_is_told_in_the_words_of_the_family(family, words, card):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 1))
    y = rng.poisson(np.exp(2 + 0.5 * X[:, 0] + 0.6 * rng.standard_normal(300))) + 1.0
    model = MoERegressor(1, family=family).fit(X, y)
    (said,) = report.experts_in_words(model, target="sales")
    assert words.format(model.noise_scale_[0]) in said
    assert card in words_of(report.html(model, target="sales"))
