"""Model files, damaged and forged.

A damaged file, whose bytes or members were changed and its checksums were not, is refused or is the same model in every
number: it is written again and compared byte by byte. A forged one, whose checksums were made to agree, is refused or
is a model that can be used: it predicts numbers, or refuses to since they overflow, prints its tables, and is saved and
loaded again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import skmoe
from skmoe import ModelFileError, MoEClassifier, MoERegressor, families, make_moe
from skmoe.tables import EncodedTable, TableEncoder
from skmoe.tables.columns import Column

from .harness import Observer, WrongError, numbered
from .mutations import mutated_archive, mutated_bytes

__all__ = ["Target"]

RECORDED = Path(__file__).resolve().parents[2] / "tests" / "persistence" / "files"
FORGED = 0.25  # share of the cases
OVERFLOW = "the model has no number for"


class Target:
    """Files of every kind of model: averaged, of tables, of far columns, of families, and one recorded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        X, y, _ = make_moe(200, 3, 2, random_state=0)
        columns = (Column("speed", "number", fill=1.0), Column("kind", "category", ("a", "b", "c"), fill="b"))
        encoder = TableEncoder("price", columns, dropped=("id",))
        models = [
            MoERegressor(2, averaging=2, random_state=0).fit(X, y),
            MoERegressor(1, random_state=0).fit(EncodedTable(X, encoder.features, encoder), y),
            MoERegressor(2, calibration=None, random_state=0).fit(X + 1e9, y),  # counted from a value of their own
            *_of_families(X, y),
        ]
        for i, model in enumerate(models):
            model.save(folder / f"new{i}")
        paths = [*(folder / f"new{i}" for i in range(len(models))), *sorted(RECORDED.glob("*.skmoe"))]
        self.originals = [(path.read_bytes(), self._again(path)) for path in paths]

    def _again(self, path: Path) -> bytes:
        """A model file read and written again."""
        skmoe.load(path).save(self.folder / "again")
        return (self.folder / "again").read_bytes()

    def run(self, observer: Observer, start: int, cases: int, seed: int) -> None:
        """Put cases to the observer; see `harness.Target`."""
        for number in range(start, start + cases):
            observer.observe(number, lambda number=number: self._case(numbered(seed, number)))

    def _case(self, rng: np.random.Generator) -> bool:
        content, expected = self.originals[rng.integers(len(self.originals))]
        forged, members = bool(rng.random() < FORGED), rng.integers(3) == 0
        if forged or members:
            path = self._write(mutated_archive(content, rng, sums=forged))
        else:
            path = self._write(mutated_bytes(content, rng))
        try:
            model = skmoe.load(path)
        except ModelFileError as error:
            said = str(error)
            if len(said.splitlines()) != 1 or "pickle" in said or not said.isprintable():
                raise WrongError(f"not a sentence to be shown: {said!r}") from error
            return False
        if forged:
            _use(model)
            self._again(path)
        elif self._again(path) != expected:
            raise WrongError("a damaged file was loaded as another model")
        return True

    def _write(self, content: bytes) -> Path:
        path = self.folder / "case"
        path.write_bytes(content)
        return path


def _of_families(X: np.ndarray, y: np.ndarray) -> list[MoERegressor | MoEClassifier]:
    """Models of other laws than the Gaussian, each with something in its file that others do not have."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(np.exp(0.3 * y))
    below = np.column_stack([np.where(y < -1, -np.inf, y), np.maximum(y, -1.0)])
    how: dict[str, Any] = {"calibration": None, "penalty": 0.3, "random_state": 0}
    return [
        MoERegressor(2, family="poisson", averaging=2, random_state=0).fit(X, counts),
        MoERegressor(2, family="binomial", **how).fit(X, np.column_stack([np.minimum(counts, 5), np.full(len(y), 5)])),
        MoERegressor(2, family="student", **how).fit(X, y),
        MoERegressor(1, family="negative-binomial", **how).fit(X, counts),
        MoERegressor(1, family="censored-gaussian", **how).fit(X, below),
        MoERegressor(1, family=families.TruncatedFamily(lower=float(np.min(y)) - 1), **how).fit(X, y),
        MoEClassifier(2, random_state=0).fit(X, np.where(y > 0, "yes", "no")),
        MoEClassifier(2, averaging=2, random_state=0).fit(X + 1e9, np.minimum(counts, 2)),
    ]


def _use(model: MoERegressor | MoEClassifier) -> None:
    """Predict with a model and print its tables, whatever its numbers are."""
    X = np.linspace(-1, 1, 4 * len(model.encoded_feature_names_)).reshape(4, -1)
    rows = X if model.encoder_ is None else EncodedTable(X, model.encoder_.features, model.encoder_)
    if hasattr(model, "feature_names_in_") and model.encoder_ is None:
        rows = EncodedTable(X, list(model.feature_names_in_), model.encoder_)
    with np.errstate(all="ignore"):
        law = model.predict_proba if isinstance(model, MoEClassifier) else model.predict_interval
        for function in (law, model.predict, model.gate_proba):
            _check_numbers(function, rows)
        str(model.summary())
        if isinstance(model, MoERegressor):
            str(model.diagnose())
            str(model.regimes(rows))


def _check_numbers(function: Callable[[Any], Any], rows: Any) -> None:
    try:
        values = np.asarray(function(rows))
    except ValueError as error:
        if OVERFLOW not in str(error):
            raise
        return
    if values.dtype.kind == "f" and np.any(np.isnan(values)):
        raise WrongError(f"{function} of a forged file is NaN")
