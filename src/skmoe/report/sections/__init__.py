"""The sections of the report: each turns `ReportData` into a record, which the template of its name lays out."""

from skmoe.report.sections.certainty import certainty
from skmoe.report.sections.coefficients import coefficients
from skmoe.report.sections.diagnosis import diagnosis
from skmoe.report.sections.gate import gate
from skmoe.report.sections.numbers import numbers
from skmoe.report.sections.overview import overview
from skmoe.report.sections.prediction import prediction
from skmoe.report.sections.regimes import regimes
from skmoe.report.sections.trust import trust

__all__ = [
    "certainty",
    "coefficients",
    "diagnosis",
    "gate",
    "numbers",
    "overview",
    "prediction",
    "regimes",
    "trust",
]
