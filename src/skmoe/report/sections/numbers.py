"""Section on all numbers: every coefficient, with both kinds of standard errors."""

from __future__ import annotations

from dataclasses import dataclass

from skmoe.report.coefficient_tables import all_coefficients
from skmoe.report.data import ReportData
from skmoe.report.records import Table

__all__ = ["Numbers", "numbers"]


@dataclass(frozen=True)
class Numbers:
    """The table of all coefficients."""

    coefficients: Table


def numbers(data: ReportData) -> Numbers:
    """Return every coefficient, with both kinds of standard errors."""
    return Numbers(all_coefficients(data))
