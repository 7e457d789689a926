"""Section on the diagnosis: every check of the fit, and the spectrum of the moments."""

from __future__ import annotations

from skmoe.plots import SpectrumDisplay
from skmoe.report.data import ReportData
from skmoe.report.figures import draw
from skmoe.report.records import Block, Figure, Table

__all__ = ["diagnosis"]


def diagnosis(data: ReportData) -> tuple[Block | None, ...]:
    """Return every check of the fit, and the spectrum of the moments."""
    found = data.model.diagnose(data.X, data.outputs)
    rows = tuple((question, meaning, finding) for question, finding, meaning in found.rows)
    about = "Diagnosis" if data.rows is None else f"Diagnosis, with the {data.rows.n:,} rows shown"
    return Table(about, ("question", "what it means", "finding"), rows), _spectrum(data)


def _spectrum(data: ReportData) -> Figure | None:
    if data.model.record_.search.spectrum is None:
        return None
    return draw(
        SpectrumDisplay.from_estimator(data.model, draw=False),
        title="Eigenvalues of the second moment",
        caption="Directions that the moments of the data show, compared with sampling noise: as many should be above "
        "it as there are experts.",
        height=3.0,
    )
