"""The later sections: how sure it is, how well it predicts, what to be careful about, and all numbers."""

from __future__ import annotations

from skmoe.inference import feature_names
from skmoe.inference.diagnosis import SMALL_SHARE
from skmoe.report.known import Known
from skmoe.report.markup import Number, Safe, join, paragraphs, table, tag
from skmoe.report.words import listed, percent, three

__all__ = ["care", "certainty", "everything", "prediction"]

ALWAYS = (
    "Coefficients describe how rows differ, not what happens when an input is changed.",
    "Far from the rows of the fit the model only extends what it saw among them: trust it less there.",
    "Inputs that move together share their effect: one coefficient then says little, yet predictions are fine.",
)


def certainty(known: Known) -> Safe:
    """Standard errors, convergence, agreement of starts."""
    model, history = known.model, known.model.history_
    parts = [paragraphs(_errors(known), f"{_end(known)} {_agreement(known)}")]
    if model.method != "spectral":
        parts.append(
            known.pictures.draw(
                "TraceDisplay",
                model,
                title="Log-likelihood by iteration, and where each start ended",
                caption="How the best search climbed, and how far below it the others ended.",
                width=9.0,
                height=4.2,
            )
        )
    starts = [start for start in history["starts"] if start[2] == "all rows"] or history["starts"]
    if starts:
        best = max(value for _, value, _ in starts)
        lines = [[str(name), str(stage), Number(best - value, f"{best - value:.5f}")] for name, value, stage in starts]
        caption = "Searches that went furthest: mean log-likelihood per row below that of the best"
        parts.append(table(caption, ["start", "finished on", "below the best"], lines))
    return join(parts + _number_of_experts(known))


def _errors(known: Known) -> str:
    if known.model.covariance_ is not None:
        return (
            "Intervals are 95% ones from the curvature of the likelihood at its maximum. The last table has robust "
            "standard errors beside the others, which stay right where the noise is not as the model says: where the "
            "two differ much, trust the robust ones."
        )
    if known.model.method == "spectral":
        return "This method gives no standard errors."
    return "There are no standard errors: the data do not tell all parameters apart. Read coefficients with care."


def _end(known: Known) -> str:
    model = known.model
    end = "reached the maximum" if model.converged_ else "stopped short of the maximum"
    if model.history_["interrupted"]:
        end = "was interrupted before the maximum"
    return f"The fit {end} of the likelihood."


def _agreement(known: Known) -> str:
    agreement = known.model.history_["agreement"]
    if known.model.method == "spectral":
        return "It had one start, the one from moments, and no likelihood was climbed from there."
    if known.model.n_experts_ == 1:
        return ""
    if agreement >= 2:
        return f"{agreement} searches that began apart ended there, so it is very likely the best there is."
    return (
        "No two searches ended there, so a better one may exist: fit again with another random_state and compare the "
        "log-likelihood."
    )


def _number_of_experts(known: Known) -> list[Safe]:
    tried = known.model.history_["bic"]
    if not tried:
        return []
    lines = [[f"{k}", Number(bic, _fixed(bic, 1))] for k, bic in tried]
    return [
        tag("h3", "Why this number of experts"),
        paragraphs(
            f"From {tried[0][0]} to {tried[-1][0]} experts were tried; {known.model.n_experts_} had the smallest BIC, "
            "which weighs fit against the number of parameters."
        ),
        known.pictures.draw(
            "ChoiceDisplay",
            known.model,
            title="BIC by number of experts",
            caption="BIC by number of experts; smaller is better.",
            height=3.0,
        ),
        table("BIC by number of experts", ["experts", "BIC"], lines),
    ]


def prediction(known: Known) -> Safe:
    """Errors and calibration, beside least squares."""
    if known.rows is None or not known.quality:
        return paragraphs("Rows with outputs are needed to say how well the model predicts; none were given.")
    columns = ["model", "rows", "R²", "RMSE", "inside 50%", "inside 90%", "width of 90%"]
    lines = [
        [
            f"{q.model}, {q.rows} rows",
            Number(q.n, f"{q.n:,}"),
            Number(q.r2, _fixed(q.r2, 3)),
            Number(q.rmse),
            Number(q.inside_half, f"{100 * q.inside_half:.1f}%"),
            Number(q.inside_most, f"{100 * q.inside_most:.1f}%"),
            Number(q.width),
        ]
        for q in known.quality
    ]
    parts = [
        paragraphs(*_predictions_in_words(known)),
        table("Predictions, beside least squares learned from the given rows", columns, lines),
    ]
    if known.main_input is not None:
        name = feature_names(known.model)[known.main_input]
        parts.append(
            known.pictures.draw(
                "BandDisplay",
                known.model,
                known.X,
                known.main_input,
                y=known.y,
                title="Predictions with intervals along an input",
                caption=f"Predictions of {known.target} (y) with 50% and 90% intervals along {name}, the other inputs "
                "at typical values; dots are rows, whose other inputs differ.",
            )
        )
    judged = known.rows if known.test is None else known.test
    parts.append(
        known.pictures.draw(
            "CalibrationDisplay",
            known.model,
            judged.X,
            judged.y,
            title="Calibration of the predictive distribution",
            caption=f"Whether outputs of the {known.quality[-1].rows} rows fall where the model expects them. Left: "
            "level bars are right, a hump means intervals too wide, a valley too narrow. Right: the diagonal is right.",
            height=3.2,
        )
    )
    return join(parts)


def _predictions_in_words(known: Known) -> list[str]:
    here, line = known.quality[-2:]
    gain = 1 - here.rmse / line.rmse if line.rmse > 0 else 0.0
    if abs(gain) < 0.005:
        beside = "as with least squares"
    else:
        beside = f"{percent(abs(gain))} {'less' if gain > 0 else 'more'} than with least squares"
    words = [
        f"On the {here.rows} rows a prediction is typically off by {three(here.rmse)} (root mean squared error), "
        f"{beside}. Of the outputs {percent(here.inside_half)} lie inside 50% intervals and "
        f"{percent(here.inside_most)} inside 90% intervals, of which half are narrower than {three(here.width)}."
    ]
    if known.test is None:
        words.append(
            "If the given rows are those of the fit, new ones will be predicted somewhat worse; held-out rows would "
            "show how much."
        )
    return words


def care(known: Known) -> Safe:
    """The diagnosis in words, and what holds for every model of this kind."""
    model = known.model
    found = model.diagnose() if known.y is None else model.diagnose(known.X, known.y)
    lines = [[question, words, finding] for question, finding, words in found.rows]
    parts = [table("Diagnosis", ["question", "what it means", "finding"], lines)]
    if model.history_["spectrum"] is not None:
        parts.append(
            known.pictures.draw(
                "SpectrumDisplay",
                model,
                title="Directions that the moments of the data show",
                caption="Directions that the moments of the data show, beside the level of their noise: as many should "
                "stand out as there are experts.",
                height=3.0,
            )
        )
    warnings = list(ALWAYS)
    small = [f"{i + 1}" for i, share in enumerate(model.shares_) if share < SMALL_SHARE]
    if small:
        warnings.insert(0, f"Few rows belong to expert {listed(small)}: they may be a handful of outliers.")
    parts += [tag("h3", "In any case"), tag("ul", *(tag("li", text) for text in warnings))]
    return join(parts)


def everything(known: Known) -> Safe:
    """The coefficient table, with robust errors beside the others."""
    robust = known.model.summary(robust=True).rows
    columns = ["term", "part", "estimate", "95% from", "to", "std. error", "robust", "z", "p"]
    lines = []
    for (part, term, value, error, z, p, low, high), other in zip(known.coefficients, robust, strict=True):
        small = "< 0.001" if p < 0.001 else f"{p:.3f}" if p == p else "–"
        numbers = [Number(v) for v in (value, low, high, error, other[3], z)]
        lines.append([term, part.split(" (")[0], *numbers, Number(p, small)])
    return table(f"All coefficients, in the units of the inputs and of {known.target}", columns, lines)


def _fixed(value: float, decimals: int) -> str:
    return f"{value:,.{decimals}f}".replace("-", "−")
