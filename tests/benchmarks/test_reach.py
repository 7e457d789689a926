"""The benchmark of how near fits come to the best known maximum: what it reads, keeps and computes."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.real import common_tables
from benchmarks.search import best_known, reach

ROOT = Path(__file__).parents[2]


def record(value, *, seed=0, code="current", at_floor=False, rows=7, table="a", penalty=1e-5, **more):
    found = {"table": table, "split": 0, "k": 2, "seed": seed, "code": code, "n_init": None, "penalty": penalty}
    return {**found, "rows": rows, "log_likelihood": value, "objective": value - 1, "at_floor": at_floor, **more}


def failed(**how):
    return {name: value for name, value in record(0.0, **how).items() if name != "at_floor"} | {"error": "it broke"}


# -- tables -----------------------------------------------------------------------------------------------------------


def test_numbers_are_read_without_headers_whatever_parts_them(tmp_path):
    file = tmp_path / "table.dat"
    file.write_text("@relation r\n@attribute a real\n#@inputs a\n@data\n1, 2.5, 3\n\n4;5;6\n 7 8\t9\n")
    X, y = common_tables.read_numbers(file)
    np.testing.assert_array_equal(X, [[1, 2.5], [4, 5], [7, 8]])
    np.testing.assert_array_equal(y, [3, 6, 9])


def test_text_becomes_a_column_for_each_level_but_the_first(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("age,town,cost,smoker\n19,b,1.5,yes\n20,c,2,no\n21,a,3,no\n")
    X, y = common_tables.read_csv(file, "cost")
    np.testing.assert_array_equal(X, [[19, 1, 0, 1], [20, 0, 1, 0], [21, 0, 0, 0]])
    np.testing.assert_array_equal(y, [1.5, 2, 3])


def test_a_folder_of_arrays_or_of_raw_files_stands_in_for_the_package(tmp_path, monkeypatch):
    (tmp_path / "laser").mkdir()
    (tmp_path / "laser" / "laser.dat").write_text("@data\n1, 2\n3, 4\n")
    monkeypatch.setenv(common_tables.VARIABLE, str(tmp_path))
    np.testing.assert_array_equal(common_tables.read("laser")[1], [2, 4])
    np.savez(tmp_path / "laser.npz", X=np.ones((3, 2)), y=np.arange(3.0))
    np.testing.assert_array_equal(common_tables.read("laser")[1], [0, 1, 2])


def test_a_table_that_cannot_be_had_says_so(monkeypatch):
    monkeypatch.delenv(common_tables.VARIABLE, raising=False)
    monkeypatch.setattr(common_tables.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match="pip install"):
        common_tables.read("laser")
    with pytest.raises(ValueError, match="no table is called 'lazer'"):
        common_tables.read("lazer")


def test_every_table_of_the_benchmark_can_be_named():
    real = [name for name in reach.TABLES if name not in common_tables.CURVES]
    assert len(real) == 12
    assert len(reach.TABLES) == 15
    assert set(real) <= {*common_tables.OWN, *common_tables.RAW}


def test_curves_are_the_same_each_time_and_one_line_does_not_fit_them():
    for name in common_tables.CURVES:
        X, y = common_tables.read(name)
        np.testing.assert_array_equal(y, common_tables.read(name)[1])
        Z = np.column_stack([X, np.ones(len(y))])
        assert np.std(y - Z @ np.linalg.lstsq(Z, y)[0]) > 0.25  # five times the noise


def test_splits_are_nine_tenths_of_the_rows_standardised_and_differ():
    X, y = reach.split_rows("sine", 0, None)
    assert len(y) == 540
    np.testing.assert_allclose([*X.mean(axis=0), y.mean(), *X.std(axis=0), y.std()], [0, 0, 1, 1], rtol=0, atol=1e-12)
    other = reach.split_rows("sine", 1, None)
    assert reach.checksum(X, y) == reach.checksum(X + 1e-13, y)
    assert reach.checksum(X, y) != reach.checksum(*other)


# -- best known -------------------------------------------------------------------------------------------------------


def test_only_a_better_admissible_value_is_stored(tmp_path):
    file = tmp_path / "new" / "best.json"
    best_known.save(file, [record(-5.0, seed=3)])
    for worse in (record(-6.0), record(99.0, at_floor=True), failed()):
        assert best_known.save(file, [worse])["a, split 0, k=2"]["value"] == -5.0
    best_known.save(file, [record(-4.0, seed=1, code="b")])
    expected = {"value": -4.0, "rows": 7, "code": "b", "n_init": None, "seed": 1}
    assert json.loads(file.read_text()) == {"a, split 0, k=2": expected}


def test_what_is_known_of_other_rows_is_replaced_and_records_of_both_are_refused():
    known = best_known.best_of([record(-4.0, rows=1)])
    assert best_known.best_of([record(-9.0, rows=2)], known)["a, split 0, k=2"]["value"] == -9.0
    with pytest.raises(ValueError, match="different rows"):
        best_known.best_of([record(-4.0, rows=1), record(-9.0, rows=2)])


def test_a_penalty_is_another_aim_measured_by_its_objective():
    best = best_known.best_of([record(-4.0), record(-3.0, penalty=1.0), record(-2.0, penalty=0.0)])
    assert {name: found["value"] for name, found in best.items()} == {
        "a, split 0, k=2": -2.0,
        "a, split 0, k=2, penalty 1": -4.0,
    }
    (objective,) = best_known.best_of([record(-4.0, by="objective")]).items()
    assert (objective[0], objective[1]["value"]) == ("a, split 0, k=2, penalty 1e-05", -5.0)


def test_shortfall_is_from_the_best_known_and_misses_are_counted():
    best = {"a, split 0, k=2": {"value": -1.0}}
    fits = [record(-1.2, seconds=1.0), record(-4.0, seconds=3.0), record(50.0, at_floor=True, seconds=2.0), failed()]
    found = best_known.summarise(fits, best)
    assert found.fits == 4
    assert found.share == pytest.approx(1 / 4)
    assert found.shortfall == pytest.approx((0.2 + 3.0) / 2)
    assert found.worst == pytest.approx(3.0)
    assert (found.at_floor, found.failed) == (1, 1)
    assert found.seconds == pytest.approx(2.0)


def test_a_problem_without_an_admissible_fit_is_no_miss():
    fits = [record(-1.0), record(9.0, at_floor=True, table="b")]
    found = best_known.summarise(fits, best_known.best_of(fits))
    assert found.share == 1.0
    assert found.at_floor == 1


# -- the run ----------------------------------------------------------------------------------------------------------


def column(table, head):
    return next(list(column.cells) for column in table.columns if column.header == head)


def test_report_compares_each_version_with_the_best_of_all():
    fits = [record(-2.0, seconds=1.0), record(-4.0, code="other", seconds=4.0), record(-1.0, n_init=9, seconds=8.0)]
    per_k, overall = reach.report(fits, best_known.best_of(fits), "other")
    assert per_k.title.startswith("2 experts")
    assert column(per_k, "code") == ["current", "other", "current, n_init=9"]
    assert column(per_k, "mean shortfall") == ["1.00", "3.00", "0.00"]
    assert column(overall, "experts") == ["2"] * 3 + ["all"] * 3
    assert column(overall, "shortfall / other")[:3] == ["0.33", "1.00", "0.00"]
    assert column(overall, "seconds / other")[:3] == ["0.25", "1.00", "2.00"]


def test_other_versions_search_as_they_do_by_default():
    fit = reach.Fit("a", 0, 3, 5, "current", 20, 1e-5)
    shared = {"n_experts": 3, "noise": "per-expert", "random_state": 5, "penalty": 1e-5, "calibration": None}
    assert fit.settings(own=False) == shared
    assert fit.settings(own=True) == {**shared, "n_init": 20}


def test_run_keeps_its_records_and_the_best_and_does_not_fit_again(tmp_path, monkeypatch, capsys):
    out, best = tmp_path / "records.jsonl", tmp_path / "best.json"
    words = ["--tables", "sine", "--experts", "2", "--splits", "1", "--seeds", "2", "--jobs", "2"]
    words += ["--long", "12", "--python", sys.executable, "--out", str(out), "--best", str(best)]
    reach.main(words)
    records = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted((r["code"], r["n_init"] or 0, r["seed"]) for r in records) == [
        ("current", 0, 0),
        ("current", 0, 1),
        ("current", 12, reach.FIRST_LONG_SEED),
        ("other", 0, 0),
        ("other", 0, 1),
    ]
    by_fit = {(r["code"], r["seed"]): r["log_likelihood"] for r in records}
    assert by_fit["current", 0] == by_fit["other", 0]  # the same version here
    kept = json.loads(best.read_text())
    assert kept["sine, split 0, k=2"]["value"] == max(by_fit.values())
    assert kept["sine, split 0, k=2, penalty 1e-05"]["value"] == max(r["objective"] for r in records)
    assert "2 experts, beside the best known" in capsys.readouterr().out

    monkeypatch.setattr(reach.workers.Worker, "ask", lambda *_: pytest.fail("a fit was made again"))
    reach.main([*words, "--merge", str(out)])
    assert len(out.read_text().splitlines()) == len(records)


def test_penalties_of_other_versions_are_not_compared(capsys):
    with pytest.raises(SystemExit):
        reach.arguments_of(["--python", sys.executable, "--penalty", "1"])
    assert "maximum likelihood" in capsys.readouterr().err


# -- the page ---------------------------------------------------------------------------------------------------------


DEFAULT = (
    "other",
    "current",
    "current, default fit",
    "current, n_init=40, penalty chosen by default fits",
    "current, n_init=100, penalty chosen by default fits",
)
EFFORT = ("current", "current, n_init=100", "current, n_init=1000")


@pytest.mark.parametrize(("k", "codes"), [*((k, DEFAULT) for k in (2, 3, 4, 6)), *((k, EFFORT) for k in (3, 4))])
def test_page_holds_the_figures_recorded(k, codes):
    figures = {(r["experts"], r["code"]): r for r in json.loads((ROOT / "benchmarks/results/reach.json").read_text())}
    cells = [
        f"{figures[k, code]['share']:.2f}, {figures[k, code]['shortfall']:.1f}, {figures[k, code]['seconds']:.2f} s"
        for code in codes
    ]
    assert f"| {k} | {' | '.join(cells)} |" in (ROOT / "docs/regressor.md").read_text()
