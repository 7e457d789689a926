"""Tables of text and numbers turned into numbers: learned from a table once, applied to new rows alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from skmoe.rows.columns import Column, absent_in, as_numbers, as_texts, is_number, kind_of, learn_column
from skmoe.rows.streamed import Streamed
from skmoe.rows.table_errors import TableError, arrow, listed

__all__ = ["EncodedTable", "TableEncoder"]

MISSING = ("drop", "impute", "error")


@dataclass(frozen=True)
class EncodedTable:
    """Inputs (n, d) that the columns of a table became, with their names and how they came about.

    `MoERegressor.fit` takes it as X, and keeps the encoder for new tables.
    """

    X: np.ndarray | Streamed
    names: list[str]
    encoder: TableEncoder


@dataclass(frozen=True)
class TableEncoder:
    """What became of each column of a table, so that new tables are treated the same."""

    target: str | None
    columns: tuple[Column, ...]
    weights: str | None = None
    missing: str = "drop"
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=(), compare=False)  # what the owner of the table should know

    @classmethod
    def learn(
        cls, table: Any, target: str, *, weights: str | None = None, drop: Sequence[str] = (), missing: str = "drop"
    ) -> TableEncoder:
        """Look at a table and decide what each of its columns becomes.

        Parameters
        ----------
        table : pyarrow.Table
            The rows.
        target : str
            The column to be predicted; it must hold numbers.
        weights : str, optional
            A column of sample weights.
        drop : sequence of str
            Columns to leave out.
        missing : {"drop", "impute", "error"}
            Rows that lack an input are left out, or get the median or most frequent value, or are refused.

        Returns
        -------
        TableEncoder
            The encoder, with notes for the owner of the table.
        """
        _check_request(table, target, drop, missing)
        y = _output(table, target)
        whole = ~np.isnan(y)
        if weights is not None:
            whole &= ~np.isnan(_weights(table, weights, target))
        names = [n for n in table.column_names if n not in (target, weights, *drop)]
        kinds = {name: kind_of(table[name], name) for name in names}
        absent = {name: absent_in(table[name], kinds[name]) for name in names}
        empty = [name for name in names if kinds[name] == "empty" or bool(np.all(absent[name]))]
        names = [name for name in names if name not in empty]
        lacking = {name: int(np.sum(absent[name])) for name in names if np.any(absent[name])}
        notes = [f"column {name!r} holds no values and was dropped" for name in empty]
        notes += _about_missing(lacking, target, int(np.sum(np.isnan(y))), missing)
        if missing == "drop":
            for name in names:
                whole &= ~absent[name]
        notes += _about_rows(whole, lacking)
        if np.min(y[whole]) == np.max(y[whole]):
            raise TableError(f"target {target!r} is {y[whole][0]:g} in every row; there is nothing to learn from it")
        kept = table.filter(arrow().array(whole))
        learned = {name: learn_column(kept[name], name, kinds[name], missing == "impute") for name in names}
        constant = [name for name, column in learned.items() if column is None]
        columns = tuple(column for column in learned.values() if column is not None)
        notes += [f"column {name!r} is the same in every row and was dropped" for name in constant]
        notes += [about for column in columns if (about := column.about_categories)]
        return cls(target, columns, weights, missing, (*drop, *empty, *constant), tuple(notes))

    def __post_init__(self) -> None:
        if self.missing not in MISSING:
            raise TableError(f"missing must be one of {', '.join(MISSING)}; got {self.missing!r}")
        if not self.columns:
            raise TableError("no column is left as an input; a target and at least one other column are needed")
        if len(set(self.features)) < len(self.features):
            raise TableError(f"inputs would share a name: {listed(sorted(self.features))}; rename a column")

    @property
    def features(self) -> list[str]:
        """Names of the inputs, in order."""
        return [name for column in self.columns for name in column.features]

    @property
    def types(self) -> dict[str, Any]:
        """Columns that a table must have for prediction, and what they are read as."""
        return {column.name: column.type for column in self.columns}

    def encode(self, table: Any, *, unseen: str = "error") -> tuple[np.ndarray, np.ndarray]:
        """Turn the columns of a table into inputs.

        Parameters
        ----------
        table : pyarrow.Table or RecordBatch
            Rows with the columns that the encoder knows.
        unseen : {"error", "empty"}
            A category that was not there in fitting is refused, or its row left out.

        Returns
        -------
        (kept, d) array
            Inputs of the rows that have them all.
        (n,) array of bool
            Which rows these are.
        """
        inputs, keep = [], np.ones(table.num_rows, dtype=bool)
        for column in self.columns:
            if column.name not in table.schema.names:
                raise TableError(f"column {column.name!r}, which the model needs, is not in the table")
            encoded, known = column.encode(table.column(column.name), unseen)
            inputs += encoded
            keep &= known
        return np.column_stack([values[keep] for values in inputs]), keep

    def rows(self, table: Any, *, unseen: str = "error") -> tuple[EncodedTable, np.ndarray, np.ndarray | None]:
        """Inputs, outputs and weights of the rows that have them all.

        Parameters
        ----------
        table : pyarrow.Table
            Rows with the columns that the encoder knows, and the target.
        unseen : {"error", "empty"}
            As for `encode`.

        Returns
        -------
        EncodedTable
            Inputs.
        (n,) array
            Outputs.
        (n,) array or None
            Weights, where there is a column of them.
        """
        y = as_numbers(table[_known(table, self.target, "target")], self.target or "")
        whole = ~np.isnan(y)
        weight = None
        if self.weights is not None and self.weights in table.column_names:
            weight = as_numbers(table[self.weights], self.weights)
            whole &= ~np.isnan(weight)
        X, keep = self.encode(table.filter(arrow().array(whole)), unseen=unseen)
        inputs = EncodedTable(X, self.features, self)
        return inputs, y[whole][keep], None if weight is None else weight[whole][keep]

    def expand(self, names: Sequence[str], option: str) -> list[str]:
        """Names of the inputs that columns became.

        Parameters
        ----------
        names : sequence of str
            Columns.
        option : str
            What the caller wrote them after, for messages.

        Returns
        -------
        list of str
            Names of inputs.
        """
        found: list[str] = []
        columns = {column.name: column for column in self.columns}
        for name in names:
            if name not in columns:
                why = "was dropped" if name in self.dropped else f"is not among the inputs {listed(list(columns))}"
                raise TableError(f"{option}: column {name!r} {why}")
            found += columns[name].features
        if len(set(found)) < len(found):
            raise TableError(f"{option}: a column is named twice")
        return found

    def to_json(self) -> dict[str, Any]:
        """The encoder as plain values, for a model file.

        Returns
        -------
        dict
            What JSON can hold.
        """
        plain = asdict(self)
        del plain["notes"]
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> TableEncoder:
        """The encoder that `to_json` wrote.

        Parameters
        ----------
        plain : mapping
            Plain values.

        Returns
        -------
        TableEncoder
            The encoder.
        """
        try:
            columns = tuple(Column(**{**c, "categories": tuple(c["categories"])}) for c in plain["columns"])
            return cls(**{**plain, "columns": columns, "dropped": tuple(plain["dropped"])})
        except (TypeError, KeyError) as error:
            raise TableError(f"what the model file says of its columns is damaged ({error})") from error


# -- what is refused, and what is said --------------------------------------------------------------------------------


def _check_request(table: Any, target: str, drop: Sequence[str], missing: str) -> None:
    if missing not in MISSING:
        raise TableError(f"missing must be one of {', '.join(MISSING)}; got {missing!r}")
    for name, what in ((target, "target"), *((n, "drop") for n in drop)):
        _known(table, name, what)
    if target in drop:
        raise TableError(f"drop: {target!r} is the target")


def _known(table: Any, name: str | None, what: str) -> str:
    if name is None or name not in table.column_names:
        raise TableError(f"{what}: there is no column {name!r}; the table has {listed(table.column_names)}")
    return name


def _output(table: Any, target: str) -> np.ndarray:
    if table.num_rows == 0:
        raise TableError("the table has a header and no rows")
    kind = kind_of(table[target], target)
    if kind == "empty":
        raise TableError(f"target {target!r} holds no values")
    if kind == "category":
        odd = next((t for t in as_texts(table[target]).drop_null().unique().to_pylist() if not is_number(t)), "")
        raise TableError(f"target {target!r} must hold numbers; it holds text such as {odd!r}")
    y = as_numbers(table[target], target)
    if np.any(np.isinf(y)):
        raise TableError(f"target {target!r} holds infinity; mend those rows")
    return y


def _weights(table: Any, weights: str, target: str) -> np.ndarray:
    if _known(table, weights, "weights") == target:
        raise TableError(f"weights: {weights!r} is the target")
    if kind_of(table[weights], weights) != "number":
        raise TableError(f"weights: column {weights!r} must hold numbers")
    values = as_numbers(table[weights], weights)
    if np.nanmin(values, initial=0.0) < 0 or np.any(np.isinf(values)):
        raise TableError(f"weights: column {weights!r} must hold finite numbers of at least 0; it has others")
    return values


def _about_missing(lacking: dict[str, int], target: str, targets: int, missing: str) -> list[str]:
    counts = {**({target: targets} if targets else {}), **lacking}
    if not counts:
        return []
    if missing == "error":
        raise TableError(f"missing values: {_counts(counts)}; mend them, or use --missing drop or --missing impute")
    notes = [f"missing values: {_counts(counts)}"]
    if missing == "impute" and lacking:
        notes.append(f"missing inputs were filled with the median or most frequent value: {listed(list(lacking))}")
    return notes


def _about_rows(whole: np.ndarray, lacking: Mapping[str, int]) -> list[str]:
    if np.sum(whole) < 2:
        raise TableError(
            f"{np.sum(whole)} of {len(whole)} rows can be used, and at least two are needed"
            + (f"; missing values: {_counts(lacking)}; try --missing impute or --drop" if lacking else "")
        )
    return [] if np.all(whole) else [f"{np.sum(~whole)} of {len(whole)} rows lack a value and were dropped"]


def _counts(lacking: Mapping[str, int]) -> str:
    return listed([f"{name} {count}" for name, count in lacking.items()])
