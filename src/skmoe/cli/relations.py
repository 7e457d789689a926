"""What a fit says first, with advice for the command line."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skmoe.tables.relations import Relation

__all__ = ["fit_lines", "relation_lines"]


def relation_lines(relations: Sequence[Relation], target: str) -> list[str]:
    """A line on each relation among the columns of a table."""
    from skmoe.inference.relations import in_words

    return [in_words(one, target, _drop) for one in relations if one.advised]


def fit_lines(model: Any, target: str, r2: float | None) -> list[str]:
    """A line on each relation of a fit, after one on rows that are explained all but exactly."""
    from skmoe.inference.relations import all_but_exact, is_exact

    words = "" if r2 is None or is_exact(model) else all_but_exact(r2, target)
    return [*([words] if words else []), *relation_lines(model.record_.relations, target)]


def _drop(names: Sequence[str]) -> str:
    out = "it" if len(names) == 1 else "them"
    return f"leave {out} out: {' '.join(f'--drop {shlex.quote(name)}' for name in names)}"
