"""The gate along one input, and its picture."""

import json
import re

import numpy as np
import pytest

from report.pages import Outline
from skmoe import MoERegressor
from skmoe.report.gate_curves import gate_curves
from skmoe.report.gate_picture import gate_picture, ticks
from skmoe.report.rendering import environment


def drawn(curves):
    template = environment().from_string(
        '{% from "gate_picture.html.j2" import gate_picture %}{{ gate_picture(picture) }}'
    )
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
    assert curves[0].column == 1
    assert 0 not in [curve.column for curve in curves]


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


def test_gate_picture_of_a_two_valued_input_has_a_tick_at_each_value(model, data):
    treated = next(c for c in gate_curves(model, data[0].to_numpy()) if c.name == "treated")
    assert [label for _, label in gate_picture([treated]).inputs[0].ticks] == ["0", "1"]
