"""The gate along one input, and its picture."""

import json
import re

import numpy as np
import pytest

from report.pages import Outline, table_with_text
from skmoe import MoERegressor
from skmoe.report.gate_curves import GateCurve, gate_curves
from skmoe.report.gate_picture import BOX, gate_picture, ticks
from skmoe.report.rendering import environment


def drawn(curves):
    template = environment().from_string('{% from "macros.html.j2" import gatepicture %}{{ gatepicture(picture) }}')
    return template.render(picture=gate_picture(curves))


def test_gate_curves_are_the_models_probabilities(model, data):
    X, _ = data
    curves = gate_curves(model, X.to_numpy())
    assert [c.name for c in curves[:2]] == ["dose", "age"]
    moved = X.iloc[np.linspace(0, len(X) - 1, 300).astype(int)].copy()
    moved["age"] = curves[1].grid[30]
    np.testing.assert_allclose(curves[1].curves[:, 30], model.gate_proba(moved).mean(axis=0), rtol=1e-12)


def test_gate_curves_are_at_most_twenty_and_leave_out_constant_inputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 24))
    X[:, 0] = 1.0
    y = np.where(rng.random(900) < 1 / (1 + np.exp(-2 * X[:, 1])), 3 * X[:, 2], -3 * X[:, 2] + 1)
    fitted = MoERegressor(random_state=0).fit(X, y + 0.3 * rng.normal(size=900))
    curves = gate_curves(fitted, X)
    assert len(curves) == 20
    assert curves[0].name == "x1"
    assert "x0" not in [curve.name for curve in curves]


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2, 4.1), (3.0, 363.8), (1e5, 1e5 + 1), (-1e-9, 2e-9)])
def test_ticks_are_inside_apart_and_say_their_value(low, high):
    values, texts = ticks(low, high)
    assert 3 <= len(values) <= 8
    slack = 1e-6 * (high - low)
    assert all(low - slack <= v <= high + slack for v in values)
    assert len(set(texts)) == len(texts)
    read = [float(text.replace("−", "-").replace(",", "")) for text in texts]
    np.testing.assert_allclose(read, values, atol=0.01 * (high - low))


def test_gate_picture_is_drawn_without_the_script(model, data):
    picture = drawn(gate_curves(model, data[0].to_numpy()))
    features = json.loads(re.search(r'id="gate-data">(.*?)</script>', picture)[1])
    for path in features[0]["paths"]:
        assert f'<path d="{path}"' in picture
    assert 'class="control" hidden' in picture


def test_gate_picture_offers_each_input_and_draws_each_expert(model, data):
    curves = gate_curves(model, data[0].to_numpy())
    outline = Outline(drawn(curves))
    assert len(outline.all("option")) == len(curves)
    lines = [path for path in outline.all("path") if path["class"].startswith("curve")]
    assert [line["class"] for line in lines] == ["curve e1", "curve e2"]


def test_gate_picture_of_a_two_valued_input_has_bars_at_each_value(model, data):
    treated = next(c for c in gate_curves(model, data[0].to_numpy()) if c.name == "treated")
    assert treated.curves.shape == (2, 2)
    drawn = gate_picture([treated]).inputs[0]
    assert drawn.bars
    assert [label for _, label in drawn.ticks] == ["0", "1"]
    heights = [[float(h) for h in re.findall(r"M[\d.]+ ([\d.]+)h", path)] for path in drawn.paths]
    np.testing.assert_allclose(heights[1], BOX.y(1.0), atol=1e-3)  # probabilities on each other reach one
    np.testing.assert_allclose(heights[0], BOX.y(treated.curves[0]), atol=1e-3)


def test_gate_picture_of_a_text_column_has_a_bar_for_each_level():
    X, y = table_with_text()
    fitted = MoERegressor(2, random_state=0).fit(X, y)
    (curve,) = [c for c in gate_curves(fitted, X.X) if c.name == "rank"]
    assert curve.labels == ("assistant", "full", "lecturer")
    moved = X.X[np.linspace(0, len(y) - 1, 300).astype(int)].copy()
    moved[:, :2] = [1.0, 0.0]  # full
    expected = fitted.parameters_.gate_proba(moved).mean(axis=0)
    np.testing.assert_allclose(curve.curves[:, 1], expected, rtol=1e-12)
    drawn = gate_picture([curve]).inputs[0]
    assert drawn.bars
    likeliest = int(np.argmax(curve.curves[:, 1]))
    assert f"full: expert {likeliest + 1} " in drawn.text


def test_words_of_many_experts_say_which_is_the_likeliest_where():
    curves = np.eye(6)[:, np.repeat(np.arange(6), 10)]
    drawn = gate_picture([GateCurve("x", np.linspace(0, 59, 60), curves, np.ones(30), (), 60)]).inputs[0]
    assert drawn.text.startswith("The likeliest, as it goes from 0 to 59: expert 1 up to 10, expert 2 up to 20, ")
    assert drawn.text.endswith(" and expert 6.")


def test_caption_says_how_many_rows_the_gate_is_averaged_over(model, data):
    X = data[0].to_numpy()
    assert "averaged over 300 rows, evenly\nspaced" in drawn(gate_curves(model, X))
    assert "averaged over 40 rows" in drawn(gate_curves(model, X[:40]))
