"""Encodings that were learned from a table, and rows encoded by them: in memory, or a batch at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from skmoe.arrays.streamed import Streamed
from skmoe.arrays.visible import listed
from skmoe.tables.columns import UNSEEN, Column, as_numbers, warn_of_unseen
from skmoe.tables.files import FileTable, open_table
from skmoe.tables.output_columns import OutputColumns
from skmoe.tables.table_errors import TableError, arrow

__all__ = ["MISSING_TREATMENTS", "OF_THE_TABLE", "EncodedTable", "TableEncoder", "check_one_of"]

MISSING_TREATMENTS = ("level", "impute", "drop", "error")
OF_THE_TABLE = ("notes", "n_rows", "n_used", "n_targets_missing", "groups")  # what a model file does not keep


@dataclass(frozen=True)
class EncodedTable:
    """Inputs (n, d) that the columns of a table became, with their names and how they came about.

    `MoERegressor.fit` takes it as X, and keeps the encoder for new tables.
    """

    X: np.ndarray | Streamed
    names: list[str]
    encoder: TableEncoder | None


@dataclass(frozen=True)
class TableEncoder:
    """Encodings of the columns of a table, learned once, so that new tables are encoded alike."""

    target: str | None
    columns: tuple[Column, ...]
    weights: str | None = None
    missing: str = "level"
    dropped: tuple[str, ...] = ()
    unseen: str = "other"  # treatment of categories that were not there in fitting, unless `encode` is given another
    output: OutputColumns | None = None  # auxiliary columns of an output
    notes: tuple[str, ...] = field(default=(), compare=False)
    n_rows: int = field(default=0, compare=False)  # rows of the table
    n_used: int = field(default=0, compare=False)  # rows of it that can be used
    n_targets_missing: int = field(default=0, compare=False)
    groups: tuple[tuple[str, int, int], ...] = field(default=(), compare=False)  # as `groups_of_text` gives them

    def __post_init__(self) -> None:
        check_one_of("unseen", self.unseen, UNSEEN)
        check_one_of("missing", self.missing, MISSING_TREATMENTS)
        if not self.columns:
            raise TableError("no column is left as an input; a target and at least one other column are needed")
        if len(set(self.features)) < len(self.features):
            raise TableError(f"inputs would share a name: {listed(sorted(self.features))}; rename a column")

    @property
    def features(self) -> list[str]:
        """Names of the inputs, in order."""
        return [name for column in self.columns for name in column.features]

    @property
    def names(self) -> list[str]:
        """Columns that a table must have for prediction."""
        return [column.name for column in self.columns]

    @property
    def _output_shape(self) -> tuple[int, ...]:
        """Shape of one output."""
        return () if self.output is None else (self.output.width,)

    @property
    def outputs(self) -> list[str]:
        """Columns of an output: the target, and auxiliary ones."""
        target = [] if self.target is None else [self.target]
        return target if self.output is None else [*target, *self.output.names]

    @property
    def plain(self) -> bool:
        """True where all columns are numbers as they are, and every row could be used."""
        return all(column.plain for column in self.columns) and self.n_used == self.n_rows

    def encode(
        self, table: Any, *, unseen: str | None = None, decimal: str = ".", tally: Counter[str] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Turn the columns of a table into inputs.

        Parameters
        ----------
        table : pyarrow.Table or RecordBatch
            Rows with the columns that the encoder knows.
        unseen : {"other", "empty", "error"}, optional
            Treatment of a category that was not there in fitting; by default the one chosen then.
        decimal : {".", ","}
            Decimal mark of numbers that are text.
        tally : Counter, optional
            Adds up the rows of each column that hold such a category and count as "other"; without it a warning
            reports them.

        Returns
        -------
        (kept, d) array
            Inputs of the rows that have them all.
        (n,) array of bool
            Which rows these are.
        """
        unseen = self.unseen if unseen is None else unseen
        check_one_of("unseen", unseen, UNSEEN)
        inputs, keep, found = [], np.ones(table.num_rows, dtype=bool), Counter[str]() if tally is None else tally
        for column in self.columns:
            if column.name not in table.schema.names:
                raise TableError(f"column {column.name!r}, which the model needs, is not in the table")
            encoded, known = column.encode(table.column(column.name), unseen, decimal, found)
            inputs += encoded
            keep &= known
        if tally is None:
            warn_of_unseen(found)
        every = bool(np.all(keep))
        Z = np.empty((len(inputs), int(np.sum(keep))))  # a column is contiguous, as kernels want it
        for i, values in enumerate(inputs):
            Z[i] = values if every else values[keep]
        return Z.T, keep

    def rows(self, table: Any, *, unseen: str | None = None) -> tuple[EncodedTable, np.ndarray, np.ndarray | None]:
        """Encode inputs, outputs and weights of the rows that have them all, in memory.

        Parameters
        ----------
        table : pyarrow.Table, path or opened table
            Rows with the columns that the encoder knows, and the target.
        unseen : {"other", "empty", "error"}, optional
            As for `encode`.

        Returns
        -------
        EncodedTable
            Inputs.
        (n,) array
            Outputs; (n, 2) or (n, 3) with auxiliary columns.
        (n,) array or None
            Weights, where there is a column of them.
        """
        opened = open_table(table)
        weighted = self.weights is not None and self.weights in opened.names
        Z = np.empty((len(self.features), opened.n))  # memory is taken as it is filled
        y, weight = np.empty((opened.n, *self._output_shape)), np.empty(opened.n) if weighted else None
        n = 0
        for X, t, w in self.chunks(opened, self.target, self.weights if weighted else None, unseen=unseen):
            rows = slice(n, n + len(X))
            Z[:, rows], y[rows] = X.T, t
            if weight is not None:
                weight[rows] = w
            n += len(X)
        X = Z[:, :n].T
        return EncodedTable(X, self.features, self), y[:n], None if weight is None else weight[:n]

    def streamed(self, table: Any) -> tuple[EncodedTable, EncodedColumns, EncodedColumns | None]:
        """Return the rows of `rows` as columns that are read and encoded a block at a time whenever they are needed.

        Parameters
        ----------
        table : path or opened table
            The table that the encoder was learned from.

        Returns
        -------
        EncodedTable
            Inputs.
        EncodedColumns
            Outputs.
        EncodedColumns or None
            Weights, where there is a column of them.
        """
        opened = open_table(table)
        X, y = EncodedColumns(opened, self, 0, self.n_used), EncodedColumns(opened, self, 1, self.n_used, self.target)
        weight = None if self.weights is None else EncodedColumns(opened, self, 2, self.n_used, self.weights)
        return EncodedTable(X, self.features, self), y, weight

    def streamed_inputs(self, table: Any, target: str | None) -> tuple[EncodedColumns, EncodedColumns | None]:
        """Return inputs of all rows of a table, and outputs if any, read and encoded a block at a time.

        Parameters
        ----------
        table : path or opened table
            Rows with the columns that the encoder knows; a row that lacks one is refused when it is read.
        target : str, optional
            The column of outputs, if they are wanted.

        Returns
        -------
        EncodedColumns
            Inputs.
        EncodedColumns or None
            Outputs.
        """
        opened = open_table(table)
        y = None if target is None else EncodedColumns(opened, self, 1, opened.n, target, strict=True)
        return EncodedColumns(opened, self, 0, opened.n, strict=True), y

    def chunks(
        self,
        table: FileTable,
        target: str | None,
        weights: str | None,
        *,
        unseen: str | None = None,
        strict: bool = False,
    ) -> Iterator[tuple[np.ndarray, np.ndarray | None, np.ndarray | None]]:
        """Yield inputs, outputs and weights of the rows that have them all, a batch at a time.

        Parameters
        ----------
        table : FileTable
            The rows.
        target, weights : str, optional
            Columns of outputs and weights, if they are wanted.
        unseen : {"other", "empty", "error"}, optional
            As for `encode`.
        strict : bool
            Whether a row that lacks anything is refused instead of being left out.

        Yields
        ------
        tuple
            Inputs (m, d), outputs (m,) (of several numbers (m, 2) or (m, 3)) or None and weights (m,) or None.
        """
        output = self.output if target is not None and target == self.target else None
        auxiliary = () if output is None else output.names
        others = list(dict.fromkeys(name for name in (target, weights, *auxiliary) if name is not None))
        for name in others:
            if name not in table.names:
                what = "target: " if name == target else ""
                raise TableError(f"{what}there is no column {name!r}; the table has {listed(table.names)}")
        tally: Counter[str] = Counter()
        for batch in table.cells([*self.names, *others]):
            found = {name: as_numbers(batch.column(name), name, table.decimal) for name in others}
            complete = np.ones(batch.num_rows, dtype=bool)
            for values in found.values():
                complete &= ~np.isnan(values)
            if not np.all(complete):
                batch = batch.filter(arrow().array(complete))
            X, keep = self.encode(batch, unseen=unseen, decimal=table.decimal, tally=tally)
            lacking = len(complete) - len(X)
            if lacking and strict:
                raise TableError(f"{table.where}: {lacking} rows lack a value that the model needs; drop or mend them")
            if lacking:
                found = {name: values[complete][keep] for name, values in found.items()}
            if len(X):
                y = found.get(target or "")
                yield X, y if output is None or y is None else output.laid_out(y, found), found.get(weights or "")
        warn_of_unseen(tally)

    def expand(self, names: Sequence[str], option: str) -> list[str]:
        """Return the names of the inputs that columns became.

        Parameters
        ----------
        names : sequence of str
            Columns.
        option : str
            Name of the caller's option, for messages.

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
        """Return the encoder as plain values, for a model file.

        Returns
        -------
        dict
            Values that JSON can hold.
        """
        return {name: value for name, value in asdict(self).items() if name not in OF_THE_TABLE}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> TableEncoder:
        """Return the encoder that `to_json` wrote.

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
            columns = tuple(
                Column(**{**c, **{part: tuple(c.get(part, ())) for part in ("categories", "infrequent", "parts")}})
                for c in plain["columns"]
            )
            output = plain.get("output")
            if output is not None:
                output = OutputColumns(output["layout"], tuple(output["auxiliary"]))
            return cls(**{**plain, "columns": columns, "dropped": tuple(plain["dropped"]), "output": output})
        except (TypeError, KeyError, AttributeError) as error:
            raise TableError(f"what the model file says of its columns is damaged ({error})") from error


def check_one_of(option: str, value: str, known: Sequence[str]) -> None:
    """Refuse a value of an option that is none of those known."""
    if value not in known:
        raise TableError(f"{option} must be one of {', '.join(known)}; got {value!r}")


class EncodedColumns(Streamed):
    """Inputs (role 0), outputs (1) or weights (2) of a table that is read and encoded a batch at a time."""

    def __init__(
        self,
        table: FileTable,
        encoder: TableEncoder,
        role: int,
        n: int,
        name: str | None = None,
        *,
        strict: bool = False,
    ) -> None:
        self.table, self.encoder, self.role, self.where = table, encoder, role, table.where
        self.name, self.strict = name, strict
        several = encoder._output_shape if role == 1 and name == encoder.target else ()
        self.shape = (n, *several) if role else (n, len(encoder.features))

    def chunks(self, columns: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of all columns in order, a batch at a time."""
        encoder, names = self.encoder, {c.role: c.name for c in columns if c is not None}
        # rows without an output or a weight are no rows of the fit, whichever columns are read
        target = names.get(1) or (None if self.strict else encoder.target)
        weights = names.get(2) or (None if self.strict else encoder.weights)
        for chunk in encoder.chunks(self.table, target, weights, strict=self.strict):
            yield tuple(None if column is None else chunk[column.role] for column in columns)
