"""The benchmark of what fits cost: workers and their limit, items, ratios."""

import argparse
import json
import sys

import numpy as np
import pytest

from benchmarks.search import cost, workers
from skmoe import MoERegressor, make_moe

OVER = workers.OVER
SETTINGS = {"n_experts": 2, "noise": "shared", "penalty": 0.0, "calibration": None}


@pytest.fixture(scope="module")
def worker():
    found = workers.Worker()
    yield found
    found.close()


@pytest.fixture
def rows(tmp_path):
    X, y, _ = make_moe(300, 2, 2, random_state=0)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    return tmp_path / "rows.npz"


def test_worker_fits_as_we_do_and_leaves_out_unknown_settings(worker, rows):
    found = worker.ask(rows, {**SETTINGS, "random_state": 0, "no_such_setting": 1})
    with np.load(rows) as table:
        ours = MoERegressor(**SETTINGS, random_state=0).fit(table["X"], table["y"])
    assert found["log_likelihood"] == pytest.approx(ours.log_likelihood_, abs=1e-9)
    assert found["objective"] == pytest.approx(found["log_likelihood"], abs=1e-3)
    assert found["n_parameters"] == ours.n_parameters_
    assert found["seconds"] > 0
    assert not found["at_floor"]


def test_worker_says_what_went_wrong_and_goes_on(worker, rows):
    assert "n_experts" in worker.ask(rows, {"n_experts": -1})["error"]
    assert "error" not in worker.ask(rows, {**SETTINGS, "random_state": 0})


@pytest.mark.skipif(sys.platform == "win32", reason="no timer of processor time")
def test_worker_ends_at_the_limit_and_is_replaced(worker, rows):
    first = worker.ask(rows, {**SETTINGS, "random_state": 0})
    assert worker.ask(rows, {**SETTINGS, "random_state": 0}, 1e-3) == {"error": OVER}
    again = worker.ask(rows, {**SETTINGS, "random_state": 0}, 100)
    assert again["log_likelihood"] == first["log_likelihood"]


def test_an_error_of_a_task_ends_the_run():
    def run(task, team):
        raise KeyError(task)

    with pytest.raises(KeyError, match="a"):
        workers.side_by_side(["a", "b"], run, {"x": sys.executable}, jobs=2)


def small(seed, arguments):
    for k in (1, 2):
        X, y, _ = make_moe(200, 2, 2, random_state=seed)
        yield X, y, {"n_experts": k, "noise": "shared"}


def test_an_item_adds_up_its_fits_within_the_limit():
    item, limited = cost.Item(small, 0.5), argparse.Namespace(limit=60, plain=False)
    found = []
    workers.side_by_side(
        [item], lambda task, team: found.append(cost.measure(task, 0, limited, team)), {"current": sys.executable}, 1
    )
    (spent,) = (run["current"] for run in found)
    assert spent.problem is None
    assert len(spent.scores) == 2
    assert spent.scores[1] > spent.scores[0]  # rows of two experts
    assert spent.seconds > 0


class Slow:
    """Takes two seconds a fit, as far as the limit lets it."""

    def ask(self, place, settings, limit):
        assert place.is_file()
        found = {"log_likelihood": 1.0, "n_parameters": 0, "seconds": 2.0}
        return found if limit >= 2 else {"error": OVER}


def test_an_item_over_the_limit_counts_as_the_limit():
    spent = cost.measure(cost.Item(small, 0.5), 0, argparse.Namespace(limit=3, plain=False), {"current": Slow()})[
        "current"
    ]
    assert spent == cost.Spent(3, [1.0], OVER)


def spent(*seconds, problem=None, score=0.0):
    return [cost.Spent(s, [score], problem) for s in seconds]


@pytest.mark.parametrize(
    ("ours", "other", "expected"),
    [
        (spent(1.0, 2.0, score=3.0), spent(4.0, 5.0), ["2", "1.50", "4.50", "0.333", "0.5 met", "+3.00"]),
        (spent(3.0), spent(4.0), ["1", "3.00", "4.00", "0.750", "0.5 MISSED", "+0.00"]),
        (spent(3.0), spent(9.0, problem=OVER), ["1", "3.00", "over 9", "at most 0.333", "0.5 met", "+0.00"]),
        (spent(9.0, problem=OVER), spent(9.0, problem=OVER), ["1", "over 9", "over 9", "", "0.5 MISSED", "+0.00"]),
        (spent(3.0), spent(np.nan, problem="broke"), ["1", "3.00", "failed: broke", "", "0.5 ", "+0.00"]),
    ],
)
def test_row_says_whether_the_goal_is_met(ours, other, expected):
    assert cost.row_of("item", 0.5, {"current": ours, "other": other}) == ["item", *expected]


def test_items_are_as_they_say():
    arguments = argparse.Namespace(problems=60)
    assert sum(1 for _ in cost.optimum.problems(60, None, 0)) == 61
    first = next(cost.families(0, arguments))
    assert first[2]["activation"] == "linear"
    X, _, settings = next(cost.ITEMS["k=9, n=12000"].fits(0, arguments))
    assert (X.shape, settings["n_experts"]) == ((12_000, 10), 9)
    assert cost.FROM_FOLDER == ["kin8nm, k=16", "power, k=16", "naval, k=8"]


def test_simulated_tables_have_their_shape_and_collinear_levels():
    for n, d in ((212, 19), (1100, 250)):
        X, y = cost.simulated_table(n, d, 0)
        assert X.shape == (n, d)
        assert np.isfinite(X).all()
        assert np.isfinite(y).all()
        assert np.linalg.matrix_rank(np.column_stack([X, np.ones(n)])) < d + 1
        assert np.all(X.std(axis=0) > 0)


def test_rows_that_are_held_out_are_not_fitted(tmp_path):
    X = np.column_stack([np.arange(6.0), np.ones(6)])
    np.savez(tmp_path / "naval.npz", X=X, y=X[:, 0], test_0=[1, 4])
    found, y, settings = next(cost.ITEMS["naval, k=8"].fits(0, argparse.Namespace(uci=tmp_path)))
    np.testing.assert_array_equal(found, [[0], [2], [3], [5]])
    np.testing.assert_array_equal(y, [0, 2, 3, 5])
    assert settings["n_experts"] == 8


def test_command_prints_a_row_for_each_item_and_keeps_the_numbers(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(cost.ITEMS, "tiny", cost.Item(small, 1.0, most_seeds=1))
    words = ["--items", "tiny", "naval, k=8", "--python", sys.executable, "--out", str(tmp_path / "cost.json")]
    cost.main(words)
    shown = capsys.readouterr().out
    assert "without naval, k=8" in shown
    assert "tiny" in shown
    kept = json.loads((tmp_path / "cost.json").read_text())
    assert set(kept["tiny"]) == {"current", "other"}
    assert kept["tiny"]["current"][0]["scores"] == kept["tiny"]["other"][0]["scores"]
