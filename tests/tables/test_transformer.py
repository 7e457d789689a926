"""The table transformer in scikit-learn's pipelines."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from skmoe import MoERegressor, TableTransformer
from skmoe.arrays.blocks import in_memory
from skmoe.tables import TableError, UnseenCategoryWarning, open_table

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

NAMES = ["kind=stone", "kind=wood", "kind=missing", "x", "x=missing", "when: days", "when: month", "when: weekday"]


@parametrize_with_checks([TableTransformer(), TableTransformer(missing="impute", unseen="error")])
def test_scikit_learn_takes_it_for_a_transformer(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    n = 240
    kind, x = rng.choice(["brick", "stone", "wood"], size=n).astype(object), rng.standard_normal(n)
    y = 2 * x + 3 * (kind == "wood") + 0.1 * rng.standard_normal(n)
    kind[::16], x[::12] = None, np.nan
    return {"kind": kind, "x": x, "when": np.datetime64("2024-01-01") + np.arange(n)}, y


HOLDERS = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame({**columns, "kind": columns["kind"].tolist()}),
    "arrow": lambda columns: pa.table({**columns, "x": pa.array(columns["x"], from_pandas=True)}),
}


@pytest.mark.parametrize("holder", HOLDERS)
def test_frames_of_all_libraries_become_the_inputs_that_a_model_takes(holder, columns):
    given, y = columns
    X = HOLDERS[holder](given)
    transformer = TableTransformer().fit(X)
    assert transformer.get_feature_names_out().tolist() == NAMES
    assert transformer.feature_names_in_.tolist() == list(given)
    Z = transformer.transform(X)
    assert Z.shape == (len(y), len(NAMES))
    assert np.isfinite(Z).all()
    np.testing.assert_array_equal(Z, transformer.encoder_.encode(HOLDERS["arrow"](given))[0])
    model = MoERegressor(1, random_state=0).fit(X, y)
    assert model.encoder_.columns == transformer.encoder_.columns


def test_array_of_objects_is_encoded_like_its_frame(columns):
    given, _ = columns
    X = np.column_stack([given["kind"], given["x"].astype(object)])
    transformer = TableTransformer().fit(X)
    assert transformer.get_feature_names_out().tolist() == ["x0=stone", "x0=wood", "x0=missing", "x1", "x1=missing"]
    frame = pd.DataFrame({"kind": given["kind"], "x": given["x"]})
    np.testing.assert_array_equal(transformer.transform(X), TableTransformer().fit_transform(frame))


def test_lists_of_mixed_values_are_rows_and_columns_of_several_kinds_are_refused():
    rows = [["a" if i % 3 else None, i if i % 5 else None, i % 2 == 0] for i in range(30)]
    transformer = TableTransformer().fit(rows)
    assert transformer.get_feature_names_out().tolist() == ["x0=missing", "x1", "x1=missing", "x2"]
    assert transformer.transform(rows[:2]).tolist() == [[1, 15, 1, 1], [0, 1, 0, 0]]
    with pytest.raises(TableError, match="column 'x0' holds values of several kinds"):
        TableTransformer().fit(np.array([[1, "a"], ["b", 2]] * 9, dtype=object))


def test_pipeline_with_another_regressor_is_fitted_tuned_and_validated(columns):
    given, y = columns
    X = pd.DataFrame(given)
    model = make_pipeline(TableTransformer(), Ridge())
    assert model.fit(X, y).score(X, y) > 0.9
    assert np.mean(cross_val_score(model, X, y, cv=3)) > 0.8
    search = GridSearchCV(model, {"tabletransformer__missing": ["level", "impute"]}, cv=3).fit(X, y)
    assert search.best_params_ == {"tabletransformer__missing": "level"}


@pytest.mark.parametrize(("holder", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_output_is_the_frame_that_is_asked_for(holder, kind, columns):
    X = HOLDERS["pandas"](columns[0])
    Z = TableTransformer().set_output(transform=holder).fit_transform(X)
    assert isinstance(Z, kind)
    assert list(Z.columns) == NAMES


def test_clone_keeps_settings_and_forgets_the_table(columns):
    transformer = TableTransformer(drop=["when"], reference={"kind": "wood"}).fit(pd.DataFrame(columns[0]))
    again = clone(transformer)
    assert again.get_params() == transformer.get_params()
    assert not hasattr(again, "encoder_")
    assert transformer.get_feature_names_out()[0] == "kind=brick"


def test_settings_that_are_none_are_refused():
    X = pd.DataFrame({"kind": np.resize(["a", "b"], 40)})
    for how in ({"missing": "guess"}, {"unseen": "guess"}, {"dates": ["minute"]}, {"categorical": "kind"}):
        with pytest.raises(TableError, match=f"{next(iter(how))} must be .*; got "):
            TableTransformer(**how).fit(X)


def test_columns_that_number_the_rows_are_left_out_unless_they_are_named(columns):
    X = pd.DataFrame({"id": np.arange(240), "x": columns[1]})
    assert TableTransformer().fit(X).get_feature_names_out().tolist() == ["x"]
    assert TableTransformer(columns=["id", "x"]).fit(X).get_feature_names_out().tolist() == ["id", "x"]


def test_new_rows_with_other_categories_or_without_a_value_are_treated_as_asked(columns):
    X = pd.DataFrame({"kind": np.resize(["a", "b"], 40), "x": np.arange(40.0)})
    new = pd.DataFrame({"kind": ["new", "b"], "x": [1.0, 2.0]})
    with pytest.warns(UnseenCategoryWarning, match="kind"):
        assert TableTransformer().fit(X).transform(new).tolist() == [[0.5, 1], [1, 2]]
    with pytest.raises(TableError, match="holds 'new', which was not there in fitting"):
        TableTransformer(unseen="error").fit(X).transform(new)
    with pytest.raises(TableError, match="1 of 2 rows lack an input"):
        TableTransformer(unseen="empty").fit(X).transform(new)


def test_file_is_learned_as_its_table(columns, tmp_path):
    X = pd.DataFrame(columns[0])
    X.to_csv(tmp_path / "rows.csv", index=False)
    encoder = TableTransformer().learn(open_table(tmp_path / "rows.csv"))
    assert encoder.features == NAMES
    assert encoder.target is None
    (Z,) = in_memory(encoder.streamed_inputs(tmp_path / "rows.csv", None)[0])
    np.testing.assert_array_equal(Z, TableTransformer().fit_transform(X))
