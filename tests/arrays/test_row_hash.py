"""The hash of a table changes with any value and with the pairing, and with nothing else."""

import numpy as np
import pytest

from skmoe.arrays.blocks import BLOCK_DOUBLES
from skmoe.arrays.row_hash import row_hash
from skmoe.tables.inputs import stream


@pytest.fixture
def table(rng):
    return rng.normal(size=(1000, 3)), rng.normal(size=1000), rng.integers(1, 4, size=1000).astype(float)


def test_hash_is_that_of_the_rows_in_any_order(table, rng):
    order = rng.permutation(1000)
    assert row_hash(*table) == row_hash(*(part[order] for part in table))


def test_hash_changes_with_any_number_and_with_the_pairing(table, rng):
    X, y, weight = table
    order = rng.permutation(1000)
    nudged = X.copy()
    nudged[500, 2] = np.nextafter(nudged[500, 2], np.inf)
    others = [
        (nudged, y, weight),
        (X, y[order], weight),
        (X, y, weight[order]),
        (X[order], y, weight),
        (X, y, None),
        (X[:, [1, 0, 2]], y, weight),
        (X[:-1], y[:-1], weight[:-1]),
        (np.column_stack([X, np.zeros(1000)]), y, weight),
    ]
    hashes = {row_hash(*table), *(row_hash(*other) for other in others)}
    assert len(hashes) == 1 + len(others)


def test_no_weights_are_weights_of_one_and_zero_has_no_sign(table):
    X, y, _ = table
    assert row_hash(X, y) == row_hash(X, y, np.ones(1000))
    X[0, 0] = 0.0
    before = row_hash(X, y)
    X[0, 0] = -0.0
    assert row_hash(X, y) == before


def test_hash_does_not_depend_on_where_rows_live(rng, tmp_path, xp):
    da, pa = pytest.importorskip("dask.array"), pytest.importorskip("pyarrow")
    n = BLOCK_DOUBLES // 16
    X, y = rng.normal(size=(n, 4)), rng.normal(size=n)
    expected = row_hash(X, y)
    assert row_hash(xp.asarray(X), xp.asarray(y)) == expected
    parts = stream(da.from_array(X, chunks=(n // 3, 4)), da.from_array(y, chunks=n // 2))[:3]
    assert row_hash(*parts) == expected
    columns = {f"x{i}": X[:, i] for i in range(4)} | {"y": y}
    assert row_hash(*stream(pa.table(columns), "y")[:3]) == expected
    assert row_hash(X.astype(np.float32), y) == row_hash(X.astype(np.float32).astype(float), y)
