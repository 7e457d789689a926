"""What to be careful about: the diagnosis in words, and what holds for every model of this kind."""

from __future__ import annotations

from dataclasses import dataclass

from skmoe.inference.diagnosis import SMALL_SHARE, few_rows
from skmoe.inference.formatting import listed
from skmoe.inference.held_out import near_ties, stability_in_words
from skmoe.plots import SpectrumDisplay
from skmoe.report.data import ReportData
from skmoe.report.figures import draw
from skmoe.report.records import Figure, Table

__all__ = ["Cautions", "cautions"]

ALWAYS = (
    "Coefficients describe how rows differ, not what happens when an input is changed.",
    "Far from the rows of the fit the model extrapolates: it is less reliable there.",
    "Correlated inputs share their effect: a single coefficient then says little, but predictions are hardly affected.",
)


@dataclass(frozen=True)
class Cautions:
    """The diagnosis, the spectrum of the moments, and warnings."""

    diagnosis: Table
    spectrum: Figure | None
    warnings: tuple[str, ...]


def cautions(data: ReportData) -> Cautions:
    """The diagnosis in words, and what holds for every model of this kind."""
    said = [*few_rows(data.model), stability_in_words(data.model), *near_ties(data.model)]
    sentences = (f"{text[0].upper()}{text[1:]}." for text in said if text)
    return Cautions(_diagnosis(data), _spectrum(data), (*sentences, *_small_experts(data), *ALWAYS))


def _diagnosis(data: ReportData) -> Table:
    found = data.model.diagnose(data.X, data.y)
    rows = tuple((question, words, finding) for question, finding, words in found.rows)
    return Table("Diagnosis", ("question", "what it means", "finding"), rows)


def _spectrum(data: ReportData) -> Figure | None:
    if data.model.history_["spectrum"] is None:
        return None
    return draw(
        SpectrumDisplay,
        data.model,
        title="Eigenvalues of the second moment",
        caption="Directions that the moments of the data show, compared with sampling noise: as many should be above "
        "it as there are experts.",
        height=3.0,
    )


def _small_experts(data: ReportData) -> tuple[str, ...]:
    small = [f"{i + 1}" for i, share in enumerate(data.model.shares_) if share < SMALL_SHARE]
    if not small:
        return ()
    return (f"Few rows belong to expert{'s' if len(small) > 1 else ''} {listed(small)}: they may be outliers.",)
