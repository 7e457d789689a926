"""``skmoe report`` evaluates a model on rows held out, whichever table it is given; ``skmoe demo`` shows the best."""

import re

import pytest

from command_line import run, simulated_table

pa = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    path = tmp_path_factory.mktemp("new") / "new.csv"
    path.write_text(simulated_table(150, seed=7)[0])
    return path


def test_report_without_rows_says_what_is_missing(walk, tmp_path):
    result = run("report", walk[0] / "m.skmoe", "--html", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert "kind=stone" in (page := (tmp_path / "r.html").read_text())
    assert "Written from the model alone." in page
    assert "<h1>Regimes of y</h1>" in page  # and not of a file


def test_report_holds_rows_of_the_fit_out_in_folds(walk, tmp_path):
    words = ("report", walk[0] / "m.skmoe", walk[0] / "rows.csv", "--html", tmp_path / "r.html")
    result = run(*words, "--folds", 2)
    assert result.exit_code == 0, result.output
    assert "fitting again in 2 folds" in result.stderr
    page = (tmp_path / "r.html").read_text()
    assert "Each row was predicted by a model fitted to the other rows, in 2 folds" in page
    assert "On 387 rows held out" in page
    assert "<small>root mean squared error, in the units of y; least squares " in page
    without = run(*words, "--folds", 0)
    assert "fitting again" not in without.stderr
    assert "No rows were held out" in (tmp_path / "r.html").read_text()


@pytest.mark.parametrize("streamed", [False, True])
def test_weights_of_the_fit_are_those_of_its_report(tmp_path, monkeypatch, streamed):
    if streamed:
        monkeypatch.setattr("skmoe.cli.tables.LARGE", 0)
    lines = [f"{i % 17},{i % 3},{i % 17 + i % 5}" for i in range(120)]
    (tmp_path / "rows.csv").write_text("\n".join(["x,w,y", *lines]))
    model, pages = tmp_path / "m.skmoe", [tmp_path / "fit.html", tmp_path / "report.html"]
    words = ("--target", "y", "--experts", 1, "--weights", "w", "--out", model, "--report", pages[0])
    assert run("fit", tmp_path / "rows.csv", *words).exit_code == 0
    result = run("report", model, tmp_path / "rows.csv", "--html", pages[1])
    assert "is not the table of the fit" not in result.stderr
    for page in pages:
        assert "On 80 rows held out" in page.read_text()
        assert "Rows count by their weights, in these fits and in the errors." in page.read_text()


def test_report_evaluates_the_model_on_a_table_that_it_has_not_seen(walk, new, tmp_path):
    result = run("report", walk[0] / "m.skmoe", new, "--html", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    assert "new.csv is not the table of the fit, which had 387 rows" in result.stderr
    page = (tmp_path / "r.html").read_text()
    assert "The model is evaluated on the given rows, which took no part in its fit." in page
    assert "were fitted to the same rows in 5 folds, each row predicted from the other folds" in page


def test_report_takes_both_tables(walk, new, tmp_path):
    words = ("report", walk[0] / "m.skmoe", walk[0] / "rows.csv", "--test", new, "--html", tmp_path / "r.html")
    assert run(*words).exit_code == 0
    assert (
        "were fitted to the given rows of the fit, and predict the same held-out" in (tmp_path / "r.html").read_text()
    )


def test_report_refuses_one_fold_and_to_overwrite_a_table(walk, new, tmp_path):
    model = walk[0] / "m.skmoe"
    one = run("report", model, new, "--html", tmp_path / "r.html", "--folds", 1)
    assert (one.exit_code, "--folds must be 0, for none, or at least 2" in one.stderr) == (2, True)
    over = run("report", model, "--test", new, "--html", new)
    assert (over.exit_code, "would be overwritten" in over.stderr) == (2, True)


def test_demo_shows_regimes_as_ranges_and_errors_beside_boosting(tmp_path):
    result = run("demo", "--experts", 2, "--average", 0, "--out", tmp_path / "r.html")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    ranges = re.findall(r"Expert \d: (age_days (?:up to|from) \d+)", said)
    assert len(ranges) == 2
    assert len(set(ranges)) == 2
    errors = dict(re.findall(r"(mixture of experts|least squares|gradient boosting) +(\d\.\d+|\d\d\.\d+)", said))
    assert float(errors["mixture of experts"]) < float(errors["least squares"])
    assert "gradient boosting" in errors
    covered = int(re.search(r"mixture of experts [\d.]+ [\d.]+ (\d+)%", said)[1])
    assert abs(covered - 90) <= 6  # three standard errors of 258 rows
    assert "Concrete: which regression holds where" in (tmp_path / "r.html").read_text()


def test_report_of_a_table_read_in_blocks_is_from_some_of_its_rows(tmp_path, monkeypatch):
    monkeypatch.setattr("skmoe.cli.tables.LARGE", 1000)
    monkeypatch.setattr("skmoe.report.rows.MOST_ROWS", 100)
    (tmp_path / "rows.csv").write_text(simulated_table(300)[0])
    page, model = tmp_path / "r.html", tmp_path / "m.skmoe"
    words = ("--target", "y", "--experts", 2, "--missing", "drop", "--out", model, "--report", page)
    result = run("fit", tmp_path / "rows.csv", *words)
    assert result.exit_code == 0, result.output
    assert "290 rows are read in blocks" in result.stderr
    assert "Of 290 rows 100 took part, evenly spaced: the model was fitted again" in page.read_text()
    result = run("report", model, tmp_path / "rows.csv", "--html", tmp_path / "again.html", "--folds", 0)
    assert "10 of 300 rows of" in result.stderr
    assert "is not the table of the fit" not in result.stderr
    for path in (page, tmp_path / "again.html"):
        assert "Written from 100 of 290 rows, evenly spaced over the table" in path.read_text()
