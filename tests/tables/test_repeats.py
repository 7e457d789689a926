"""Columns of a table that repeat others are left out, one of each two."""

import numpy as np
import pandas as pd
import pytest

from skmoe import MoERegressor
from skmoe.tables import TableTransformer, repeats
from skmoe.tables.frames import UnusedColumnsWarning

pa = pytest.importorskip("pyarrow")


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    days = np.datetime64("2011-01-01") + rng.integers(0, 365, size=n)
    return {
        "dteday": days,
        "mnth": days.astype("datetime64[M]").astype(int) % 12 + 1,
        "celsius": rng.normal(size=n).round(2),
        "kind": rng.choice(["oak", "ash", "elm"], n),
        "y": rng.normal(size=n),
    }


def learned(columns):
    return TableTransformer(dates=["days", "month", "weekday"]).learn(pa.table(columns), "y")


def note_of(encoder):
    return next((note for note in encoder.notes if note.startswith("left out, since")), "")


def test_parts_of_dates_copies_and_renamed_categories_are_left_out():
    columns = table()
    columns["fahrenheit"] = 1.8 * columns["celsius"] + 32
    columns["code"] = pd.Series(columns["kind"]).map({"oak": "a", "ash": "b", "elm": "c"}).to_numpy()
    encoder = learned(columns)
    assert encoder.features == ["dteday: days", "dteday: weekday", "mnth", "celsius", "kind=elm", "kind=oak"]
    assert set(encoder.dropped) == {"dteday: month", "fahrenheit", "code"}
    for words in ("dteday: month (mnth)", "fahrenheit (celsius)", "code (kind)"):
        assert words in note_of(encoder)
    X, kept = encoder.encode(pa.table(columns))
    assert X.shape == (200, 6)
    assert kept.all()


def test_notes_of_the_same_gaps_are_one_input():
    columns = table()
    gaps = np.arange(200) % 5 == 0
    columns |= {name: np.where(gaps, np.nan, np.random.default_rng(i).normal(size=200)) for i, name in enumerate("ab")}
    encoder = learned(columns)
    assert [name for name in encoder.features if name.endswith("=missing")] == ["a=missing"]
    assert {"a", "b"} < set(encoder.features)
    assert note_of(encoder).endswith(": dteday: month (mnth), b=missing (a=missing)")


def test_a_number_of_each_category_is_no_repeat_of_it():
    columns = table()
    columns["size"] = pd.Series(columns["kind"]).map({"oak": 3, "ash": 1, "elm": 2}).to_numpy()
    assert {"size", "kind=oak", "kind=elm"} < set(learned(columns).features)


@pytest.mark.parametrize("name", ["celsius", "kind"])
def test_columns_that_differ_in_one_late_row_stay(monkeypatch, name):
    monkeypatch.setattr(repeats, "FIRST_ROWS", 50)
    columns = table()
    again = columns[name].copy()
    again[-1] = "oak" if again[-1] == "elm" else "elm" if name == "kind" else 9.0
    batches = [
        pa.record_batch({k: v[i : i + 20] for k, v in (columns | {"again": again}).items()}) for i in range(0, 200, 20)
    ]
    encoder = TableTransformer().learn(pa.Table.from_batches(batches), "y")
    assert "again" in encoder.names
    same = [batch.set_column(5, "again", batch.column(name)) for batch in batches]
    assert "again" not in TableTransformer().learn(pa.Table.from_batches(same), "y").names


def test_a_frame_is_warned_of_and_predicts_without_the_repeated_column():
    frame = pd.DataFrame(table()).assign(kelvin=lambda f: f["celsius"] + 273.15)
    y = frame.pop("y")
    with pytest.warns(UnusedColumnsWarning, match=r"not used: kelvin, dteday: month .*kelvin \(celsius\)"):
        model = MoERegressor(1).fit(frame, y)
    assert "kelvin" not in model.encoded_feature_names_
    assert model.n_features_in_ == 5
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.drop(columns="kelvin")))
