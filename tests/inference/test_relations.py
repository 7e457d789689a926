"""What a reader of a fit should know first is said first, in Python, on the command line and in the report."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest

import skmoe
from command_line import run
from skmoe import MoEClassifier, MoERegressor, report
from skmoe.inference import RelationWarning
from skmoe.report.evaluated import Evaluated

SUM = "cnt = casual + registered in each of 300 rows: an exact relation; noise, errors and regimes then say nothing"


def bikes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    casual, registered = rng.integers(0, 3000, n), rng.integers(0, 6000, n)
    frame = {"temp": rng.normal(size=n).round(3), "casual": casual, "registered": registered}
    return pd.DataFrame(frame | {"cnt": casual + registered})


def wages(n=300, seed=0):
    rng = np.random.default_rng(seed)
    wage = np.exp(rng.normal(size=n)).round(2) + 0.01
    return pd.DataFrame({"educ": rng.normal(size=n), "lwage": np.log(wage).round(6), "wage": wage})


def panel(seed=0):
    rng = np.random.default_rng(seed)
    subject, day = np.repeat(np.arange(308, 338), 10), np.tile(np.arange(10), 30)
    return pd.DataFrame({"day": day, "Subject": subject, "y": 10.0 * day + rng.normal(size=300)})


def fitted(frame, target, match, **settings):
    X, y = frame.drop(columns=target), frame[target]
    with pytest.warns(RelationWarning, match=match):
        model = MoERegressor(1, **settings).fit(X, y)
    return model, X, y


def on_the_command_line(frame, target, tmp_path, *words):
    frame.to_csv(tmp_path / "rows.csv", index=False)
    out = tmp_path / "m.skmoe"
    return run("fit", tmp_path / "rows.csv", "--target", target, "--experts", 1, "--out", out, *words)


def lead_of(page):
    """The text of a page, from its first warning on."""
    text = re.sub(r"<[^>]+>", " ", re.sub(r"<(style|script|svg)[\s\S]*?</\1>", "", page))
    return re.sub(r"\s+", " ", text.replace("&#39;", "'"))


def test_a_sum_of_inputs_is_said_first_and_has_no_noise():
    model, X, y = fitted(bikes(), "cnt", r"^y = casual \+ registered .*leave 'casual' and 'registered' out of X$")
    assert model.diagnose(X, y).rows[0][:2] == ("exact relation", "casual, registered")
    assert not [row for row in model.diagnose(X, y).rows if row[0] in ("noise floor", "calibration", "noise even")]
    summary = model.summary()
    assert not [row for row in summary.rows if row[0].startswith("noise")]
    assert summary.notes[0].startswith("y = casual + registered")


def test_the_command_line_says_it_before_all_results(tmp_path):
    result = on_the_command_line(bikes(), "cnt", tmp_path)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{SUM}; leave them out: --drop casual --drop registered\n")
    assert "out of X" not in result.output
    told = json.loads(on_the_command_line(bikes(), "cnt", tmp_path, "--json").stdout)
    assert told["notes"][0].startswith(SUM)


def test_the_report_says_it_first_and_compares_no_errors():
    model, X, y = fitted(bikes(), "cnt", "casual")
    page = lead_of(report.html(model, X, y, target="cnt", folds=2))
    assert 0 < page.index(f"{SUM}; fit again without 'casual' and 'registered'.") < page.index("Rows 300")
    assert "errors are rounding errors, and are not compared" in page
    assert "It leaves no noise" in page
    assert "standard deviation of cnt" not in page
    assert not re.search(r"\d% (less|more) than that of", page)


def test_compare_says_it_with_names_of_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(Evaluated, "shortfall", lambda *_: "Careful: rounding errors are larger")
    bikes().to_csv(tmp_path / "rows.csv", index=False)
    result = run("compare", tmp_path / "rows.csv", "--target", "cnt", "--experts", 1, "--folds", 2)
    assert result.exit_code == 0
    assert f"note: {SUM}; leave them out: --drop casual --drop registered" in result.stderr
    assert "Careful" not in result.stderr


def test_a_function_of_the_output_among_the_inputs_is_said(tmp_path):
    model, X, y = fitted(wages(), "wage", r"^y is a function of 'lwage', linear in its exp: .*leave 'lwage' out of X$")
    assert model.diagnose(X, y).rows[0][:2] == ("exact relation", "lwage")
    told = on_the_command_line(wages(), "wage", tmp_path).stdout
    assert told.startswith("wage is a function of 'lwage', linear in its exp: one may have been computed from")
    assert "--drop lwage" in told.partition("\n")[0]


def test_all_but_exact_predictions_are_said(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=300), "z": rng.normal(size=300)})
    frame["y"] = frame["x"] + frame["z"] + 0.02 * rng.normal(size=300)
    model = MoERegressor(1).fit(frame[["x", "z"]], frame["y"])
    first = model.diagnose(frame[["x", "z"]], frame["y"]).rows[0]
    assert first[0] == "all but exact"
    assert re.match(r"R² is 0\.999\d: the inputs tell y all but exactly", first[2])
    assert on_the_command_line(frame, "y", tmp_path).stdout.startswith("R² is 0.999")
    assert "All but exact" in lead_of(report.html(model, frame[["x", "z"]], frame["y"], folds=2))


def test_an_identifier_is_said_everywhere(tmp_path):
    model, X, y = fitted(panel(), "y", r"^'Subject' looks like an identifier \(30 different.*leave 'Subject' out of X$")
    assert ("identifier", "Subject") in [row[:2] for row in model.diagnose(X).rows]
    assert "'Subject' looks like an identifier" in lead_of(report.html(model, X, y, folds=0))
    result = on_the_command_line(panel(), "y", tmp_path)
    assert re.match(
        r"'Subject' looks like an identifier .* too short for new ones; leave it out: --drop Subject\n", result.stdout
    )


def test_columns_without_names_are_no_identifiers():
    frame = panel()
    MoERegressor(1).fit(frame[["day", "Subject"]].to_numpy(), frame["y"].to_numpy())


@pytest.mark.filterwarnings("ignore:columns that were not used")
def test_groups_of_rows_by_text_are_said_even_where_the_column_is_left_out(tmp_path):
    frame = panel().assign(country=lambda f: "c" + f["Subject"].astype(str)).drop(columns="Subject")
    frame["country"] = frame["country"].where(np.arange(300) % 10 < 4, "c308")
    rare = frame.assign(country=[f"c{i // 6}" for i in range(300)])
    for one, values in ((frame, 30), (rare, 50)):
        model, X, _ = fitted(one, "y", rf"^rows come in groups by 'country' \({values} different values in 300 rows\)")
        assert model.diagnose(X).rows[0][0] == "groups of rows"
    told = on_the_command_line(rare, "y", tmp_path).stdout
    assert told.startswith("rows come in groups by 'country' (50 different values in 300 rows): rows of a group are")


def test_a_class_that_an_input_tells_is_said():
    X = np.random.default_rng(0).normal(size=(300, 2))
    y = X[:, 0] > 0
    with pytest.warns(RelationWarning, match="^y follows from 'x2' in each of 300 rows"):
        MoEClassifier(1, random_state=0).fit(np.column_stack([X, 5.0 - 3 * y]), y)


def test_usual_tables_are_not_warned_of():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 3)).round(2), columns=["age", "width", "id"])
    X["kind"] = rng.choice(["a", "b", "c"], 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = MoERegressor(1).fit(X, X["age"] + rng.normal(size=200))
    assert model.history_["relations"] == []


def test_relations_survive_a_file(tmp_path):
    model, X, y = fitted(bikes(), "cnt", "casual")
    model.save(tmp_path / "m.skmoe")
    again = skmoe.load(tmp_path / "m.skmoe")
    assert str(again.diagnose(X, y)) == str(model.diagnose(X, y))
    assert again.history_["relations"] == model.history_["relations"]


def test_streamed_rows_are_looked_at_too(tmp_path):
    from pyarrow import Table, parquet

    parquet.write_table(Table.from_pandas(bikes(30_000)), tmp_path / "rows.parquet")
    with pytest.warns(RelationWarning, match=r"^y = casual \+ registered in each of [\d,]+ rows"):
        MoERegressor(1).fit(tmp_path / "rows.parquet", "cnt")
