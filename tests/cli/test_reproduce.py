import io

import numpy as np
import pytest
from packaging.version import Version
from rich.console import Console
from typer.testing import CliRunner

from skmoe.cli import app, checkout

if checkout.root() is None:
    pytest.skip("not in a checkout of the repository", allow_module_level=True)

check, runner = checkout.load("experiments.check"), checkout.load("experiments.runner")
page = checkout.load("experiments.page")
reproduce = checkout.load("experiments.reproduce").reproduce


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Two trials of everything, in a folder of their own."""
    folder = tmp_path_factory.mktemp("results")
    log = io.StringIO()
    differences = reproduce(["all"], quick=True, folder=folder, console=Console(file=log, width=200))
    return folder, differences, log.getvalue()


@pytest.mark.skipif(
    Version(np.__version__) < Version("2.1"),
    reason="a few plain decompositions end at another of their solutions with the oldest NumPy and SciPy, and 1 number "
    "in 15 differs by more than 1e-6",
)
def test_quick_set_is_the_same_as_the_repositorys(quick):
    assert quick[1] == []


def test_tables_and_figures_are_made_from_the_results(quick):
    folder, _, text = quick
    for title in ("Table 1", "Table 2", "Figure 3", "Figure 4", "Figure 5", "Figure 6", "Theory", "Scaling panel"):
        assert title in text
    pytest.importorskip("matplotlib")
    drawn = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert drawn == {"figure3", "figure4", "figure5", "figure6", "theory", "scaling-panel"}


def test_trial_done_is_not_run_again(quick, monkeypatch):
    before = {path.name: path.read_text() for path in quick[0].glob("*.jsonl")}
    monkeypatch.setattr(runner, "run_task", lambda task: pytest.fail(f"{task} was run again"))
    runner.run(list(runner.MODULES), folder=quick[0], quick=True, console=Console(quiet=True))
    assert {path.name: path.read_text() for path in quick[0].glob("*.jsonl")} == before


def test_trial_of_changed_settings_is_forgotten(tmp_path):
    old = runner.Results(tmp_path, "table2", {"a": {"rows": 10}, "b": {"rows": 10}}, 6)
    for name in ("a", "b"):
        old.add(runner.Task("table2", name, 0, {}), {"found": {}, "seconds": 1.0})
    new = runner.Results(tmp_path, "table2", {"a": {"rows": 10}, "b": {"rows": 20}}, 6)
    assert list(new.trials) == [("a", 0)]


def test_check_sees_a_number_that_moved(quick):
    places = dict(check.numbers(check.collect(quick[0]), ""))
    assert len(places) > 1000
    assert not any("seconds" in place for place in places)
    value = next(value for value in places.values() if isinstance(value, float))
    assert check._same(value, value + 5e-7)
    assert not check._same(value, value + 5e-6)


def test_list_names_every_experiment():
    result = CliRunner().invoke(app, ["reproduce", "--list"])
    assert result.exit_code == 0
    for name in ("table1", "table2", "figure3", "figure6", "theory", "scaling-panel"):
        assert name in result.output


def test_page_alone_runs_nothing(monkeypatch):
    written = []
    monkeypatch.setattr(page, "update", written.append)
    monkeypatch.setattr(runner, "run_task", lambda task: pytest.fail(f"{task} was run"))
    result = CliRunner().invoke(app, ["reproduce", "page"])
    assert result.exit_code == 0
    assert [set(results) for results in written] == [set(runner.MODULES)]


def test_page_is_left_alone_while_results_are_missing(monkeypatch, quick):
    monkeypatch.setattr(page, "update", lambda results: pytest.fail("the page was written"))
    log = io.StringIO()
    results = checkout.load("experiments.tables").load(quick[0])
    results.pop("figure6")
    checkout.load("experiments.reproduce").write_page(results, Console(file=log, width=200))
    assert "there are no results of figure6" in log.getvalue()


def test_unknown_experiment_is_refused_with_those_there_are():
    result = CliRunner().invoke(app, ["reproduce", "figure9"], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "figure9" in result.output
    assert "figure6" in result.output


def test_installed_package_says_where_the_experiments_are(monkeypatch):
    monkeypatch.setattr(checkout, "root", lambda: None)
    result = CliRunner().invoke(app, ["reproduce", "--list"], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert "the experiments are in skmoe's repository" in result.output


def test_processes_give_the_same_numbers(quick, tmp_path):
    runner.run(["table2"], folder=tmp_path, quick=True, jobs=2, console=Console(quiet=True))
    assert check.collect(tmp_path)["table2"] == check.collect(quick[0])["table2"]
