import re
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from fit_records import change_record, change_run, change_search
from skmoe import MoERegressor, make_moe
from skmoe.inference import FewRowsWarning, RelationWarning
from skmoe.inference.residuals import residual_findings
from skmoe.model.calibration import Calibration
from streams import let_samples_be_small

WORDS = {"agree": "starts agree: this is very likely the best optimum", "sample": "compared on a random sample"}


RESIDUALS = {"residuals normal", "noise even", "bends", "a second expert"}


def fit_quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


def words_of(table):
    return {question: words for question, _, words in table.rows}


@pytest.fixture(scope="module")
def table():
    return make_moe(2000, 4, 3, noise_scale=0.2, random_state=0)[:2]


@pytest.fixture(scope="module")
def fitted(table):
    return MoERegressor(3, random_state=0).fit(*table)


def test_every_question_is_answered(table, fitted):
    words = words_of(fitted.diagnose(*table))
    assert set(words) == {
        "rows per parameter",
        "input law",
        "gate orthogonal to experts",
        "spectral gap",
        "agreement of starts",
        "stability of regimes",
        "intervals on rows left out",
        "intervals corrected",
        "fitted range",
        "calibration",
    }
    assert words["rows per parameter"] == "enough rows for this model"
    assert "look Gaussian" in words["input law"]
    assert "as many directions as there are experts" in words["spectral gap"]
    assert words["agreement of starts"] == WORDS["agree"]
    assert "agrees with these rows" in words["calibration"]


def test_calibration_needs_rows(table, fitted):
    assert "calibration" not in words_of(fitted.diagnose())


def test_inputs_far_from_gaussian_are_said(table):
    X, y = table
    skewed = np.exp(X[:500])
    model = MoERegressor(2, random_state=0).fit(skewed, y[:500])
    assert "far from Gaussian" in words_of(model.diagnose())["input law"]


@pytest.mark.parametrize("law", ["uniform", "normal", "exponential", "laplace"])
def test_words_on_the_input_law_agree_with_the_figures_beside_them(rng, law):
    along, across = 3 * getattr(rng, law)(size=2000), rng.normal(size=2000)
    X = np.column_stack([along + across, along - across])  # whitening separates the two
    y = X[:, 0] + rng.normal(size=2000)
    (found,) = [row for row in MoERegressor(1).fit(X, y).diagnose().rows if row[0] == "input law"]
    skewness, kurtosis = map(float, re.fullmatch(r"skewness up to (.*), excess kurtosis (.*)", found[1]).groups())
    assert ("far from Gaussian" in found[2]) == (law != "normal")
    # a reader sees why: light tails count as much as heavy ones
    assert ("far from Gaussian" in found[2]) == (skewness >= 0.5 or abs(kurtosis) >= 1.0)


def test_starts_that_agree_are_said_to_agree_on_a_sample_too(monkeypatch):
    """What is said of the sample stands in a line of its own."""
    let_samples_be_small(monkeypatch, sample_rows=2000)
    X, y, _ = make_moe(6000, 3, 2, noise_scale=0.2, random_state=1)
    model = MoERegressor(2, random_state=0).fit(X, y)
    assert model.history_["searched"] < model.history_["rows"] == 6000
    words = words_of(model.diagnose())
    assert words["agreement of starts"] == WORDS["agree"]
    assert WORDS["sample"] in words["rows searched"]
    change_search(monkeypatch, model, agreement=1)
    assert "no two starts ended at the same optimum" in words_of(model.diagnose())["agreement of starts"]
    assert "search" not in words_of(model.diagnose())
    change_search(monkeypatch, model, limited=True)
    assert "20 random starts search twice as long" in words_of(model.diagnose())["search"]


def test_one_expert_needs_no_word_on_starts_and_gate(table):
    words = words_of(MoERegressor(1).fit(*table).diagnose(*table))
    assert set(words) == {"rows per parameter", "input law", "fitted range", "calibration", *RESIDUALS}


def test_fewer_directions_than_experts_are_said():
    X, y, _ = make_moe(3000, 4, 1, noise_scale=0.3, random_state=0)
    model = fit_quietly(MoERegressor(2, random_state=0), X, y)
    assert "look at fewer experts" in words_of(model.diagnose())["spectral gap"]


def test_repeated_columns_are_said(table):
    X, y = table
    with pytest.warns(
        RelationWarning, match=r"'x0' and 'x4' repeat each other \(x4 = 2 x0 \+ 1\).*leave 'x4' out of X$"
    ):
        model = fit_quietly(MoERegressor(2, random_state=0), np.column_stack([X, 2 * X[:, 0] + 1])[:500], y[:500])
    assert model.diagnose().rows[0][:2] == ("repeated inputs", "x0, x4")
    assert "not separately identified" in words_of(model.diagnose())["columns"]


def test_noise_on_its_floor_is_said(rng):
    X = rng.standard_normal((200, 2))
    y = np.where(X[:, 0] > 0, X @ [1.0, 2.0], 3 + X @ [-1.0, 0.5] + 0.3 * rng.standard_normal(200))
    model = fit_quietly(MoERegressor(2, random_state=0), X, y)
    assert model.history_["at_floor"]
    assert "held at a thousandth of the spread" in words_of(model.diagnose())["noise floor"]


def test_small_experts_are_said(rng):
    X = rng.standard_normal((1000, 2))
    y = X @ [1.0, -1.0] + 0.3 * rng.standard_normal(1000)
    y[:30] += 10 + rng.standard_normal(30)
    model = fit_quietly(MoERegressor(2, random_state=0), X, y)
    assert "may be a few outliers" in words_of(model.diagnose())["smallest expert"]


def test_flat_directions_are_said(table, fitted, monkeypatch):
    change_run(monkeypatch, fitted, identified=False)
    assert "a direction of the likelihood is flat" in words_of(fitted.diagnose())["identified"]


def test_rows_that_the_model_does_not_fit_are_said(table, fitted):
    X, y = table
    assert "intervals may be off" in words_of(fitted.diagnose(X, y + 1.0))["calibration"]


def test_paper_method_has_no_word_on_starts_and_identification(table):
    model = MoERegressor(3, method="spectral", random_state=0).fit(*table)
    words = words_of(model.diagnose(*table))
    assert {"input law", "spectral gap"} <= set(words)
    assert not {"agreement of starts", "identified", "rows searched"} & set(words)


# -- rows for each parameter ------------------------------------------------------------------------------------------


def test_few_rows_per_parameter_are_said_loudly(rng):
    X = rng.standard_normal((40, 3))
    y = np.where(X[:, 0] > 0, X @ [1.0, 2.0, 0.0], -X @ [1.0, 1.0, 1.0]) + 0.1 * rng.standard_normal(40)
    with pytest.warns(FewRowsWarning, match=r"14 parameters were fitted to 40 rows, 2\.9 rows for each: .*use fewer"):
        model = fit_quietly(MoERegressor(2, random_state=0), X, y)
    assert model.n_parameters_ == 14
    words = words_of(model.diagnose())
    assert words["rows per parameter"].startswith("TOO FEW: 14 parameters were fitted to 40 rows")


def test_expert_with_few_rows_per_coefficient_is_named(rng):
    X = rng.standard_normal((400, 4))
    rare = X[:, 0] > np.sort(X[:, 0])[-9]
    y = np.where(rare, 30 + X @ [1.0, 2.0, 3.0, 4.0], X @ [-1.0, 1.0, 0.0, 2.0]) + 0.1 * rng.standard_normal(400)
    with pytest.warns(FewRowsWarning, match=r"expert 2 has 8\.0 rows for 5 coefficients"):
        model = fit_quietly(MoERegressor(2, penalty=0, random_state=0), X, y)
    table = model.diagnose()
    assert words_of(table)["rows per parameter"] == "enough rows for this model"
    assert words_of(table)["rows per coefficient"].startswith("TOO FEW: expert 2 has 8.0 rows")


def test_experts_that_rows_do_not_carry_fade_and_are_named(rng):
    """Three experts are asked for where two laws hold: the third has no rows, and takes nothing from the others."""
    X = rng.standard_normal((120, 4))
    y = np.where(X[:, 0] > 0, X @ [1.0, 2.0, 0.0, 1.0], 3 - X @ [1.0, 1.0, 2.0, 0.0]) + 0.3 * rng.standard_normal(120)
    with pytest.warns(FewRowsWarning, match=r"the rows support 2 of 3 experts: expert 3 \(.*\) faded.*use 2 of them"):
        model = fit_quietly(MoERegressor(3, random_state=0), X, y)
    assert model.shares_[2] < 0.02
    two = fit_quietly(MoERegressor(2, random_state=0), X, y)
    np.testing.assert_allclose(model.expert_coef_[:2], two.expert_coef_, atol=0.05)
    assert words_of(model.diagnose())["rows per coefficient"].startswith("TOO FEW: the rows support 2 of 3 experts")


def test_whole_weights_count_as_rows_for_parameters(rng):
    X = rng.standard_normal((30, 2))
    y = np.where(X[:, 0] > 0, X @ [1.0, 2.0], 3 - X @ [1.0, 1.0]) + 0.3 * rng.standard_normal(30)
    model = MoERegressor(2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewRowsWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, sample_weight=np.full(30, 10))
    assert ("rows per parameter", f"{300 / 11:.1f} (300 rows, 11 parameters)") in [r[:2] for r in model.diagnose().rows]


# -- one expert -------------------------------------------------------------------------------------------------------


def one_expert(X, y):
    return words_of(MoERegressor(1).fit(X, y).diagnose(X, y))


def test_plain_regression_has_no_bad_residuals(rng):
    X = rng.standard_normal((500, 3))
    words = one_expert(X, X @ [1.0, 2.0, 3.0] + rng.standard_normal(500))
    assert words["residuals normal"] == "residuals look normal"
    assert "about the same" in words["noise even"]
    assert "no bend" in words["bends"]
    assert "nothing in the residuals asks for one" in words["a second expert"]


@pytest.mark.parametrize("trouble", ["normal", "even", "bends"])
def test_bad_residuals_of_one_expert_are_said(rng, trouble):
    X = rng.standard_normal((600, 3))
    noise = rng.standard_normal(600)
    y = X @ [1.0, 2.0, 3.0]
    if trouble == "normal":
        words = one_expert(X, y + np.exp(noise))
        assert "residuals are skewed and heavy-tailed" in words["residuals normal"]
    elif trouble == "even":
        words = one_expert(X, y + np.exp(0.5 * X[:, 0]) * noise)
        assert "depends on the inputs" in words["noise even"]
        assert "no bend" in words["bends"]
    else:
        words = one_expert(X, y + 0.5 * X[:, 1] ** 2 + noise)
        assert "the relation bends" in words["bends"]
    assert "may be worth trying" in words["a second expert"]


def test_level_of_the_residual_tests_is_kept():
    """Of 200 plain regressions each test may speak up in about one in a hundred."""
    found = dict.fromkeys(RESIDUALS, 0)
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((150, 3))
        y = X @ [1.0, 2.0, 3.0] + rng.standard_normal(150)
        for question, _, words in residual_findings(MoERegressor(1).fit(X, y), X, y):
            found[question] += any(sign in words for sign in ("residuals are", "depends", "bends:", "worth trying"))
    assert found["noise even"] <= 8
    assert found["bends"] <= 8
    assert found["residuals normal"] <= 10
    assert found["a second expert"] <= 20


def test_second_expert_that_held_out_rows_refused_is_said(rng):
    X = rng.standard_normal((300, 2))
    y = X @ [1.0, -1.0] + 0.5 * rng.standard_normal(300)
    model = fit_quietly(MoERegressor("auto", random_state=0), X, y)
    assert model.n_experts_ == 1
    assert "held-out rows prefer one" in words_of(model.diagnose(X, y))["a second expert"]


# -- other models -----------------------------------------------------------------------------------------------------


def test_regimes_that_other_models_do_not_show_are_said_loudly(table, fitted, monkeypatch):
    assert words_of(fitted.diagnose())["stability of regimes"] == "fits that left rows out show the same regimes"
    monkeypatch.setattr(fitted, "stability_", np.array([1.0, 0.4, 0.8]))
    change_record(monkeypatch, fitted, fold_rows=2000)
    words = words_of(fitted.diagnose())["stability of regimes"]
    assert words.startswith("UNSTABLE: fits that left rows out show expert 2 in 2 of 5 only: such a regime may be")
    change_record(monkeypatch, fitted, fold_rows=1000)
    assert "they saw 1,000 of the 2,000 rows" in words_of(fitted.diagnose())["stability of regimes"]
    monkeypatch.setattr(fitted, "stability_", np.full(3, np.nan))
    assert "stability of regimes" not in words_of(fitted.diagnose())


@pytest.mark.parametrize(
    ("calibration", "words"),
    [
        (Calibration(0.0, 1.0), "about right, and were hardly corrected"),
        (Calibration(0.0, 1.25), "widened by 25% (they were too narrow)."),
        (
            Calibration(-0.1, 0.9, 5.0),
            "narrowed by 10% (they were too wide), moved down by 0.10 standard deviations and",
        ),
        (Calibration(0.0, 1.0, 4.0), "given heavier tails (Student's t with 4.0 degrees of freedom)."),
    ],
    ids=["right", "narrow", "three", "tails"],
)
def test_correction_of_intervals_is_said(fitted, monkeypatch, calibration, words):
    monkeypatch.setattr(fitted, "calibration_", calibration)
    assert words in words_of(fitted.diagnose())["intervals corrected"]
    monkeypatch.setattr(fitted, "calibration_", None)
    assert "intervals corrected" not in words_of(fitted.diagnose())
