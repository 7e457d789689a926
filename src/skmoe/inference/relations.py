"""Sentences on what the reader of a fit should know first: exact relations, repeated inputs, identifiers, groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from skmoe.inference.formatting import MINUS, fixed, listed, short, three_digits
from skmoe.model.fitted import FittedMixture
from skmoe.tables.relations import Relation, RelationKind

__all__ = [
    "QUESTIONS",
    "RelationWarning",
    "all_but_exact",
    "found_in_words",
    "in_words",
    "is_exact",
    "relation_findings",
    "target_of",
]

NEARLY = 0.999  # share of the variance explained, above which an input may have been computed from the output
EMPTY = "noise, errors and regimes then say nothing"
ALONE = "are treated as independent, so that intervals may be too short for new ones"
QUESTIONS = {
    RelationKind.LINEAR: "exact relation",
    RelationKind.MONOTONE: "exact relation",
    RelationKind.REPEATED: "repeated inputs",
    RelationKind.IDENTIFIER: "identifier",
    RelationKind.GROUPS: "groups of rows",
}

Advice = Callable[[Sequence[str]], str]


def _without(names: Sequence[str]) -> str:
    return f"fit again without {listed([repr(name) for name in names])}"


def _out_of_x(names: Sequence[str]) -> str:
    return f"leave {listed([repr(name) for name in names])} out of X"


class RelationWarning(UserWarning):
    """Inputs tell the output exactly, repeat each other or look like identifiers, or rows come in groups.

    Attributes
    ----------
    relation : Relation
    target : str
        What the output is called.
    """

    def __init__(self, relation: Relation, target: str) -> None:
        super().__init__(relation, target)
        self.relation, self.target = relation, target

    def __str__(self) -> str:
        return in_words(self.relation, self.target, _out_of_x)


def target_of(model: FittedMixture) -> str:
    """Return the name of the output, "y" where a fit does not know it."""
    return (model.encoder_ and model.encoder_.target) or "y"


def is_exact(model: FittedMixture) -> bool:
    """Return whether the output is a linear function of a few inputs, so that no noise is left."""
    return any(relation.kind is RelationKind.LINEAR for relation in model.record_.relations)


def relation_findings(model: FittedMixture) -> list[tuple[str, str, str]]:
    """Return the lines of a diagnosis: a question, a finding, and a sentence on each relation."""
    target = target_of(model)
    return [(QUESTIONS[one.kind], ", ".join(one.columns), in_words(one, target)) for one in model.record_.relations]


def all_but_exact(r2: float, target: str) -> str:
    """Describe outputs that are explained all but exactly, or return an empty text."""
    if not r2 > NEARLY:
        return ""
    shown = f"is {fixed(r2, 4)}" if r2 < 0.99995 else "is 1 but for rounding"
    return f"R² {shown}: the inputs tell {target} all but exactly; see whether one of them was computed from it"


def in_words(relation: Relation, target: str, leave_out: Advice = _without) -> str:
    """Describe a relation, with advice in the words of `leave_out`, which takes names of columns."""
    advice = f"; {leave_out(relation.sources)}" if relation.sources else ""
    return f"{found_in_words(relation, target)}{advice}"


def found_in_words(relation: Relation, target: str) -> str:
    """Describe a relation, without advice."""
    names = [repr(name) for name in relation.columns]
    counted = f"{relation.values:,} different values in {relation.rows:,} rows"
    if relation.kind is RelationKind.LINEAR:
        formula = f"{target} = {_formula(relation)}" if relation.slopes else f"{target} follows from {listed(names)}"
        return f"{formula} in each of {relation.rows:,} rows: an exact relation; {EMPTY}"
    if relation.kind is RelationKind.MONOTONE:
        how = f"linear in its {relation.function}" if relation.function else "always rising, or always falling"
        return f"{target} is a function of {names[0]}, {how}: one may have been computed from the other; {EMPTY}"
    if relation.kind is RelationKind.REPEATED:
        formula = f"{relation.columns[1]} = {_formula(relation)}"
        return f"inputs {names[0]} and {names[1]} repeat each other ({formula}): each gets a part of their one effect"
    if relation.kind is RelationKind.GROUPS:
        names[0] = f"{names[0]} ({counted})"
        return f"rows come in groups by {listed(names)}: rows of a group {ALONE}"
    rows = f"; rows that share a value {ALONE}" if 2 * relation.values <= relation.rows else ""
    return f"{names[0]} looks like an identifier ({counted}), and is used as a quantity{rows}"


def _formula(relation: Relation) -> str:
    """Write a linear function: 2 a − b + 3."""
    text = ""
    names = relation.columns[: len(relation.slopes)]
    for slope, name in zip((*relation.slopes, relation.constant), (*names, ""), strict=True):
        if not slope:
            continue
        size, sign = short(abs(slope)), "+" if slope > 0 else MINUS
        term = size if not name else name if size == "1" else f"{size} {name}"
        text += f" {sign} {term}" if text else term if slope > 0 else f"{MINUS}{term}"
    within = f", to within {three_digits(relation.error)}" if relation.error else ""
    return f"{text}{within}"
