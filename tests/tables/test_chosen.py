"""Columns that experts and gate see are chosen among those of the caller."""

import numpy as np
import pytest

import skmoe
from skmoe import MoEClassifier, MoERegressor
from skmoe.plots import CoefficientsDisplay, ExpertDisplay
from skmoe.tables.frames import encode_frame

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

GIVEN = ["species", "same", "length", "when", "width"]
INPUTS = ["species=b", "species=c", "length", "when: days", "when: weekday", "width"]


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 240
    return pd.DataFrame(
        {
            "species": rng.choice(list("abc"), n),
            "same": 1.0,
            "length": rng.standard_normal(n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.permutation(n) % 28, unit="D"),
            "width": rng.standard_normal(n),
        }
    )


@pytest.fixture(scope="module")
def y(frame):
    noise = np.random.default_rng(1).standard_normal(len(frame))
    return np.where(frame["species"] == "a", 2.0, -2.0) * frame["length"].to_numpy() + 0.2 * noise


def model_of(frame, y, **settings):
    with pytest.warns(UserWarning, match="columns that were not used: same"):
        return MoERegressor(2, penalty=0.3, calibration=None, random_state=0, **settings).fit(frame, y)


def seen(model):
    """Inputs with coefficients of experts, and of the gate."""
    used = (np.any(coef != 0, axis=tuple(range(coef.ndim - 1))) for coef in (model.expert_coef_, model.gate_coef_))
    return tuple([name for name, one in zip(model.encoded_feature_names_, u, strict=True) if one] for u in used)


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (["species"], INPUTS[:2]),
        ([0], INPUTS[:2]),
        (["species", "width"], [*INPUTS[:2], "width"]),
        ([-1, 2], ["length", "width"]),
        (["when"], INPUTS[3:5]),
        (["species=c"], ["species=c"]),
    ],
)
def test_columns_are_chosen_by_the_names_and_places_of_the_callers_columns(frame, y, chosen, expected):
    model = model_of(frame, y, gate_features=chosen, expert_features=["length"])
    assert seen(model) == (["length"], expected)
    gates = [row[1] for row in model.summary().rows if row[0].startswith("gate")]
    assert sorted(gates) == sorted(["intercept", *expected])


def test_places_are_those_of_the_columns_of_an_array(rng):
    X = rng.standard_normal((200, 3))
    model = MoERegressor(2, penalty=0.3, gate_features=[2], random_state=0).fit(X, X[:, 0] * np.sign(X[:, 2]))
    assert seen(model)[1] == ["x2"]
    assert not hasattr(model, "feature_names_in_")
    assert list(model.encoded_feature_names_) == ["x0", "x1", "x2"]


@pytest.mark.parametrize("part", ["gate_features", "expert_features"])
@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ("species", r"must be a list of columns, such as \['species'\]; got the text 'species'"),
        (["same"], "names the column 'same', which was left out"),
        ([1], "names the column 'same', which was left out"),
        (["mass"], "names the column 'mass', which X does not have; it has species, same, length, when, width"),
        ([5], "must hold column names or indices below 5; got 5"),
        (["species", "species=b"], "names a column twice"),
    ],
)
@pytest.mark.filterwarnings("ignore:columns that were not used")
def test_columns_that_cannot_be_chosen_are_refused_in_the_callers_words(frame, y, part, chosen, said):
    with pytest.raises(ValueError, match=f"{part} {said}"):
        MoERegressor(2, random_state=0, **{part: chosen}).fit(frame, y)


def test_names_of_the_fit_are_those_of_the_callers_table_and_are_saved(frame, y, tmp_path):
    model = model_of(frame, y, gate_features=["species"])
    model.save(tmp_path / "m.skmoe")
    for fitted in (model, skmoe.load(tmp_path / "m.skmoe")):
        assert list(fitted.feature_names_in_) == GIVEN
        assert fitted.n_features_in_ == 5
        assert list(fitted.encoded_feature_names_) == INPUTS
        assert seen(fitted)[1] == INPUTS[:2]
        np.testing.assert_array_equal(fitted.predict(frame), model.predict(frame))
    assert str(skmoe.load(tmp_path / "m.skmoe").summary()) == str(model.summary())


@pytest.mark.filterwarnings("ignore:columns that were not used")
def test_classifiers_name_their_columns_alike(frame, y):
    model = MoEClassifier(2, gate_features=["species"], random_state=0).fit(frame, y > 0)
    assert list(model.feature_names_in_) == GIVEN
    assert seen(model)[1] == INPUTS[:2]


def test_arrays_given_to_a_model_of_a_table_hold_its_inputs(frame, y):
    model = model_of(frame, y)
    X = encode_frame(model.encoder_, frame)
    np.testing.assert_array_equal(model.predict(X), model.predict(frame))
    np.testing.assert_array_equal(model.log_density(X, y), model.log_density(frame, y))
    with pytest.raises(ValueError, match=r"array of 5 columns.* made 6 inputs: pass a DataFrame with the columns spe"):
        model.predict(X[:, :5])


@pytest.mark.parametrize(
    ("feature", "name"), [("species", "species"), (0, "species"), ("when: days", "when: days"), (2, "length")]
)
def test_pictures_take_the_callers_columns(frame, y, feature, name):
    pytest.importorskip("matplotlib")
    model = model_of(frame, y)
    drawn = ExpertDisplay.from_estimator(model, frame, y, 0, feature=feature, draw=False)
    assert drawn.input.name == name


def test_coefficients_are_drawn_of_the_callers_columns(frame, y):
    pytest.importorskip("matplotlib")
    model = model_of(frame, y)
    drawn = CoefficientsDisplay.from_estimator(model, features=["species", 4], draw=False)
    np.testing.assert_array_equal(drawn.coefficients, model.expert_coef_[:, [0, 1, 5]])


def test_a_column_of_several_inputs_is_no_axis_of_a_picture(frame, y):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="'when' became several inputs; choose one of them: when: days, when: weekday"):
        ExpertDisplay.from_estimator(model_of(frame, y), frame, y, 0, feature="when", draw=False)
