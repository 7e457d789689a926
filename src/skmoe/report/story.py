"""The first sections: what it is about, what the regimes are, where each holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from skmoe.inference import feature_names
from skmoe.report.known import Known
from skmoe.report.markup import Number, Safe, join, paragraphs, table, tag
from skmoe.report.pictures import expert_style, gate_picture
from skmoe.report.words import experts_in_words, gate_in_words, three

__all__ = ["overview", "regimes", "where"]


def overview(known: Known) -> Safe:
    """A paragraph, a row of cards, and what the report had to go without."""
    model, k, target = known.model, known.model.n_experts_, known.target
    g = model.parameters_.g
    law = "straight-line relation" if g.linear else f"{g.name} relation"
    if k == 1:
        lead = f"One regime: a single {law} between the inputs and {target} holds for all rows."
    else:
        lead = (
            f"The rows fall into {k} regimes, each with its own {law} between the inputs and {target}, called an "
            "expert. A gate says from the inputs how likely each expert is for a row, and predictions weigh the "
            "experts by it."
        )
    parts = [tag("p", lead, class_="lead"), tag("dl", *(_card(*card) for card in _cards(known)), class_="cards")]
    if known.rows is None:
        parts.append(
            _note(
                "Written from the model alone. With rows and outputs it would also show where each regime holds along "
                "each input, and how well the model predicts."
            )
        )
    elif known.y is None:
        parts.append(_note("Written without outputs. With them it would also show how well the model predicts."))
    if known.pictures.plots is None:
        parts.append(_note("Written without matplotlib, so without still pictures: pip install skmoe[plot]."))
    return join(parts)


def _cards(known: Known) -> list[tuple[str, str, str]]:
    model = known.model
    d, k = model.n_features_in_, model.n_experts_
    inputs = f"{d} input{'s' if d > 1 else ''}"
    if known.rows is not None:
        cards = [("Rows", f"{len(known.rows.values):,}", inputs)]
    else:
        cards = [("Inputs", f"{d}", "no rows were given")]
    cards.append(("Experts", f"{k}", "one for each regime" if k > 1 else "one regime"))
    if known.quality:
        here, line = known.quality[-2:]
        cards.append(("R²", f"{here.r2:.2f}", f"{here.rows} rows; least squares {line.r2:.2f}"))
    low, high = three(np.min(model.noise_scale_)), three(np.max(model.noise_scale_))
    cards.append(("Noise", low if low == high else f"{low}–{high}", f"std. deviation of {known.target}"))
    cards.append(("Fit", "converged" if model.converged_ else "not converged", f"{model.n_parameters_} parameters"))
    return cards


def _card(name: str, value: str, small: str) -> Safe:
    return tag("div", tag("dt", name), tag("dd", value, tag("small", small)))


def _note(text: str) -> Safe:
    return tag("p", text, class_="note")


def _by_expert(sentences: list[str]) -> Safe:
    items = [tag("li", sentence, class_=expert_style(i)) for i, sentence in enumerate(sentences)]
    return tag("ul", *items, class_="experts")


def regimes(known: Known) -> Safe:
    """Each expert in words, then their coefficients side by side."""
    scaled = ", each times the standard deviation of its input, so that inputs can be compared"
    return join(
        [
            _by_expert(experts_in_words(known.model, known.X, target=known.target)),
            paragraphs("Each effect is for other inputs held fixed. In brackets: 95% intervals."),
            _side_by_side(
                "Coefficients of the experts, with 95% intervals; grey where zero is inside", known, "expert "
            ),
            known.pictures.draw(
                "CoefficientsDisplay",
                known.model,
                scale=None if known.rows is None else np.std(known.rows.values, axis=0),
                title="Coefficients of the experts with intervals",
                caption=f"Coefficients with 95% intervals{scaled if known.rows is not None else ''}.",
                height=min(2.2 + 0.12 * known.model.n_features_in_ * (1 + known.model.n_experts_), 7.0),
            ),
        ]
    )


def where(known: Known) -> Safe:
    """The gate in words, along each input, and its coefficients."""
    model = known.model
    if model.n_experts_ == 1:
        return paragraphs(*gate_in_words(model))
    fixed = "Each is for other inputs held fixed. "
    if model.covariance_ is not None:
        fixed += "An input is named where its direction is clear; after the odds stands their 95% interval."
    else:
        fixed += "There are no standard errors here, so directions are not tested."
    parts = [_by_expert(gate_in_words(model, known.X)), paragraphs(fixed)]
    if known.curves:
        parts += [tag("h3", "Along one input"), gate_picture(known.curves)]
    parts += _maps(known)
    parts.append(
        _side_by_side("Coefficients of the gate: change of the log-odds per unit, with 95% intervals", known, "gate ")
    )
    return join(parts)


def _maps(known: Known) -> list[Safe]:
    """Still pictures of who answers where, and of who took which row."""
    found = []
    if len(known.curves) > 1:
        columns = [curve.column for curve in known.curves[:2]]
        found.append(
            known.pictures.draw(
                "GateDisplay",
                known.model,
                known.X,
                columns,
                title="The likeliest expert over the two inputs that matter most to the gate",
                caption="The likeliest expert over the gate's two strongest inputs, the others at typical values; the "
                "stronger the colour, the surer.",
            )
        )
    if known.y is not None and known.main_input is not None:
        name = feature_names(known.model)[known.main_input]
        found.append(
            known.pictures.draw(
                "ResponsibilityDisplay",
                known.model,
                known.X,
                known.y,
                known.main_input,
                title="Rows in the colours of the experts that gave them",
                caption=f"{known.target} (y) against {name}: each row in the colour of the expert that most likely "
                "gave it, mixed where it is not clear. Of many rows 2,000 are drawn.",
            )
        )
    return found


def _side_by_side(caption: str, known: Known, prefix: str) -> Safe:
    """Parts of the coefficient table whose name begins so, as columns; each has the same terms in the same order."""
    parts: dict[str, list[tuple[Any, ...]]] = {}
    for row in known.coefficients:
        if row[0].startswith(prefix):
            parts.setdefault(row[0], []).append(row)
    lines = [
        [terms[0][1], *(_estimate(term[2], term[6], term[7]) for term in terms)]
        for terms in zip(*parts.values(), strict=True)
    ]
    return table(caption, ["input", *(part.replace("gate ", "expert ") for part in parts)], lines)


def _estimate(value: float, low: float, high: float) -> Number:
    if not high > low:
        return Number(value)
    text = join([three(value), tag("small", f"{three(low)} to {three(high)}")], " ")
    return Number(value, text, muted=low < 0 < high)
