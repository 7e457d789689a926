"""Threads change no digit of a fit."""

import threading
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from threadpoolctl import threadpool_limits

from skmoe import MoERegressor, joint_em, learn_experts, learn_gate, make_moe
from skmoe.arrays import blocks
from streams import let_samples_be_small

ATTRIBUTES = ("expert_coef_", "expert_intercept_", "gate_coef_", "gate_intercept_", "noise_scale_", "covariance_")


@pytest.fixture(scope="module")
def table():
    """Wide enough for a BLAS to share products out over its threads."""
    return make_moe(6000, 20, 3, noise_scale=0.3, random_state=0)[:2]


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks so small that there are several for each thread."""
    monkeypatch.setattr(blocks, "BLOCK_DOUBLES", 512)
    assert blocks.block_rows_for(1) * 4 <= 6000 // 2


def assert_identical(one, other):
    for name in ATTRIBUTES:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


def fitted(*arguments, threads, **how):
    with threadpool_limits(threads, user_api="blas"):
        return MoERegressor(3, random_state=0, **how).fit(*arguments)


@pytest.mark.parametrize("small", [False, True], ids=["one block", "many blocks"])
def test_threads_change_no_digit_in_memory(table, small, request):
    if small:
        request.getfixturevalue("small_blocks")
    assert_identical(fitted(*table, threads=1), fitted(*table, threads=2))


@pytest.mark.parametrize("how", [{"method": "joint-em", "n_init": 1}, {"method": "spectral"}], ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_threads_change_no_digit_of_other_methods(table, small_blocks, how):
    one, two = (fitted(*table, threads=threads, max_iter=20, **how) for threads in (1, 2))
    np.testing.assert_array_equal(one.expert_coef_, two.expert_coef_)
    np.testing.assert_array_equal(one.gate_coef_, two.gate_coef_)


def test_threads_change_no_digit_from_a_file(table, small_blocks, monkeypatch, tmp_path):
    let_samples_be_small(monkeypatch)
    X, y = table
    columns = pa.table({f"x{i}": X[:, i] for i in range(20)} | {"y": y})
    pq.write_table(columns, tmp_path / "rows.parquet", row_group_size=2500)
    one, two = (fitted(tmp_path / "rows.parquet", "y", threads=threads) for threads in (1, 2))
    assert one.history_["searched"] < one.history_["rows"] == 6000  # rows were streamed
    assert_identical(one, two)


def test_threads_change_no_digit_of_the_papers_algorithms(table, small_blocks):
    X, y = table
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            experts = learn_experts(X, y, 3, noise_scale=0.3, random_state=0)
            gate = learn_gate(X, y, experts.coef, noise_scale=0.3, random_state=0)
            joint = joint_em(X, y, 3, max_iter=10, random_state=0)
            found.append((experts.coef, gate.coef, joint.expert_coef))
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)


def test_fits_on_two_threads_at_once_are_those_of_one_after_the_other(table, small_blocks):
    """In threads that did not set the limit of the BLAS, and in whatever order they come and go."""
    X, y = table
    parts = [(X, y), (X[:5000], y[:5000])]
    expected = [fitted(*part, threads=1) for part in parts]
    models, together = [None, None], threading.Barrier(2, timeout=60)

    def work(i):
        together.wait()
        models[i] = MoERegressor(3, random_state=0).fit(*parts[i])

    with threadpool_limits(2, user_api="blas"):
        others = [threading.Thread(target=work, args=(i,)) for i in range(2)]
        for other in others:
            other.start()
        for other in others:
            other.join()
    for model, reference in zip(models, expected, strict=True):
        assert_identical(model, reference)


def test_fits_on_threads_leave_the_filters_of_warnings_as_they_were():
    X, y, _ = make_moe(300, 4, 2, random_state=0)
    with warnings.catch_warnings():
        before = list(warnings.filters)
        for _ in range(5):
            others = [
                threading.Thread(target=lambda: MoERegressor(2, max_iter=50, random_state=0).fit(X, y))
                for _ in range(4)
            ]
            for other in others:
                other.start()
            for other in others:
                other.join()
        assert list(warnings.filters) == before
