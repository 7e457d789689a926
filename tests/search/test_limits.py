"""Requests that rows or memory do not allow are refused, with the largest number, before memory is taken."""

import resource
import time

import numpy as np
import pytest

from skmoe import MoERegressor, joint_em, learn_gate, moments, plain_tensor_method
from skmoe.arrays import memory
from skmoe.inference import FewRowsWarning
from skmoe.model.gaussian import GaussianFamily
from skmoe.search.config import SearchConfig
from skmoe.search.limits import bytes_needed, check_request, experts_in_memory
from skmoe.search.task import ModelSpec
from skmoe.tables.inputs import RowsToFit

SPEC = ModelSpec(GaussianFamily.linear(), "per-expert", 0.0, True)


def asked(k, n=10_000, d=50, weight=None):
    rows = RowsToFit(np.broadcast_to(0.0, (n, d)), np.broadcast_to(0.0, n), weight, None)
    return check_request(rows, SPEC, k, SearchConfig())


@pytest.fixture
def one_gigabyte(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1e9)


@pytest.mark.usefixtures("one_gigabyte")
def test_experts_that_memory_cannot_hold_are_refused_with_what_it_can():
    with pytest.raises(ValueError, match=r"5000 experts over 50 columns need about .* GB .* at most (\d+) ") as why:
        asked(5000, n=10**6)
    most = int(str(why.value).split("at most ")[1].split()[0])
    assert asked(most, n=10**6) == most
    with pytest.raises(ValueError, match="at most"):
        asked(most + 1, n=10**6)
    with pytest.raises(ValueError, match="not even one expert is possible: use fewer columns"):
        asked("auto", n=100_000, d=100_000)
    with pytest.raises(ValueError, match="not even one expert"):
        MoERegressor(1).fit(np.eye(2, 10_000), [0.0, 1.0])


@pytest.mark.usefixtures("one_gigabyte")
def test_rows_support_fewer_experts_than_memory():
    assert asked(10**9, n=1000, d=4) == 100  # two rows per coefficient
    assert asked("auto", n=1000, d=4) == "auto"
    with pytest.raises(ValueError, match="at most"):
        asked(10**9, n=1000, d=4, weight=np.full(1000, 1e9))  # weights may stand for any number of rows


@pytest.mark.usefixtures("one_gigabyte")
def test_tensors_and_gates_that_memory_cannot_hold_are_refused(rng):
    X = rng.standard_normal((1000, 500))
    y = X[:, 0]
    for function in (
        lambda: moments.third_moment(X, y, noise_scale=0.1),
        lambda: plain_tensor_method(X, y, 2, activation="tanh"),
    ):
        with pytest.raises(ValueError, match="third moment in 500 directions needs about 5 GB of memory, and 1 GB are"):
            function()
    few, many = rng.standard_normal((60_000, 2)), rng.standard_normal((10_000, 2))
    with pytest.raises(ValueError, match="a gate of 10000 experts over 2 columns needs about 13 GB"):
        joint_em(few, few[:, 0], 10_000)
    with pytest.raises(ValueError, match="a gate of 10000 experts over 2 columns"):
        learn_gate(few, few[:, 0], many, noise_scale=0.1)


def test_a_million_experts_are_refused_at_once(rng):
    X = rng.standard_normal((20_000, 4))
    before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    with pytest.raises(ValueError, match=r"at most \d+ experts are possible"):
        MoERegressor(10**6).fit(X, X[:, 0] + rng.standard_normal(20_000), np.full(20_000, 1000.0))
    assert time.perf_counter() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # kB


def test_a_table_of_few_rows_and_many_columns_is_fitted_in_its_rows(rng):
    X = rng.standard_normal((12, 1500))
    y = X[:, 0] + 0.1 * rng.standard_normal(12)
    began = time.perf_counter()
    with pytest.warns(FewRowsWarning, match="no degrees of freedom"):
        model = MoERegressor(1).fit(X, y)
    assert time.perf_counter() - began < 10
    np.testing.assert_allclose(model.predict(X), y, atol=1e-8)
    with pytest.warns(FewRowsWarning):
        slow = MoERegressor(1).fit(X[:, :40], y)  # by the usual eigenvalues
    np.testing.assert_allclose(slow.predict(X[:, :40]), y, atol=1e-8)


def test_every_machine_carries_a_usual_fit():
    assert bytes_needed(SPEC, 10_000, 100, 20) < 2e9
    assert memory.available_bytes() > 0
    assert experts_in_memory(lambda k: k, 100, 7) == 7


def test_memory_is_what_the_system_and_the_container_leave(tmp_path, monkeypatch):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 32000000 kB\nMemAvailable: 10000000 kB\n")
    monkeypatch.setattr(memory, "MEMINFO", meminfo)
    monkeypatch.setattr(memory, "GROUP", tmp_path)
    assert memory.available_bytes() == pytest.approx(memory.USABLE_SHARE * 1024e7)
    (tmp_path / "memory.current").write_text("1000000000\n")
    for limit, left in (("max", 1024e7), ("3000000000", 2e9), ("500", 0.0)):
        (tmp_path / "memory.max").write_text(f"{limit}\n")
        assert memory.available_bytes() == pytest.approx(memory.USABLE_SHARE * left)
    monkeypatch.setattr(memory, "MEMINFO", tmp_path / "none")
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.available_bytes() > 0
