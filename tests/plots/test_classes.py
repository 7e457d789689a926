"""Pictures of classes: their numbers are those of the classifier."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

import skmoe
from skmoe import MoEClassifier, MoERegressor, plots

NUMBERS = {"draw": False}
NAMES = np.array(["ash", "beech", "_cedar"])


@pytest.fixture(scope="module")
def rows():
    """Classes whose dependence on the first input turns round with the second."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    t = 2.5 * X[:, 0] * np.sign(X[:, 1]) + rng.logistic(size=600)
    return X, NAMES[np.digitize(t, [-1.0, 1.0])]


@pytest.fixture(scope="module")
def three(rows):
    return MoEClassifier(2, random_state=0).fit(*rows)


@pytest.fixture(scope="module")
def two(rows):
    return MoEClassifier(2, random_state=0).fit(rows[0], rows[1] == "ash")


def displays(model, X, y, **how):
    return [
        plots.CoefficientsDisplay.from_estimator(model, **how),
        plots.ResponsibilityDisplay.from_estimator(model, X, y, 0, **how),
        plots.ExpertProbabilityDisplay.from_estimator(model, X, y, 1, **how),
        plots.ProbabilityDisplay.from_estimator(model, X, 0, **how),
        plots.SeparationDisplay.from_estimator(model, X, y, **how),
        plots.ReliabilityDisplay.from_estimator(model, X, y, **how),
    ]


def test_coefficients_have_a_line_for_each_class_but_the_first(three):
    display = plots.CoefficientsDisplay.from_estimator(three, features=[1, 0], **NUMBERS)
    assert display.names == ["x1: ash", "x1: beech", "x0: ash", "x0: beech"]  # "_cedar" sorts before letters
    assert display.ratio == "odds ratio"
    told = {(row[0], row[1]): row[8:] for row in three.summary().rows}
    for i in range(2):
        for line, (term, name) in enumerate([("x1", "ash"), ("x1", "beech"), ("x0", "ash"), ("x0", "beech")]):
            part = f"{display.expert_names[i]}, {name}"
            found = [display.coefficients[i, line], display.lower[i, line], display.upper[i, line]]
            np.testing.assert_allclose(np.exp(found), told[part, term])


def test_ratios_of_counts_are_marked_as_ratios():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 2))
    model = MoERegressor(1, family="poisson").fit(X, rng.poisson(np.exp(0.5 + 0.8 * X[:, 0])))
    display = plots.CoefficientsDisplay.from_estimator(model)
    ticks = dict(zip(display.ax_.get_xticks(), [t.get_text() for t in display.ax_.get_xticklabels()], strict=True))
    assert display.ax_.get_xlabel() == "rate ratio for one unit, 95% interval"
    assert any(word == "1" and place == 0 for place, word in ticks.items())
    np.testing.assert_allclose(np.exp(list(ticks)), [float(word) for word in ticks.values()], rtol=1e-3)


def test_probabilities_along_an_input_are_the_models(rows, three):
    display = plots.ProbabilityDisplay.from_estimator(three, rows[0], 0, grid_resolution=20, **NUMBERS)
    at = np.tile(display.typical, (20, 1))
    at[:, 0] = display.grid
    np.testing.assert_allclose(display.probabilities, three.predict_proba(at).T, rtol=1e-12)
    np.testing.assert_allclose(display.experts, np.transpose(three.expert_proba(at), (1, 2, 0)), rtol=1e-12)


def test_of_two_classes_the_second_is_drawn(rows, two):
    display = plots.ProbabilityDisplay.from_estimator(two, rows[0], 0, **NUMBERS)
    assert display.names == ["True"]
    assert display.probabilities.shape == (1, 100)


def test_marks_of_an_expert_lie_about_its_line_where_it_is_right():
    """Shares of an expert's rows have its probabilities as means, though which rows are its own is not known."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20000, 2))
    p = 1 / (1 + np.exp(-np.where(rng.random(20000) < 1 / (1 + np.exp(-2 * X[:, 1])), 2, -2) * X[:, 0]))
    y = rng.random(20000) < p
    model = MoEClassifier(2, penalty=0, n_init=3, random_state=0).fit(X, y)
    for i in range(2):
        display = plots.ExpertProbabilityDisplay.from_estimator(model, X, y, i, **NUMBERS)
        center = np.average(X, axis=0, weights=model.gate_proba(X)[:, i])
        at = np.tile(center, (len(display.x), 1))
        at[:, display.input.columns[0]] = display.x
        z = (display.shares[0] - model.expert_proba(at)[:, i, 1]) / display.errors[0]
        inner = z[1:-1]  # the outer groups are wide, and the line bends in them
        assert np.max(np.abs(inner)) < 4
        assert np.sqrt(np.mean(inner**2)) < 2


def test_separation_is_the_mean_probability_of_the_class_that_came(rows, three):
    X, y = rows
    display = plots.SeparationDisplay.from_estimator(three, X, y, **NUMBERS)
    P = three.predict_proba(X)
    for c, name in enumerate(three.classes_):
        assert display.names[c] == name
        assert display.rows[c] == np.sum(y == name)
        assert display.means[c] == pytest.approx(np.mean(P[y == name, c]))
        assert display.shares[c] == pytest.approx(np.mean(y == name))


def test_reliability_agrees_with_scikit_learn_and_its_intervals_with_scipy(rows, two):
    from scipy.stats import binomtest

    X, y = rows[0], rows[1] == "ash"
    display = plots.ReliabilityDisplay.from_estimator(two, X, y, bins=6, **NUMBERS)
    p = two.predict_proba(X)[:, 1]
    share, mean = calibration_curve(y, p, n_bins=6)
    full = display.counts[0] > 0
    np.testing.assert_allclose(display.observed[0][full], share)
    np.testing.assert_allclose(display.predicted[0][full], mean)
    assert display.counts.sum() == len(y)
    for b in np.flatnonzero(full):
        n = int(display.counts[0, b])
        interval = binomtest(round(display.observed[0, b] * n), n).proportion_ci(0.95, method="wilson")
        np.testing.assert_allclose([display.lower[0, b], display.upper[0, b]], [interval.low, interval.high], atol=1e-6)


def test_reliability_counts_weights_as_repeated_rows():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=200)
    y, w = (rng.random(200) < p).astype(int), rng.integers(1, 4, 200)
    P = np.column_stack([1 - p, p])
    one = plots.ReliabilityDisplay.from_probabilities(P, y, ["a", "b"], weight=w, **NUMBERS)
    other = plots.ReliabilityDisplay.from_probabilities(np.repeat(P, w, axis=0), np.repeat(y, w), ["a", "b"], **NUMBERS)
    np.testing.assert_allclose(one.observed, other.observed)
    np.testing.assert_allclose(one.predicted, other.predicted)
    assert np.all(one.upper - one.lower >= other.upper - other.lower)  # uneven weights tell less than so many rows
    with pytest.raises(ValueError, match="a row for each of 200 outputs and a column for each of 3 names"):
        plots.ReliabilityDisplay.from_probabilities(P, y, ["a", "b", "c"])


def test_outputs_0_and_1_have_the_pictures_of_classes(rows, two):
    X, y = rows[0], (rows[1] == "ash").astype(float)
    model = MoERegressor(2, family="binomial", random_state=0).fit(X, y)
    one, other = (plots.ReliabilityDisplay.from_estimator(m, X, t, **NUMBERS) for m, t in ((model, y), (two, y > 0)))
    np.testing.assert_allclose(one.observed, other.observed)
    assert (one.names, other.names) == (["1"], ["True"])
    assert plots.ResponsibilityDisplay.from_estimator(model, X, y, 0, **NUMBERS).classes == ("0", "1")


@pytest.mark.parametrize("name", ["two", "three"])
def test_every_picture_draws_and_is_the_same_after_the_model_was_saved(rows, name, request, tmp_path):
    model = request.getfixturevalue(name)
    X, y = rows[0], rows[1] if name == "three" else rows[1] == "ash"
    model.save(tmp_path / "m.skmoe")
    for one, other in zip(
        displays(model, X, y, **NUMBERS), displays(skmoe.load(tmp_path / "m.skmoe"), X, y), strict=True
    ):
        assert plots.to_svg(one) == plots.to_svg(other)
    drawn = displays(model, X, y)[3].ax_.get_legend()
    if name == "three":
        assert [text.get_text() for text in drawn.get_texts()] == [" _cedar", "ash", "beech"]


def test_displays_refuse_the_other_kind_of_outputs_with_advice(rows, three):
    X, y = rows
    for make, instead in (
        (plots.BandDisplay.from_estimator, "ProbabilityDisplay"),
        (plots.CalibrationDisplay.from_estimator, "ReliabilityDisplay"),
        (plots.PredictionDisplay.from_estimator, "SeparationDisplay"),
        (lambda m, X, y: plots.ExpertDisplay.from_estimator(m, X, y, 0), "ExpertProbabilityDisplay"),
    ):
        with pytest.raises(TypeError, match=f"for a MoEClassifier use {instead}"):
            make(three, X, 0 if instead == "ProbabilityDisplay" else y)
    counts = MoERegressor(1, family="poisson").fit(X, np.arange(600) % 5)
    with pytest.raises(TypeError, match=r"classes, or of outputs 0 and 1; got a MoERegressor with family='poisson'"):
        plots.ReliabilityDisplay.from_estimator(counts, X, y)
