"""How well the model predicts: errors and calibration, compared with least squares."""

from __future__ import annotations

from dataclasses import dataclass

from skmoe.inference import feature_names
from skmoe.inference.formatting import fixed, percent, three_digits
from skmoe.plots import BandDisplay, CalibrationDisplay
from skmoe.plots.outputs import MOST_POINTS
from skmoe.report.data import ReportData
from skmoe.report.figures import draw
from skmoe.report.quality import Quality
from skmoe.report.records import Figure, Number, Table

__all__ = ["Prediction", "prediction"]

COLUMNS = ("model", "rows", "R²", "RMSE", "inside 50%", "inside 90%", "width of 90%")


@dataclass(frozen=True)
class Prediction:
    """Errors in words and as a table, predictions with intervals, and calibration; text only without outputs."""

    paragraphs: tuple[str, ...]
    table: Table | None = None
    bands: Figure | None = None
    calibration: Figure | None = None


def prediction(data: ReportData) -> Prediction:
    """Errors and calibration, compared with least squares."""
    if not data.quality:
        return Prediction(("Rows with outputs are needed to say how well the model predicts; none were given.",))
    return Prediction(
        _in_words(data),
        Table(
            "Predictions, compared with least squares fitted to the given rows",
            COLUMNS,
            tuple(_row(quality) for quality in data.quality),
        ),
        _bands(data),
        _calibration(data),
    )


def _in_words(data: ReportData) -> tuple[str, ...]:
    here, line = data.quality[-2:]
    gain = 1 - here.rmse / line.rmse if line.rmse > 0 else 0.0
    if abs(gain) < 0.005:
        compared = "as with least squares"
    else:
        compared = f"{percent(abs(gain))} {'less' if gain > 0 else 'more'} than with least squares"
    text = (
        f"On the {here.rows} rows the root mean squared error is {three_digits(here.rmse)}, {compared}. Of the outputs "
        f"{percent(here.inside_half)} lie inside 50% intervals and {percent(here.inside_most)} inside 90% intervals, "
        f"of which half are narrower than {three_digits(here.width)}."
    )
    if data.model.members_:
        text = f"Predictions are averages of {len(data.model.members_)} models. {text}"
    if data.test is not None:
        return (text,)
    return (
        text,
        "If the given rows are those of the fit, new ones will be predicted somewhat worse; held-out rows would show "
        "how much.",
    )


def _row(q: Quality) -> tuple[str | Number, ...]:
    return (
        f"{q.model}, {q.rows} rows",
        Number(q.n, f"{q.n:,}"),
        Number(q.r2, fixed(q.r2, 3)),
        Number(q.rmse),
        Number(q.inside_half, f"{100 * q.inside_half:.1f}%"),
        Number(q.inside_most, f"{100 * q.inside_most:.1f}%"),
        Number(q.width),
    )


def _bands(data: ReportData) -> Figure | None:
    if data.main_input is None or data.y is None:
        return None
    name, n = feature_names(data.model)[data.main_input], len(data.y)
    dots = f"{MOST_POINTS:,} of {n:,} rows, chosen at random" if n > MOST_POINTS else "rows"
    return draw(
        BandDisplay,
        data.model,
        data.X,
        data.main_input,
        y=data.y,
        title="Predictions with intervals along an input",
        caption=f"Predictions of {data.target_in_figures} with 50% and 90% intervals along {name}, the other inputs at "
        f"typical values; dots are {dots}, whose other inputs differ.",
    )


def _calibration(data: ReportData) -> Figure | None:
    rows = data.rows if data.test is None else data.test
    if rows is None:
        return None
    return draw(
        CalibrationDisplay,
        data.model,
        rows.X,
        rows.y,
        title="Calibration of the predictive distribution",
        caption=f"Calibration on the {data.quality[-1].rows} rows. Left: where outputs fall in their predictive "
        "distributions; flat is right, high in the middle means that intervals are too wide, low in the middle too "
        "narrow. Right: share of outputs inside intervals; the diagonal is right.",
        height=3.2,
    )
