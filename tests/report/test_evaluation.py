"""Predictions are evaluated on rows that no method was fitted to."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score, root_mean_squared_error
from sklearn.model_selection import KFold

from report.pages import cards, problem, table_with_text, texts
from skmoe import MoERegressor
from skmoe.report import evaluation
from skmoe.report.data import report_data
from skmoe.report.evaluated import EvaluatedNumbers
from skmoe.report.evaluation import Evaluation, Protocol, cross_fitted, evaluated_on_test
from skmoe.report.methods import OF_NUMBERS
from skmoe.report.rows import Rows
from skmoe.report.sections.overview import overview
from skmoe.report.sections.prediction import prediction
from skmoe.report.sections.trust import checks


@pytest.fixture
def fitted_rows(monkeypatch):
    """Outputs that each fit and each prediction of the baselines and of the mixture saw, in order."""
    seen = []

    def watch(kind):
        fit, predict = kind.fit, kind.predict

        def fit_seen(self, X, y, *more, **how):
            self.seen_ = np.sort(np.asarray(y))
            return fit(self, X, y, *more, **how)

        def predict_seen(self, X):
            seen.append((kind.__name__, self.seen_, len(X)))
            return predict(self, X)

        monkeypatch.setattr(kind, "fit", fit_seen)
        monkeypatch.setattr(kind, "predict", predict_seen)

    for kind in (LinearRegression, HistGradientBoostingRegressor):
        watch(kind)
    return seen


def test_every_row_is_predicted_by_fits_to_the_other_folds(model, data):
    X, y = data
    found = cross_fitted(model, Rows.of(model, X, y), 3, OF_NUMBERS)
    assert (found.protocol, found.n, found.folds, found.unfinished) == (Protocol.CROSS_FITTED, 600, 3, 0)
    again = clone(model)
    expected = {name: np.empty(600) for name in ("mixture of experts", "least squares", "gradient boosting")}
    bounds = np.empty((600, 2))
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        parts = (X.to_numpy()[train], y.to_numpy()[train], X.to_numpy()[test])
        fits = (again, LinearRegression(), HistGradientBoostingRegressor(random_state=0))
        for name, fit in zip(expected, fits, strict=True):
            expected[name][test] = fit.fit(*parts[:2]).predict(parts[2])
        bounds[test] = again.predict_interval(parts[2], coverage=0.9)
    for evaluated in found.methods:
        np.testing.assert_allclose(evaluated.predicted, expected[evaluated.method], rtol=1e-7)
        assert evaluated.rmse == pytest.approx(root_mean_squared_error(y, expected[evaluated.method]))
        assert evaluated.r2 == pytest.approx(r2_score(y, expected[evaluated.method]))
    low, high = bounds.T
    assert found.mixture.inside(0.9) == pytest.approx(np.mean((low <= y) & (y <= high)))
    assert found.mixture.width == pytest.approx(np.median(high - low))
    assert np.isnan(found.baselines[1].inside(0.9))


def test_baselines_never_see_the_rows_they_are_evaluated_on(model, data, fitted_rows):
    (X, y), (X_test, y_test) = data, problem(200, 5)
    rows, test = Rows.of(model, X, y), Rows.of(model, X_test, y_test)
    for given, folds, evaluated, outputs in ((rows, 5, None, y), (rows, 5, test, y_test), (None, 5, test, y_test)):
        fitted_rows.clear()
        found = (
            cross_fitted(model, given, folds, OF_NUMBERS)
            if evaluated is None
            else evaluated_on_test(model, given, evaluated, folds, OF_NUMBERS)
        )
        kinds = {kind for kind, _, _ in fitted_rows}
        assert kinds == {"LinearRegression", "HistGradientBoostingRegressor"}
        apart = [len(set(seen) & set(outputs)) + n <= len(outputs) for _, seen, n in fitted_rows if n < len(seen) / 2]
        assert apart
        assert all(apart)
        assert found.baselines


def test_model_is_evaluated_on_test_rows_as_it_is(model, data):
    X_test, y_test = problem(200, 5)
    for rows in (None, Rows.of(model, *data)):
        found = evaluated_on_test(model, rows, Rows.of(model, X_test, y_test), 5, OF_NUMBERS)
        np.testing.assert_allclose(found.mixture.predicted, model.predict(X_test))
        low, high = model.predict_interval(X_test, coverage=0.9).T
        assert found.mixture.inside(0.9) == pytest.approx(np.mean((y_test >= low) & (y_test <= high)))
    line = LinearRegression().fit(*data)
    assert found.baselines[0].r2 == pytest.approx(r2_score(y_test, line.predict(X_test)))


def test_baselines_are_left_out_where_there_is_nothing_to_fit_them_to(model):
    few = Rows.of(model, *problem(15, 5))
    assert evaluated_on_test(model, None, few, 5, OF_NUMBERS).baselines == ()
    given = report_data(model, None, None, None, problem(15, 5))
    assert "so none are compared" in texts(prediction(given))[1]
    assert cards(overview(given))[2].detail == "root mean squared error, in the units of yield"


def test_section_says_how_rows_were_held_out(model, data):
    given = report_data(model, *data, None, None, 2)
    text, protocol = texts(prediction(given))
    assert text.startswith("On 600 rows held out, the root mean squared error of yield is ")
    assert "% less than that of least squares and " in text
    assert "Each row was predicted by a model fitted to the other rows, in 2 folds; so were least squares" in protocol
    alone = texts(prediction(report_data(model, None, None, None, problem(200, 5))))[1]
    assert "given rows, which took no part in its fit" in alone
    assert "were fitted to the same rows in 5 folds, each row predicted from the other folds" in alone
    both = texts(prediction(report_data(model, *data, None, problem(200, 5))))[1]
    assert "were fitted to the given rows of the fit, and predict the same held-out rows" in both


def test_average_is_evaluated_as_an_average(data):
    X, y = data[0][:240], data[1][:240]
    averaged = MoERegressor(2, averaging=4, random_state=0).fit(X, y)
    found = cross_fitted(averaged, Rows.of(averaged, X, y), 2, OF_NUMBERS)
    train, test = next(iter(KFold(2, shuffle=True, random_state=0).split(X)))
    again = clone(averaged).set_params(random_state=0).fit(X.to_numpy()[train], y.to_numpy()[train])
    assert again.members_
    np.testing.assert_allclose(found.mixture.predicted[test], again.predict(X.to_numpy()[test]), rtol=1e-7)


def test_columns_named_by_the_caller_are_those_of_the_refits(data):
    X, y = data
    model = MoERegressor(2, gate_features=["dose"], expert_features=["weight"], random_state=0).fit(X, y)
    found = cross_fitted(model, Rows.of(model, X, y), 2, OF_NUMBERS)
    assert found.mixture.r2 == pytest.approx(model.score(X, y), abs=0.05)


def test_text_columns_are_cross_fitted():
    X, y = table_with_text()
    model = MoERegressor(2, random_state=0).fit(X, y)
    assert cross_fitted(model, Rows.of(model, X, y), 2, OF_NUMBERS).mixture.r2 > 0.5


def test_weights_count_rows_in_fits_and_errors(data):
    X, y = data[0][:150], data[1][:150]
    weight = np.arange(150) % 3
    model = MoERegressor(2, penalty=0.3, calibration=None, random_state=0).fit(X, y, sample_weight=weight)
    found = cross_fitted(model, Rows.of(model, X, y, weight), 2, OF_NUMBERS)
    able = weight > 0
    X, y, w = X.to_numpy()[able], y.to_numpy()[able], weight[able]
    train, test = next(iter(KFold(2, shuffle=True, random_state=0).split(X)))
    line = LinearRegression().fit(X[train], y[train], sample_weight=w[train])
    np.testing.assert_allclose(found.baselines[0].predicted[test], line.predict(X[test]))
    again = clone(model).set_params(random_state=0).fit(X[train], y[train], sample_weight=w[train])
    np.testing.assert_allclose(found.mixture.predicted[test], again.predict(X[test]), rtol=1e-7)
    for evaluated in found.methods:  # whole weights are rows that come so often
        repeated = EvaluatedNumbers(
            evaluated.method,
            *(
                np.repeat(a, w, axis=0)
                for a in (y, evaluated.predicted, evaluated.pit, evaluated.bounds, evaluated.log_densities)
            ),
        )
        assert evaluated.rmse == pytest.approx(repeated.rmse)
        assert evaluated.r2 == pytest.approx(repeated.r2)
        assert evaluated.log_density == pytest.approx(repeated.log_density, nan_ok=True)
    widths = np.repeat(np.diff(found.mixture.bounds)[:, 0], w)
    assert found.mixture.width == pytest.approx(np.quantile(widths, 0.5, method="inverted_cdf"))


def test_section_says_how_rows_count(data):
    X, y, weight = data[0][:100], data[1][:100], np.arange(100) % 2 + 1
    model = MoERegressor(1, random_state=0).fit(X, y, sample_weight=weight)
    weighted = texts(prediction(report_data(model, X, y, None, None, 2, weight)))[1]
    assert "Rows count by their weights, in these fits and in the errors." in weighted
    alike = texts(prediction(report_data(model, X, y, None, None, 2)))[1]
    assert "Rows count alike here, though the fit weighted them: their weights were not given." in alike
    with pytest.raises(ValueError, match="X has 100 rows and sample_weight has 3"):
        report_data(model, X, y, None, None, 2, [1, 2, 3])
    with pytest.raises(ValueError, match="sample_weight came without X"):
        report_data(model, None, None, None, None, 2, weight)


def test_few_rows_are_said_to_be_too_few(model):
    assert (
        cross_fitted(model, Rows.of(model, *problem(19)), 5, OF_NUMBERS)
        == "19 rows are too few to hold some of them out."
    )
    X, y = problem(24)
    same = np.where(np.arange(24) < 1, y, 3.0)  # a fold without the first row has nothing to learn
    said = cross_fitted(model, Rows.of(model, X, same), 2, OF_NUMBERS)
    assert said.startswith("The model could not be fitted to part of the rows: ")
    assert texts(prediction(report_data(model, X, same, None, None, 2))) == [said]


def test_large_tables_are_evaluated_and_shown_by_some_rows(model, monkeypatch):
    monkeypatch.setattr("skmoe.report.rows.MOST_ROWS", 500)
    monkeypatch.setattr(evaluation, "CROSS_WORK", 200 * model.n_parameters_)
    monkeypatch.setattr(evaluation, "CROSS_ROWS", 20)
    X, y = problem(1200, 3)
    given = report_data(model, X, y, None, None, 2)
    assert (given.rows.n, given.rows.total, given.evaluation.n) == (500, 1200, 200)
    np.testing.assert_array_equal(given.rows.y, y.to_numpy()[np.linspace(0, 1199, 500).astype(int)])
    assert "Of 1,200 rows 200 took part, evenly spaced: the model was fitted again to" in texts(prediction(given))[1]
    assert cards(overview(given))[0].detail == "4 inputs; 500 of them shown"
    assert "Written from 500 of 1,200 rows" in texts(overview(given), "note")[0]
    assert "Written from" not in "".join(texts(overview(report_data(model, *problem(400, 3), None, None, 0)), "note"))


@pytest.mark.parametrize(
    ("scale", "verdict", "words"),
    [(1.0, "fine", "as many as they should"), (2.0, "note", "wider than need be"), (0.5, "careful", "too narrow")],
)
def test_trust_says_whether_intervals_hold_what_they_should(model, data, monkeypatch, scale, verdict, words):
    from scipy.special import ndtr

    given = report_data(model, None, None, None, problem(400, 5))
    z = np.random.default_rng(0).normal(size=400) / scale
    evaluated = EvaluatedNumbers("mixture of experts", z, np.zeros(400), ndtr(z), np.zeros((400, 2)), np.zeros(400))
    methods = replace(OF_NUMBERS, mixture=lambda *_: evaluated)
    monkeypatch.setattr("skmoe.report.methods.OF_NUMBERS", methods)
    check = next(c for c in checks(given) if c.name == "Intervals on rows held out")
    assert check.verdict == verdict
    assert words in check.text
    assert (check.text in texts(overview(given), "note careful")) == (verdict == "careful")


def test_all_rows_are_held_out_while_rows_times_parameters_are_few():
    X, y = problem(3000, 4)
    model = MoERegressor(2, penalty=0.3, calibration=None, n_init=2, random_state=3).fit(X, y)
    found = cross_fitted(model, Rows.of(model, X, y), 2, OF_NUMBERS)
    assert (found.n, found.of) == (3000, 3000)
    X, y = X.to_numpy(), y.to_numpy()
    train, test = next(iter(KFold(2, shuffle=True, random_state=3).split(X)))  # the model's own seed
    again = clone(model).fit(X[train], y[train])
    np.testing.assert_allclose(found.mixture.predicted[test], again.predict(X[test]), rtol=1e-7)


def test_model_chosen_by_auto_is_evaluated_with_its_number_of_experts(data):
    X, y = data[0][:200], data[1][:200]
    model = MoERegressor("auto", random_state=0).fit(X, y)
    found = cross_fitted(model, Rows.of(model, X, y), 2, OF_NUMBERS)
    train, test = next(iter(KFold(2, shuffle=True, random_state=0).split(X)))
    again = clone(model).set_params(n_experts=model.n_experts_).fit(X.to_numpy()[train], y.to_numpy()[train])
    np.testing.assert_allclose(found.mixture.predicted[test], again.predict(X.to_numpy()[test]), rtol=1e-7)


@pytest.mark.parametrize(
    ("slope", "verdict", "said"),
    [
        (0.9, "fine", "They are better than those of least squares."),
        (0.5005, "note", "They are about as good as those of least squares."),
        (0.4, "careful", "Careful: rows held out are predicted worse than by least squares (root mean squared error "),
        (-0.2, "careful", "worse than by the mean of all outputs (R² is −0.4"),
    ],
)
def test_poor_predictions_are_never_fine(model, monkeypatch, slope, verdict, said):
    y = np.random.default_rng(0).normal(size=400)

    def evaluated(method, slope):
        return EvaluatedNumbers(method, y, slope * y, np.full(400, 0.5), np.zeros((400, 2)), np.zeros(400))

    given = report_data(model, None, None, None, problem(400, 5))
    methods = (evaluated("mixture of experts", slope), evaluated("least squares", 0.5))
    monkeypatch.setitem(given.__dict__, "evaluation", Evaluation(Protocol.TEST, methods, 0, 400))
    check = checks(given)[0]
    assert (check.name, check.verdict) == ("Predictions of rows held out", verdict)
    assert said in check.text
    assert (check.text in texts(overview(given), "note careful")) == (verdict == "careful")
