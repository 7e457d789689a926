"""Families and classes on the command line: from a table to predictions."""

import json

import numpy as np
import pandas as pd
import pytest

import skmoe
from command_line import read_csv, run
from skmoe import MoERegressor

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table of counts and answers whose laws change at b = 0."""
    folder, rng, n = tmp_path_factory.mktemp("families"), np.random.default_rng(0), 500
    a, b = rng.standard_normal((2, n))
    visits = rng.poisson(np.exp(np.where(b > 0, 1 + 0.8 * a, 1.5 - 0.7 * a)))
    answer = np.where(rng.random(n) < 1 / (1 + np.exp(-3 * a * np.sign(b))), "yes", "no")
    lines = [f"{a[i]},{b[i]},{visits[i]},{answer[i] if i else ''}\n" for i in range(n)]
    (folder / "rows.csv").write_text("a,b,visits,answer\n" + "".join(lines))
    return folder


@pytest.mark.parametrize("first", [2**53 + 1, 10**20])
def test_classes_may_be_long_whole_numbers(first, tmp_path):
    lines = [f"{i % 10 + i % 3 / 10},{first + 2 * (i % 10 > 4)}\n" for i in range(80)]
    (tmp_path / "rows.csv").write_text("a,code\n" + "".join(lines))
    words = ("--target", "code", "--family", "classes", "--experts", 1, "--out", tmp_path / "m.skmoe")
    result = run("fit", tmp_path / "rows.csv", *words)
    assert result.exit_code == 0, result.output
    found = run("predict", tmp_path / "m.skmoe", tmp_path / "rows.csv", "--out", "-").stdout.splitlines()[1:]
    assert {line.strip('"') for line in found} == {str(first), str(first + 2)}


def test_classes_may_be_short_numbers(tmp_path):
    classes = np.tile(np.array([1, 2], dtype=np.float16), 40)
    pa.parquet.write_table(pa.table({"a": np.arange(80.0) % 7, "code": classes}), tmp_path / "rows.parquet")
    words = ("--target", "code", "--family", "classes", "--experts", 1, "--out", tmp_path / "m.skmoe")
    result = run("fit", tmp_path / "rows.parquet", *words)
    assert result.exit_code == 0, result.output
    assert skmoe.load(tmp_path / "m.skmoe").classes_.tolist() == [1, 2]


def test_counts_are_fitted_and_predicted(folder):
    words = ("--target", "visits", "--drop", "answer", "--family", "poisson", "--experts", 2)
    result = run("fit", folder / "rows.csv", *words, "--out", folder / "p.skmoe", "--report", folder / "p.html")
    assert result.exit_code == 0
    assert "Mixture of 2 poisson experts" in result.stdout
    assert "rate ratio" in result.stdout
    assert "the mean of visits is multiplied by" in (folder / "p.html").read_text()
    found = read_csv(run("predict", folder / "p.skmoe", folder / "rows.csv", "--interval", 0.8, "--out", "-").stdout)
    assert all(float(low).is_integer() for low in found["lower"])


def test_classes_are_fitted_and_predicted(folder):
    words = ("--target", "answer", "--drop", "visits", "--family", "classes", "--experts", 2)
    result = run("fit", folder / "rows.csv", *words, "--out", folder / "c.skmoe")
    assert result.exit_code == 0
    assert "1 of 500 rows have no target 'answer' and were left out" in result.stderr
    assert "odds ratio" in result.stdout
    assert "499 rows, accuracy 0.8" in result.stdout
    answers = read_csv((folder / "rows.csv").read_text())["answer"]
    share = max(answers.count(label) for label in ("no", "yes")) / 499
    assert f" on them (always naming the most frequent class: {share:.3f}); model in" in result.stdout
    model = skmoe.load(folder / "c.skmoe")
    assert model.classes_.tolist() == ["no", "yes"]
    found = read_csv(run("predict", folder / "c.skmoe", folder / "rows.csv", "--proba", "--gate", "--out", "-").stdout)
    assert set(found["prediction"]) == {"no", "yes"}
    np.testing.assert_allclose(np.add(found["p_no"], found["p_yes"]), 1.0)
    told = json.loads(run("fit", folder / "rows.csv", *words, "--out", folder / "c.skmoe", "--json").stdout)
    assert told["classes"] == ["no", "yes"]


def test_classifier_has_a_report_with_its_fit_and_from_its_file(folder):
    words = ("--target", "answer", "--drop", "visits", "--family", "classes", "--experts", 2)
    result = run("fit", folder / "rows.csv", *words, "--out", folder / "r.skmoe", "--report", folder / "fit.html")
    assert result.exit_code == 0
    told = "the odds of answer being yes rather than no are multiplied by"
    assert told in (folder / "fit.html").read_text()
    result = run("report", folder / "r.skmoe", folder / "rows.csv", "--html", folder / "r.html", "--folds", 2)
    assert result.exit_code == 0
    assert "fitting again in 2 folds" in result.stderr
    page = (folder / "r.html").read_text()
    assert told in page
    assert "Log loss on rows held out" in page
    few = [line for i, line in enumerate((folder / "rows.csv").read_text().splitlines()) if i < 200]
    (folder / "few.csv").write_text("\n".join(few))
    result = run("report", folder / "r.skmoe", folder / "few.csv", "--html", folder / "r.html")
    assert result.exit_code == 0
    assert "few.csv is not the table of the fit" in result.stderr


@pytest.mark.parametrize(
    ("target", "values", "said"),
    [
        ("answer", (0, 1), "target 'answer' has 2 values, 0, 1: if they are classes, use --family classes"),
        ("grade", (0, 1, 2), "use --family classes; if they are counts, --family poisson"),
        ("half", (0, 0.5, 1), ""),
    ],
)
def test_target_of_few_whole_numbers_suggests_a_classifier(tmp_path, target, values, said):
    rng = np.random.default_rng(0)
    lines = [f"{x},{rng.choice(values)}\n" for x in rng.standard_normal(60)]
    (tmp_path / "rows.csv").write_text(f"x,{target}\n" + "".join(lines))
    out = tmp_path / "m.skmoe"
    result = run("fit", tmp_path / "rows.csv", "--target", target, "--experts", 1, "--out", out)
    assert (said in result.stderr) if said else ("--family" not in result.stderr)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "visits", "--family", "weibull"), "--family must be one of gaussian"),
        (
            ("--target", "visits", "--family", "poisson", "--method", "spectral", "--experts", 2),
            "--method spectral is for --family",
        ),
        (("--target", "answer"), "--family classes fits a classifier"),
        (("--target", "a", "--family", "poisson"), "takes counts: whole numbers of 0 or more"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(folder, words, said):
    result = run("fit", folder / "rows.csv", *words, "--out", folder / "m.skmoe")
    assert result.exit_code != 0
    assert said in result.stderr


def test_options_of_the_other_kind_of_model_are_refused(folder):
    test_counts_are_fitted_and_predicted(folder)
    result = run("predict", folder / "p.skmoe", folder / "rows.csv", "--proba", "--out", "-")
    assert "--proba is of classifiers" in result.stderr


# -- outputs of several columns ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A table of counts over days, hits among tries, and amounts that are not seen below zero, with text and gaps."""
    folder, rng, n = tmp_path_factory.mktemp("measured"), np.random.default_rng(1), 400
    a, b = rng.standard_normal((2, n))
    days, tries = rng.uniform(1, 30, n).round(2), rng.integers(1, 20, n)
    columns = {
        "a": a,
        "b": b,
        "town": rng.choice(["Bern", "Oslo"], n),
        "days": days,
        "visits": rng.poisson(days * np.exp(np.where(b > 0, 0.8 * a, 0.5 - 0.7 * a))),
        "tries": tries,
        "hits": rng.binomial(tries, 1 / (1 + np.exp(-2 * a * np.sign(b)))),
        "spend": np.maximum(1 + a + 0.5 * rng.standard_normal(n), 0),
        "limit": np.zeros(n),
    }
    cells = {name: [str(value) for value in values] for name, values in columns.items()}
    cells["a"][3] = cells["days"][5] = ""
    lines = [",".join(row) for row in zip(*cells.values(), strict=True)]
    (folder / "rows.csv").write_text("\n".join([",".join(cells), *lines]) + "\n")
    return folder


INPUTS = ("--columns", "a,b,town", "--experts")


@pytest.fixture(scope="module")
def rates(measured):
    folder = measured
    words = ("--target", "visits", "--family", "poisson", "--exposure", "days", *INPUTS, 2)
    result = run("fit", folder / "rows.csv", *words, "--out", folder / "v.skmoe", "--report", folder / "v.html")
    assert result.exit_code == 0
    return result


def test_counts_over_exposures_are_those_of_python(measured, rates):
    folder = measured
    assert "1 of 400 rows have no target 'visits' or 'days' and were left out" in rates.stderr
    assert "counts are over exposures: rates are for an exposure of one" in rates.stdout
    assert "399 rows; model in" in rates.stdout
    model = skmoe.load(folder / "v.skmoe")
    assert model.encoder_.output.names == ("days",)
    assert list(model.encoded_feature_names_) == ["a", "b", "town=Oslo"]
    table = pd.read_csv(folder / "rows.csv")
    have = table["days"].notna()
    y = table.loc[have, ["visits", "days"]].to_numpy()
    again = MoERegressor(2, family="poisson", random_state=0).fit(table.loc[have, ["a", "b", "town"]], y)
    np.testing.assert_allclose(model.expert_coef_, again.expert_coef_, rtol=1e-6)
    told = read_csv(run("predict", folder / "v.skmoe", folder / "rows.csv", "--interval", 0.8, "--out", "-").stdout)
    law = again.predictive(table.loc[have, ["a", "b", "town"]], exposure=y[:, 1])
    keep = np.flatnonzero(have)
    np.testing.assert_allclose(np.array(told["prediction"])[keep].astype(float), law.mean(), rtol=1e-6)
    np.testing.assert_array_equal(np.array(told["upper"])[keep].astype(float), law.interval(0.8)[:, 1])
    assert told["prediction"][5] is None


def test_prediction_without_the_exposure_is_for_one(measured, rates):
    folder = measured
    table = pd.read_csv(folder / "rows.csv")
    table.drop(columns="days").to_csv(folder / "new.csv", index=False)
    result = run("predict", folder / "v.skmoe", folder / "new.csv", "--out", "-")
    assert "the table lacks the exposure 'days': counts are predicted for an exposure of one" in result.stderr
    one, over = (
        np.array(read_csv(run("predict", folder / "v.skmoe", folder / name, "--out", "-").stdout)["prediction"])
        for name in ("new.csv", "rows.csv")
    )
    keep = np.arange(400) != 5  # which has no exposure
    np.testing.assert_allclose(over[keep].astype(float), (one.astype(float) * table["days"])[keep], rtol=1e-6)


def test_report_evaluates_counts_over_their_exposures(measured, rates):
    folder = measured
    result = run("report", folder / "v.skmoe", folder / "rows.csv", "--html", folder / "r.html", "--folds", 2)
    assert result.exit_code == 0
    for page in ((folder / "v.html").read_text(), (folder / "r.html").read_text()):
        assert "of the rates, weighted by exposure" in page
        assert "for an exposure of one on average" in page
        assert "Inside 90% intervals" in page
        assert "Outputs of visits come in several columns" in page


def test_comparison_takes_families_exposures_and_classes(measured, folder):
    there = measured
    words = (*INPUTS, 2, "--folds", 2, "--json")
    told = json.loads(
        run(
            "compare", there / "rows.csv", "--target", "visits", "--family", "poisson", "--exposure", "days", *words
        ).stdout
    )["methods"]
    assert told["mixture of experts"]["rmse"]["mean"] < 0.6 * told["gradient boosting"]["rmse"]["mean"]
    assert 0.85 < told["mixture of experts"]["coverage"]["mean"] <= 1
    assert told["least squares"]["log_density"]["mean"] is None  # of counts it has none
    words = ("--columns", "a,b", "--experts", 2, "--folds", 2, "--json")
    answer = run("compare", folder / "rows.csv", "--target", "answer", "--family", "classes", *words)
    answered = read_csv((folder / "rows.csv").read_text())["answer"]
    shares = [answered.count(label) / 499 for label in ("no", "yes")]
    assert json.loads(answer.stdout)["base_rate"] == pytest.approx(max(shares))
    told = json.loads(answer.stdout)["methods"]
    assert set(told) == {"mixture of experts", "logistic regression", "gradient boosting"}
    assert told["mixture of experts"]["log_loss"]["mean"] < told["logistic regression"]["log_loss"]["mean"]


def test_successes_among_trials_are_those_of_python(measured):
    folder = measured
    words = ("--target", "hits", "--family", "binomial", "--trials", "tries", *INPUTS, 2)
    result = run("fit", folder / "rows.csv", *words, "--out", folder / "h.skmoe")
    assert result.exit_code == 0
    table = pd.read_csv(folder / "rows.csv")
    y = np.column_stack([table["hits"], table["tries"] - table["hits"]])
    again = MoERegressor(2, family="binomial", random_state=0).fit(table[["a", "b", "town"]], y)
    np.testing.assert_allclose(skmoe.load(folder / "h.skmoe").expert_coef_, again.expert_coef_, rtol=1e-6)
    result = run("report", folder / "h.skmoe", folder / "rows.csv", "--html", folder / "h.html")
    assert result.exit_code == 0
    assert "fitting again" not in result.stderr
    assert "with which predictions cannot be compared" in (folder / "h.html").read_text()
    found = read_csv(run("predict", folder / "h.skmoe", folder / "rows.csv", "--out", "-").stdout)
    assert all(0 < float(p) < 1 for p in found["prediction"])


@pytest.mark.parametrize("bound", ["0", "limit"])
def test_amounts_behind_a_bound_are_those_of_python(measured, bound):
    folder = measured
    table = pd.read_csv(folder / "rows.csv")
    low, upper = np.where(table["spend"] <= 0, -np.inf, table["spend"]), np.maximum(table["spend"], 0)
    for family, y in (
        ("censored-gaussian", np.column_stack([low, upper])),
        ("truncated-gaussian", np.column_stack([table["spend"], np.zeros(400), np.full(400, np.inf)])),
    ):
        words = ("--target", "spend", "--family", family, "--lower", bound, *INPUTS, 1)
        result = run("fit", folder / "rows.csv", *words, "--out", folder / "s.skmoe")
        assert result.exit_code == 0
        again = MoERegressor(1, family=family).fit(table[["a", "b", "town"]], y)
        np.testing.assert_allclose(skmoe.load(folder / "s.skmoe").expert_coef_, again.expert_coef_, rtol=1e-5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("visits", "--exposure", "days"),
            "--exposure is for --family poisson or negative-binomial",
        ),
        (("visits", "--family", "poisson", "--exposure", "weeks"), "--exposure: there is no column 'weeks'"),
        (
            ("visits", "--family", "poisson", "--exposure", "town"),
            "column 'town', which belongs to target 'visits'",
        ),
        (("visits", "--family", "poisson", "--exposure", "limit"), "counts, whole numbers of 0 or more, and positive"),
        (("hits", "--trials", "tries"), "--trials is for --family binomial"),
        (("spend", "--lower", "0"), "--lower is for families with bounds"),
        (("spend", "--family", "censored-gaussian"), "needs --lower or --upper"),
        (("spend", "--family", "censored-gaussian", "--upper", "many"), "--upper must be a number or a column of the"),
    ],
)
def test_columns_that_do_not_tell_of_the_target_are_refused(measured, words, said):
    folder = measured
    target, *options = words
    result = run("fit", folder / "rows.csv", "--target", target, *options, *INPUTS, 1, "--out", folder / "m.skmoe")
    assert result.exit_code != 0
    assert said in result.stderr


def test_classes_of_a_table_read_in_blocks_keep_their_names(folder, monkeypatch):
    words = ("--target", "answer", "--columns", "a,b", "--family", "classes", "--experts", 1)
    held = run("fit", folder / "rows.csv", *words, "--out", folder / "held.skmoe")
    monkeypatch.setattr("skmoe.cli.tables.LARGE", 1)
    result = run("fit", folder / "rows.csv", *words, "--out", folder / "blocks.skmoe")
    assert result.exit_code == 0
    assert "rows are read in blocks" in result.stderr
    assert result.stdout.splitlines()[-1].replace("blocks", "held") == held.stdout.splitlines()[-1]
    one, other = (skmoe.load(folder / f"{name}.skmoe") for name in ("held", "blocks"))
    assert other.classes_.tolist() == one.classes_.tolist() == ["no", "yes"]
    np.testing.assert_allclose(other.expert_coef_, one.expert_coef_, rtol=1e-5)


def test_counts_over_exposures_are_read_in_blocks(measured, rates, monkeypatch):
    monkeypatch.setattr("skmoe.cli.tables.LARGE", 1)
    words = ("--target", "visits", "--family", "poisson", "--exposure", "days", *INPUTS, 2)
    result = run("fit", measured / "rows.csv", *words, "--out", measured / "b.skmoe")
    assert result.exit_code == 0
    held, blocks = (skmoe.load(measured / f"{name}.skmoe") for name in ("v", "b"))
    np.testing.assert_allclose(blocks.expert_coef_, held.expert_coef_, rtol=1e-5)
