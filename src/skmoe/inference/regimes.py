"""The regimes: the inputs that decide where each expert holds, by the change of the gate, and their ranges.

The rows of an expert are all rows, each weighted by the probability that the gate gives the expert.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from skmoe.arrays.blocks import evenly_spaced_rows
from skmoe.arrays.namespaces import to_numpy
from skmoe.inference.class_confidence import outcome_names
from skmoe.inference.conditions import NINE_IN_TEN, ExpertRows, condition, weighted_quantile
from skmoe.inference.formatting import percent
from skmoe.inference.gate_change import gate_changes, inputs_of
from skmoe.inference.held_out import compared_models, stability_counts
from skmoe.inference.summary import Summary
from skmoe.model.fitted import FittedMixture
from skmoe.model.regime import Regime

__all__ = ["Regime", "describe_regimes", "regimes_from_rows", "regimes_table", "regimes_text"]

MOST_ROWS = 10_000  # rows that regimes are described by
NAMED = 3  # inputs that a description names, where fewer tell the experts apart
MINOR = 0.2  # an input is named if its part in the gate's change is at least this share of the strongest's
NEGLIGIBLE = 1e-3  # part in the gate's change below which an input is never named
EVEN = 0.1  # an expert holds everywhere if its probability varies by less than this share of its mean


def describe_regimes(model: FittedMixture, X: Any = None) -> tuple[Regime, ...]:
    """Describe regimes over the given rows, or as noted when the model was fitted.

    Parameters
    ----------
    model : fitted MoERegressor
    X : (n, d) array or streamed columns, optional
        Rows as the model takes them.

    Returns
    -------
    tuple of Regime
        One for each expert.
    """
    return model.record_.regimes if X is None else regimes_from_rows(model, X)


def regimes_from_rows(model: FittedMixture, X: Any, weight: Any = None) -> tuple[Regime, ...]:
    """Describe regimes by at most `MOST_ROWS` of the rows, evenly spaced."""
    X, weight = evenly_spaced_rows((X, weight), MOST_ROWS)
    X = np.asarray(to_numpy(X), dtype=np.float64)
    weight = np.ones(len(X)) if weight is None else np.asarray(to_numpy(weight), dtype=np.float64)
    X, weight = X[weight > 0], weight[weight > 0] / np.sum(weight)
    found = _Description(model, X, weight)
    # two experts of one description are given more inputs, until they differ or there are no more
    counts = [found.usual_count(i) for i in range(model.n_experts_)]
    regimes = [found.regime(i, count) for i, count in enumerate(counts)]
    while True:
        alike = [i for i, r in enumerate(regimes) if r.conditions and [s.where for s in regimes].count(r.where) > 1]
        grow = [i for i in alike if counts[i] < len(found.order(i))]
        if not grow:
            break
        for i in grow:
            counts[i] += 1
            regimes[i] = found.regime(i, counts[i])
    wheres = [regime.where for regime in regimes]
    first = [wheres.index(where) for where in wheres]
    return tuple(replace(r, like=first[i]) if r.conditions and first[i] < i else r for i, r in enumerate(regimes))


class _Description:
    """The gate over some rows, from which regimes are described."""

    def __init__(self, model: FittedMixture, X: np.ndarray, weight: np.ndarray) -> None:
        self.parameters, self.X, self.weight = model.parameters_, X, weight
        self.inputs, self.orders = inputs_of(model), dict[int, np.ndarray]()
        self.P = self.parameters.gate_proba(X)
        self.predicted = self.parameters.expert_means(X)
        self.found = gate_changes(self.parameters, X, weight, self.inputs)
        self.parts = self.found.change / np.maximum(self.found.variance, np.finfo(float).tiny)

    def order(self, i: int) -> list[int]:
        """Return the inputs that can be named for an expert, the strongest first; none where it holds everywhere."""
        mean = float(self.weight @ self.P[:, i])
        deviation = float(np.sqrt(self.weight @ (self.P[:, i] - mean) ** 2))
        if deviation <= EVEN * mean:
            return []
        part = self.parts[:, i]
        return [int(j) for j in np.argsort(-part, kind="stable") if part[j] > NEGLIGIBLE]

    def usual_count(self, i: int) -> int:
        """Return how many inputs are worth naming."""
        order = self.order(i)
        return sum(self.parts[j, i] >= MINOR * self.parts[order[0], i] for j in order[:NAMED])

    def regime(self, i: int, count: int) -> Regime:
        """Describe an expert by so many inputs."""
        P, all_rows = self.P[:, i], self.weight
        share = float(all_rows @ P)
        its_rows = all_rows * P / share if share > 0 else all_rows
        rows = ExpertRows(self.X, all_rows, its_rows, share, np.ones(len(P), dtype=bool), self.orders)
        found = []
        for j in self.order(i)[:count]:
            rises = bool(self.found.rises[j, i])
            one, inside = condition(self.inputs[j], float(self.parts[j, i]), rises, rows)
            rows = replace(rows, inside=inside)
            found.append(one)
        inside = rows.inside
        center = its_rows @ self.X
        return Regime(
            share=share,
            conditions=tuple(found),
            probability=float(all_rows[inside] @ P[inside] / np.sum(all_rows[inside])),
            its_rows=float(np.sum(its_rows[inside])),
            all_rows=float(np.sum(all_rows[inside])),
            span=tuple(weighted_quantile(P, all_rows, NINE_IN_TEN).tolist()),
            prediction=float(its_rows @ self.predicted[:, i]),
            center=tuple(center.tolist()),
            spread=tuple(np.sqrt(its_rows @ (self.X - center) ** 2).tolist()),
        )


# -- words ------------------------------------------------------------------------------------------------------------


def regimes_text(regimes: Sequence[Regime]) -> list[str]:
    """Describe where each expert holds, in a sentence or two each."""
    if len(regimes) == 1:
        return ["There is one expert, and it holds everywhere."]
    return [_sentence(i, regime) for i, regime in enumerate(regimes)]


def _sentence(i: int, regime: Regime) -> str:
    if not regime.conditions:
        low, high = (percent(p) for p in regime.span)
        between = low if low == high else f"{low} to {high}"
        return f"Expert {i + 1} holds everywhere alike: its probability is {between} in nine of ten rows."
    ranges = [f"{c.here} (all rows: {c.all_rows})" for c in regime.conditions if not c.direction]
    alike = "" if regime.like is None else f", which does not tell it from expert {regime.like + 1}"
    text = f"Expert {i + 1} holds at {'; '.join(regime.with_directions(ranges))}{alike}."
    if not ranges:
        return f"{text} Its mean probability is {percent(regime.share)}."
    return (
        f"{text} There lie {percent(regime.its_rows)} of its rows and {percent(regime.all_rows)} of all, and its mean "
        f"probability is {percent(regime.probability)}."
    )


def _predicted(model: FittedMixture) -> tuple[str, ...]:
    """Return the name of the column of predictions; there is none for three classes or more."""
    outcomes = outcome_names(model)
    if not outcomes:
        return ("its mean prediction",)
    return (f"its mean probability of {outcomes[1]}",) if len(outcomes) == 2 else ()


def regimes_table(model: FittedMixture, X: Any = None) -> Summary:
    """Return a table of where each expert of a fitted model holds; see `describe_regimes`."""
    regimes = describe_regimes(model, X)
    table = Summary(
        "Where each expert holds",
        (
            "expert",
            "share",
            "holds at",
            "all rows",
            "its rows there",
            "probability there",
            "seen in",
            *_predicted(model),
        ),
    )
    seen = stability_counts(model)
    for i, regime in enumerate(regimes):
        of_all = "; ".join(c.all_rows for c in regime.conditions if not c.direction)
        there = (regime.its_rows, regime.probability)
        predicted = (regime.prediction,) if _predicted(model) else ()
        table.rows.append((i + 1, regime.share, regime.where, of_all, *there, seen[i], *predicted))
    table.notes.append("the rows of an expert are all rows, weighted by the probability that the gate gives it")
    if any(seen):
        table.notes.append(f"seen in so many {compared_models(model)}, with mostly the same rows")
    return table
