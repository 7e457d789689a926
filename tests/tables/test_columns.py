"""One column of a table: the inputs that it becomes, and how its values turn into them."""

from collections import Counter

import numpy as np
import pytest

from skmoe.tables import TableError
from skmoe.tables.columns import Column

pa = pytest.importorskip("pyarrow")


def made(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


def inputs(column, values, unseen="error"):
    encoded, known = column.encode(values, unseen)
    return np.column_stack(encoded).tolist(), known.tolist()


def test_categories_become_inputs_but_for_the_first():
    column = Column("c", "category", ("a", "b", "c"))
    assert column.features == ["c=b", "c=c"]
    assert inputs(column, made(["a", "b", " c ", None])) == ([[0, 0], [1, 0], [0, 1], [0, 0]], [True] * 3 + [False])


def test_categories_of_a_dictionary_are_its_values():
    column = Column("level", "category", ("1", "2"))
    assert inputs(column, made([2, 1]).dictionary_encode()) == ([[1], [0]], [True, True])


@pytest.mark.parametrize("as_batch", [False, True])
def test_values_of_tables_and_of_record_batches_are_encoded_alike(as_batch):
    # arrays of a record batch are of another class than columns of a table, and copy less readily
    for values, kind in (([1.5, None], "number"), ([True, None], "boolean"), (["b", None], "category")):
        column = Column("c", kind, ("a", "b") if kind == "category" else ())
        given = pa.array(values) if as_batch else made(values)
        encoded, known = column.encode(given, "error")
        assert known.tolist() == [True, False]
        assert encoded[0][0] == {"number": 1.5, "boolean": 1.0, "category": 1.0}[kind]


def test_numbers_of_text_and_of_numbers_are_encoded_alike():
    column = Column("c", "number", fill=7.0, missing_indicator=True)
    expected = ([[1.5, 0], [-2, 0], [7, 1]], [True, True, True])
    assert inputs(column, made([1.5, -2.0, None])) == expected
    assert inputs(column, made(["1.5", " -2 ", "?"])) == expected
    with pytest.raises(TableError, match="column 'c' must hold numbers; it holds 'many'"):
        column.encode(made(["1", "many"]))


def test_yes_and_no_of_text_and_of_booleans_are_encoded_alike():
    column = Column("c", "boolean")
    expected = ([1, 0], [True, True, False])
    for values in (made([True, False, None]), made(["TRUE", "false", None])):
        (encoded,), known = column.encode(values)
        assert (encoded[:2].tolist(), known.tolist()) == expected
    with pytest.raises(TableError, match="must hold true or false; it holds 'maybe'"):
        column.encode(made(["true", "maybe"]))


def test_dates_of_text_and_of_timestamps_are_encoded_alike():
    column = Column(
        "d", "date", parts=("days", "year", "month", "weekday", "hour"), first=0.0, written="%Y-%m-%d %H:%M"
    )
    assert column.features == ["d: days", "d: year", "d: month", "d: weekday", "d: hour"]
    texts = ["1970-01-02 12:00", "2024-02-29 06:30", None]
    expected = [[1.5, 1970, 1, 5, 12], [19782 + 6.5 / 24, 2024, 2, 4, 6.5]]
    for values in (made(texts), made([129600, 1709188200, None], pa.timestamp("s"))):
        encoded, known = column.encode(values)
        np.testing.assert_allclose(np.column_stack(encoded)[:2], expected)
        assert known.tolist() == [True, True, False]


def test_unseen_category_is_refused_or_left_out_or_counts_as_a_rare_one():
    column = Column("kind", "category", ("a", "b"))
    with pytest.raises(TableError, match=r"'kind' holds 'z', which was not there in fitting \(known: a, b\)"):
        column.encode(made(["a", "z"]), "error")
    assert inputs(column, made(["a", "z"]), unseen="empty")[1] == [True, False]
    pooling = Column("kind", "category", ("a", "b", "other"), infrequent_as="other", infrequent=("gold",))
    rare, new = [[0, 1], [0, 0]], ["gold", "a"]
    assert inputs(pooling, made(new), unseen="error") == (rare, [True, True])
    assert inputs(pooling, made(["z", "a"]), unseen="other") == (rare, [True, True])
    assert inputs(pooling, made(["z", "a"]), unseen="empty")[1] == [False, True]
    with pytest.raises(TableError, match="holds 'z'"):
        pooling.encode(made(["z"]), "error")


def test_unseen_category_counts_as_the_mean_of_the_known_where_there_were_no_rare_ones():
    column, tally = Column("kind", "category", ("a", "b", "c", "missing"), fill="missing"), Counter()
    encoded, known = column.encode(made(["b", "z", None, "y"]), "other", tally=tally)
    np.testing.assert_allclose(np.column_stack(encoded), [[1, 0, 0], [1 / 3, 1 / 3, 0], [0, 0, 1], [1 / 3, 1 / 3, 0]])
    assert known.all()
    assert tally == {"kind": 2}


def test_inputs_of_a_column_say_what_they_hold():
    assert [(one.name, one.categories) for one in Column("a", "number", missing_indicator=True).inputs] == [
        ("a", ()),
        ("a=missing", ("no", "yes")),
    ]
    assert [one.name for one in Column("d", "date", parts=("days", "month")).inputs] == ["d: days", "d: month"]
