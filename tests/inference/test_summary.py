import numpy as np
import pytest
from scipy import stats

from skmoe import MoERegressor, make_moe
from skmoe.inference import RelationWarning, Summary, feature_names
from skmoe.inference.summary import cell_text


def test_summary_prints_and_turns_into_a_frame():
    table = Summary("title", ("name", "value"), [("a", 1.5), ("b", float("nan"))], ["note"])
    text = str(table)
    assert text.splitlines()[0] == "title"
    assert "1.5" in text
    assert "nan" not in text
    assert text.endswith("note")
    frame = table.to_frame()
    assert list(frame.columns) == ["name", "value"]
    assert len(frame) == 2


@pytest.mark.parametrize(("value", "text"), [(1.23456789, "1.235"), (float("nan"), ""), (7, "7"), ("word", "word")])
def test_cells_are_short_and_empty_for_what_is_unknown(value, text):
    assert cell_text(value) == text


def test_columns_of_numbers_stand_to_the_right():
    lines = str(Summary("t", ("name", "value"), [("a", 1.5), ("bb", 12.25)])).splitlines()
    assert [lines[i].endswith(end) for i, end in ((4, " 1.5"), (5, "12.25"))] == [True, True]


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = make_moe(800, 3, 2, noise_scale=0.2, random_state=0)
    return MoERegressor(2, random_state=0).fit(X, y)


def test_table_holds_estimates_errors_and_intervals(fitted):
    frame = fitted.summary().to_frame()
    assert len(frame) == 2 * 4 + 4 + 2
    row = frame[(frame["part"].str.startswith("expert 1")) & (frame["term"] == "x2")].iloc[0]
    assert row["estimate"] == fitted.expert_coef_[0, 2]
    assert row["std. error"] == fitted.expert_coef_se_[0, 2]
    assert row["t"] == pytest.approx(row["estimate"] / row["std. error"])
    half = stats.t(fitted.dof_[0]).ppf(0.975) * row["std. error"]
    assert row["0.975]"] - row["[0.025"] == pytest.approx(2 * half, rel=1e-9)
    noise = frame[frame["term"] == "sigma"]
    np.testing.assert_array_equal(noise["estimate"], fitted.noise_scale_)
    assert np.all(np.isnan(noise["t"]))  # a scale of zero is no hypothesis to be tested


def test_robust_errors_are_others_of_the_same_size(fitted):
    plain, robust = (fitted.summary(robust=r).to_frame()["std. error"] for r in (False, True))
    np.testing.assert_allclose(robust, plain, rtol=0.5)
    assert not np.allclose(robust, plain, rtol=1e-6)
    assert "sandwich" in str(fitted.summary(robust=True))


@pytest.mark.parametrize(("noise", "rows"), [("shared", 1), ("per-expert", 2), (0.2, 1)])
def test_noise_has_a_row_for_each_scale(noise, rows):
    X, y, _ = make_moe(300, 2, 2, noise_scale=0.2, random_state=0)
    table = MoERegressor(2, noise=noise, random_state=0).fit(X, y).summary()
    assert sum(row[1] == "sigma" for row in table.rows) == rows


def test_one_expert_is_told_in_the_singular():
    X, y, _ = make_moe(300, 2, 2, random_state=0)
    model = MoERegressor(1).fit(X, y)
    assert "1 expert (" in model.summary().title
    assert "gate" not in str(model.summary())


def test_columns_are_named_or_numbered(fitted):
    assert feature_names(fitted) == ["x0", "x1", "x2"]


def test_p_values_below_a_thousandth_and_zeros_are_written_as_such():
    """Three digits of a P value of 1e-68, or of a coefficient that is rounding alone, say nothing."""
    X = np.random.default_rng(0).normal([15, 300, 3000], [5, 17, 55], size=(500, 3)).round()
    model = MoERegressor(1, random_state=0)
    with pytest.warns(RelationWarning), pytest.warns(UserWarning, match="rounded"):
        model.fit(X, X[:, 1] + X[:, 2])
    frame, text = model.summary().to_frame(), str(model.summary())
    assert model.expert_coef_[0, 0] != 0
    assert frame["estimate"][1] == 0
    assert frame["P>|t|"][2] < 1e-60
    assert text.count("<0.001") == 2
    assert "e-" not in text


def test_small_effects_of_inputs_in_small_units_are_no_zeros():
    X = np.random.default_rng(0).normal(size=(200, 2)) * [1e15, 1e-3]
    model = MoERegressor(1, random_state=0).fit(X, X @ [1e-15, 1e3] + np.sin(np.arange(200)))
    np.testing.assert_array_equal(model.summary().to_frame()["estimate"][1:3], model.expert_coef_[0])
