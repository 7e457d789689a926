"""Numbers written as text."""

import numpy as np
import pytest

from skmoe.tables.text_numbers import text_numbers

pa = pytest.importorskip("pyarrow")


@pytest.mark.parametrize(
    ("text", "decimal", "number"),
    [
        ("1,234.5", ".", 1234.5),
        ("-1,234,567", ".", -1234567),
        ("1.234,5", ",", 1234.5),
        ("1 234,5", ",", 1234.5),
        ("1'234.5", ".", 1234.5),
        ("1\u00a0234", ".", 1234),
        ("$1,200", ".", 1200),
        ("€ 3", ".", 3),
        ("$-1,200.50", ".", -1200.5),
        ("-$3", ".", -3),
        ("(1,200)", ".", -1200),
        ("1.200,50 €", ",", 1200.5),
        ("\u22121,200", ".", -1200),
        ("$1,000e-3", ".", 1),
        ("45%", ".", 45),
        (" 7 ", ".", 7),
        (".5", ".", 0.5),
        ("1e-3", ".", 0.001),
        ("2,5e3", ",", 2500),
    ],
)
def test_numbers_are_read(text, decimal, number):
    read = text_numbers(pa.array([text, "0"]), decimal)
    assert read.values.tolist() == [number, 0]
    assert not read.unparsable


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("1,23", "."),
        ("1,2345", "."),
        ("12,34,567", "."),
        ("3 kg", "."),
        ("5+", "."),
        ("(1", "."),
        ("1)", "."),
        ("--3", "."),
    ],
)
def test_what_only_looks_like_a_number_is_none(text, decimal):
    assert text_numbers(pa.array([text, text, "1"]), decimal).unparsable == {text: 2}


def test_marks_count_as_missing():
    read = text_numbers(pa.chunked_array([["1", "?"], [None, "N/A", " - ", "?", "abc"]]), ".")
    assert read.missing.tolist() == [False, True, True, True, True, True, False]
    assert read.missing_marks == {"?": 2, "N/A": 1, "-": 1}
    assert read.unparsable == {"abc": 1}
    assert np.isnan(read.values[1:]).all()
