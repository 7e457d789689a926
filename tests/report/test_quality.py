"""How well the model predicts, compared with least squares."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score

from report.pages import problem
from skmoe.report.quality import qualities
from skmoe.report.rows import Rows


def test_qualities_agree_with_the_model_and_least_squares(model, data):
    (X, y), held_out = data, problem(200, 5)
    found = qualities(model, Rows.of(model, X, y), Rows.of(model, *held_out))
    line = LinearRegression().fit(X, y)
    assert [(q.rows, q.n) for q in found] == [("given", 600)] * 2 + [("held-out", 200)] * 2
    assert found[0].r2 == pytest.approx(model.score(X, y))
    assert found[2].r2 == pytest.approx(r2_score(held_out[1], model.predict(held_out[0])))
    assert found[3].r2 == pytest.approx(r2_score(held_out[1], line.predict(held_out[0])))
    low, high = model.predict_interval(held_out[0], coverage=0.9).T
    assert found[2].inside_most == pytest.approx(np.mean((held_out[1] >= low) & (held_out[1] <= high)))
    assert found[2].width == pytest.approx(np.median(high - low))
