"""Characters that would steer a terminal are escaped, and no others."""

import pytest

from skmoe.arrays.visible import visible


@pytest.mark.parametrize("text", ["plain", "größe", "名前", "σ²", "a b", "a\u00a0b", "\u0646\u200c\u0647", "👩‍🔬", ""])
def test_text_of_any_language_is_left_as_it_is(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", r"\x1b[31m"),
        ("a\rb", r"a\rb"),
        ("a\nb\tc", r"a\nb\tc"),
        ("\x07\x08\x7f\x9b", r"\x07\x08\x7f\x9b"),
        ("\u202egpj.exe", r"\u202egpj.exe"),
        ("\u2066\u2069\u200f", r"\u2066\u2069\u200f"),
        ("\u2028", r"\u2028"),
        ("\udcff", r"\udcff"),
    ],
)
def test_characters_that_steer_a_terminal_are_escaped(text, shown):
    assert visible(text) == shown
    visible(text).encode()


def test_line_breaks_are_kept_where_asked():
    assert visible("a\nb\r", keep="\n") == "a\nb\\r"
