"""Families and classes on the command line: from a table to predictions."""

import json

import numpy as np
import pytest

import skmoe
from command_line import read_csv, run

pytest.importorskip("pyarrow")


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
