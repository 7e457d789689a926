"""Categories that a fit did not have break no cross-validation, and are counted in a warning."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import skmoe
from skmoe import MoEClassifier, MoERegressor
from skmoe.tables import TableError, UnseenCategoryWarning

pytest.importorskip("pyarrow")
FOLDS = KFold(6)


@pytest.fixture(scope="module")
def rows():
    """Rows of which the first fold alone holds a category."""
    rng = np.random.default_rng(0)
    kind = np.array(["a", "b", "c"], dtype=object)[rng.integers(3, size=120)]
    kind[:20] = "new"
    X = pd.DataFrame({"x": rng.normal(size=120), "kind": kind})
    return X, np.where(kind == "a", 2, -1) * X["x"] + (kind == "b") + 0.1 * rng.normal(size=120)


def quick(model=MoERegressor, **settings):
    return model(2, penalty=0.3, n_init=2, random_state=0, **settings)


@pytest.mark.parametrize("model", [MoERegressor, MoEClassifier])
def test_cross_validation_is_finite_in_every_fold_and_warns_of_the_one(rows, model):
    X, y = rows
    y = y if model is MoERegressor else y > 0
    with pytest.warns(UnseenCategoryWarning, match=r"not there in fitting: kind \(20 rows\)") as told:
        scores = cross_val_score(quick(model), X, y, cv=FOLDS, error_score="raise")
    assert np.all(np.isfinite(scores))
    assert len(told) == 1


def test_cross_validation_of_a_pipeline_over_the_parameter(rows):
    search = GridSearchCV(
        make_pipeline(FunctionTransformer(), quick()),
        {"moeregressor__unseen": ["other", "error"]},
        cv=FOLDS,
        refit=False,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search.fit(*rows)
    finite = np.isfinite([search.cv_results_[f"split{i}_test_score"] for i in range(6)])
    assert finite[:, 0].all()
    assert finite[:, 1].tolist() == [False] + 5 * [True]


def test_unseen_category_is_predicted_by_the_mean_of_the_inputs_of_the_known(rows):
    X, y = rows
    model = quick(calibration=None).fit(X[20:], y[20:])
    strange = X[:5].assign(kind="z")
    with pytest.warns(UnseenCategoryWarning):
        found = model.predict(strange)
    inputs = np.column_stack([strange["x"], np.full((5, 2), 1 / 3)])
    np.testing.assert_allclose(found, model.parameters_.predict(inputs))
    with pytest.warns(UnseenCategoryWarning):
        assert np.all(np.isfinite(model.predict_interval(strange)))
    with pytest.warns(UnseenCategoryWarning):
        assert np.isfinite(model.score(strange, y[:5]))


def test_unseen_category_counts_as_the_rare_ones_where_there_were_some(rows):
    X, y = rows
    kind = np.where(np.arange(120) % 15 == 0, [f"rare {i}" for i in range(120)], X["kind"])
    model = quick().fit(X.assign(kind=kind), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rare = model.predict(X.assign(kind="rare 0"))
    with pytest.warns(UnseenCategoryWarning):
        np.testing.assert_array_equal(model.predict(X.assign(kind="z")), rare)


def test_setting_lives_through_clones_and_files(rows, tmp_path):
    X, y = rows
    model = quick(unseen="error").fit(X[20:], y[20:])
    assert clone(model).get_params()["unseen"] == "error"
    model.save(tmp_path / "m.skmoe")
    for fitted in (model, skmoe.load(tmp_path / "m.skmoe")):
        assert fitted.unseen == "error"
        with pytest.raises(TableError, match='fit with unseen="other"'):
            fitted.predict(X)
    with pytest.raises(ValueError, match="'unseen' parameter of MoERegressor must be"):
        MoERegressor(unseen="empty").fit(X, y)


def test_files_of_rows_are_read_by_the_same_rule(rows, tmp_path):
    X, y = rows
    X[20:].assign(y=y[20:]).to_csv(tmp_path / "fit.csv", index=False)
    X.to_csv(tmp_path / "new.csv", index=False)
    model = quick().fit(tmp_path / "fit.csv", "y")
    with pytest.warns(UnseenCategoryWarning, match=r"kind \(20 rows\)"):
        found = model.predict(tmp_path / "new.csv")
    with pytest.warns(UnseenCategoryWarning):
        np.testing.assert_allclose(found, model.predict(X))
    strict = quick(unseen="error").fit(tmp_path / "fit.csv", "y")
    with pytest.raises(TableError, match="holds 'new'"):
        strict.predict(tmp_path / "new.csv")


def test_command_line_and_python_have_one_default(rows):
    from inspect import signature

    from skmoe.cli.fit import fit
    from skmoe.tables import TableTransformer

    defaults = {
        signature(of).parameters["unseen"].default for of in (fit, MoERegressor, MoEClassifier, TableTransformer)
    }
    assert defaults == {"other"}
