"""Numbers and comparisons in words, for the page: lists, spans, and which of two sets of paired errors is smaller."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import stats

LEVEL = 0.05  # of the paired t-test by which two methods are said to differ


def listed(values: Iterable[float], spec: str = ".2f") -> str:
    """Numbers one after the other, -0 as 0."""
    return ", ".join(number(value, spec) for value in values)


def number(value: float, spec: str = ".2f") -> str:
    """One number, -0 as 0."""
    text = f"{value:{spec}}"
    return text[1:] if text.startswith("-") and not any(c in text for c in "123456789") else text


def span(values: Iterable[float], spec: str = ".2f") -> str:
    """From the smallest to the largest, or the one number where they look the same."""
    values = list(values)
    ends = [number(value, spec) for value in (min(values), max(values))]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


def joined(words: Iterable[str], last: str = "and") -> str:
    """Words with commas and a last "and"; "none" where there are none."""
    words = list(words)
    if len(words) < 2:
        return words[0] if words else "none"
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def paired_difference(first: Any, second: Any) -> tuple[int, float]:
    """Sign of the mean of first - second where a paired t-test finds one, else 0; and the test's p-value."""
    difference = np.asarray(first) - np.asarray(second)
    if len(difference) < 2 or np.ptp(difference) <= 1e-9 * np.max(np.abs(difference)):  # all alike, or but one
        return int(np.sign(difference.mean())), float(difference.mean() == 0)
    p = float(stats.ttest_rel(first, second).pvalue)
    return int(np.sign(difference.mean())) if p < LEVEL else 0, p


def against(first: Any, second: Any, words: tuple[str, str, str] = ("below", "no different from", "above")) -> str:
    """Which word holds between two sets of paired numbers, by `paired_difference`."""
    return words[paired_difference(first, second)[0] + 1]
