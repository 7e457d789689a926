import io
import json
from itertools import count

import pytest
from rich.console import Console

from experiments import check, page, runner, tables
from experiments.reproduce import main, reproduce, write_page


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Two trials of everything, in a folder of their own."""
    folder = tmp_path_factory.mktemp("results")
    log = io.StringIO()
    differences = reproduce(["all"], quick=True, folder=folder, console=Console(file=log, width=200))
    return folder, differences, log.getvalue()


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


def changed(tree, experiment, method, change):
    """The same results with every number of a method changed: the n-th one by ``change(number, n)``."""
    tree, n = json.loads(json.dumps(tree)), count()

    def each(value):
        if isinstance(value, dict):
            return {key: each(item) for key, item in value.items()}
        if isinstance(value, list):
            return [each(item) for item in value]
        return change(value, next(n)) if isinstance(value, float) else value

    for found in tree[experiment].values():
        if method in found:
            found[method] = each(found[method])
    return tree


def test_check_sees_the_last_digit_with_the_packages_of_the_reference(quick):
    found = check.collect(quick[0])
    places = dict(check.numbers(found, ""))
    assert len(places) > 1000
    assert not any("seconds" in place for place in places)
    assert check.compared(found, found, None) == []
    moved = changed(found, "table2", "default", lambda x, n: x + 1e-10 * (n == 3))
    assert len(check.compared(moved, found, None)) == 1
    lost = {name: trials for name, trials in found.items() if name != "theory"}
    assert all("missing" in words for words in check.compared(lost, found, None))


MEASURED = {
    ("figure3", "our two stages"): check.Moves(7e-6, 0.7, 1e-6),  # fewer digits
    ("theory", "plain, free gate"): check.Moves(0.36, 0.2, 0.007),  # other solutions
}


@pytest.mark.parametrize(
    ("group", "change", "passes"),
    [
        (("table2", "default"), lambda x, n: x + 5e-7, True),
        (("table2", "default"), lambda x, n: x + 5e-6 * (n == 3), False),
        (("figure3", "our two stages"), lambda x, n: x + 5e-5, True),
        (("figure3", "our two stages"), lambda x, n: x + 5e-4 * (n == 3), False),
        (("theory", "plain, free gate"), lambda x, n: x + 0.2 * (n == 3), True),
        (("theory", "plain, free gate"), lambda x, n: x + 1e-3 * (-1) ** n, False),  # all of them moved
        (("theory", "plain, free gate"), lambda x, n: x + 0.5 * (n % 4 == 0), False),  # a few, but all to one side
    ],
)
def test_check_with_other_packages_allows_what_rounding_does_and_no_more(quick, group, change, passes):
    found = check.collect(quick[0])
    told = check.compared(changed(found, *group, change), found, MEASURED)
    assert (told == []) == passes
    assert all(words.startswith(" / ".join(group)) for words in told)


def test_moves_by_rounding_are_of_methods_that_there_are(quick):
    rounding = json.loads(check.ROUNDING.read_text())
    groups = check.moves(*[check.collect(quick[0])] * 2)
    assert {(of["experiment"], of["method"]) for of in rounding["methods"]} <= set(groups)
    assert len(rounding["methods"]) < len(groups) / 4  # nearly all numbers are the same with any rounding


def test_page_alone_runs_nothing(monkeypatch):
    written = []
    monkeypatch.setattr(page, "update", written.append)
    monkeypatch.setattr(runner, "run_task", lambda task: pytest.fail(f"{task} was run"))
    assert main(["page"]) == 0
    assert [set(results) for results in written] == [set(runner.MODULES)]


def test_page_is_left_alone_while_results_are_missing(monkeypatch, quick):
    monkeypatch.setattr(page, "update", lambda results: pytest.fail("the page was written"))
    log = io.StringIO()
    results = tables.load(quick[0])
    results.pop("figure6")
    write_page(results, Console(file=log, width=200))
    assert "there are no results of figure6" in log.getvalue()


def test_unknown_experiment_is_refused_with_those_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["figure9"])
    told = capsys.readouterr().err
    assert "figure9" in told
    assert all(name in told for name in ("table1", "table2", "figure3", "figure6", "theory", "scaling-panel", "page"))


def test_processes_give_the_same_numbers(quick, tmp_path):
    runner.run(["table2"], folder=tmp_path, quick=True, jobs=2, console=Console(quiet=True))
    assert check.collect(tmp_path)["table2"] == check.collect(quick[0])["table2"]
