"""Poisson experts: one fit, whatever holds the rows, on any number of threads, in memory that rows do not fill."""

import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from skmoe import MoERegressor
from skmoe.arrays import blocks
from skmoe.tables import files
from streams import NAMES, assert_same, let_samples_be_small

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

pytestmark = pytest.mark.usefixtures("small_samples")


def made_counts(n, seed=0):
    """Counts of two regimes over inputs in wild units."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 4))
    y = rng.poisson(np.exp(np.where(Z[:, 1] > 0, 1.0 + 0.8 * Z[:, 0], 1.5 - 0.7 * Z[:, 0])))
    return Z * [1.0, 20.0, 0.01, 5.0] + [0.0, 100.0, 3.0, -2.0], y.astype(float)


def fitted(X, y, threads=1):
    with threadpool_limits(threads, user_api="blas"):
        return MoERegressor(2, family="poisson", random_state=0).fit(X, y)


def as_table(X, y):
    return pa.table({**{name: X[:, i] for i, name in enumerate(NAMES)}, "visits": y})


@pytest.fixture(scope="module")
def counts():
    return made_counts(12_000)


@pytest.fixture(scope="module")
def reference(counts):
    with pytest.MonkeyPatch.context() as patch:
        let_samples_be_small(patch)
        return fitted(*counts)


@pytest.mark.parametrize("kind", ["memmap", "parquet", "dask", "torch", "strict"])
def test_every_holder_of_counts_gives_the_same_model(kind, counts, reference, tmp_path):
    X, y = counts
    assert reference.history_["searched"] == 3000  # so that passes over all rows are made at all
    inputs, outputs = X, y
    if kind == "memmap":
        inputs = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", X.dtype, X.shape)
        inputs[:] = X
    elif kind == "parquet":
        inputs, outputs = tmp_path / "rows.parquet", "visits"
        pq.write_table(as_table(X, y), inputs, row_group_size=1000)
    elif kind == "dask":
        da = pytest.importorskip("dask.array")
        inputs, outputs = da.from_array(X, chunks=(2500, 2)), da.from_array(y, chunks=2500)
    else:
        xp = pytest.importorskip("torch" if kind == "torch" else "array_api_strict", exc_type=ImportError)
        inputs, outputs = xp.asarray(X), xp.asarray(y)
    model = fitted(inputs, outputs)
    assert_same(model, reference)
    np.testing.assert_allclose(np.asarray(model.predict(inputs)), reference.predict(X), rtol=1e-7)
    np.testing.assert_allclose(np.asarray(model.log_density(inputs, outputs)), reference.log_density(X, y), atol=1e-6)


def test_threads_change_no_digit_of_counts(counts, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_DOUBLES", 512)
    one, two = (fitted(*counts, threads=threads) for threads in (1, 2))
    for name in ("expert_coef_", "expert_intercept_", "gate_coef_", "covariance_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name), err_msg=name)


def test_memory_does_not_grow_with_the_rows_of_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_DOUBLES", 2**14)
    monkeypatch.setattr(files, "BATCH_ROWS", 2**12)
    peaks = []
    for n in (20_000, 60_000):  # regimes are described by 10,000 rows of each
        path = tmp_path / f"{n}.parquet"
        pq.write_table(as_table(*made_counts(n)), path, row_group_size=2000)
        tracemalloc.start()
        try:
            MoERegressor(2, family="poisson", penalty=0, n_init=2, random_state=0).fit(path, "visits")
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    few, many = peaks
    # the rows that were added are five doubles each; the draw of a sample takes about three numbers a row
    assert many - few < 8 * 4 * 40_000
