"""What the coefficients say, in sentences."""

import re

import numpy as np
import pandas as pd
import pytest

import skmoe
from report.pages import up_expert
from skmoe import MoERegressor, report
from skmoe.report.formatting import percent, three_digits, with_interval
from skmoe.report.words import contrast


def test_gate_in_words_has_the_right_direction(model, data):
    said = report.gate_in_words(model, data[0])
    i = up_expert(model)
    assert len(said) == 2
    assert said[i].startswith(f"Expert {i + 1} takes over from expert {2 - i} as dose grows")
    assert said[1 - i].startswith(f"Expert {2 - i} takes over from expert {i + 1} as dose falls")
    assert "as age falls" in said[i]
    assert "as age grows" in said[1 - i]
    assert "weight" not in "".join(said)  # it has nothing to do with the gate


def test_gate_in_words_without_rows_names_the_same_inputs(model, data):
    i = up_expert(model)
    said = report.gate_in_words(model)[i]
    assert said == f"Expert {i + 1} takes over from expert {2 - i} as dose grows and as age falls."


def test_gate_in_words_does_not_depend_on_units(data):
    X, y = data
    scaled = X * [1e-3, 1e4, 1.0, 1.0]
    first, second = (MoERegressor(random_state=0).fit(Z, y) for Z in (X, scaled))
    bare = [re.sub(r" \(.*?\)", "", s) for s in report.gate_in_words(first, X)]
    assert bare == [re.sub(r" \(.*?\)", "", s) for s in report.gate_in_words(second, scaled)]


def test_gate_in_words_speaks_of_values_where_there_are_two():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"member": (rng.random(800) < 0.4) * 1.0, "size": rng.normal(size=800)})
    up = rng.random(800) < np.where(X["member"] == 1, 0.9, 0.1)
    y = np.where(up, 3 * X["size"] + 4, -3 * X["size"] - 4) + 0.3 * rng.normal(size=800)
    fitted = MoERegressor(random_state=0).fit(X, y)
    i = int(np.argmax(fitted.expert_coef_[:, 1]))
    slope, reach = contrast(fitted, i)[0][0], 1.96 * contrast(fitted, i)[1][0]
    odds, low, high = (three_digits(np.exp(slope + part)) for part in (0, -reach, reach))
    said = report.gate_in_words(fitted, X)
    assert f"where member is 1 rather than 0 (odds {odds} times as high; {low} to {high})" in said[i]
    assert f"where member is 0 rather than 1 (odds {odds} times" in said[1 - i]


def test_contrast_of_two_is_the_difference_of_gate_coefficients(model):
    value, error = contrast(model, 0)
    np.testing.assert_allclose(value, model.gate_coef_[0] - model.gate_coef_[1])
    np.testing.assert_allclose(error, model.gate_coef_se_[0], rtol=1e-6)
    np.testing.assert_allclose(contrast(model, 1)[0], -value)


def test_contrast_of_three_is_the_slope_of_the_log_odds_at_the_shares():
    X, y, _ = skmoe.make_moe(1500, 3, 3, random_state=1)
    fitted = MoERegressor(n_experts=3, random_state=0).fit(X, y)
    shares = fitted.shares_ / fitted.shares_.sum()
    step = 1e-6
    for i in range(3):
        for j in range(3):
            P = [shares * np.exp(sign * step * fitted.gate_coef_[:, j]) for sign in (-1, 1)]
            odds = [np.log(p[i] / (p.sum() - p[i])) for p in P]
            assert contrast(fitted, i)[0][j] == pytest.approx((odds[1] - odds[0]) / (2 * step), rel=1e-5, abs=1e-6)


def test_experts_in_words_give_slopes_with_intervals(model, data):
    i = up_expert(model)
    said = report.experts_in_words(model, data[0], target="yield")
    slope, error = model.expert_coef_[i, 2], model.expert_coef_se_[i, 2]
    assert f"yield rises by {with_interval(slope, error)} per unit of weight" in said[i]
    slope, error = -model.expert_coef_[1 - i, 2], model.expert_coef_se_[1 - i, 2]
    assert f"falls by {with_interval(slope, error)} per unit of weight" in said[1 - i]
    assert "higher where treated is 1 rather than 0" in said[1 - i]
    assert said[0].startswith(f"Expert 1, {percent(model.shares_[0])} of the rows: ")


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
