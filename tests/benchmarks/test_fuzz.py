"""A few cases of each kind of hostile input; that faults are seen; and the page."""

import importlib
import json
import signal
import time
from dataclasses import replace

import pytest

import skmoe
from benchmarks import fuzz
from benchmarks.fuzz import fuzz_page as page
from benchmarks.fuzz import harness, model_files, running

FEW = {
    "model files": 250,
    "checkpoints": 100,
    "csv files": 30,
    "table files": 60,
    "command lines": 30,
    "tables in Python": 20,
}
MOST_MIB = 500


@pytest.mark.parametrize("name", fuzz.TARGETS)
def test_hostile_input_is_refused_or_taken_rightly(name):
    target = importlib.import_module(fuzz.TARGETS[name][0]).Target
    found = harness.run_slice(target, start=1_000_000, cases=FEW[name], seed=0)
    assert found["faults"] == []
    assert found["refused"] + found["taken"] == found["cases"] >= FEW[name] // 2
    assert found["refused"] > 0
    assert found["above_mib"] is None or found["above_mib"] < MOST_MIB


def test_cases_are_the_same_in_any_slice(tmp_path):
    target = model_files.Target(tmp_path)
    whole, parts = harness.Observer(), harness.Observer()
    target.run(whole, 0, 40, 7)
    for start in (0, 15):
        target.run(parts, start, 15 if start == 0 else 25, 7)
    assert (whole.refused, whole.taken) == (parts.refused, parts.taken)


# -- faults are seen --------------------------------------------------------------------------------------------------


def test_other_exceptions_and_hangs_are_faults(monkeypatch):
    monkeypatch.setattr(harness, "MOST_SECONDS", 0.05)
    observer = harness.Observer()
    observer.observe(0, lambda: 1 / 0)
    observer.observe(1, lambda: time.sleep(5))
    observer.observe(2, lambda: True)
    observer.observe(3, lambda: False)
    assert (observer.n_faults, observer.taken, observer.refused) == (2, 1, 1)
    assert "case 0: ZeroDivisionError" in observer.faults[0]
    assert observer.faults[1] == "case 1: took more than 0.05 s"


def test_death_of_the_process_is_a_fault_of_its_case():
    found = harness.run_apart("tests.benchmarks.dying_slice", 10, 6, 0)
    assert found["faults"] == [f"case 12: the process died with {-signal.SIGSEGV}"]
    assert (found["cases"], found["refused"], found["n_faults"], found["start"]) == (6, 5, 1, 10)


def test_damaged_file_taken_for_another_model_is_a_fault(tmp_path, monkeypatch):
    target = model_files.Target(tmp_path)
    other = skmoe.load(tmp_path / "new1")
    other.parameters_ = replace(other.parameters_, A=other.parameters_.A + 1e-12)
    monkeypatch.setattr(skmoe, "load", lambda path: other)
    observer = harness.Observer()
    target.run(observer, 0, 10, 0)
    assert any("loaded as another model" in fault for fault in observer.faults)


@pytest.mark.parametrize(
    ("error", "words"),
    [(RuntimeError("lost"), "exit code 3"), (MemoryError(), "exit code 3"), (SystemExit(7), "exit code 7")],
)
def test_exit_codes_that_are_not_documented_are_faults(tmp_path, monkeypatch, error, words):
    def failing(*args, **kwargs):
        raise error

    monkeypatch.setattr("skmoe.tables.open_table", failing)
    with pytest.raises(harness.WrongError, match=words):
        running.run_command(tmp_path, ["compare", "rows.csv", "--target", "y"])


# -- the page ---------------------------------------------------------------------------------------------------------


def test_page_shows_the_results_that_are_kept(tmp_path):
    copy = tmp_path / "page.md"
    copy.write_text(page.PAGE.read_text())
    page.update(page.RESULTS, copy)
    assert copy.read_text() == page.PAGE.read_text()


def test_results_are_of_full_runs_without_a_fault():
    found = json.loads(page.RESULTS.read_text())
    assert set(found) == set(fuzz.TARGETS)
    for name, slices in found.items():
        assert sum(s["n_faults"] for s in slices) == 0, name
        assert sum(s["cases"] for s in slices) == fuzz.TARGETS[name][1], name
        assert max(s["slowest"] for s in slices) < 10, name
        assert max(s["above_mib"] for s in slices) < MOST_MIB, name


def test_slice_run_again_takes_the_place_of_those_with_its_cases(tmp_path):
    results = tmp_path / "fuzz.json"
    for start, cases, seed in ((0, 5, 0), (5, 5, 0), (10, 5, 0), (0, 9, 1), (0, 7, 0)):
        page.kept(results, "model files", {"start": start, "seed": seed, "cases": cases})
    slices = json.loads(results.read_text())["model files"]
    assert [(s["seed"], s["start"], s["cases"]) for s in slices] == [(0, 0, 7), (0, 10, 5), (1, 0, 9)]
