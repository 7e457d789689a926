"""The report of a classifier, and of counts, in the right words and with the right baselines."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from report.pages import Outline, captioned, cards, regime_blocks, texts, words_of
from skmoe import MoEClassifier, MoERegressor, plots, report
from skmoe.report.data import report_data
from skmoe.report.evaluated import EvaluatedClasses
from skmoe.report.evaluation import Evaluation, Protocol
from skmoe.report.methods import of_classes
from skmoe.report.records import Figure
from skmoe.report.sections.coefficients import coefficients, numbers
from skmoe.report.sections.gate import gate
from skmoe.report.sections.overview import overview
from skmoe.report.sections.prediction import prediction
from skmoe.report.sections.regimes import regimes
from skmoe.report.sections.trust import checks, trust


def answers(n=500, seed=0):
    """Answers whose dependence on a turns round at b = 0."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.standard_normal(n), "b": rng.standard_normal(n), "sex": rng.choice(["f", "m"], n)})
    return X, np.where(rng.random(n) < 1 / (1 + np.exp(-3 * X["a"] * np.sign(X["b"]))), "yes", "no")


@pytest.fixture(scope="module")
def rows():
    return answers()


@pytest.fixture(scope="module")
def model(rows):
    return MoEClassifier(2, random_state=0).fit(*rows)


@pytest.fixture(scope="module")
def given(model, rows):
    return report_data(model, *rows, "answer", None, 3)


def test_every_row_is_predicted_by_fits_to_the_other_folds(model, rows, given):
    found = given.evaluation
    assert (found.protocol, found.n, found.folds) == (Protocol.CROSS_FITTED, 500, 3)
    X, codes = given.rows.values, (rows[1] == "yes").astype(float)
    again = clone(model).set_params(categorical=None)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    fits = (again, logistic, HistGradientBoostingClassifier(random_state=0))
    for evaluated, fit in zip(found.methods, fits, strict=True):
        P = np.empty((500, 2))
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, codes):
            P[test] = fit.fit(X[train], codes[train]).predict_proba(X[test])
        np.testing.assert_allclose(evaluated.proba, P, rtol=1e-6)
        assert evaluated.log_loss == pytest.approx(log_loss(codes, P))
        assert evaluated.accuracy == pytest.approx(accuracy_score(codes, np.argmax(P, axis=1)))
        assert evaluated.brier == pytest.approx(2 * np.mean((P[:, 1] - codes) ** 2))


def test_page_says_what_the_model_says(model, rows, given):
    page = report.html(model, *rows, target="answer", folds=3)
    Outline(page)  # well formed
    words, evaluated = words_of(page), given.evaluation
    assert "logistic regression of answer (no, yes) on the inputs" in words
    assert f"negative log probability of the class that came, is {evaluated.mixture.log_loss:.3f}" in words
    assert "HistGradientBoostingClassifier), in the same folds" in words
    strongest = max(range(2), key=lambda i: model.expert_coef_[i, 0, 0])
    ratio = np.exp(model.expert_coef_[strongest, 0, 0])
    assert f"the odds of answer being yes rather than no are multiplied by {ratio:.3g} (" in words
    assert "noise" not in words
    always = f"{100 * max(np.mean(rows[1] == label) for label in ('no', 'yes')):.0f}%"
    assert f"; the most frequent one came in {always}." in words
    assert f"always naming the most frequent class {always}; logistic regression" in words
    for _, finding, said in model.diagnose(*rows).rows:
        assert finding in words
        assert said in words
    assert page.count("<svg") == 10  # of two experts 2 each, and 6 of sections


def test_odds_ratios_are_those_of_the_summary(model, given):
    table = captioned(coefficients(given), "Odds ratios, of each class against no")
    told = {(row[0], row[1]): row[8:11] for row in model.summary().rows}
    for term, *cells in table.rows:
        for part, cell in zip(table.columns[1:], cells, strict=True):
            value, low, high = told[part, term]
            assert cell.value == value
            assert cell.muted == (low < 1 < high)
    assert [row[0] for row in table.rows] == ["a", "b", "sex=m"]
    assert {row[1] for row in report_table(given)} >= {"expert 1, yes", "expert 2, yes"}


def report_table(given):
    return captioned(numbers(given), "All coefficients").rows


def test_held_out_rows_and_the_model_alone_are_enough(model):
    tested = report_data(model, None, None, "answer", answers(200, 1), 3)
    assert tested.evaluation.protocol is Protocol.TEST_ALONE
    assert tested.evaluation.mixture.accuracy > 0.7
    assert "log loss" in texts(prediction(tested))[0]
    words = words_of(report.html(model))
    assert "Regimes of y" in words
    assert "rather than no are multiplied by" in words


@pytest.mark.parametrize(
    ("power", "verdict", "said"),
    [(1.0, "fine", "as sure as they should be"), (4.0, "careful", "too sure"), (0.3, "note", "less sure")],
)
def test_trust_says_whether_probabilities_hold(model, monkeypatch, power, verdict, said):
    given = report_data(model, None, None, None, answers(200, 1), 0)
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 0.95, 4000)
    y = (rng.random(4000) < p).astype(float)
    odds = (p / (1 - p)) ** power
    evaluated = EvaluatedClasses("mixture of experts", y, np.column_stack([1 / (1 + odds), odds / (1 + odds)]))
    monkeypatch.setattr("skmoe.report.methods._mixture_of_classes", lambda *_: evaluated)
    check = next(c for c in checks(given) if c.name == "Probabilities on rows held out")
    assert check.verdict == verdict
    assert said in check.text
    assert captioned(trust(given), "Reliability on rows held out")


def test_three_classes_and_a_class_of_few_rows(rows):
    X, y = rows[0][:120], rows[1][:120].astype(object)
    y[:2] = "unsure"
    model = MoEClassifier(2, random_state=0).fit(X, y)
    given = report_data(model, X, y, "answer", None, 3)
    assert all(method.proba.shape == (120, 3) for method in given.evaluation.methods)
    np.testing.assert_allclose(given.evaluation.mixture.proba.sum(axis=1), 1)
    assert "being unsure rather than no" in words_of(report.html(model, X, y, target="answer", folds=0))
    assert cards(overview(given))[2].name == "Log loss on rows held out"


def test_a_part_of_one_class_is_said_to_be_too_little():
    (logistic, _), X = of_classes(2).baselines, np.zeros((4, 1))
    with pytest.raises(ValueError, match="one class only"):
        logistic(X, np.zeros(4), None)


def test_levels_of_counts_are_taken_within_the_probability_of_each():
    """Central intervals of small counts would otherwise seem to hold too little or too much."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1500, 1))
    y = rng.poisson(np.exp(-0.5 + 0.3 * X[:, 0])).astype(float)
    model = MoERegressor(1, family="poisson").fit(X[:500], y[:500])
    given = report_data(model, None, None, "visits", (X[500:], y[500:]), 0)
    for coverage in (0.5, 0.9, 0.95):
        assert abs(given.evaluation.mixture.inside(coverage) - coverage) < 0.04
    assert captioned(coefficients(given), "Rate ratios: by how much one unit more of an input")


def test_pictures_hold_what_rows_held_out_say(given, monkeypatch):
    """The separation and the reliability are of probabilities by fits to the other folds, not of the model's own."""
    drawn = {}
    for name in ("SeparationDisplay", "ReliabilityDisplay"):
        kind = getattr(plots, name)

        def keep(*arguments, name=name, make=kind.from_probabilities, **how):
            drawn[name] = arguments
            return make(*arguments, **how)

        monkeypatch.setattr(kind, "from_probabilities", keep)
    assert captioned(prediction(given), "Probability given to the class of answer that came")
    assert captioned(trust(given), "Reliability on rows held out")
    for proba, y, names in drawn.values():
        np.testing.assert_array_equal(proba, given.evaluation.mixture.proba)
        np.testing.assert_array_equal(y, given.evaluation.mixture.y)
        assert names == ("no", "yes")


def test_captions_say_what_is_drawn(given, model, rows):
    assert captioned(coefficients(given), "Odds ratios with 95% intervals, for one standard deviation", Figure)
    assert "the share" not in texts(regimes(given), "remark")[0]
    assert (
        regime_blocks(regimes(given))[0].figures[1].caption.startswith("Probability of yes along its strongest input")
    )
    assert captioned(gate(given), "answer against b")
    alone = MoEClassifier(1).fit(rows[0][["a"]], rows[1])
    one = report_data(alone, rows[0][["a"]], rows[1], "answer", None, 0)
    assert captioned(prediction(one), "Predicted probabilities of answer along a.")


def test_outputs_0_and_1_are_evaluated_as_classes(rows):
    X, y = rows[0], (rows[1] == "yes").astype(float)
    model = MoERegressor(2, family="binomial", random_state=0).fit(X, y)
    given = report_data(model, X, y, "answer", None, 3)
    assert isinstance(given.evaluation.mixture, EvaluatedClasses)
    assert checks(given)[1].name == "Probabilities on rows held out"
    words = words_of(report.html(model, X, y, target="answer", folds=3))
    assert "the odds of answer being 1 are multiplied by" in words
    assert "it gives 1 a probability of" in words
    assert "RMSE" not in words
    assert dict((row[0], row[2]) for row in model.diagnose(X, y).rows)["probabilities"].startswith("they are as sure")


def test_classes_no_better_than_the_base_rate_are_never_fine(model, rows, given, monkeypatch):
    y = (np.arange(400) < 40).astype(float)
    blind, turned = np.tile([0.9, 0.1], (400, 1)), np.tile([0.2, 0.8], (400, 1))
    methods = (EvaluatedClasses("mixture of experts", y, turned), EvaluatedClasses("logistic regression", y, blind))
    assert methods[0].base_rate == 0.9
    monkeypatch.setitem(given.__dict__, "evaluation", Evaluation(Protocol.TEST, methods, 0, 400))
    check = checks(given)[0]
    assert check.verdict == "careful"
    assert check.text.startswith("Careful: rows held out are predicted worse than by always naming the most frequent ")
    assert "(10.0% right against 90.0%) and logistic regression (log loss 1.47 against 0.325)." in check.text
    assert check.text in texts(overview(given), "note careful")
