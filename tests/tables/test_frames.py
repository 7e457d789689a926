"""DataFrames, tables and files with text, dates and gaps, taken by the estimator itself."""

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import skmoe
from skmoe import MoERegressor
from skmoe.tables.frames import UnusedColumnsWarning

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def columns():
    rng = np.random.default_rng(0)
    n = 240
    kind, x = rng.choice(["brick", "stone", "wood"], size=n), rng.standard_normal(n)
    y = 2 * x + 3 * (kind == "wood") + 0.1 * rng.standard_normal(n)
    kind, x = kind.astype(object), x.copy()
    kind[::16], x[::12] = None, np.nan
    when = np.datetime64("2024-01-01") + np.arange(n)
    return {"kind": kind, "x": x, "when": when, "flag": x > 0}, y


NAMES = [
    "kind=stone",
    "kind=wood",
    "kind=missing",
    "x",
    "x=missing",
    "when: days",
    "when: month",
    "when: weekday",
    "flag",
]


def frame_of(library, columns):
    if library == "pandas":
        return pd.DataFrame(columns)
    if library == "pandas categories":
        return pd.DataFrame(columns).astype({"kind": "category", "flag": "boolean"})
    if library == "polars":
        return pytest.importorskip("polars").DataFrame({**columns, "kind": columns["kind"].tolist()})
    return pa.table({**columns, "x": pa.array(columns["x"], from_pandas=True)})


@pytest.mark.parametrize("library", ["pandas", "pandas categories", "polars", "arrow"])
def test_text_dates_and_gaps_are_taken_as_they_are(library, columns, tmp_path):
    given, y = columns
    X = frame_of(library, given)
    model = MoERegressor(1, random_state=0).fit(X, y)
    assert list(model.encoded_feature_names_) == NAMES
    predicted = model.predict(X)
    assert predicted.shape == y.shape
    assert np.corrcoef(predicted, y)[0, 1] > 0.9
    assert model.score(X, y) > 0.8
    assert model.predict_interval(X).shape == (len(y), 2)
    assert "kind=wood" in str(model.summary())
    assert any("missing values" in note for note in model.encoder_.notes)
    model.save(tmp_path / "m.skmoe")
    np.testing.assert_array_equal(skmoe.load(tmp_path / "m.skmoe").predict(X), predicted)


def test_holders_of_the_same_rows_give_the_same_model(columns):
    given, y = columns
    first, *others = (
        MoERegressor(1, random_state=0).fit(frame_of(library, given), y) for library in ("pandas", "polars", "arrow")
    )
    for other in others:
        np.testing.assert_allclose(other.expert_coef_, first.expert_coef_, rtol=1e-9)


def test_frames_of_numbers_stay_what_they_were(columns):
    given, y = columns
    X = np.column_stack([np.nan_to_num(given["x"]), np.arange(len(y))])
    model = MoERegressor(1, random_state=0).fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert model.encoder_ is None
    assert list(model.feature_names_in_) == ["a", "b"]


def test_numbers_as_categories_are_asked_for(columns):
    _, y = columns
    X = pd.DataFrame({"code": np.arange(len(y)) % 3, "x": np.arange(len(y)) % 7})
    model = MoERegressor(1, categorical=["code"], random_state=0).fit(X, y)
    assert list(model.encoded_feature_names_) == ["code=1", "code=2", "x"]


def test_columns_that_are_not_used_are_warned_of(columns):
    given, y = columns
    X = pd.DataFrame({**given, "name": [f"n{i}" for i in range(len(y))]})
    with pytest.warns(UnusedColumnsWarning, match="not used: name .*240 different values"):
        model = MoERegressor(1, random_state=0).fit(X, y)
    assert model.predict(X.drop(columns="name")).shape == y.shape


def test_gaps_that_were_filled_are_said_by_summary_and_diagnosis(tmp_path):
    n = np.arange(120)
    frame = pd.DataFrame({"size": n % 7, "kind": np.where(n % 10 == 0, None, np.where(n % 2, "a", "b"))})
    frame.loc[n % 6 == 0, "size"] = np.nan
    y = n % 7 + np.sin(n)
    model = MoERegressor(1).fit(frame, y)
    model.save(tmp_path / "m.skmoe")
    for fitted in (model, skmoe.load(tmp_path / "m.skmoe")):
        said = "missing values that were filled in or are a category of their own: size (20), kind (12)"
        assert said in fitted.summary().notes
        found = {question: (finding, words) for question, finding, words in fitted.diagnose().rows}
        where = "they were filled with the median, and the input 'size=missing' says where"
        assert found["gaps in size"] == ("20 of 120 rows", where)
        assert found["gaps in kind"] == ("12 of 120 rows", "they count as 'missing'")
    whole = MoERegressor(1).fit(frame.dropna(), y[frame.notna().all(axis=1)])
    assert not any("missing values" in note for note in whole.summary().notes)


def test_file_with_text_and_gaps_is_fitted_and_predicted(columns, tmp_path):
    from pyarrow import csv

    given, y = columns
    table = pa.table({**given, "x": pa.array(given["x"], from_pandas=True), "price": y})
    csv.write_csv(table, tmp_path / "rows.csv")
    model = MoERegressor(1, random_state=0).fit(tmp_path / "rows.csv", "price")
    direct = MoERegressor(1, random_state=0).fit(pd.DataFrame(given), y)
    np.testing.assert_allclose(model.expert_coef_, direct.expert_coef_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(tmp_path / "rows.csv"), direct.predict(pd.DataFrame(given)), rtol=1e-8)
    assert model.score(tmp_path / "rows.csv", "price") == pytest.approx(direct.score(pd.DataFrame(given), y))


def test_rows_that_cannot_be_predicted_are_refused(columns):
    _, y = columns
    X = pd.DataFrame({"kind": ["a", "b"] * (len(y) // 2), "x": np.arange(len(y)) % 7})
    model = MoERegressor(1, unseen="error", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="column 'kind' holds 'z', which was not there in fitting"):
        model.predict(X.assign(kind="z"))
    with pytest.raises(ValueError, match="column 'x', which the model needs, is not in the table"):
        model.predict(X[["kind"]])


def test_refused_text_names_its_columns():
    X = np.array([[1.0, "Female"], [2.0, "Male"], [3.0, "Male"]], dtype=object)
    with pytest.raises(ValueError, match=r"X holds text, such as '.*ale'; .*OneHotEncoder.* or pass a DataFrame"):
        MoERegressor(1).fit(X, [1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="column 'sex' of X holds text"):
        MoERegressor(1, categorical=None).fit(pd.DataFrame({"a": [1, 2, 3], "sex": ["f", "m", "m"]}), [1.0, 2.0, 4.0])
    with pytest.raises(ValueError, match="column 'mixed' holds values of several kinds"):
        MoERegressor(1).fit(pd.DataFrame({"mixed": pd.Series([1, "a", 2.5], dtype=object)}), [1.0, 2.0, 4.0])


def test_outputs_without_a_value_are_refused(columns):
    given, y = columns
    y = y.copy()
    y[3] = np.nan
    for library in ("pandas", "arrow"):
        with pytest.raises(ValueError, match="y contains NaN"):
            MoERegressor(1).fit(frame_of(library, given), y)


def test_pipelines_and_cross_validation_go_on_working(columns):
    given, y = columns
    X = pd.DataFrame(given)[["kind", "x"]].assign(
        x=lambda frame: frame["x"].fillna(0.0), kind=lambda frame: frame["kind"].fillna("brick")
    )
    steps = make_column_transformer(
        (OneHotEncoder(drop="first", sparse_output=False), ["kind"]), (StandardScaler(), ["x"])
    )
    pipeline = make_pipeline(steps, MoERegressor(1, random_state=0)).fit(X, y)
    names = pipeline[:-1].get_feature_names_out()
    assert "x0" in str(pipeline[-1].summary())
    assert "onehotencoder__kind_wood" in str(pipeline[-1].summary(feature_names=names))
    with pytest.raises(ValueError, match="feature_names has 1 names; the model was fitted to 3 inputs"):
        pipeline[-1].summary(feature_names=["a"])
    named = make_pipeline(steps, MoERegressor(1, random_state=0)).set_output(transform="pandas").fit(X, y)
    assert "onehotencoder__kind_wood" in str(named[-1].summary())
    assert cross_val_score(MoERegressor(1, random_state=0), X, y, cv=3).min() > 0.8


@pytest.mark.parametrize("form", ["categorical", "interval"])
def test_intervals_are_categories_in_their_order(form):
    x = np.random.default_rng(0).uniform(0, 12, size=300)
    cut = pd.Series(pd.cut(x, [0, 2, 7, 12]))  # as text, (12 would come before (2
    bins = {"categorical": cut, "interval": cut.astype(cut.cat.categories.dtype)}[form]
    y = np.where(x > 7, 3.0, 1.0) + 0.1 * np.random.default_rng(1).standard_normal(300)
    model = MoERegressor(1, random_state=0).fit(pd.DataFrame({"bins": bins}), y)
    assert list(model.encoded_feature_names_) == ["bins=(2, 7]", "bins=(7, 12]"]
    assert abs(model.expert_coef_[0, 1] - 2) < 0.1
    assert model.predict(pd.DataFrame({"bins": pd.cut([1.0, 9.0], [0, 2, 7, 12])})) == pytest.approx([1, 3], abs=0.1)


def test_periods_are_dates():
    quarters = pd.period_range("1960-01", periods=80, freq="Q")
    y = np.arange(80.0) + np.random.default_rng(0).standard_normal(80)
    model = MoERegressor(1, random_state=0).fit(pd.DataFrame({"when": quarters}), y)
    assert list(model.encoded_feature_names_) == ["when: days", "when: month"]


@pytest.mark.parametrize("text", [False, True])
def test_repeated_names_of_columns_are_refused(text):
    X = pd.DataFrame({"a": np.arange(8.0), "b": list("uvuvuvuv") if text else np.arange(8.0) ** 2})
    model = MoERegressor(1, random_state=0).fit(X, np.sin(np.arange(8.0)))
    twice = X.set_axis(["a", "a"], axis=1)
    for call in (lambda: MoERegressor(1).fit(twice, np.arange(8.0)), lambda: model.predict(twice)):
        with pytest.raises(ValueError, match="column 'a' is there more than once; give every column its own name"):
            call()


def test_first_category_of_a_categorical_is_the_reference():
    kinds = np.array(["low", "high", "middle"])[np.arange(90) % 3]
    y = np.random.default_rng(0).standard_normal(90)
    for order in (["middle", "low", "high"], ["high", "low", "middle"]):
        X = pd.DataFrame({"kind": pd.Categorical(kinds, categories=order)})
        model = MoERegressor(1, random_state=0).fit(X, y)
        assert list(model.encoded_feature_names_) == [f"kind={category}" for category in order[1:]]
        assert model.encoder_.columns[0].categories[0] == order[0]
    numbers = pd.Categorical(np.array([9, 10, 100])[np.arange(90) % 3])
    model = MoERegressor(1, random_state=0).fit(pd.DataFrame({"kind": numbers}), y)
    assert list(model.encoded_feature_names_) == ["kind=10", "kind=100"]


def test_categories_with_an_order_keep_it_in_files(tmp_path):
    import pyarrow.parquet as pq

    kinds = pa.DictionaryArray.from_arrays(np.arange(90) % 3, ["low", "middle", "high"], ordered=True)
    pq.write_table(pa.table({"kind": kinds, "y": np.arange(90.0) % 7}), tmp_path / "t.parquet")
    model = MoERegressor(1, random_state=0).fit(tmp_path / "t.parquet", "y")
    assert list(model.encoded_feature_names_) == ["kind=middle", "kind=high"]


def test_columns_that_no_table_holds_are_refused_in_a_sentence():
    y, polars = np.arange(40.0), pytest.importorskip("polars")
    wide = polars.Series("odd", np.arange(40)).cast(polars.Int128)
    text = ["a", "b"] * 20
    frames = [pd.DataFrame({"text": text, "odd": odd}) for odd in (y * 1j, [2**70 + int(i) for i in y])]
    for X in (*frames, polars.DataFrame({"text": text}).with_columns(wide)):
        with pytest.raises(ValueError, match=r"column 'odd' holds values .* neither numbers, text nor dates"):
            MoERegressor(1).fit(X, y)


def test_sparse_and_long_numbers_and_tuples_are_taken():
    kind, x = np.tile(["a", "b", "c"], 40), np.random.default_rng(0).standard_normal(120)
    y = x + (kind == "b") + np.sin(np.arange(120))
    dummies = pd.get_dummies(pd.Series(kind), sparse=True, dtype=float)
    plain = MoERegressor(1).fit(dummies.sparse.to_dense().assign(x=x, text=kind[::-1]), y)
    sparse = MoERegressor(1).fit(dummies.assign(x=x.astype(np.longdouble), text=kind[::-1]), y)
    np.testing.assert_array_equal(sparse.expert_coef_, plain.expert_coef_)
    pairs = pd.Series([(k, 1) for k in kind.tolist()], dtype="category")
    model = MoERegressor(1).fit(pd.DataFrame({"pair": pairs, "x": x}), y)
    assert list(model.encoded_feature_names_) == ["pair=('b', 1)", "pair=('c', 1)", "x"]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_without_rows_or_columns_are_said_to_be(library):
    frame = pytest.importorskip(library).DataFrame({"x": np.arange(20.0), "kind": ["a", "b"] * 10})
    model = MoERegressor(1).fit(frame, np.sin(np.arange(20)))
    with pytest.raises(ValueError, match=r"X has no rows: its shape is \(0, 2\)"):
        MoERegressor(1).fit(frame[:0], [])
    with pytest.raises(ValueError, match="X has no rows"):
        model.predict(frame[:0])
    with pytest.raises(ValueError, match="X has no columns"):
        MoERegressor(1).fit(frame[[]] if library == "pandas" else frame.select([]), np.arange(20.0))


def test_lazy_frames_are_to_be_collected():
    frame = pytest.importorskip("polars").DataFrame({"x": np.arange(20.0)})
    with pytest.raises(TypeError, match=r"pass X\.collect\(\)"):
        MoERegressor(1).fit(frame.lazy(), np.arange(20.0))
