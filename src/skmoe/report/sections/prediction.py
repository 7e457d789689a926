"""Section on prediction: errors on rows held out, compared with those of least squares and boosting."""

from __future__ import annotations

from skmoe.inference import inputs_of
from skmoe.inference.calibrate import COVERAGES
from skmoe.inference.formatting import fixed, listed, percent, three_digits
from skmoe.inference.relations import is_exact
from skmoe.plots import BandDisplay, PredictionDisplay, ProbabilityDisplay, SeparationDisplay
from skmoe.plots.outputs import MOST_POINTS
from skmoe.report.data import ReportData
from skmoe.report.evaluated import SAME, EvaluatedClasses, EvaluatedNumbers
from skmoe.report.evaluation import Evaluation, Protocol
from skmoe.report.figures import draw
from skmoe.report.methods import has_exposure
from skmoe.report.records import Block, Figure, Number, Table, Text, paragraphs

__all__ = ["compared", "prediction"]


def prediction(data: ReportData) -> tuple[Block | None, ...]:
    """Report errors on held-out rows, compared with those of the baselines, and draw predictions."""
    found = data.evaluation
    if isinstance(found, str):
        return Text(found), _bands(data)
    if is_exact(data.model):
        text = f"{data.target} is an exact function of inputs: errors are rounding errors, and are not compared."
        return Text(text), _bands(data)
    of_classes = isinstance(found.mixture, EvaluatedClasses)
    columns = ("method", "RMSE", "R²", *(f"inside {100 * c:g}%" for c in COVERAGES), "width of 90%")
    if of_classes:
        columns = ("method", "log loss", "accuracy", "Brier score")
    return (
        *paragraphs([_text_of_classes(data, found) if of_classes else _text(data, found), _protocol(data, found)]),
        Table(f"Predictions of {found.n:,} rows held out", columns, tuple(_row(method) for method in found.methods)),
        _separation(data, found) if of_classes else _outputs(data, found),
        _bands(data),
    )


def _text_of_classes(data: ReportData, found: Evaluation) -> str:
    """Report log loss and accuracy on held-out rows."""
    mixture, against = found.mixture, compared(found)
    return (
        f"{_averaged(data)}On {found.n:,} rows held out, the log loss of {data.target}, the mean negative log "
        f"probability of the class that came, is {three_digits(mixture.log_loss)}{', ' + against if against else ''}. "
        f"The most probable class came in {percent(mixture.accuracy)} of the rows; the most frequent one came in "
        f"{percent(mixture.base_rate)}."
    )


def _separation(data: ReportData, found: Evaluation) -> Figure | None:
    """Draw the probabilities of the observed classes."""
    mixture = found.mixture
    display = SeparationDisplay.from_probabilities(
        mixture.proba, mixture.y, data.outcomes, weight=mixture.weight, draw=False
    )
    return draw(
        display,
        title=f"Probability given to the class of {data.target} that came, on rows held out",
        caption=f"Probability given to the class of {data.target} that came, on rows held out: far right is sure and "
        f"right. A model that knows no inputs gives each class its share. {_dots(found.n)}",
        width=4.6,
        height=1.5 + 0.45 * len(display.names),
    )


def _averaged(data: ReportData) -> str:
    return f"Predictions are averages of {len(data.model.members_)} models. " if data.model.members_ else ""


def compared(found: Evaluation) -> str:
    """Compare the loss of the mixture with those of the baselines, as text; empty without any."""
    parts = []
    for baseline in found.baselines:
        gain = 1 - found.mixture.loss / baseline.loss if baseline.loss > 0 else 0.0
        if abs(gain) < SAME:
            parts.append(f"about that of {baseline.method}")
        else:
            parts.append(f"{percent(abs(gain))} {'less' if gain > 0 else 'more'} than that of {baseline.method}")
    return listed(parts) if parts else ""


def _text(data: ReportData, found: Evaluation) -> str:
    mixture = found.mixture
    against = compared(found)
    return (
        f"{_averaged(data)}On {found.n:,} rows held out, the root mean squared error of {data.target} is "
        f"{three_digits(mixture.rmse)}{', ' + against if against else ''}. Of the outputs "
        f"{percent(mixture.inside(0.9))} lie inside 90% intervals, of which half are narrower than "
        f"{three_digits(mixture.width)}."
    )


def _protocol(data: ReportData, found: Evaluation) -> str:
    others = "least squares and boosting (scikit-learn's HistGradientBoostingRegressor)"
    if has_exposure(data.model):
        others = f"{others} of the rates, weighted by exposure"
    if data.outcomes:
        others = "logistic regression and boosting (scikit-learn's LogisticRegression, HistGradientBoostingClassifier)"
    if found.protocol is Protocol.TEST:
        return (
            f"These rows took no part in the fit. {others[0].upper()}{others[1:]} were fitted to the given rows of the "
            "fit, and predict the same held-out rows."
        )
    if found.protocol is Protocol.TEST_ALONE:
        given = "The model is evaluated on the given rows, which took no part in its fit. "
        if not found.baselines:
            return f"{given}There are no rows to fit other methods to, so none are compared."
        return (
            f"{given}The rows of the fit were not given: {others} were fitted to the same rows in {found.folds} folds, "
            "each row predicted from the other folds. So they learned from other rows than the model did."
        )
    some = ""
    if found.n < found.of:
        some = (
            f" Of {found.of:,} rows {found.n:,} took part, evenly spaced: the model was fitted again to parts of "
            "these, and the one shown, fitted to all rows, may predict better."
        )
    kept = ""
    if data.model.n_experts == "auto" and not data.model.averaging:
        kept = " The number of experts, chosen with all rows, was kept."
    stopped = ""
    if found.unfinished:
        stopped = f" Of {found.folds} fits to part of the rows {found.unfinished} did not converge."
    weights = ""
    if data.fit_rows is not None and data.fit_rows.weight is not None:
        weights = " Rows count by their weights, in these fits and in the errors."
    elif data.model.record_.weighted:
        weights = " Rows count alike here, though the fit weighted them: their weights were not given."
    return (
        f"Each row was predicted by a model fitted to the other rows, in {found.folds} folds; so were {others}, in the "
        f"same folds.{some}{kept}{weights}{stopped}"
    )


def _row(one: EvaluatedNumbers | EvaluatedClasses) -> tuple[str | Number, ...]:
    if isinstance(one, EvaluatedClasses):
        accuracy = Number(one.accuracy, f"{100 * one.accuracy:.1f}%")
        return one.method, Number(one.log_loss), accuracy, Number(one.brier)
    shares = (one.inside(c) for c in COVERAGES)
    inside = (Number(share, "" if share != share else f"{100 * share:.1f}%") for share in shares)
    return one.method, Number(one.rmse), Number(one.r2, fixed(one.r2, 3)), *inside, Number(one.width)


def _dots(n: int) -> str:
    return f"Dots are {MOST_POINTS:,} of {n:,} rows, chosen at random." if n > MOST_POINTS else "Each dot is a row."


def _outputs(data: ReportData, found: Evaluation) -> Figure | None:
    mixture = found.mixture
    return draw(
        PredictionDisplay.from_predictions(
            mixture.predicted, mixture.y, bounds=mixture.bounds, target=data.target, draw=False
        ),
        title=f"{data.target} against its predictions on rows held out",
        caption=f"{data.target} against its predictions on rows held out, with 90% intervals. {_dots(found.n)}",
        width=4.6,
        height=3.7,
    )


def _bands(data: ReportData) -> Figure | None:
    """Draw predictions along the only input; with several, no single line shows them."""
    y = data.y
    if data.main_input is None or y is None or len(inputs_of(data.model)) > 1:
        return None
    if data.outcomes:
        return draw(
            ProbabilityDisplay.from_estimator(data.model, data.X, data.main_input, draw=False),
            title="Predicted probabilities along the input",
            caption=f"Predicted probabilities of {data.target} along {data.main_input}.",
        )
    return draw(
        BandDisplay.from_estimator(data.model, data.X, data.main_input, y=y, target=data.target, draw=False),
        title="Predictions with intervals along the input",
        caption=f"Predictions of {data.target} with 50% and 90% intervals along {data.main_input}. {_dots(len(y))}",
    )
