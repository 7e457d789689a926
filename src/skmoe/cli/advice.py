"""Advice in the words of the command line: by code, see `skmoe.arrays.advice`, and on relations among columns."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skmoe.tables.relations import Relation

__all__ = ["COMMAND_LINE", "fit_lines", "relation_lines", "worded"]


def _leave_out(names: Sequence[str]) -> str:
    it = "it" if len(names) == 1 else "them"
    return f"leave {it} out: {' '.join(f'--drop {shlex.quote(name)}' for name in names)}"


def _drop(names: Sequence[str], it: str) -> str:
    return f"mend {it}, or {_leave_out(names)}"


COMMAND_LINE = {
    "CLASSES": "--family classes fits a classifier",
    "DATES": "--dates chooses others",
    "DECIMAL": "--decimal overrules",
    "DROP": _drop,
    "ENCODING": "name its encoding: --encoding latin-1",
    "FOUND_ENCODING": "--encoding overrules",
    "GIVEN_ENCODING": "leave --encoding out",
    "INPUT_LAW": "--input-law gaussian fits a law to them",
    "ITERATIONS": "raise --max-iter",
    "MISSING": "mend them, or use --missing level, or leave columns out with --drop",
    "NUMBERS": "leave --family classes out for numbers",
    "RAGGED": "mend it, or name what separates cells: --separator",
    "SEPARATOR": "--separator overrules",
    "TRIALS": "name the column of these: --trials; single trials are 0 and 1",
    "UNSEEN": "mend it, or use --unseen other to predict such rows, or --unseen empty to leave them empty",
}


def worded(message: object) -> str:
    """Return the text of an error, a warning or a note, with advice in the words of the command line."""
    first = message.args[0] if isinstance(message, BaseException) and message.args else message
    rendered = getattr(first, "rendered", None)  # of `skmoe.arrays.advice.Advised`, which is slow to import
    return str(message) if rendered is None else str(rendered(COMMAND_LINE))


def relation_lines(relations: Sequence[Relation], target: str) -> list[str]:
    """Return a line on each relation among the columns of a table."""
    from skmoe.inference.relations import in_words

    return [in_words(one, target, _leave_out) for one in relations if one.advised]


def fit_lines(model: Any, target: str, r2: float | None) -> list[str]:
    """Return a line on each relation of a fit, after one on rows that are explained all but exactly."""
    from skmoe.inference.relations import all_but_exact, is_exact

    text = "" if r2 is None or is_exact(model) else all_but_exact(r2, target)
    return [*([text] if text else []), *relation_lines(model.record_.relations, target)]
