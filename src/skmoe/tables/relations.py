"""Relations that a reader of a fit should know first: exact ones of the output, repeated inputs, identifiers, groups.

They are looked for among some rows only: the first ones, and others spread over the table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum, auto

import numpy as np

from skmoe.arrays.blocks import take_rows
from skmoe.arrays.namespaces import Array, to_numpy
from skmoe.tables.exact import FEWEST_ROWS, Linear, function_of, is_monotone, linear_in, repeated_pairs, solved
from skmoe.tables.groups import identifiers
from skmoe.tables.inputs import RowsToFit

__all__ = ["Relation", "RelationKind", "find_relations"]

FIRST_ROWS, SPREAD_ROWS = 8000, 2000
SIZE = 2_000_000  # numbers that are looked at, at most; of tables of very many columns fewer rows are taken


class RelationKind(StrEnum):
    """Kind of a relation."""

    LINEAR = auto()  # the output is a linear function of a few inputs
    MONOTONE = auto()  # the output rises, or falls, with one input in every row
    REPEATED = auto()  # the second input is a linear function of the first
    IDENTIFIER = auto()  # an input is whole numbers that name rows or groups of rows
    GROUPS = auto()  # a column of text names groups of rows


@dataclass(frozen=True)
class Relation:
    """A relation among the columns of a fit that its reader should know first.

    Parameters
    ----------
    kind : RelationKind
    columns : tuple of str
        Names of the inputs or columns.
    slopes : tuple of float
        Of a linear relation, one for each input (of a repeated one, of the second on the first).
    constant : float
        Of a linear relation.
    error : float
        Largest error of a linear relation; zero where it is rounding.
    function : str
        A function of the input that the output is linear in, if it is one of `skmoe.tables.exact.FUNCTIONS`.
    values : int
        Different values of an identifier, or of the first column of groups.
    rows : int
        Rows that were looked at.
    sources : tuple of str
        Columns of the caller's table that may be left out for it.
    """

    kind: RelationKind
    columns: tuple[str, ...]
    slopes: tuple[float, ...] = ()
    constant: float = 0.0
    error: float = 0.0
    function: str = ""
    values: int = 0
    rows: int = 0
    sources: tuple[str, ...] = ()

    @property
    def of_output(self) -> bool:
        """True for relations that determine the output."""
        return self.kind in (RelationKind.LINEAR, RelationKind.MONOTONE)

    @property
    def advised(self) -> bool:
        """True where a warning helps: of categories that coincide in some rows only nothing can be left out."""
        return bool(self.sources) or self.kind == RelationKind.GROUPS


def find_relations(rows: RowsToFit, names: Sequence[str], *, classes: bool = False) -> tuple[Relation, ...]:
    """Find relations among the rows of a fit, those of the output first.

    Parameters
    ----------
    rows : RowsToFit
    names : sequence of str
        Names of the inputs.
    classes : bool
        Whether outputs are numbers of classes.
    """
    X, y, first = _some_rows(rows.X, rows.y)
    columns = () if rows.encoder is None else rows.encoder.columns
    numbers = [column.name for column in columns if column.kind == "number"]
    if not columns and rows.names is not None:
        numbers = list(names)
    found = [] if len(X) < FEWEST_ROWS or y.ndim > 1 else _of_output(X, y, names, classes=classes)
    found += _repeated(X, names) if len(X) >= FEWEST_ROWS else []
    for name, values in identifiers(X[:first], names, numbers):
        found.append(Relation(RelationKind.IDENTIFIER, (name,), values=values, rows=first))
    if rows.encoder is not None and rows.encoder.groups:
        groups = sorted(rows.encoder.groups, key=lambda one: -one[1])
        by = tuple(name for name, _, _ in groups)
        found.append(Relation(RelationKind.GROUPS, by, values=groups[0][1], rows=groups[0][2]))
    source = {feature: column.name for column in columns for feature in column.features}
    alone = {column.name for column in columns if len(column.features) == 1} if columns else set(names)
    return tuple(replace(one, rows=one.rows or len(X), sources=_sources(one, source, alone)) for one in found)


def _sources(relation: Relation, source: Mapping[str, str], alone: Collection[str]) -> tuple[str, ...]:
    """Return columns to leave out: none that holds groups, or of which another input would be lost."""
    if relation.kind == RelationKind.GROUPS:
        return ()
    if relation.kind != RelationKind.REPEATED:
        return tuple(dict.fromkeys(source.get(name, name) for name in relation.columns))
    second = source.get(relation.columns[1], relation.columns[1])
    return (second,) if second in alone else ()


def _some_rows(X: Array, y: Array) -> tuple[np.ndarray, np.ndarray, int]:
    """Return rows that hold numbers only, the first of the table and others, and the number of the first."""
    n, most = X.shape[0], max(FEWEST_ROWS, SIZE // max(X.shape[1], 1))
    first = min(n, FIRST_ROWS, most)
    spread = np.linspace(0, n - 1, min(n, SPREAD_ROWS, most)).astype(int)
    index = np.union1d(np.arange(first), spread)
    X, y = (np.asarray(to_numpy(a), dtype=np.float64) for a in take_rows((X, y), index))
    whole = np.isfinite(X).all(axis=1) & np.isfinite(y if y.ndim == 1 else y.sum(axis=1))
    return X[whole], y[whole], int(np.sum(whole[:first]))


def _of_output(X: np.ndarray, y: np.ndarray, names: Sequence[str], *, classes: bool) -> list[Relation]:
    """Find relations of the output with the inputs; a linear one with a single input is enough."""
    linear = linear_in(X, y)
    found = [] if linear is None else [_relation(RelationKind.LINEAR, linear, names)]
    if classes:
        return [replace(one, slopes=(), constant=0.0, error=0.0) for one in found]
    if linear is not None and len(linear.columns) == 1:
        return found
    monotone = {j: function_of(X[:, j], y) for j in range(X.shape[1]) if is_monotone(X[:, j], y)}
    named = [j for j, function in monotone.items() if function]
    reported = named or ([] if found else list(monotone))  # the plainest relations are enough
    return found + [Relation(RelationKind.MONOTONE, (names[j],), function=monotone[j]) for j in reported]


def _repeated(X: np.ndarray, names: Sequence[str]) -> list[Relation]:
    return [_relation(RelationKind.REPEATED, solved(X, X[:, j], [i]), names, names[j]) for i, j in repeated_pairs(X)]


def _relation(kind: RelationKind, found: Linear, names: Sequence[str], *others: str) -> Relation:
    columns = (*(str(names[j]) for j in found.columns), *map(str, others))
    return Relation(kind, columns, tuple(found.slopes.tolist()), found.constant, found.error)
