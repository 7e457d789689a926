"""A recorded file of the present format says what it said; where this fails, the format has to have another number."""

from pathlib import Path

import numpy as np

import skmoe
from archives import parts_of
from skmoe.persistence.model_schema import FORMAT
from skmoe.tables import EncodedTable, open_table

FILES = Path(__file__).parent / "files"
"""Written by `record`, in numbers that another version of NumPy may round differently when it predicts."""


def record():
    """Fit a model with all that a file may hold: averaged, of a table, of a column far from zero, calibrated."""
    rng = np.random.default_rng(0)
    n = 120
    kind, year = rng.choice(["flat", "house", "loft"], n), rng.integers(-50, 50, n)
    price = np.where(year > 0, 0.2, -0.1) * year + (kind == "house") + rng.standard_normal(n) / 10
    year = year + 1e7
    lines = [f"{a},{b:.0f},{c:.4f}" for a, b, c in zip(kind, year, price, strict=True)]
    table = FILES / "rows.csv"
    table.write_text("\n".join(["kind,year,price", *lines]) + "\n")
    model = skmoe.MoERegressor(2, averaging=2, random_state=0).fit(table, "price")
    model.save(FILES / f"format{FORMAT}.skmoe")
    said = np.column_stack(said_of(model))
    np.savetxt(FILES / f"format{FORMAT}.csv", said, "%.17g", ",")


def said_of(model):
    X, _ = model.encoder_.encode(open_table(FILES / "rows.csv").read())
    rows = EncodedTable(X[:8], model.encoder_.features, model.encoder_)
    return model.predict(rows), *model.predict_interval(rows, coverage=0.9).T, *model.gate_proba(rows).T


def test_recorded_file_says_what_it_said(tmp_path):
    path = FILES / f"format{FORMAT}.skmoe"
    model = skmoe.load(path)
    expected = np.loadtxt(FILES / f"format{FORMAT}.csv", delimiter=",")
    np.testing.assert_allclose(np.column_stack(said_of(model)), expected, rtol=1e-9, atol=1e-12)
    assert model.covariance_at_origin_ is not None
    assert model.calibration_ is not None
    assert "standard errors from the observed information" in str(model.summary())
    model.save(tmp_path / "again")
    assert parts_of(tmp_path / "again") == parts_of(path)


if __name__ == "__main__":
    record()
