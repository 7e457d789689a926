"""One column of a table: what it holds, and the inputs that it becomes."""

from decimal import Decimal

import numpy as np
import pytest

from skmoe.rows import TableError
from skmoe.rows.columns import Column, kind_of, learn_column

pa = pytest.importorskip("pyarrow")


def made(values, kind=None):
    return pa.chunked_array([pa.array(values, kind)])


def inputs(column, values, unseen="error"):
    encoded, known = column.encode(values, unseen)
    return np.column_stack(encoded).tolist(), known.tolist()


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (made([1, 2]), "number"),
        (made([1.5, np.nan]), "number"),
        (made([Decimal("1.5"), None]), "number"),
        (made([True, None]), "boolean"),
        (made(["a", None]), "category"),
        (made(["a", "b"], pa.large_string()), "category"),
        (made(["a", "b"]).dictionary_encode(), "category"),
        (pa.chunked_array([pa.nulls(2)]), "empty"),
    ],
)
def test_kind_of_a_column_follows_its_type(values, kind):
    assert kind_of(values, "c") == kind


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (made([0, 1], pa.timestamp("s")), "'c' holds dates or times.*--drop c"),
        (made([b"\xff", b"a"]), "'c' holds text that is not UTF-8"),
        (made([[1], [2]]), "'c' holds list.* neither number nor category"),
    ],
)
def test_column_of_another_kind_is_refused_with_what_to_do(values, words):
    with pytest.raises(TableError, match=words):
        kind_of(values, "c")


def test_categories_become_inputs_but_for_the_first():
    column = learn_column(made(["b", "a", "c", "b"]), "c", "category", impute=False)
    assert column.features == ["c=b", "c=c"]
    assert inputs(column, made(["a", "b", "c", None])) == ([[0, 0], [1, 0], [0, 1], [0, 0]], [True] * 3 + [False])


def test_categories_of_a_dictionary_are_its_values():
    column = learn_column(made([1, 2, 1]).dictionary_encode(), "level", "category", impute=False)
    assert column.features == ["level=2"]
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


def test_missing_values_are_filled_with_the_middle():
    for values, kind, expected in (
        ([1.0, 2.0, 9.0, None], "number", 2.0),
        ([True, True, False, None], "boolean", 1.0),
        (["b", "a", "b", None], "category", 1.0),
    ):
        column = learn_column(made(values), "c", kind, impute=True)
        encoded, known = inputs(column, made(values))
        assert encoded[-1] == [expected]
        assert all(known)


def test_columns_of_one_value_are_no_inputs():
    for values, kind in (([7, 7, None], "number"), ([True, True], "boolean"), (["a", "a", None], "category")):
        assert learn_column(made(values), "c", kind, impute=False) is None


def test_unseen_category_is_refused_or_left_out():
    column = Column("kind", "category", ("a", "b"))
    with pytest.raises(TableError, match=r"'kind' holds 'z', which was not there in fitting \(known: a, b\)"):
        column.encode(made(["a", "z"]), "error")
    assert inputs(column, made(["a", "z"]), unseen="empty")[1] == [True, False]


def test_fifty_categories_are_the_most():
    values = [f"k{i:02d}" for i in range(51)] * 4
    assert len(learn_column(made(values[:50] * 4), "kind", "category", impute=False).features) == 49
    with pytest.raises(TableError, match="51 different values in 204 rows"):
        learn_column(made(values), "kind", "category", impute=False)


def test_a_category_for_each_row_is_refused():
    with pytest.raises(TableError, match="not one a row"):
        learn_column(made(["ann", "bob", "cy"]), "name", "category", impute=False)


def test_numbers_with_stray_text_are_told_apart_from_names():
    values = [str(i / 2) for i in range(60)]
    with pytest.raises(TableError, match=r"would be numbers but for '\?'"):
        learn_column(made([*values, "?"]), "x", "category", impute=False)


def test_infinity_is_refused():
    with pytest.raises(TableError, match="holds infinity"):
        learn_column(made([1.0, np.inf]), "x", "number", impute=False)
