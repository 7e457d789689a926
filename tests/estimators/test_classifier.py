"""MoEClassifier: scikit-learn's checks, one expert against multinomial logistic regression, several classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import skmoe
from skmoe import MoEClassifier
from skmoe.model.families import MultinomialFamily
from skmoe.model.parameters import MoEParameters

NAMES = np.array(["ash", "beech", "cedar"])


def made(n=2000, classes=3, seed=0):
    """Rows of two experts over two inputs, whose classes depend on the inputs in opposite ways."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    A = np.stack([2 * np.ones((classes - 1, 2)), -2 * np.ones((classes - 1, 2))])
    A[:, :, 1] = np.linspace(-1, 1, classes - 1)
    truth = MoEParameters(A, [[0.0, 3.0], [0.0, 0.0]], 1.0, family=MultinomialFamily(classes))
    P = truth.predict_proba(X)
    return X, NAMES[(rng.random((n, 1)) > np.cumsum(P, axis=1)).sum(axis=1)], truth


@pytest.mark.filterwarnings("ignore:.*experts ask for more than")  # the checks' tables are tiny
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::skmoe.inference.FewRowsWarning")
@parametrize_with_checks([MoEClassifier(), MoEClassifier(1)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weighted", [False, True])
def test_one_expert_is_multinomial_logistic_regression(weighted):
    sm = pytest.importorskip("statsmodels.api", exc_type=ImportError)
    X, y, _ = made(600)
    weight = np.random.default_rng(1).integers(1, 4, len(y)) if weighted else np.ones(len(y), dtype=int)
    model = MoEClassifier(1).fit(X, y, sample_weight=weight if weighted else None)
    rows, labels = np.repeat(X, weight, axis=0), np.searchsorted(NAMES, np.repeat(y, weight))
    fit = sm.MNLogit(labels, np.column_stack([rows, np.ones(len(rows))])).fit(disp=0, tol=1e-12, maxiter=200)
    found = np.column_stack([model.expert_coef_[0], model.expert_intercept_[0]])
    errors = np.column_stack([model.expert_coef_se_[0], model.expert_intercept_se_[0]])
    assert_allclose(found, fit.params.T, atol=1e-6)
    assert_allclose(errors, fit.bse.T, atol=1e-6)
    assert model.log_likelihood_ == pytest.approx(fit.llf)
    other = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, y, sample_weight=weight)
    assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=1e-4)


def test_two_experts_are_found():
    X, y, truth = made()
    model = MoEClassifier(2, random_state=0).fit(X, y)
    codes = np.searchsorted(NAMES, y).astype(float)
    assert model.log_likelihood_ > np.sum(truth.log_density(X, codes)) - 1e-3 * len(y)
    order = np.argsort(-model.expert_coef_[:, 0, 0])
    assert np.max(np.abs((model.expert_coef_[order] - truth.A) / model.expert_coef_se_[order])) < 4
    assert model.score(X, y) > MoEClassifier(1).fit(X, y).score(X, y) + 0.05
    assert_array_equal(model.classes_, NAMES)


def test_probabilities_are_those_of_gate_and_experts():
    X, y, _ = made(500)
    model = MoEClassifier(2, random_state=0).fit(X, y)
    gate, experts = model.gate_proba(X), model.expert_proba(X)
    assert_allclose(np.sum(gate[:, :, None] * experts, axis=1), model.predict_proba(X))
    assert_allclose(np.sum(experts, axis=2), 1.0)
    assert_array_equal(model.predict(X), model.classes_[np.argmax(model.predict_proba(X), axis=1)])
    codes = np.searchsorted(NAMES, y)
    assert_allclose(model.log_density(X, y), np.log(model.predict_proba(X)[np.arange(len(y)), codes]))
    of_class = gate * experts[np.arange(len(y)), :, codes]
    assert_allclose(model.responsibilities(X, y), of_class / np.sum(of_class, axis=1, keepdims=True), atol=1e-12)
    averaged = MoEClassifier(2, averaging=3, random_state=0).fit(X, y)
    assert_allclose(np.sum(averaged.predict_proba(X), axis=1), 1.0)
    assert_allclose(averaged.log_density(X, y), np.log(averaged.predict_proba(X)[np.arange(len(y)), codes]))


def test_number_of_experts_is_chosen():
    X, y, _ = made(1500)
    assert MoEClassifier("auto", random_state=0).fit(X, y).n_experts_ == 2


def test_summary_has_odds_ratios_with_intervals():
    X, y, _ = made(800)
    model = MoEClassifier(2, random_state=0).fit(X, y)
    table = model.summary()
    assert "odds ratio" in table.columns
    first = table.rows[1]
    share = f"{100 * model.shares_[0]:.0f}%"
    assert first[:2] == (f"expert 1 ({share}), beech", "x0")
    assert first[8] == pytest.approx(np.exp(model.expert_coef_[0, 0, 0]))
    assert first[9:] == pytest.approx(np.exp(model.profile_intervals_[0]))
    assert len(table.rows) == 2 * 2 * 3 + 3
    assert "classes against ash" in str(table)


def test_labels_of_any_kind_and_unknown_ones():
    X, y, _ = made(300)
    model = MoEClassifier(1).fit(X, np.searchsorted(NAMES, y) - 5)
    assert_array_equal(model.classes_, [-5, -4, -3])
    with pytest.raises(ValueError, match="labels that the model was not fitted to, such as 7"):
        model.responsibilities(X[:2], [7, -5])
    with pytest.raises(ValueError, match="y has one class, 'ash'"):
        MoEClassifier(1).fit(X, np.full(len(X), "ash"))
    with pytest.raises(ValueError, match="more than 1000 classes"):
        MoEClassifier(1).fit(np.zeros((1002, 1)), np.arange(1002))


def test_classes_without_weight_are_left_out():
    X, y, _ = made(300)
    model = MoEClassifier(1).fit(X, y, sample_weight=(y != "ash").astype(float))
    assert_array_equal(model.classes_, ["beech", "cedar"])
    assert model.expert_coef_.shape == (1, 1, 2)


@pytest.mark.parametrize("labels", [[1.0, 2.0, 4.0], [3, 7, 2**60 + 1], [False, True]])
def test_labels_of_pytorch_keep_their_type(labels):
    torch = pytest.importorskip("torch", exc_type=ImportError)
    X, y, _ = made(300)
    codes = np.minimum(np.searchsorted(NAMES, y), len(labels) - 1)
    model = MoEClassifier(1).fit(torch.asarray(X), torch.asarray(np.array(labels)[codes]))
    found = model.predict(torch.asarray(X))
    assert found.dtype == torch.asarray(np.array(labels)).dtype
    assert_array_equal(found.numpy(), model.predict(X))


def test_rows_of_pytorch_and_of_tables_give_the_same_fit():
    torch = pytest.importorskip("torch", exc_type=ImportError)
    pa = pytest.importorskip("pyarrow")
    X, y, _ = made(300)
    codes = np.searchsorted(NAMES, y)
    model = MoEClassifier(2, random_state=0).fit(X, codes)
    other = MoEClassifier(2, random_state=0).fit(torch.asarray(X), torch.asarray(codes))
    assert_allclose(other.expert_coef_, model.expert_coef_, atol=1e-6)
    assert_array_equal(other.predict(torch.asarray(X)).numpy(), model.predict(X))
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "y": codes})
    streamed = MoEClassifier(2, random_state=0).fit(table, "y")
    assert_allclose(streamed.expert_coef_, model.expert_coef_, atol=1e-6)
    assert_allclose(streamed.log_density(table, "y"), model.log_density(X, codes), atol=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("averaging", [0, 2])
def test_model_file_gives_the_same_classifier(classes, averaging, tmp_path):
    X, y, _ = made(300)
    y = np.where(y == "cedar", "ash", y) if classes == 2 else y
    model = MoEClassifier(2, averaging=averaging, random_state=0).fit(X, y)
    model.save(tmp_path / "model.skmoe")
    again = skmoe.load(tmp_path / "model.skmoe")
    assert isinstance(again, MoEClassifier)
    assert_array_equal(again.predict(X), model.predict(X))
    assert_allclose(again.predict_proba(X), model.predict_proba(X))
    assert_allclose(again.expert_coef_se_, model.expert_coef_se_)
    assert str(again.summary()) == str(model.summary())


@pytest.mark.parametrize(
    ("first", "words"),
    [
        (float("nan"), "y has 1 missing labels"),
        (None, "y has 1 missing labels"),
        (1, r"y has labels of several kinds \(int, str\); pass labels of one kind"),
        (True, "y has labels of several kinds"),
    ],
)
@pytest.mark.parametrize("holder", [list, lambda labels: np.array(labels, dtype=object)], ids=["list", "objects"])
def test_gaps_and_numbers_among_labels_of_text_are_refused(first, words, holder):
    X = np.random.default_rng(0).standard_normal((40, 2))
    with pytest.raises(ValueError, match=words):
        MoEClassifier(1).fit(X, holder([first, *["a", "b", "c"] * 13]))


def test_masked_labels_and_dates_are_refused():
    X = np.random.default_rng(0).standard_normal((40, 2))
    masked = np.ma.masked_array(np.arange(40) % 2, mask=np.arange(40) == 3)
    with pytest.raises(ValueError, match="1 masked values"):
        MoEClassifier(1).fit(X, masked)
    dates = np.array(["2020-01-01", "NaT"] * 20, dtype="datetime64[D]")
    with pytest.raises(ValueError, match="y holds dates or durations"):
        MoEClassifier(1).fit(X, dates)


@pytest.mark.parametrize("values", [(False, True), (3, 5), ("no", "yes")])
def test_labels_that_are_python_objects_of_one_kind_are_taken(values):
    X = np.random.default_rng(0).standard_normal((40, 2))
    labels = np.array([values[i % 2] for i in range(40)], dtype=object)
    assert_array_equal(MoEClassifier(1).fit(X, labels).classes_, np.array(values))


@pytest.mark.parametrize("holder", ["file", "table", "table and labels"])
def test_text_of_a_file_or_table_is_taken_as_classes(holder, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    X, y = made(400)[:2]
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "tree": y})
    pq.write_table(table, tmp_path / "rows.parquet")
    rows, labels = (tmp_path / "rows.parquet" if holder == "file" else table), "tree"
    if holder == "table and labels":
        rows, labels = table.drop_columns(["tree"]), y
    model, plain = MoEClassifier(2, random_state=0).fit(rows, labels), MoEClassifier(2, random_state=0).fit(X, y)
    assert_array_equal(model.classes_, plain.classes_)
    assert_allclose(model.expert_coef_, plain.expert_coef_, rtol=1e-5)
    assert model.score(rows, labels) == pytest.approx(plain.score(X, y))
    assert_allclose(model.log_density(rows, labels), plain.log_density(X, y), rtol=1e-5)
    assert_array_equal(model.predict(rows), plain.predict(X))
    assert {row[0] for row in model.diagnose(rows, labels).rows} >= {"probabilities", "fitted range"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # coefficients grow for ever
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("cuts", [[0.0], [-0.5, 0.5]])
def test_classes_that_the_inputs_separate_are_fitted_without_a_penalty(k, cuts):
    X = np.random.default_rng(0).standard_normal((120, 3))
    y = np.digitize(X[:, 0], cuts)
    model = MoEClassifier(k, penalty=0, n_init=3, random_state=0).fit(X, y)
    assert model.score(X, y) == 1
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("kind", ["interval", "period"])
def test_labels_that_are_no_classes_are_refused_by_their_type(kind):
    pd = pytest.importorskip("pandas")
    x = np.arange(40.0)
    y = pd.cut(x, 2) if kind == "interval" else pd.period_range("2000", periods=2, freq="Y").repeat(20)
    with pytest.raises(ValueError, match=f"y has labels of type {kind.title()}; pass labels of one kind"):
        MoEClassifier(1).fit(x[:, None], y)
