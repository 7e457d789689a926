import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from skmoe.arrays import blocks as module
from skmoe.arrays.blocks import block_rows_for, in_memory, row_blocks, sum_over_blocks, take_rows
from skmoe.arrays.namespaces import to_numpy


def test_sum_over_blocks_adds_up_to_the_whole(xp, rng):
    X = xp.asarray(rng.standard_normal((1001, 3)))
    y = xp.asarray(rng.standard_normal(1001))

    def kernel(x, t):
        return xp.sum(x, axis=0), t @ x

    total, product = sum_over_blocks(kernel, X, y, block_rows=64)
    np.testing.assert_allclose(to_numpy(total), to_numpy(xp.sum(X, axis=0)), rtol=1e-12)
    np.testing.assert_allclose(to_numpy(product), to_numpy(y @ X), rtol=1e-11)


def test_row_blocks_cover_every_row_once(rng):
    X = rng.standard_normal((10, 2))
    blocks = list(row_blocks(X, None, block_rows=4))
    assert [b[0].shape[0] for b in blocks] == [4, 4, 2]
    assert all(b[1] is None for b in blocks)
    np.testing.assert_array_equal(np.concatenate([b[0] for b in blocks]), X)


@pytest.mark.parametrize("channels", [0, 1, 100, 10**9])
def test_block_rows_stay_within_reason(channels):
    assert 512 <= block_rows_for(channels) <= 16384


def test_take_rows_gives_the_rows_asked_for(xp, rng):
    X, y = rng.standard_normal((20, 2)), rng.standard_normal(20)
    rows = np.array([0, 3, 19])
    taken = take_rows((xp.asarray(X), None, xp.asarray(y)), rows)
    np.testing.assert_array_equal(to_numpy(taken[0]), X[rows])
    assert taken[1] is None
    np.testing.assert_array_equal(to_numpy(taken[2]), y[rows])


def test_arrays_in_memory_stay_as_they_are(rng):
    X = rng.standard_normal((20, 2))
    assert in_memory(X, None) == (X, None)


def test_number_of_threads_changes_no_digit(rng, monkeypatch):
    X, w = rng.standard_normal((5000, 4)), rng.random(5000)

    def kernel(x, weight):
        return (x * weight[:, None]).T @ x, weight.sum()

    found = {}
    for threads in (1, 2, 5):
        monkeypatch.setattr(module, "threads_allowed", lambda threads=threads: threads)
        found[threads] = sum_over_blocks(kernel, X, w, block_rows=100)
    for threads in (2, 5):
        assert np.array_equal(found[threads][0], found[1][0])
        assert found[threads][1] == found[1][1]


@pytest.mark.parametrize(("rows", "several"), [(100, False), (2000, True)])
def test_blocks_are_shared_out_over_threads_where_there_are_many(rows, several):
    used = set()

    def kernel(x):
        used.add(threading.get_ident())
        time.sleep(0.001)  # long enough for each thread to get a block
        return (x.sum(),)

    with threadpool_limits(2, user_api="blas"):
        sum_over_blocks(kernel, np.ones((rows, 1)), block_rows=100)
    assert (len(used) == 2) is several
