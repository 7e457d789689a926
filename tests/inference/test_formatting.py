"""Numbers and lists as text."""

import numpy as np
import pytest

from skmoe.inference.formatting import (
    fixed,
    listed,
    percent,
    ratio_text,
    short,
    three_digits,
    with_interval,
    with_spread,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.14159, "3.14"),
        (-0.012345, "−0.0123"),
        (1234567.0, "1,230,000"),
        (999.6, "1,000"),
        (0.0, "0"),
        (float("nan"), "–"),
        (float("-inf"), "−∞"),
        (1.234e-9, "1.23e−09"),
        (0.09999, "0.100"),
    ],
)
def test_three_digits_are_kept(value, text):
    assert three_digits(value) == text


def test_fixed_keeps_decimals_and_short_drops_zeros():
    assert [fixed(v, 1) for v in (-1234.56, float("nan"))] == ["−1,234.6", "–"]
    assert [short(v) for v in (1.0, -0.5, 12345.6)] == ["1", "−0.5", "12345.6"]


def test_percent_never_rounds_to_nothing_or_all():
    assert [percent(v) for v in (0.0, 0.001, 0.364, 0.999, 1.0)] == ["0%", "under 1%", "36%", "over 99%", "100%"]


def test_spread_has_the_decimals_of_its_mean_and_no_exponent():
    assert with_spread(351.1, 102.3) == "351 ± 102"
    assert with_spread(7.2081, 0.614) == "7.21 ± 0.61"
    assert with_spread(-3.3634, 0.0713) == "−3.363 ± 0.071"
    assert with_spread(0.0009158, 9.6e-05) == "0.000916 ± 0.000096"
    assert with_spread(123456.0, 7890.0) == "123,456 ± 7,890"
    assert with_spread(np.nan, np.nan) == ""
    assert with_spread(2.0, 0.0) == with_spread(2.0, np.nan) == "2.00"


def test_interval_is_left_out_without_an_error():
    assert with_interval(2.0, 0.5) == "2.00 (1.02 to 2.98)"
    assert with_interval(2.0, np.nan) == with_interval(2.0, 0.0) == "2.00"


def test_listed_joins_as_a_sentence_does():
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.00015123, "1.00015"), (0.99988, "0.99988"), (1.0, "1.00"), (1.02, "1.02"), (0.0516, "0.0516"), (21.7, "21.7")],
)
def test_ratios_near_one_are_told_from_it(value, text):
    assert ratio_text(value) == text


def test_a_spread_of_rounding_alone_is_not_written():
    assert with_spread(29 / 30, 1.2e-16) == "0.967"
