"""Whole numbers that double precision would change are refused by the name of their column, wherever they come in."""

import decimal
import zipfile

import numpy as np
import pytest

from skmoe import MoEClassifier, MoERegressor, joint_em, learn_experts, make_moe
from skmoe.arrays.exactness import Rounded, rounded
from skmoe.arrays.kinds import plain_numbers
from skmoe.tables import TableError, TableTransformer, open_table
from skmoe.tables.text_numbers import text_numbers

pa = pytest.importorskip("pyarrow")

LONG = 2**53 + 1  # the first whole number that is no double
WORDS = f"holds whole numbers that double precision would round, such as {LONG}"
X, Y, _ = make_moe(60, 2, 2, random_state=0)
IDS = LONG + 2 * np.arange(60)
EXACT = 2**60 + 2**10 * np.arange(60)
FITTED = MoERegressor(1).fit(X, Y)


def is_double(value):
    return int(float(value)) == value


@pytest.mark.parametrize("kind", [np.int64, np.uint64, object])
def test_numbers_are_told_that_are_no_doubles(kind):
    near = [2**power + step for power in range(52, 63) for step in range(-5, 6)]
    ends = [0, 2**63 - 1, 2**63 - 512, *([2**64 - 1, 2**63] if kind is not np.int64 else [])]
    ends += [] if kind is np.uint64 else [-(2**63), -(2**63) + 1, -LONG, -LONG - 1]
    for value in [*near, *ends]:
        found = rounded(np.array([1, value], dtype=kind))
        assert found == (Rounded() if is_double(value) else Rounded(1, (value,))), value


def test_floats_and_short_integers_are_not_looked_at():
    for kind in (np.float64, np.float32, np.int32, np.uint8, bool):
        assert not rounded(np.ones(3, dtype=kind))
    assert not rounded(np.zeros(0, dtype=np.int64))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "bool"])
def test_arrays_that_cannot_hold_such_numbers_are_not_brought_to_the_host(dtype):
    class Elsewhere:  # as CuPy's
        def __init__(self):
            self.dtype = np.dtype(dtype)

        def __array__(self, *args, **kwargs):
            raise TypeError("Implicit conversion to a NumPy array is not allowed")

    array = Elsewhere()
    assert plain_numbers(array, "X") is array


@pytest.mark.parametrize(
    ("values", "changed"),
    [
        ([str(LONG), "1"], True),
        ([f"-{LONG}", "1"], True),
        ([f" {LONG}", "?"], True),
        (["9,007,199,254,740,993"], True),
        (["100000000000000000000001"], True),
        (["123456789012345678901", "x"], True),
        ([str(2**60), "1"], False),
        (["1e23", "12345678901234567.8", "9007199254740993.5"], False),
        (["100000000000000000000", "inf", ""], False),
        ([None, "1.5"], False),
    ],
)
def test_text_is_told_that_is_a_whole_number_and_no_double(values, changed):
    assert bool(text_numbers(pa.array(values, pa.string())).rounded) == changed


# -- arrays -----------------------------------------------------------------------------------------------------------


def beside(values):
    return np.column_stack([np.arange(60), values])


ENTRIES = {
    "column 1 of X": [
        lambda v: MoERegressor(1).fit(beside(v), Y),
        lambda v: MoERegressor(1).fit(beside(v).tolist(), Y),
        lambda v: MoERegressor(1).fit(beside(v).astype(object), Y),
        lambda v: MoERegressor(1).fit([[x, int(i)] for x, i in zip(X[:, 0], v, strict=True)], Y),
        lambda v: MoEClassifier(1).fit(beside(v), Y > 0),
        lambda v: FITTED.predict(beside(v)),
        lambda v: learn_experts(beside(v), Y, 2),
        lambda v: joint_em(beside(v), Y, 2),
    ],
    "y": [
        lambda v: MoERegressor(1).fit(X, v),
        lambda v: MoERegressor(1).fit(X, v.tolist()),
        lambda v: MoERegressor(1).fit(X, [decimal.Decimal(int(i)) for i in v]),
        lambda v: FITTED.log_density(X, v),
        lambda v: learn_experts(X, v, 2),
        lambda v: MoERegressor(1).fit(pa.table({"a": X[:, 0]}), v),
    ],
    "sample_weight": [lambda v: MoERegressor(1).fit(X, Y, v), lambda v: FITTED.score(X, Y, v)],
}


@pytest.mark.parametrize(("name", "entry"), [(name, i) for name in ENTRIES for i in range(len(ENTRIES[name]))])
def test_arrays_are_refused_by_name(name, entry):
    remedy = {"y": "subtract its", "sample_weight": "divide it by its"}.get(
        name, "subtract its smallest value, or leave"
    )
    with pytest.raises(ValueError, match=f"^{name} {WORDS}; {remedy}"):
        ENTRIES[name][entry](IDS)


def test_long_whole_numbers_that_are_doubles_are_taken():
    for values in (EXACT, EXACT.astype(np.uint64), EXACT.astype(object)):
        found = MoERegressor(1).fit(np.column_stack([values, np.arange(60)]), Y, values)
        given = MoERegressor(1).fit(np.column_stack([EXACT, np.arange(60)]).astype(float), Y, EXACT.astype(float))
        np.testing.assert_array_equal(found.expert_coef_, given.expert_coef_)
    assert FITTED.log_density(X, EXACT).shape == (60,)


def test_integers_of_other_libraries_are_refused():
    torch = pytest.importorskip("torch")
    with pytest.raises(ValueError, match=f"^column 1 of X {WORDS}"):
        MoERegressor(1).fit(torch.asarray(beside(IDS)), torch.asarray(Y))
    with pytest.raises(ValueError, match=f"^y {WORDS}"):
        MoERegressor(1).fit(torch.asarray(X), torch.asarray(IDS))
    assert MoERegressor(1).fit(torch.asarray(beside(np.arange(60) % 7)), torch.asarray(Y)).n_features_in_ == 2


@pytest.mark.parametrize("kind", ["int64", "uint64", "Int64", "object"])
def test_columns_of_a_pandas_frame_are_named(kind):
    pd = pytest.importorskip("pandas")
    plain = pd.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    frame = plain.assign(id=pd.Series(IDS).astype(kind))
    with pytest.raises(ValueError, match=f"column 'id' .*{WORDS}"):
        MoERegressor(1).fit(frame, Y)
    with pytest.raises(ValueError, match=f"column 'id' .*{WORDS}"):
        MoERegressor(1).fit(frame.assign(kind=["u", "v"] * 30), Y)
    with pytest.raises(ValueError, match=f"^y {WORDS}"):
        MoERegressor(1).fit(plain, frame["id"])
    with pytest.raises(ValueError, match=f"^sample_weight {WORDS}"):
        MoERegressor(1).fit(plain.assign(kind=["u", "v"] * 30), Y, frame["id"])
    for more in ({}, {"kind": ["u", "v"] * 30}):
        model = MoERegressor(1).fit(plain.assign(id=np.arange(60) % 7, **more), Y)
        with pytest.raises(ValueError, match=f"column 'id' .*{WORDS}"):
            model.predict(frame.assign(**more))


def test_columns_of_a_polars_frame_are_named():
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"a": X[:, 0], "id": IDS})
    for categorical in ("auto", None):
        with pytest.raises(ValueError, match=f"column 'id' .*{WORDS}"):
            MoERegressor(1, categorical=categorical).fit(frame, Y)
    with pytest.raises(ValueError, match=f"column 'id' {WORDS}"):
        MoERegressor(1).fit(frame.with_columns(kind=pl.Series(["u", "v"] * 30)), Y)


def test_labels_of_classes_may_be_any_whole_numbers():
    pd = pytest.importorskip("pandas")
    labels = np.where(Y > 0, LONG, LONG + 2)
    for y in (labels, labels.tolist(), labels.astype(object), pd.Series(labels), np.ma.array(labels)):
        model = MoEClassifier(1).fit(X, y)
        assert model.classes_.tolist() == [LONG, LONG + 2]
        assert model.score(X, labels) > 0.5
        assert model.log_density(X, y).shape == (60,)


# -- tables -----------------------------------------------------------------------------------------------------------

KINDS = {"int64": pa.int64(), "uint64": pa.uint64(), "decimal": pa.decimal128(20, 0), "text": pa.string()}


def table_with(values, kind=None, **more):
    given = pa.array([None if v is None else int(v) for v in values], pa.int64())
    return pa.table({"a": X[:, 0], "id": given if kind is None else given.cast(kind), "y": Y, **more})


@pytest.mark.parametrize("kind", KINDS)
def test_columns_of_a_table_are_named_with_what_to_do(kind):
    for values in (IDS, [None, None, *IDS[2:]]):
        with pytest.raises(TableError, match=r"column 'id' holds whole .*\d+ rows\): subtract .*leave it out of X$"):
            TableTransformer().learn(table_with(values, KINDS[kind]), "y")
    assert "id" in TableTransformer().learn(table_with(EXACT, KINDS[kind]), "y").names


@pytest.mark.parametrize("kind", KINDS)
def test_columns_that_are_not_used_as_numbers_are_not_refused(kind):
    kind = KINDS[kind]
    assert TableTransformer(drop=["id"]).learn(table_with(IDS, kind), "y").names == ["a"]
    few = table_with(LONG + 2 * (np.arange(60) % 2), kind)
    assert len(TableTransformer(categorical=["id"]).learn(few, "y").columns[1].categories) == 2
    same = TableTransformer().learn(table_with(np.full(60, LONG), kind), "y")
    assert "column 'id' is the same in every row and was left out" in same.notes
    with pytest.raises(TableError, match="column 'id' holds whole numbers"):  # which all round to 2^53
        TableTransformer().learn(table_with(LONG - np.arange(60) % 2, kind), "y")
    empty = TableTransformer().learn(table_with([LONG, LONG + 2, *[None] * 58], kind), "y")
    assert empty.names == ["a"]


@pytest.mark.parametrize("kind", ["int64", "uint64", "text"])
def test_row_numbers_that_are_left_out_are_not_refused(kind):
    table = table_with(LONG + np.arange(60), KINDS[kind]).rename_columns(["a", "rownames", "y"])
    found = TableTransformer().learn(table, "y")
    assert found.names == ["a"]
    assert "column 'rownames' numbers the rows and was left out" in found.notes
    twice = table_with(LONG + np.arange(60) // 2, KINDS[kind]).rename_columns(["a", "rownames", "y"])
    with pytest.raises(TableError, match="column 'rownames' holds whole numbers"):
        TableTransformer().learn(twice, "y")


def test_dates_are_not_refused():
    when = pa.array(1_700_000_000_000_000_001 + 86_400_000_000_000 * np.arange(60)).cast(pa.timestamp("ns"))
    table = pa.table({"a": X[:, 0], "when": when, "y": Y})
    assert TableTransformer().learn(table, "y").names == ["a", "when"]
    assert MoERegressor(1).fit(table, "y").predict(table).shape == (60,)


@pytest.mark.parametrize("kind", KINDS)
def test_targets_and_weights_of_a_table_are_named(kind):
    table = table_with(IDS, KINDS[kind])
    with pytest.raises(TableError, match=f"^target 'id' {WORDS}; subtract its smallest value"):
        TableTransformer().learn(table, "id")
    with pytest.raises(TableError, match=f"^weights: column 'id' {WORDS}; divide it"):
        TableTransformer().learn(table, "y", weights="id")


@pytest.mark.filterwarnings("ignore:'id' looks like an identifier")
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "xlsx"])
@pytest.mark.parametrize("categorical", ["auto", None])
def test_rows_of_files_are_looked_at_in_fit_and_predict(ending, categorical, tmp_path):
    bad, good = tmp_path / f"bad.{ending}", tmp_path / f"good.{ending}"
    rows = 4 * list(range(15))
    write(table_with([*rows[:-1], LONG]), bad)
    write(table_with([*rows[:-1], 2**60]), good)
    model = MoERegressor(1, categorical=categorical).fit(good, "y")
    with pytest.raises(TableError, match=r"column 'id' .*holds "):
        MoERegressor(1, categorical=categorical).fit(bad, "y")
    with pytest.raises(TableError, match=r"column 'id' .*holds "):
        model.predict(bad)
    assert model.predict(good).shape == (60,)


def write(table, path):
    from pyarrow import csv, feather, parquet

    if path.suffix == ".xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for row in [table.column_names, *zip(*(column.to_pylist() for column in table.columns), strict=True)]:
            book.active.append(row)
        book.save(path)
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w") as archive:  # openpyxl writes doubles, but other programs need not
            for name, content in members.items():
                archive.writestr(name, content.replace(b">9007199254740992<", f">{LONG}<".encode()))
        return
    {".csv": csv.write_csv, ".parquet": parquet.write_table, ".arrow": feather.write_feather}[path.suffix](table, path)


def test_text_that_no_type_holds_stays_text_when_read_at_once(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("long,wide,y\n" + "".join(f"{10**20 + i},{10.0**20},{i}\n" for i in range(5)))
    table = open_table(path).read()
    assert table["long"].to_pylist() == [str(10**20 + i) for i in range(5)]
    assert table["wide"].to_pylist() == [1e20] * 5


@pytest.mark.parametrize("holder", ["array", "frame"])
def test_partitions_of_dask_are_looked_at(holder):
    pytest.importorskip("dask")
    if holder == "array":
        da = pytest.importorskip("dask.array")
        rows, y, name = da.from_array(beside(IDS), chunks=(30, 2)), da.from_array(Y, chunks=30), "column 1 of"
    else:
        pd, dd = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
        frame = pd.DataFrame({"a": X[:, 0], "id": IDS, "y": Y})  # of which Dask makes one array of floats
        rows, y, name = dd.from_pandas(frame, npartitions=2), "y", "column 'id' of X"
    with pytest.raises(ValueError, match=f"{name} .*holds whole numbers"):
        MoERegressor(1).fit(rows, y)
