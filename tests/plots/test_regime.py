"""One regime: where it holds and what it says; inputs of few values are bars and points, not curves."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from report.pages import table_with_text
from skmoe import MoERegressor, make_moe, plots

NUMBERS = {"draw": False}


@pytest.fixture(scope="module")
def table():
    return table_with_text()


@pytest.fixture(scope="module")
def salaries(table):
    return MoERegressor(2, random_state=0).fit(*table)


@pytest.fixture(scope="module")
def broken():
    """A line that breaks at 5, with a second input."""
    rng = np.random.default_rng(0)
    x, z = rng.uniform(0, 10, 600), rng.normal(size=600)
    y = np.where(x < 5, x, 20 - 3 * x) + 0.5 * z + 0.2 * rng.normal(size=600)
    X = np.column_stack([x, z])
    return MoERegressor(2, random_state=0).fit(X, y), X, y


def test_range_is_where_the_expert_holds(broken):
    model, X, _ = broken
    for i in range(2):
        display = plots.RangeDisplay.from_estimator(model, X, i, **NUMBERS)
        assert display.name == "x0"
        its = X[model.gate_proba(X)[:, i] > 0.5, 0]
        np.testing.assert_allclose(display.range, (its.min(), its.max()), atol=0.3)
        np.testing.assert_allclose([display.all_rows.sum(), display.its_rows.sum()], 1.0)
        middles = 0.5 * (display.edges[1:] + display.edges[:-1])
        weights = model.gate_proba(X)[:, i]
        np.testing.assert_allclose(display.its_rows @ middles, np.average(X[:, 0], weights=weights), atol=0.1)


def test_range_of_a_text_column_is_bars_of_its_levels(salaries, table):
    X, _ = table
    display = plots.RangeDisplay.from_estimator(salaries, X, 1, **NUMBERS)
    assert display.name == "rank"
    assert display.labels == ("assistant", "full", "lecturer")
    np.testing.assert_allclose(display.all_rows[1], X.X[:, 0].mean())
    P = salaries.gate_proba(X)[:, 1]
    np.testing.assert_allclose(display.its_rows[1], np.average(X.X[:, 0], weights=P))


def test_many_levels_are_put_together():
    from skmoe.inference import Input
    from skmoe.plots.regime import _shares

    held = np.eye(14)[np.repeat(np.arange(14), np.arange(15, 1, -1))]
    town = Input("town", tuple(range(13)), tuple("abcdefghijklmn"))
    _, labels, all_rows, its_rows, _ = _shares(town, held[:, 1:], np.ones(len(held)), False)
    assert labels == (*"abcdefghi", "5 others")
    np.testing.assert_allclose([all_rows.sum(), its_rows.sum()], 1.0)


def test_range_is_refused_where_no_input_decides_or_is_known(broken):
    model, X, y = broken
    with pytest.raises(ValueError, match="holds everywhere alike: no input decides"):
        plots.RangeDisplay.from_estimator(MoERegressor(1).fit(X, y), X, 0)
    with pytest.raises(ValueError, match="feature must be one of the inputs 'x0', 'x1'"):
        plots.RangeDisplay.from_estimator(model, X, 0, feature="age")
    with pytest.raises(ValueError, match="expert must be less than the number of experts, 2; got 2"):
        plots.RangeDisplay.from_estimator(model, X, 2)


def test_expert_is_drawn_with_partial_residuals(broken):
    model, X, y = broken
    for i in range(2):
        display = plots.ExpertDisplay.from_estimator(model, X, y, i, **NUMBERS)
        assert display.input.name == "x0"
        mine = np.argmax(model.responsibilities(X, y), axis=1) == i
        assert np.polyfit(display.x, display.y, 1)[0] == pytest.approx(model.expert_coef_[i, 0], abs=0.03)
        np.testing.assert_allclose(np.gradient(display.line, display.grid), model.expert_coef_[i, 0], rtol=1e-9)
        # dots are as far from the line as outputs are from what the expert predicts
        level = display.line[0] + model.expert_coef_[i, 0] * (display.x - display.grid[0])
        np.testing.assert_allclose(display.y - level, (y - model.expert_predict(X)[:, i])[mine], atol=1e-9)


def test_expert_says_nothing_of_levels_that_its_rows_do_not_have(salaries, table):
    X, y = table
    full = int(np.argmax(salaries.noise_scale_))
    display = plots.ExpertDisplay.from_estimator(salaries, X, y, full, feature="rank", **NUMBERS)
    np.testing.assert_array_equal(np.isfinite(display.line), [False, True, False])
    assert plots.ExpertDisplay.from_estimator(salaries, X, y, full, **NUMBERS).input.name == "years"


def test_inputs_of_few_values_are_bars_and_points_not_curves(salaries, table, problem, model):
    X, y = table
    for fitted, rows, feature, places in (
        (salaries, (X, y), "rank", 3),
        (salaries, (X, y), "sex", 2),
        (model, problem, 3, 2),
    ):
        gate = plots.GateDisplay.from_estimator(fitted, rows[0], feature)
        assert gate.probabilities.shape == (places, 2)
        assert len(gate.ax_.patches) == 2 * places
        assert len(gate.ax_.lines) == 0
        band = plots.BandDisplay.from_estimator(fitted, rows[0], feature, y=rows[1])
        assert len(band.mean) == places
        assert len(band.ax_.patches) == 2 * places  # two intervals at each value
        assert all(line.get_linestyle() == "None" for line in band.ax_.lines)
        dots = plots.ResponsibilityDisplay.from_estimator(fitted, *rows, feature)
        assert set(np.round(dots.x)) == set(range(places))
    for display in (gate, band, dots):
        assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["0", "1"]


def test_gate_at_a_level_is_gate_proba(salaries, table):
    gate = plots.GateDisplay.from_estimator(salaries, table[0], ["rank", "years"], grid_resolution=5, **NUMBERS)
    at = gate.typical.copy()
    at[:2], at[3] = (0.0, 1.0), gate.grid[1][2]  # a lecturer
    np.testing.assert_allclose(gate.probabilities[2, 2], salaries.parameters_.gate_proba(at[None])[0])


@pytest.mark.parametrize("kind", ["Responsibility", "Band", "Expert", "Prediction"])
def test_axes_bear_the_targets_own_name(problem, model, kind):
    pd = pytest.importorskip("pandas")
    X, y = problem
    display = getattr(plots, f"{kind}Display")
    arguments = {"Band": (X, 0), "Prediction": (X, y)}.get(kind, (X, y, 0))
    how = {"y": y} if kind == "Band" else {}
    assert display.from_estimator(model, *arguments, target="accel", **how).ax_.get_ylabel().endswith("accel")
    named = pd.Series(y, name="speed")
    arguments = tuple(named if value is y else value for value in arguments)
    how = {"y": named} if kind == "Band" else {}
    assert display.from_estimator(model, *arguments, **how).ax_.get_ylabel().endswith("speed")


def test_one_huge_standard_error_does_not_hide_the_other_coefficients(problem, monkeypatch):
    X, y = problem
    model = MoERegressor(2, random_state=0).fit(X, y)
    usual = plots.CoefficientsDisplay.from_estimator(model, **NUMBERS)
    assert not usual.clipped
    d = X.shape[1]
    covariance = model.covariance_.copy()
    A = model.expert_coef_.copy()
    A[1, 3] = 40.0
    model.parameters_ = replace(model.parameters_, A=A)
    covariance[2 * d - 1, 2 * d - 1] = 1e8  # of this coefficient
    monkeypatch.setattr(model, "covariance_", covariance)
    display = plots.CoefficientsDisplay.from_estimator(model)
    assert display.clipped
    assert display.upper.max() > 1e4
    left, right = display.ax_.get_xlim()
    others = np.delete(np.arange(4), list(display.features).index(3))
    assert right - left < 2 * np.ptp([display.lower[:, others], display.upper[:, others]])
    assert left < display.lower[:, others].min()
    assert right > display.upper[:, others].max()
    assert "arrows: it goes on" in display.ax_.get_xlabel()


def test_predictions_are_drawn_with_their_intervals():
    X, y, _ = make_moe(300, 3, 2, random_state=0)
    model = MoERegressor(2, random_state=0).fit(X, y)
    display = plots.PredictionDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(display.predicted, model.predict(X))
    np.testing.assert_allclose(display.bounds, model.predict_interval(X, coverage=0.9))
    assert len(display.ax_.collections) == 1
    with pytest.raises(ValueError, match="300 predictions and 299 outputs"):
        plots.PredictionDisplay.from_predictions(model.predict(X), y[1:])


def test_numbers_below_predictions_do_not_meet():
    values = np.linspace(50_000, 231_000, 40)
    figure = plots.style.pyplot().figure(figsize=(4.6, 3.7), layout="constrained")
    plots.PredictionDisplay.from_predictions(values, values[::-1], ax=figure.subplots())
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in figure.axes[0].get_xticklabels() if text.get_text()]
    assert len(boxes) > 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


def test_an_expert_that_no_row_most_probably_belongs_to_is_a_line_without_dots(broken):
    model, X, y = broken
    far = model.responsibilities(X, y)[:, 0] < 0.5
    display = plots.ExpertDisplay.from_estimator(model, X[far], y[far], 0)
    assert display.x.shape == display.y.shape == (0,)
    assert np.isfinite(display.line).any()


@pytest.mark.parametrize("family", ["poisson", "gamma"])
def test_dots_of_counts_and_of_times_are_never_negative(family):
    """Residuals of outputs whose mean is multiplied by the inputs are multiplied as well."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    mean = np.exp(X @ [0.8, 1.2])
    y = rng.poisson(mean) if family == "poisson" else rng.gamma(2.0, mean / 2)
    model = MoERegressor(1, family=family, random_state=0).fit(X, y.astype(float))
    display = plots.ExpertDisplay.from_estimator(model, X, y, 0, feature="x1", **NUMBERS)
    assert np.min(display.y) >= 0
    level = np.exp(
        model.expert_intercept_[0] + model.expert_coef_[0] @ [X[:, 0].mean(), 0] + model.expert_coef_[0, 1] * X[:, 1]
    )
    np.testing.assert_allclose(display.y / level, y / model.expert_predict(X)[:, 0], rtol=1e-6)
