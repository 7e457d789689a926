import numpy as np
import pytest

from skmoe.rows.arrays import rows_last, to_device, to_numpy
from skmoe.rows.blocks import block_rows_for, row_blocks, sum_over_blocks


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


def test_rows_last_is_the_transpose_in_float64(xp, rng):
    X = xp.asarray(rng.standard_normal((5, 3)), dtype=xp.float32)
    Z = rows_last(X)
    assert Z.dtype == xp.float64
    np.testing.assert_array_equal(to_numpy(Z), to_numpy(X).T.astype(np.float64))


def test_arrays_travel_there_and_back(xp, rng):
    small = rng.standard_normal((2, 3))
    like = xp.zeros((1,), dtype=xp.float64)
    np.testing.assert_array_equal(to_numpy(to_device(small, like)), small)


# -- threads ----------------------------------------------------------------------------------------------------------


def test_number_of_threads_changes_no_digit(rng, monkeypatch):
    import skmoe.rows.blocks as room

    X, w = rng.standard_normal((5000, 4)), rng.random(5000)

    def kernel(x, weight):
        return (x * weight[:, None]).T @ x, weight.sum()

    found = {}
    for threads in (1, 2, 5):
        monkeypatch.setattr(room, "threads_allowed", lambda threads=threads: threads)
        found[threads] = room.sum_over_blocks(kernel, X, w, block_rows=100)
    for threads in (2, 5):
        assert np.array_equal(found[threads][0], found[1][0])
        assert found[threads][1] == found[1][1]


def test_threads_are_as_many_as_the_blas_may_have():
    from threadpoolctl import threadpool_limits

    from skmoe.rows.threads import in_order, threads_allowed

    with threadpool_limits(3, user_api="blas"):
        assert threads_allowed() == 3
        inside = list(in_order(lambda i: (i, threads_allowed()), ((i,) for i in range(20)), 3))
        assert inside == [(i, 1) for i in range(20)]
        assert threads_allowed() == 3
    with threadpool_limits(1, user_api="blas"):
        assert threads_allowed() == 1


def test_threads_keep_what_was_asked_of_numpy_and_pass_errors_on():
    from skmoe.rows.threads import in_order

    with np.errstate(over="ignore"):
        assert list(in_order(lambda x: np.exp(x), [(np.array([1e4]),)] * 3, 2)) == [np.inf] * 3

    def broken(i):
        if i == 4:
            raise ValueError("block 4")
        return i

    with pytest.raises(ValueError, match="block 4"):
        list(in_order(broken, ((i,) for i in range(50)), 2))
