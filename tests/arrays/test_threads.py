import threading
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from skmoe.arrays.threads import (
    in_order,
    one_blas_thread,
    one_openmp_thread,
    threads_allowed,
    with_one_blas_thread,
    without_warnings,
)


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_threads_are_as_many_as_the_blas_may_have():
    for limit in (1, 3):
        with threadpool_limits(limit, user_api="blas"):
            assert threads_allowed() == limit


def test_blas_is_on_one_thread_inside_and_gets_its_own_back():
    with threadpool_limits(3, user_api="blas"):
        with one_blas_thread:
            assert blas_threads() == {1}
            assert threads_allowed() == 3  # for blocks
            with one_blas_thread:
                assert blas_threads() == {1}
            assert blas_threads() == {1}  # an inner context does not end an outer one
        assert blas_threads() == {3}


def test_blas_is_on_one_thread_where_blocks_are_worked_on():
    with threadpool_limits(3, user_api="blas"):
        inside = list(in_order(lambda i: (i, blas_threads()), ((i,) for i in range(20)), 3))
        assert inside == [(i, {1}) for i in range(20)]
        assert blas_threads() == {3}


def test_openmp_is_on_one_thread_inside():
    import sklearn.cluster  # noqa: F401 - brings OpenMP along

    def openmp_threads():
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "openmp"}

    with threadpool_limits(3, user_api="openmp"):
        with one_openmp_thread():
            assert openmp_threads() == {1}
        assert openmp_threads() == {3}


def test_blas_gets_its_threads_back_after_an_error():
    @with_one_blas_thread
    def broken():
        assert blas_threads() == {1}
        raise ValueError("inside")

    with threadpool_limits(3, user_api="blas"):
        with pytest.raises(ValueError, match="inside"):
            broken()
        assert blas_threads() == {3}


def test_callers_on_several_threads_share_the_limit():
    """The second caller enters while the first is inside, and stays when it leaves."""
    entered, leave, seen = threading.Event(), threading.Event(), []

    def second():
        with one_blas_thread:
            entered.set()
            leave.wait(10)
            seen.append((blas_threads(), threads_allowed()))

    with threadpool_limits(3, user_api="blas"):
        with one_blas_thread:
            other = threading.Thread(target=second)
            other.start()
            assert entered.wait(10)
        leave.set()
        other.join()
        assert seen == [({1}, 3)]
        assert blas_threads() == {3}


def test_threads_keep_what_was_asked_of_numpy_and_pass_errors_on():
    with np.errstate(over="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(in_order(lambda x: np.exp(x), [(np.array([1e4]),)] * 3, 2)) == [np.inf] * 3

    def broken(i):
        if i == 4:
            raise ValueError("block 4")
        return i

    with pytest.raises(ValueError, match="block 4"):
        list(in_order(broken, ((i,) for i in range(50)), 2))


def test_blas_is_held_on_one_thread_from_whichever_thread():
    """Some libraries of threads heed the thread alone that set a limit first."""
    seen = []

    def elsewhere():
        with one_blas_thread:
            seen.append(blas_threads())
        seen.append(blas_threads())

    with threadpool_limits(3, user_api="blas"):
        with one_blas_thread:
            pass
        other = threading.Thread(target=elsewhere)
        other.start()
        other.join()
        assert seen == [{1}, {3}]
        assert blas_threads() == {3}
    with threadpool_limits(2, user_api="blas"):
        assert blas_threads() == {2}  # limits of others work as before


# -- warnings ---------------------------------------------------------------------------------------------------------


def test_warnings_of_a_kind_are_ignored_inside():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with without_warnings(UserWarning):
            warnings.warn("not heard", UserWarning, stacklevel=1)
            with pytest.raises(RuntimeWarning, match="heard"):
                warnings.warn("heard", RuntimeWarning, stacklevel=1)
        with pytest.raises(UserWarning, match="heard again"):
            warnings.warn("heard again", UserWarning, stacklevel=1)


def test_filters_of_warnings_are_as_before_when_threads_overlap():
    """The second caller enters while the first is inside, and stays when it leaves."""
    entered, leave = threading.Event(), threading.Event()

    def second():
        with without_warnings():
            entered.set()
            leave.wait(10)

    with warnings.catch_warnings():
        before = list(warnings.filters)
        with without_warnings():
            other = threading.Thread(target=second)
            other.start()
            assert entered.wait(10)
        leave.set()
        other.join()
        assert list(warnings.filters) == before
