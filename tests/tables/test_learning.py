"""What becomes of the columns of real tables: rare categories, gaps, numbers with stray text, row numbers, dates."""

import datetime

import numpy as np
import pytest

from skmoe.tables import TableError, TableTransformer, UnseenCategoryWarning, open_table

pa = pytest.importorskip("pyarrow")


def learned(table, target="y", **how):
    return TableTransformer(**how).learn(table if hasattr(table, "schema") else pa.table(table), target)


def told(encoder):
    return "; ".join(encoder.notes)


@pytest.mark.parametrize("missing", ["level", "impute", "drop"])
def test_category_of_a_row_that_is_dropped_is_known(missing, tmp_path):
    # "gold" is only where g is missing: with the row dropped it must be neither a category nor an error
    lines = "1,a,1,1 2,a,,2 3,b,2,3.1 4,a,3,4 5,b,3,4.9 6,gold,,6.2 7,a,2,7 8,b,5,8.2 9,a,3,9 10,b,1,10"
    (tmp_path / "t.csv").write_text("\n".join(["x,c,g,y", *lines.split()]))
    table = open_table(tmp_path / "t.csv")
    encoder = TableTransformer(missing=missing).learn(table, "y")
    X, y, _ = encoder.rows(table)
    assert len(y) == encoder.n_used == (8 if missing == "drop" else 10)
    assert np.isfinite(X.X).all()
    assert "c=gold" not in X.names
    unseen = encoder.encode(table.read(), unseen="error")  # a category of the table is never unseen
    assert unseen[1].sum() == encoder.n_used


def test_rare_categories_count_as_one():
    kinds = ["a"] * 60 + ["b"] * 30 + ["c"] * 4 + ["d"] * 3 + ["e"] * 3
    encoder = learned({"kind": kinds, "y": np.arange(100.0)})
    assert encoder.features == ["kind=b", "kind=other"]
    assert "column 'kind': 3 categories with fewer than 5 rows (10 rows) count as 'other'" in told(encoder)
    with pytest.warns(UnseenCategoryWarning, match=r"kind \(1 row\)"):
        X, _ = encoder.encode(pa.table({"kind": ["a", "b", "d", "new"]}))
    assert X.tolist() == [[0, 0], [1, 0], [0, 1], [0, 1]]


def test_few_rows_of_rare_categories_join_the_largest():
    encoder = learned({"kind": ["a"] * 60 + ["b"] * 38 + ["c", "d"], "y": np.arange(100.0)})
    assert encoder.features == ["kind=b"]
    assert "2 categories with fewer than 5 rows (2 rows) count as 'a'" in told(encoder)


def test_twenty_categories_have_inputs_of_their_own():
    kinds = [f"k{i:02d}" for i in range(30) for _ in range(20 + (i < 20))]
    encoder = learned({"kind": kinds, "y": np.arange(float(len(kinds)))})
    assert len(encoder.features) == 20
    assert "10 categories beyond the 20 largest (200 rows) count as 'other'" in told(encoder)


def test_few_rows_have_few_inputs_of_categories_and_gaps():
    n = np.arange(50)
    columns = {
        "kind": np.repeat(list("abcdefg"), [14, 11, 8, 7, 4, 3, 3]),
        "place": np.array(list("uvwxy"))[n % 5],
        "size": pa.array(n % 13, mask=n % 16 == 1),
        "length": n % 11,
        "y": n * 1.0,
    }
    encoder = learned(columns)
    # of eleven inputs one is too many: gaps of size and kinds f and g are in three or four rows, size in four
    assert encoder.features[:5] == ["kind=b", "kind=c", "kind=d", "kind=e", "kind=other"]
    assert encoder.features[5:] == ["place=v", "place=w", "place=x", "place=y", "size", "size=missing", "length"]
    assert "50 rows are few for 11 inputs of categories and missing values: the rarest share inputs, 10 in all" in told(
        encoder
    )
    many = {name: pa.array(values.to_pylist() * 10) for name, values in zip(columns, pa.table(columns), strict=True)}
    assert len(learned(many).features) == 6 + 4 + 2 + 1  # 500 rows carry them all
    assert "are few" not in told(learned(many))


def test_columns_of_categories_keep_one_input_however_few_rows_there_are():
    n = np.arange(24)
    columns = {f"c{i}": np.array(list("abc"))[(n // (i + 1)) % 3] for i in range(8)}
    encoder = learned({**columns, "gaps": pa.array(n % 5, mask=n % 4 == 0), "y": n * 1.0})
    assert [name.partition("=")[0] for name in encoder.features] == [*columns, "gaps"]
    assert "24 rows are few for 17 inputs of categories and missing values: the rarest share inputs, 8 in all" in told(
        encoder
    )


def test_limit_of_inputs_counts_no_numbers():
    n = np.arange(30)
    numbers = {f"x{i}": (n * (i + 3)) % 23 for i in range(20)}
    encoder = learned({**numbers, "kind": np.where(n % 3 == 0, "a", "b"), "y": n * 1.0})
    assert len(encoder.features) == 21


def test_one_value_and_gaps_are_two_categories():
    n = np.arange(100)
    columns = {"pool": pa.array(["yes"] * 100, mask=n % 3 == 0), "x": n % 7, "y": n * 1.0}
    assert learned(columns).features == ["pool=missing", "x"]
    said = told(learned(columns, missing="impute"))
    assert "column 'pool' is the same in every row that has a value and was left out" in said


def test_names_of_rows_are_left_out_and_said():
    encoder = learned({"name": [f"n{i}" for i in range(30)], "x": np.arange(30.0) % 7, "y": np.arange(30.0)})
    assert encoder.features == ["x"]
    assert "column 'name' is text with 30 different values in 30 rows, none of them in 2 or more" in told(encoder)
    assert "name" in encoder.dropped


def test_gaps_have_a_category_or_a_flag_where_there_are_enough_of_them():
    n = np.arange(200)
    columns = {
        "many": pa.array(n % 9, mask=n % 5 == 0),
        "few": pa.array(n % 11, mask=n < 3),
        "kind": pa.array(np.array(["a", "b"])[n % 2], mask=n % 4 == 0),
        "place": pa.array(np.array(["u", "v", "v"])[n % 3], mask=n < 2),
        "y": n * 1.0,
    }
    encoder = learned(columns)
    assert encoder.features == ["many", "many=missing", "few", "kind=b", "kind=missing", "place=v"]
    assert "column 'many': 40 missing values were filled with the median, 4, and the input" in told(encoder)
    assert "column 'few': 3 missing values were filled with the median, 5;" in told(encoder) + ";"
    assert "column 'kind': 50 missing values count as 'missing'" in told(encoder)
    assert "column 'place': 2 missing values count as 'v'" in told(encoder)
    X, keep = encoder.encode(pa.table(columns))
    assert keep.all()
    np.testing.assert_array_equal(X[:, 1], n % 5 == 0)
    np.testing.assert_array_equal(X[:, 4], n % 4 == 0)
    assert learned(columns, missing="impute").features == ["many", "many=missing", "few", "kind=b", "place=v"]


def test_columns_that_are_mostly_empty_are_not_filled():
    n = np.arange(100)
    columns = {
        "hollow": pa.array(n * 1.0, mask=n % 25 != 0),
        "kind": pa.array(np.array(["a", "b"])[n // 4 % 2], mask=n % 4 != 0),
        "x": n % 7,
        "y": n * 1.0,
    }
    level, impute = learned(columns), learned(columns, missing="impute")
    assert level.features == ["kind=b", "kind=missing", "x"]  # most have no kind, and that is a kind
    assert impute.features == ["x"]
    assert "column 'hollow' is empty in 96 of 100 rows, too many to be filled in" in told(level)
    assert "column 'kind' is empty in 75 of 100 rows" in told(impute)


def test_rows_that_each_column_costs_are_said_before_most_are_dropped():
    n = np.arange(100)
    columns = {"a": pa.array(n * 1.0, mask=n % 10 < 4), "b": pa.array(n % 7, mask=n % 10 > 7), "y": n * 1.0}
    with pytest.raises(TableError, match=r"leave 40 of 100 rows; .*: a 40, b 20; mend them, or use missing=.level"):
        learned(columns, missing="drop")
    assert "by column: b 20; 20 of 100 rows were dropped" in told(learned(columns, missing="drop", drop=["a"]))


def test_all_bad_columns_are_told_at_once_with_their_odd_values():
    n = 60
    columns = {
        "a, b": [*(f"{i}.5" for i in range(n - 2)), "3 kg", "3 kg"],
        "z": [*(f"{i}" for i in range(n - 1)), "x"],
        "inf": [*np.arange(n - 1.0), np.inf],
        "list": [[1]] * n,
        "fine": np.arange(n) % 7,
        "y": np.arange(n * 1.0),
    }
    with pytest.raises(TableError) as refused:
        learned(columns)
    words = str(refused.value)
    assert "column 'a, b' would be numbers but for '3 kg' (2 rows)" in words
    assert "column 'z' would be numbers but for 'x' (1 row)" in words
    assert "column 'inf' holds infinity in 1 rows" in words
    assert "column 'list' holds list" in words
    assert words.endswith("; mend them, or leave them out of X")
    assert learned(columns, drop=["a, b", "z", "inf", "list"]).features == ["fine"]


def test_question_mark_among_few_numbers_is_a_gap_and_no_category():
    values = [str(i % 30) for i in range(300)]
    values[7] = "?"
    encoder = learned({"x": values, "y": np.arange(300.0)})
    assert encoder.features == ["x"]
    assert "column 'x': '?' (1 row) counted as missing" in told(encoder)


def test_a_target_of_numbers_with_a_row_of_totals_is_no_class():
    sales = [*(f"{i}.5" for i in range(60)), "Total"]
    with pytest.raises(TableError, match=r"'y' would be numbers but for 'Total' \(1 row\); mend or remove such rows"):
        learned({"x": np.arange(61.0), "y": sales})
    with pytest.raises(TableError, match="holds text such as 'no'; MoEClassifier takes"):
        learned({"x": np.arange(60.0), "y": ["no", "1", "yes"] * 20})


def test_stray_text_among_few_numbers_is_refused_but_open_ends_are_categories():
    stray = [str(i % 15) for i in range(300)]
    stray[7] = "x"
    with pytest.raises(TableError, match=r"would be numbers but for 'x' \(1 row\)"):
        learned({"x": stray, "y": np.arange(300.0)})
    ends = ["3 or more" if i % 4 == 3 else str(i % 4) for i in range(300)]
    encoder = learned({"x": ends, "y": np.arange(300.0)})
    assert encoder.features == ["x=1", "x=2", "x=3 or more"]
    assert "column 'x' holds numbers but for '3 or more' (75 rows), and is taken as categories" in told(encoder)


def test_numbers_as_categories_are_asked_for():
    columns = {"code": np.arange(90) % 3, "y": np.arange(90.0)}
    assert learned(columns).features == ["code"]
    assert learned(columns, categorical=["code"]).features == ["code=1", "code=2"]


@pytest.mark.parametrize(
    ("name", "values", "input_"),
    [
        ("rownames", np.arange(1, 41), False),
        ("rownames", np.arange(1, 41) ** 2, False),  # rows of a part of a table
        ("rownames", np.arange(40) % 5, True),
        ("id", np.arange(40), False),
        ("id", np.arange(40) ** 2, True),
        ("year", np.arange(40), True),
        ("__index_level_0__", np.arange(40), False),
    ],
)
def test_row_numbers_are_left_out(name, values, input_):
    encoder = learned({name: values, "x": np.arange(40) % 7, "y": np.arange(40.0)})
    assert (name in encoder.features) == input_
    assert (f"column {name!r} numbers the rows and was left out" in told(encoder)) != input_
    assert name in learned({name: values, "x": values, "y": values}, columns=[name, "x"]).features  # asked for


def test_dates_become_numbers_and_are_said():
    days = np.datetime64("2020-01-30") + np.arange(40)
    encoder = learned({"when": pa.array(days), "y": np.arange(40.0)})
    assert encoder.features == ["when: days", "when: month", "when: weekday"]
    assert "column 'when' holds dates, which became days since 2020-01-30, month, weekday" in told(encoder)
    X, _ = encoder.encode(pa.table({"when": pa.array(days)}))
    np.testing.assert_array_equal(X[:3], [[0, 1, 4], [1, 1, 5], [2, 2, 6]])
    texts = {"when": [f"{d.astype(object):%d/%m/%Y}" for d in days], "y": np.arange(40.0)}
    for how in (None, ["year", "days"]):
        asked = {} if how is None else {"dates": how}
        typed, read = learned({"when": pa.array(days), "y": np.arange(40.0)}, **asked), learned(texts, **asked)
        assert typed.features == read.features
        np.testing.assert_array_equal(
            typed.encode(pa.table({"when": pa.array(days)}))[0], read.encode(pa.table(texts))[0]
        )


def test_months_have_no_weekday_and_a_gap_is_the_median():
    months = np.array([f"20{12 + i // 12}-{i % 12 + 1:02d}-01" for i in range(48)], dtype=object)
    months[5] = None
    encoder = learned({"m": pa.array(months), "y": np.arange(48.0)})
    assert encoder.features == ["m: days", "m: month"]
    assert "1 missing value was filled with the median, 2014-01-01" in told(encoder)


@pytest.mark.parametrize(
    ("first", "second", "hours"),
    [
        ("2021-03-01T23:30:00+02:00", "2021-03-31T01:00:00-0500", [23.5, 1.0]),
        ("2021-03-01 23:30:00.25 +02:00", "2021-03-31 01:00:00.5 +02:00", [23.5, 1.0]),
        ("2021-03-01T23:30:00Z", "2021-03-31T01:00:00Z", [23.5, 1.0]),
        ("03/01/2021 11:30 PM", "03/31/2021 01:00 AM", [23.5, 1.0]),
        ("03/01/2021 11:30:00 PM", "03/31/2021 12:30:00 AM", [23.5, 0.5]),
    ],
)
def test_hours_are_those_of_the_clock(first, second, hours):
    columns = {"when": [first, second] * 9, "y": np.arange(18.0)}  # too few rows to say that days and hours agree
    encoder = learned(columns, dates=["days", "hour"])
    X, _ = encoder.encode(pa.table(columns))
    np.testing.assert_allclose(X[:2, 1], hours)
    assert "holds dates, which became days since 2021-03-01, hour" in told(encoder)


YEARS, MONTH = [1960 + i // 12 for i in range(48)], [i % 12 for i in range(48)]
NAMES = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


@pytest.mark.parametrize(
    ("texts", "months"),
    [
        ([f"{1960 + i // 4} Q{i % 4 + 1}" for i in range(48)], 3),
        ([f"{1960 + i // 4}Q{i % 4 + 1}" for i in range(48)], 3),
        ([f"{1960 + i // 4}-q{i % 4 + 1}" for i in range(48)], 3),
        ([f"Q{i % 4 + 1} {1960 + i // 4}" for i in range(48)], 3),
        ([f"{year} {NAMES[month]}" for year, month in zip(YEARS, MONTH, strict=True)], 1),
        ([f"{NAMES[month]} {year}" for year, month in zip(YEARS, MONTH, strict=True)], 1),
        ([f"{NAMES[month]}-{year}" for year, month in zip(YEARS, MONTH, strict=True)], 1),
        ([f"{year}-{month + 1:02}" for year, month in zip(YEARS, MONTH, strict=True)], 1),
        ([f"{year}M{month + 1}" for year, month in zip(YEARS, MONTH, strict=True)], 1),
    ],
)
def test_quarters_and_months_of_a_year_are_dates(texts, months):
    encoder = learned({"when": texts, "y": np.arange(48.0)})
    assert encoder.features == ["when: days", "when: month"]
    X, keep = encoder.encode(pa.table({"when": texts}))
    first = (np.datetime64("1960-01") + months * np.arange(48)).astype("datetime64[D]")
    assert keep.all()
    np.testing.assert_array_equal(X[:, 0], (first - first[0]).astype(int))
    np.testing.assert_array_equal(X[:, 1], months * np.arange(48) % 12 + 1)


@pytest.mark.parametrize(
    "write", ["{0:%H:%M}", "{0:%H:%M:%S}", "{0:%I:%M %p}", "{0:%H:%M:%S}.25"], ids=["minutes", "seconds", "am", "parts"]
)
def test_times_of_day_are_hours(write):
    times = [datetime.time(i % 24, 30 * (i % 2)) for i in range(48)]
    texts = [None, *(write.format(time) for time in times[1:])]
    encoder = learned({"at": texts, "y": np.arange(48.0)})
    assert encoder.features == ["at: hour"]
    assert "column 'at' holds times of day, which became hour" in told(encoder)
    assert "1 missing value was filled with the median, 12:00" in told(encoder)
    hours = np.array([time.hour + time.minute / 60 for time in times])
    np.testing.assert_array_equal(encoder.encode(pa.table({"at": texts}))[0][1:, 0], hours[1:])
    typed = learned({"at": pa.array(times), "y": np.arange(48.0)})
    assert typed.features == ["at: hour"]
    np.testing.assert_array_equal(typed.encode(pa.table({"at": pa.array(times)}))[0][:, 0], hours)


@pytest.mark.parametrize("texts", [["10-12", "1-3"], ["4:3", "16:9"], ["may 12", "jun 11"], ["2011-2012", "2012-2013"]])
def test_ranges_and_ratios_are_no_dates(texts):
    encoder = learned({"of": texts * 24, "y": np.arange(48.0)})
    assert encoder.features == [f"of={sorted(texts)[1]}"]


def test_dates_that_can_be_read_in_two_ways_are_said():
    encoder = learned({"d": [f"{1 + i % 12}/{1 + i % 7}/2020" for i in range(84)], "y": np.arange(84.0)})
    assert "column 'd' holds dates (read as %m/%d/%Y)" in told(encoder)


def test_truth_in_words_is_one_input():
    encoder = learned({"t": ["TRUE", "FALSE"] * 20, "y": np.arange(40.0)})
    assert encoder.features == ["t"]
    assert encoder.encode(pa.table({"t": ["true", "False"]}))[0].ravel().tolist() == [1, 0]


def test_thousands_and_currencies_are_said():
    prices = [f"${1000 + 7 * i:,}" for i in range(50)]
    encoder = learned({"price": prices, "y": np.arange(50.0)})
    assert encoder.features == ["price"]
    assert "thousand separators or signs of a currency" in told(encoder)
    np.testing.assert_array_equal(encoder.encode(pa.table({"price": prices}))[0][:, 0], 1000 + 7 * np.arange(50))


def test_targets_may_be_text_of_numbers_with_gaps():
    target = [f"{1000 + i:,}" for i in range(48)] + ["?", None]
    encoder = learned({"x": np.arange(50.0), "y": target})
    assert (encoder.n_used, encoder.n_targets_missing) == (48, 2)
    np.testing.assert_array_equal(encoder.rows(pa.table({"x": np.arange(50.0), "y": target}))[1], 1000 + np.arange(48))


def test_long_text_column_is_learned_beside_numbers():
    # more rows than are sampled, in several batches, and more than 100 different texts
    n = 110_000
    codes = np.array([f"N{i}" for i in range(500)])[np.arange(n) % 500]
    x = np.random.default_rng(0).normal(size=n)
    encoder = learned({"x": pa.array(x, mask=np.arange(n) % 7 == 0), "code": codes, "y": x})
    assert encoder.n_used == n
    filled = next(column.fill for column in encoder.columns if column.name == "x")
    assert abs(filled) < 0.02  # the median of the sampled numbers
