"""A long fit says how much remains, and ends when its time is over."""

import time
from importlib import import_module

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skmoe import MoERegressor, make_moe
from skmoe.datasets import load_concrete
from skmoe.search import Progress
from skmoe.search.records import Control


@pytest.fixture(scope="module")
def concrete():
    return load_concrete(return_X_y=True)


@pytest.mark.parametrize("n_experts", [6, "auto"])
def test_fit_ends_when_its_time_is_over(concrete, n_experts):
    began = time.monotonic()
    with pytest.warns(ConvergenceWarning, match=r"was stopped after the 0.05 seconds that it was given; this is"):
        model = MoERegressor(n_experts, max_time=0.05, random_state=0).fit(*concrete)
    assert time.monotonic() - began < 5
    assert model.history_["interrupted"]
    assert not model.converged_
    line = np.linalg.lstsq(np.column_stack([concrete[0], np.ones(1030)]), concrete[1], rcond=None)[1][0] / 1030
    assert model.log_likelihood_ / 1030 >= -0.5 * np.log(2 * np.pi * np.e * line) - 0.2  # no worse than one regression


def test_joint_em_ends_after_the_run_in_which_its_time_is_over(concrete):
    with pytest.warns(ConvergenceWarning, match="was stopped after"):
        model = MoERegressor(3, method="joint-em", n_init=50, max_time=1e-6, random_state=0).fit(*concrete)
    assert len(model.history_["starts"]) == 1


def test_time_enough_changes_nothing():
    X, y, _ = make_moe(500, 3, 2, random_state=0)
    free, limited = (MoERegressor(2, max_time=limit, random_state=0).fit(X, y) for limit in (None, 1000))
    np.testing.assert_array_equal(free.expert_coef_, limited.expert_coef_)
    assert not limited.history_["interrupted"]


@pytest.mark.parametrize("limit", [0, -1.0, "soon"])
def test_times_that_are_none_are_refused(limit):
    X, y, _ = make_moe(50, 2, 2, random_state=0)
    with pytest.raises(ValueError, match="max_time"):
        MoERegressor(2, max_time=limit).fit(X, y)


def test_progress_says_how_far_a_fit_is_and_no_time_left_that_nobody_knows(concrete):
    seen = []
    MoERegressor("auto", random_state=0, verbose=seen.append, n_init=2).fit(*concrete)
    assert {p.most_experts for p in seen if p.n_experts < 10} >= {10}
    assert all(0 <= p.starts <= p.most_starts for p in seen)
    assert max(p.n_experts for p in seen) <= 10
    assert all(np.diff([p.seconds for p in seen]) >= 0)
    assert all(np.isnan(p.seconds_left) for p in seen)


@pytest.mark.parametrize("n_experts", [3, "auto"])
def test_time_left_is_at_most_that_until_max_time(concrete, n_experts):
    seen = []
    MoERegressor(n_experts, random_state=0, verbose=seen.append, n_init=2, max_time=1000).fit(*concrete)
    assert {p.stage for p in seen} >= {"folds", "starts"}
    np.testing.assert_allclose([p.seconds + p.seconds_left for p in seen], 1000, atol=1)
    assert all(np.diff([p.seconds_left for p in seen]) <= 0)


@pytest.mark.parametrize(("max_time", "left"), [(None, [27, 18, 9, 0]), (30, [21, 12, 3, 0])])
def test_time_left_of_joint_em_is_that_of_its_runs_until_max_time(monkeypatch, max_time, left):
    """By a clock on which each run takes nine seconds."""
    joint_em = import_module("skmoe.search.joint_em")
    seconds, run, seen = [0.0], joint_em.run_em, []

    def nine_seconds_of_em(*args, **kwargs):
        seconds[0] += 9
        return run(*args, **kwargs)

    monkeypatch.setattr(joint_em, "run_em", nine_seconds_of_em)
    monkeypatch.setattr(Control, "seconds", property(lambda self: seconds[0]))
    X, y, _ = make_moe(100, 2, 2, random_state=0)
    model = MoERegressor(2, method="joint-em", n_init=4, max_time=max_time, random_state=0, verbose=seen.append)
    model.fit(X, y)
    assert [p.seconds_left for p in seen] == left


def test_progress_reads_as_a_sentence():
    words = str(Progress("starts", 3, 40, -1.25, 10, 7, 30, 12.0, 33.0))
    assert words == (
        "3 experts (of at most 10), starts, step 40, 7 of at most 30 starts, log-likelihood per row -1.2500, 12 s "
        "so far, about 33 s more at most"
    )
    words = "1 expert, finish, step 2, log-likelihood per row -1.2500"
    assert str(Progress("finish", 1, 2, -1.25)) == words
    assert str(Progress("finish", 1, 2, -1.25, seconds=12.0)) == f"{words}, 12 s so far"


def test_more_starts_never_end_lower_by_much_and_mostly_higher(concrete):
    few, many = (MoERegressor(4, n_init=n, random_state=0).fit(*concrete).log_likelihood_ for n in (2, 30))
    assert many > few - 1e-3
