"""Numbers written as text: decimal commas, thousand separators, signs of currencies, and texts that mean "no value"."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skmoe.arrays.exactness import EXACT, Rounded, rounded
from skmoe.tables.table_errors import arrow

__all__ = ["MISSING_MARKS", "TextNumbers", "text_numbers"]

MISSING_MARKS = frozenset(
    {"", "?", "-", "--", "---", ".", "..", "*", "none", "missing", "unknown", "nil", "n.a.", "n/a", "na"}
)
"""Texts that mean "no value" in a column of numbers, in lower case; pyarrow takes others for missing anywhere."""

_GROUPS = {".": r"[,' \u00a0\u202f]", ",": r"[.' \u00a0\u202f]"}  # thousand separators, by decimal mark
_NUMBER = {
    mark: re.compile(
        rf"(?P<debt>\()?(?:[+\-−]?[$€£¥]?\s?|[$€£¥]\s?[+\-−])(?P<whole>\d{{1,3}}(?:(?P<group>{groups})\d{{3}})(?:(?P=group)\d{{3}})*|\d+|(?=\{mark}\d))"
        rf"(?:\{mark}(?P<part>\d*))?(?P<power>[eE][+-]?\d+)?\s?[%$€£¥]?(?(debt)\))"
    )
    for mark, groups in _GROUPS.items()
}


class TextNumbers(NamedTuple):
    """A column of text read as numbers.

    Attributes
    ----------
    values : (n,) array
        Numbers, NaN where there are none.
    missing : (n,) array of bool
        Where there is no value.
    unparsable : dict
        Texts that are neither numbers nor mean "no value", with how often they come.
    missing_marks : dict
        Texts that mean "no value", with how often they come.
    grouped : bool
        Whether thousand separators, currencies or percent signs were removed.
    rounded : Rounded
        Whole numbers, written without a decimal mark or a power, that double precision changed.
    """

    values: np.ndarray
    missing: np.ndarray
    unparsable: dict[str, int]
    missing_marks: dict[str, int]
    grouped: bool
    rounded: Rounded = Rounded()


def text_numbers(texts: Any, decimal: str = ".") -> TextNumbers:
    """Read text as numbers.

    Parameters
    ----------
    texts : pyarrow array of strings
        The column.
    decimal : {".", ","}
        The decimal mark.

    Returns
    -------
    TextNumbers
        The numbers, and the texts that are none.
    """
    pa = arrow()
    import pyarrow.compute as pc

    missing = pc.is_null(texts).to_numpy(zero_copy_only=False)
    try:  # nearly all columns are plain numbers
        plain = texts
        if decimal == ",":
            if pc.any(pc.match_substring(texts, "."), min_count=0).as_py():
                raise pa.ArrowInvalid("thousand separators")
            plain = pc.replace_substring(texts, ",", ".")
        values = np.array(plain.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
        return TextNumbers(values, missing | np.isnan(values), {}, {}, False, _rounded(plain, values))
    except pa.ArrowInvalid:
        return _one_by_one(texts, missing, decimal)


def _rounded(texts: Any, values: np.ndarray) -> Rounded:
    """Find the whole numbers among plain texts that were rounded; `values` are the numbers read."""
    pa = arrow()
    import pyarrow.compute as pc

    large = (np.abs(values) >= EXACT) & np.isfinite(values)
    if not np.any(large):
        return Rounded()
    whole = pc.utf8_trim_whitespace(texts.filter(pa.array(large)))
    whole = whole.filter(pc.match_substring_regex(whole, r"^[+-]?[0-9]+$"))
    try:
        return rounded(whole.cast(pa.int64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:  # of more digits than 64 bits hold
        return rounded(np.array([int(text) for text in whole.to_pylist()], dtype=object))


def _one_by_one(texts: Any, missing: np.ndarray, decimal: str) -> TextNumbers:
    """Read texts that are not all plain numbers; each different text is read once."""
    coded = texts.combine_chunks() if hasattr(texts, "combine_chunks") else texts
    coded = coded.dictionary_encode()
    different = coded.dictionary.to_pylist()
    index = np.array(coded.indices.fill_null(-1).to_numpy(zero_copy_only=False), dtype=np.int64)
    counts = np.bincount(index[index >= 0], minlength=len(different))
    table = np.full(len(different) + 1, np.nan)  # the last one is for values that are missing
    unparsable, missing_marks = Counter[str](), Counter[str]()
    grouped, exact = False, Rounded()
    for i, text in enumerate(different):
        stripped = text.strip()
        if stripped.lower() in MISSING_MARKS:
            missing_marks[stripped] += int(counts[i])
            continue
        found = _read(stripped, decimal)
        if found is None:
            unparsable[text] = int(counts[i])
        else:
            table[i] = found[0]
            grouped |= found[1]
            if EXACT <= abs(found[0]) < np.inf:
                one = rounded(np.array([_whole(stripped, found[0], decimal)], dtype=object))
                exact += replace(one, count=one.count * int(counts[i]))
    values = table[index]
    marked = np.append(np.array([text.strip().lower() in MISSING_MARKS for text in different], dtype=bool), True)
    return TextNumbers(values, missing | marked[index], unparsable, missing_marks, grouped, exact)


def _whole(text: str, value: float, decimal: str) -> int | None:
    """Return the whole number of a text that was read as `value`; None where it is written as another."""
    found = _NUMBER[decimal].fullmatch(text)
    if found is None or found["part"] is not None or found["power"] is not None:
        return None
    return int(re.sub(r"\D", "", found["whole"])) * (-1 if value < 0 else 1)


def _read(text: str, decimal: str) -> tuple[float, bool] | None:
    """Read a number, and whether separators or signs were removed from it; None where the text is none."""
    try:
        return float(text.replace(",", ".") if decimal == "," and "." not in text else text), False
    except ValueError:
        pass
    found = _NUMBER[decimal].fullmatch(text)
    if found is None:
        return None
    whole = re.sub(r"\D", "", found["whole"])
    before = text[: found.start("whole")]
    sign = "-" if found["debt"] or "-" in before or "−" in before else ""  # accounts write (12) for -12
    return float(f"{sign}{whole or 0}.{found['part'] or 0}{found['power'] or ''}"), True
