"""Values that are no real numbers: refused by a sentence wherever they come in, or honoured."""

import datetime
import decimal

import numpy as np
import pytest
from scipy import sparse

from skmoe import MoERegressor, joint_em, learn_experts, learn_gate, make_moe
from skmoe.arrays.kinds import plain_numbers

X, Y, TRUTH = make_moe(60, 2, 2, random_state=0)
DAYS = np.arange("2020-01-01", "2020-03-01", dtype="datetime64[D]")
MISSING_DAY = np.where(np.arange(60) == 3, np.datetime64("NaT", "D"), DAYS)

REFUSED = {
    "dates": (DAYS, "holds dates; turn them into numbers first"),
    "missing dates": (MISSING_DAY, "holds dates"),
    "durations": (DAYS - DAYS[0], "holds durations; turn them into numbers first, such as seconds"),
    "dates as objects": (np.array([datetime.date(2020, 1, 1)] * 60, dtype=object), "holds dates"),
    "durations as objects": (np.array([datetime.timedelta(1)] * 60, dtype=object), "holds durations"),
    "complex": (np.ones(60) * 1j, "holds complex numbers"),
    "complex objects": (np.array([1j] * 60, dtype=object), "holds complex numbers"),
    "text": (np.array(["1.5"] * 60), "holds text; encode it"),
    "bytes": (np.array([b"1.5"] * 60), "holds text; encode it"),
    "text objects": (np.array(["1.5"] * 60, dtype=object), r"holds text, such as '1.5'"),
    "records": (np.array([(1.0, 2.0)] * 60, dtype=[("a", float), ("b", float)]), "holds records of several fields"),
    "masked": (np.ma.array(np.ones(60), mask=np.arange(60) < 2), r"is a masked array with \d masked values; fill them"),
}
HONOURED = {
    "bool": np.arange(60) % 2 == 0,
    "whole": np.arange(60),
    "objects": np.arange(60.0).astype(object),
    "decimals": np.array([decimal.Decimal(i) for i in range(60)]),
    "half": np.arange(60, dtype=np.float16),
    "long": np.arange(60, dtype=np.longdouble),
    "nothing masked": np.ma.array(np.arange(60.0)),
}


def as_table(values):
    beside = np.ma.column_stack if isinstance(values, np.ma.MaskedArray) else np.column_stack
    return values if values.dtype.kind == "V" else beside([values, values])


ENTRIES = {
    "X of fit": lambda v: MoERegressor(1).fit(as_table(v), Y),
    "y of fit": lambda v: MoERegressor(1).fit(X, v),
    "sample_weight of fit": lambda v: MoERegressor(1).fit(X, Y, v),
    "X of predict": lambda v: FITTED.predict(as_table(v)),
    "y of log_density": lambda v: FITTED.log_density(X, v),
    "sample_weight of score": lambda v: FITTED.score(X, Y, v),
    "X of learn_experts": lambda v: learn_experts(as_table(v), Y, 2),
    "y of learn_experts": lambda v: learn_experts(X, v, 2),
    "sample_weight of learn_experts": lambda v: learn_experts(X, Y, 2, sample_weight=v),
    "X of learn_gate": lambda v: learn_gate(as_table(v), Y, TRUTH.A, noise_scale=0.1),
    "y of learn_gate": lambda v: learn_gate(X, v, TRUTH.A, noise_scale=0.1),
    "X of joint_em": lambda v: joint_em(as_table(v), Y, 2),
    "y of joint_em": lambda v: joint_em(X, v, 2),
}
FITTED = MoERegressor(1).fit(X, Y)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_number_is_refused_by_a_sentence(kind, entry):
    values, words = REFUSED[kind]
    name = entry.split()[0]
    with pytest.raises(ValueError, match=f"^{name} {words}"):
        ENTRIES[entry](values)


@pytest.mark.parametrize("entry", ENTRIES)
def test_sparse_data_is_refused_by_a_sentence(entry, monkeypatch):
    monkeypatch.setitem(globals(), "as_table", lambda values: values)
    values = sparse.csr_matrix(X if entry.startswith("X") else Y[:, None])
    name = entry.split()[0]
    with pytest.raises(TypeError, match=f"^{name} is sparse data, .*dense data is required: pass {name}.toarray"):
        ENTRIES[entry](values)


@pytest.mark.filterwarnings("ignore:y is rounded")
@pytest.mark.parametrize("kind", HONOURED)
def test_what_are_numbers_in_another_guise_is_honoured(kind):
    values = HONOURED[kind]
    plain = np.asarray(values).astype(np.float64)
    given = MoERegressor(1).fit(np.column_stack([plain, X[:, 0]]), Y, plain + 1)
    table = np.ma.column_stack([values, X[:, 0]]) if kind == "nothing masked" else np.column_stack([values, X[:, 0]])
    found = MoERegressor(1).fit(table, Y, plain + 1)
    np.testing.assert_array_equal(found.expert_coef_, given.expert_coef_)
    found = MoERegressor(1).fit(X, values)
    np.testing.assert_array_equal(found.expert_coef_, MoERegressor(1).fit(X, plain).expert_coef_)


def test_columns_of_a_frame_are_named():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    columns = {
        "when": (pd.to_datetime(MISSING_DAY), "dates"),
        "zone": (pd.to_datetime(DAYS).tz_localize("UTC"), "dates"),
        "month": (pd.period_range("2000-01", periods=60, freq="M"), "dates"),
        "took": (pd.to_timedelta(np.arange(60), unit="s"), "durations"),
        "sex": (["f", "m"] * 30, "text"),
        "group": (pd.Categorical(["f", "m"] * 30), "text"),
        "turn": (np.ones(60) * 1j, "complex numbers"),
    }
    for name, (values, what) in columns.items():
        with pytest.raises(ValueError, match=f"^column '{name}' of X holds {what}"):
            MoERegressor(1, categorical=None).fit(frame.assign(**{name: values}), Y)
    for name, values in {"yes": X[:, 0] > 0, "whole": pd.array([1, 2] * 30, dtype="Int64")}.items():
        assert MoERegressor(1, categorical=None).fit(frame.assign(**{name: values}), Y).n_features_in_ == 3
    model = MoERegressor(1, categorical=None).fit(frame, Y)
    with pytest.raises(ValueError, match=r"^column 'b' of X holds dates"):
        model.predict(frame.assign(b=DAYS))


def test_columns_of_a_polars_frame_are_named():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": X[:, 0], "when": DAYS.astype("datetime64[us]"), "s": ["u"] * 60})
    with pytest.raises(ValueError, match=r"^column 'when' of X holds dates"):
        MoERegressor(1, categorical=None).fit(frame, Y)
    with pytest.raises(ValueError, match=r"^column 's' of X holds text"):
        MoERegressor(1, categorical=None).fit(frame.drop("when"), Y)
    with pytest.raises(ValueError, match=r"^y holds dates"):
        MoERegressor(1, categorical=None).fit(X, frame["when"])


def test_blocks_of_a_dask_array_are_looked_at():
    da = pytest.importorskip("dask.array")
    masked = np.ma.array(X, mask=np.arange(120).reshape(60, 2) == 5)
    for bad, words in ((masked, "masked"), (as_table(DAYS), "dates"), (X.astype(str), "text"), (X * 1j, "complex")):
        with pytest.raises(ValueError, match=words):
            MoERegressor(1).fit(da.from_array(bad, chunks=(30, 2), asarray=False), da.from_array(Y, chunks=30))


def test_outputs_beside_a_table_of_pyarrow_are_looked_at():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": X[:, 0], "b": X[:, 1]})
    with pytest.raises(ValueError, match=r"^y holds dates"):
        MoERegressor(1).fit(table, DAYS)


def test_objects_without_a_number_are_refused():
    with pytest.raises(TypeError, match=r"X holds objects that are no numbers: .* not 'dict'; pass columns of numbers"):
        plain_numbers(np.array([[{}]], dtype=object), "X")
    assert plain_numbers([[1, 2], [3]], "X") == [[1, 2], [3]]  # said by whoever reads it
