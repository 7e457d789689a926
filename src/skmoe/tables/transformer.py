"""A transformer of tables for scikit-learn's pipelines: it learns what each column becomes, and encodes new rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from skmoe.arrays.advice import Advice, Advised
from skmoe.arrays.visible import listed
from skmoe.tables.columns import UNSEEN
from skmoe.tables.dates import DATE_PARTS
from skmoe.tables.decisions import Decision, bad_columns, check_references
from skmoe.tables.encoder import MISSING_TREATMENTS, TableEncoder, check_one_of
from skmoe.tables.files import FileTable, open_table
from skmoe.tables.frames import as_table, check_frame, encode_frame, is_frame
from skmoe.tables.groups import counts_rows, groups_of_text
from skmoe.tables.input_limit import decide_all
from skmoe.tables.learning import Outputs, TablePass, check_outputs, check_rows_left, profile_rows
from skmoe.tables.output_columns import OutputColumns
from skmoe.tables.repeats import find_repeats
from skmoe.tables.table_errors import TableError

__all__ = ["USUAL_DATES", "TableTransformer"]

USUAL_DATES = ("days", "month", "weekday", "hour")  # the year is in the days already


class TableTransformer(TransformerMixin, BaseEstimator):
    """Turn a table of numbers, text, dates and missing values into numbers.

    Numbers and yes/no become one input, categories one input each but the first, dates one for each part. Columns that
    are constant, repeat others exactly, or hold nothing that can be used are left out; the notes of `encoder_` say
    which. `MoERegressor`, `MoEClassifier` and the command line encode their tables by it.

    Parameters
    ----------
    columns : sequence of str, optional
        The columns to be used, by default all but those that only number the rows.
    drop : sequence of str
        Columns to leave out.
    categorical : "auto" or sequence of str
        Columns whose values are categories even where they are numbers.
    missing : {"level", "impute", "drop", "error"}
        Treatment of missing values. "level": missing categories are a category of their own, numbers get their median,
        and a missing indicator if there are enough of them. "impute": alike, but categories get the most frequent one.
        "drop": nothing is learned from rows that lack a value, and new ones are refused. "error": they are refused.
    unseen : {"other", "empty", "error"}
        Treatment of categories that come later: they count as the infrequent ones, or where there were none as the mean
        of the known ones; have no prediction (`transform` refuses them); or are refused.
    dates : sequence of {"days", "year", "month", "weekday", "hour"}
        Numbers that dates become; "days" are those since the first date.
    reference : dict of str to str, optional
        Categories that the others of their columns are compared with; by default the first.

    Attributes
    ----------
    encoder_ : TableEncoder
        Encodings of the columns; its `notes` say what became of the table.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : array of str
        Names of these columns, if they have any.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from skmoe import TableTransformer
    >>> kind, size = ["house", "flat"] * 10, [float(i) for i in range(20)]
    >>> built = pd.date_range("2001-01-01", periods=20, freq="YS")
    >>> X = pd.DataFrame({"kind": kind, "size": [None, *size[1:]], "built": built})
    >>> TableTransformer().fit(X).get_feature_names_out().tolist()
    ['kind=house', 'size', 'built: days']
    >>> model = make_pipeline(TableTransformer(), Ridge()).fit(X, size)
    >>> model.predict(X).shape
    (20,)
    """

    def __init__(
        self,
        *,
        columns: Sequence[str] | None = None,
        drop: Sequence[str] = (),
        categorical: str | Sequence[str] = "auto",
        missing: str = "level",
        unseen: str = "other",
        dates: Sequence[str] = USUAL_DATES,
        reference: Mapping[str, str] | None = None,
    ) -> None:
        self.columns, self.drop, self.categorical = columns, drop, categorical
        self.missing, self.unseen, self.dates, self.reference = missing, unseen, dates, reference

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the columns of a table become.

        Parameters
        ----------
        X : DataFrame of pandas or polars, pyarrow.Table, or (n, d) array
            The rows.
        y : object
            Ignored; it is there for pipelines.

        Returns
        -------
        TableTransformer
            The fitted transformer.
        """
        self.encoder_ = self.learn(self._table(X, reset=True))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Encode rows.

        Parameters
        ----------
        X : DataFrame of pandas or polars, pyarrow.Table, or (n, d) array
            Rows with the columns of the fit.

        Returns
        -------
        (n, m) array
            The inputs that `get_feature_names_out` names.
        """
        check_is_fitted(self)
        return encode_frame(self.encoder_, self._table(X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the inputs.

        Parameters
        ----------
        input_features : sequence of str, optional
            The names of the columns of the fit; others are refused.

        Returns
        -------
        (m,) array of str
            A column's name; with its category, part of a date, or "missing" where it became several inputs.
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features)
        return np.array(self.encoder_.features, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _table(self, X: Any, *, reset: bool) -> Any:
        """Return rows as a table of pyarrow; store their columns, or compare them with those of the fit."""
        check_frame(X)
        if is_frame(X) or hasattr(X, "num_rows"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return as_table(X)
        X = np.array(X, dtype=object) if isinstance(X, list | tuple) else X  # NumPy makes text of mixed values
        how = {"dtype": None, "ensure_all_finite": "allow-nan", "ensure_min_samples": 2 if reset else 1}
        X = validate_data(self, X, reset=reset, **how)
        return as_table(X, _check_feature_names_in(self))

    def learn(
        self, table: Any, target: str | None = None, *, weights: str | None = None, output: OutputColumns | None = None
    ) -> TableEncoder:
        """Read all rows of a table, a batch at a time, and decide what each of its columns becomes.

        Parameters
        ----------
        table : pyarrow.Table, path or opened table
            The rows; anything that `skmoe.tables.open_table` opens.
        target : str, optional
            The column to be predicted; it must hold numbers, and rows without one are left out.
        weights : str, optional
            A column of sample weights.
        output : OutputColumns, optional
            Columns of an output beside the target, such as exposures; they are no inputs.

        Returns
        -------
        TableEncoder
            The encoder, with notes for the owner of the table.
        """
        check_one_of("unseen", self.unseen, UNSEEN)
        check_one_of("missing", self.missing, MISSING_TREATMENTS)
        opened = open_table(table)
        encoder = self._decided(opened, target, weights, output)
        rows = (X for X, *_ in encoder.chunks(opened, None, None, unseen="empty"))
        columns, dropped, notes = find_repeats(encoder.columns, rows)
        dropped, notes = [*encoder.dropped, *dropped], [*encoder.notes, *notes]
        return replace(encoder, columns=columns, dropped=tuple(dropped), notes=tuple(notes))

    def _decided(
        self, opened: FileTable, target: str | None, weights: str | None, output: OutputColumns | None
    ) -> TableEncoder:
        """Return an encoder of all columns, also of those that repeat others; its pass over the rows is forgotten."""
        outputs = Outputs(target, () if output is None else output.names, weights)
        names = self._inputs_in(opened, outputs)
        seen = profile_rows(opened, names, outputs.needed, self._forced, self.reference or {})
        check_outputs(seen, outputs)
        counters = [n for n in names if self.columns is None and counts_rows(seen.profiles[n], opened.nameless)]
        profiles = [seen.profiles[name] for name in names if name not in counters]
        decisions, crowded = decide_all(profiles, self.missing, self.dates)
        bad_columns(opened.where, decisions)
        check_references(decisions, self.reference or {})
        notes = [f"column {name!r} numbers the rows and was left out" for name in counters]
        no_target = seen.rows - seen.used
        if no_target:
            notes.append(f"{no_target} of {seen.rows} rows have no {outputs} and were left out")
        costs = Counter({d.name: d.n_missing for d in decisions if d.n_missing})
        lacking = listed([f"{name} {count}" for name, count in costs.most_common()])
        if lacking and self.missing == "error":
            raise TableError(Advised(f"missing values: {lacking}", Advice.MISSING))
        if lacking and self.missing == "drop":
            seen, decisions, dropped_note, crowded = self._without_missing(opened, outputs, seen, decisions, lacking)
            notes.append(dropped_note)
        notes += [*crowded, *(note for decision in decisions for note in decision.notes)]
        check_rows_left(seen, outputs)
        columns = tuple(d.column for d in decisions if d.column is not None)
        if not columns:
            beside = "" if target is None else f" beside target {target!r}"
            raise TableError(f"no column is left as an input{beside}: {'; '.join(notes) or 'there are no others'}")
        return TableEncoder(
            target,
            columns,
            weights,
            self.missing,
            (*self.drop, *counters, *(d.name for d in decisions if d.column is None)),
            self.unseen,
            output,
            (*opened.notes, *notes),
            seen.rows,
            seen.used,
            no_target,
            tuple(groups_of_text({d.name: seen.profiles[d.name].counts for d in decisions if _is_text(d, seen)})),
        )

    @property
    def _forced(self) -> list[str]:
        if isinstance(self.categorical, str):
            if self.categorical != "auto":
                raise TableError(f"categorical must be 'auto' or a list of columns; got {self.categorical!r}")
            return []
        return [str(name) for name in self.categorical]

    def _inputs_in(self, table: FileTable, outputs: Outputs) -> list[str]:
        """Return the names of the inputs; refuse columns that the table does not have."""
        unknown = [part for part in self.dates if part not in DATE_PARTS]
        if unknown:
            raise TableError(f"dates must be some of {', '.join(DATE_PARTS)}; got {unknown[0]!r}")
        asked = {
            "target": [outputs.target],
            "drop": self.drop,
            "columns": self.columns or (),
            "categorical": self._forced,
            "reference": self.reference or (),
            "weights": [outputs.weights],
            "output": outputs.auxiliary,
        }
        for what, name in ((what, name) for what, names in asked.items() for name in names if name is not None):
            if name not in table.names:
                raise TableError(f"{what}: there is no column {name!r}; the table has {listed(table.names)}")
            if name == outputs.target and what != "target":
                raise TableError(f"{what}: {name!r} is the target")
        wanted = table.names if self.columns is None else self.columns
        return [n for n in wanted if n not in (*outputs.needed, *self.drop)]

    def _without_missing(
        self, table: FileTable, outputs: Outputs, before: TablePass, decisions: list[Decision], lacking: str
    ) -> tuple[TablePass, list[Decision], str, list[str]]:
        """Decide again from complete rows: a second pass, since only now it is known what counts as missing."""
        left_out = [d for d in decisions if d.column is None]
        columns = [d.column for d in decisions if d.column is not None]
        while True:  # a column that is constant in the rows left is left out, and then costs no rows
            names = [column.name for column in columns]
            seen = profile_rows(table, names, outputs.needed, self._forced, self.reference or {}, columns)
            again, crowded = decide_all([seen.profiles[name] for name in names], self.missing, self.dates, columns)
            constant = [d for d in again if d.column is None]
            if 2 * seen.used < before.used or not constant:
                break
            left_out += constant
            columns = [c for c, d in zip(columns, again, strict=True) if d.column is not None]
        if 2 * seen.used < before.used:
            left = f"leaving out rows that lack a value would leave {seen.used} of {before.used} rows"
            raise TableError(Advised(f"{left}; rows that lack a value, by column: {lacking}", Advice.MISSING))
        dropped = f"{before.used - seen.used} of {before.used} rows were dropped"
        return seen, [*left_out, *again], f"rows that lack a value, by column: {lacking}; {dropped}", crowded


def _is_text(decision: Decision, seen: TablePass) -> bool:
    """Return whether a column holds categories, or text that was left out."""
    if decision.column is not None:
        return decision.column.kind == "category"
    profile = seen.profiles.get(decision.name)
    return profile is not None and not profile.numbers and not profile.dates
