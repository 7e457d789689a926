"""The whole walk: fit, predict, compare."""

import io
import json
import re

import numpy as np
import pytest

import skmoe
from command_line import read_csv, run, simulated_table
from skmoe.spectral import SpectralOptions

pa = pytest.importorskip("pyarrow")


def test_fit_says_what_became_of_the_columns(walk):
    _, _, result = walk
    assert "rows that lack a value, by column: x 8, kind 5; 13 of 400 rows were dropped" in result.stderr
    assert "coefficients compare with 'brick'" in result.stderr
    assert "kind=stone" in result.stdout
    assert "387 rows" in result.stdout


def test_fit_says_where_each_expert_holds(walk, tmp_path):
    folder, _, result = walk
    table = result.stdout.partition("Where each expert holds")[2]
    borders = [float(number) for number in re.findall(r"age (?:up to|from) ([\d.]+)", table)]
    assert len(borders) == 2
    np.testing.assert_allclose(borders, 5.0, atol=0.4)
    words = ("--target", "y", "--experts", 2, "--missing", "drop", "--out", tmp_path / "m.skmoe", "--json")
    told = json.loads(run("fit", folder / "rows.csv", *words).stdout)
    assert sorted(expert["holds_at"].partition(" ")[0] for expert in told["experts"]) == ["age", "age"]
    model = skmoe.load(folder / "m.skmoe")
    assert [expert["holds_at"] for expert in told["experts"]] == [row[2] for row in model.regimes().rows]


def test_fit_warns_of_few_rows_for_each_parameter(tmp_path):
    text, _ = simulated_table(40)
    (tmp_path / "rows.csv").write_text(text)
    result = run("fit", tmp_path / "rows.csv", "--target", "y", "--experts", 2, "--out", tmp_path / "m.skmoe")
    assert "note: 17 parameters were fitted to 40 rows, 2.4 rows for each" in result.stderr


def test_predict_counts_rows_outside_the_fitted_range(walk, tmp_path):
    folder, _, _ = walk
    inside = run("predict", folder / "m.skmoe", folder / "rows.csv", "--out", "-")
    assert "fitted range" not in inside.stderr
    (tmp_path / "new.csv").write_text("x,age,kind\n0,5,wood\n0,500,wood\n99,-1,brick\n,900,wood\n0,4,stone\n")
    far = run("predict", folder / "m.skmoe", tmp_path / "new.csv", "--out", tmp_path / "p.csv")
    assert far.exit_code == 0
    assert "2 of 4 rows lie outside the fitted range (age 2, x 1); predictions there are extrapolations" in far.stderr


@pytest.mark.parametrize("streamed", [False, True])
def test_all_rows_of_the_table_are_counted(tmp_path, monkeypatch, streamed):
    from skmoe.datasets import load_concrete

    concrete = load_concrete()
    names, repeated = concrete.feature_names, len(concrete.data) - len(np.unique(concrete.data, axis=0))
    assert repeated > 0  # the search sees repeated rows once, with a weight
    lines = [",".join(map(str, (*x, t))) for x, t in zip(concrete.data, concrete.target, strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join([",".join((*names, "strength")), *lines]))
    if streamed:
        monkeypatch.setattr("skmoe.cli.tables.LARGE", 1000)
    words = ("fit", tmp_path / "rows.csv", "--target", "strength", "--experts", 1, "--out", tmp_path / "m.skmoe")
    shown = run(*words)
    assert ("read in blocks" in shown.stderr) == streamed
    assert "1030 rows, R2" in shown.stdout
    told = json.loads(run(*words, "--json").stdout)
    assert (told["rows"], told["rows_in_table"]) == (1030, 1030)
    assert skmoe.load(tmp_path / "m.skmoe").history_["rows"] == 1030


def test_text_file_is_read_once(walk, tmp_path, monkeypatch):
    from skmoe.tables import text_files
    from skmoe.tables.files import FileTable

    (folder, _, _), reads = walk, []
    batches, read_text = FileTable.batches, text_files.read_text

    def watched(self, *names, **how):
        if self.kind == "csv":
            reads.append(self.where)
        return batches(self, *names, **how)

    monkeypatch.setattr(FileTable, "batches", watched)
    monkeypatch.setattr("skmoe.tables.files.read_text", lambda *how: reads.append("text") or read_text(*how))
    rows, model = folder / "rows.csv", tmp_path / "m.skmoe"
    for words in (
        ("fit", rows, "--target", "y", "--experts", 1, "--out", model),
        ("compare", rows, "--target", "y", "--experts", 1, "--folds", 2),
        ("report", model, rows, "--folds", 0, "--html", tmp_path / "m.html"),
        ("predict", model, rows, "--out", tmp_path / "p.csv"),
        ("fit", rows, "--target", "kind", "--family", "classes", "--experts", 1, "--out", model),
    ):
        reads.clear()
        assert run(*words).exit_code == 0
        assert len(reads) == 1, words


def test_fitted_model_is_what_python_fits(walk):
    folder, columns, _ = walk
    model = skmoe.load(folder / "m.skmoe")
    keep = np.array([i % 50 != 3 and i % 80 != 7 for i in range(400)])
    X = np.column_stack([columns["x"], columns["age"], columns["kind"] == "stone", columns["kind"] == "wood"])[keep]
    direct = skmoe.MoERegressor(2, random_state=0).fit(X, columns["y"][keep])
    np.testing.assert_allclose(model.expert_coef_, direct.expert_coef_, rtol=1e-8)
    assert list(model.encoded_feature_names_) == ["x", "age", "kind=stone", "kind=wood"]


def test_paper_and_nothing_else_is_what_python_fits(tmp_path):
    X, y, _ = skmoe.make_moe(2000, 3, 2, noise_scale=0.1, random_state=0)
    rows = "\n".join(",".join(map(repr, map(float, row))) for row in np.column_stack([X, y]))
    (tmp_path / "rows.csv").write_text("a,b,c,y\n" + rows)
    words = (
        "fit",
        tmp_path / "rows.csv",
        "--target",
        "y",
        "--experts",
        2,
        "--out",
        tmp_path / "m.skmoe",
        "--noise",
        0.1,
    )
    paper = ("--input-law", "standard", "--moments", "plain", "--decomposition", "orth-als", "--radius", 1)
    result = run(*words, "--method", "spectral", *paper, "--gate-method", "em")
    assert result.exit_code == 0, result.output
    found = skmoe.load(tmp_path / "m.skmoe")
    direct = skmoe.MoERegressor(
        2, method="spectral", input_law=None, noise=0.1, random_state=0, spectral_options=SpectralOptions.paper()
    ).fit(X, y)
    np.testing.assert_allclose(found.expert_coef_, direct.expert_coef_, atol=1e-10)
    np.testing.assert_allclose(found.gate_coef_, direct.gate_coef_, atol=1e-10)
    assert "no standard errors" in result.stdout


@pytest.mark.parametrize("how", [("joint-em",), ("spectral", "--gate-method", "gradient", "--step-size", 2)])
def test_other_methods_can_be_asked_for(tmp_path, how):
    text, _ = simulated_table(300)
    (tmp_path / "rows.csv").write_text(text)
    words = ("fit", tmp_path / "rows.csv", "--target", "y", "--experts", 2, "--out", tmp_path / "m.skmoe")
    result = run(*words, "--method", *how)
    assert result.exit_code == 0, result.output
    assert skmoe.load(tmp_path / "m.skmoe").method == how[0]


def test_reference_is_the_one_asked_for(walk, tmp_path):
    words = ("--target", "y", "--experts", 1, "--out", tmp_path / "m.skmoe", "--reference", "kind=wood")
    for missing in ("level", "drop"):  # which looks at the rows twice
        result = run("fit", walk[0] / "rows.csv", *words, "--missing", missing)
        assert result.exit_code == 0, result.output
        assert "coefficients compare with 'wood'" in result.stderr
        assert skmoe.load(tmp_path / "m.skmoe").encoded_feature_names_.tolist() == [
            "x",
            "age",
            "kind=brick",
            "kind=stone",
        ]


def test_predictions_keep_order_and_gaps(walk):
    folder, columns, _ = walk
    out = folder / "p.csv"
    result = run("predict", folder / "m.skmoe", folder / "rows.csv", "--interval", 0.9, "--gate", "--out", out)
    assert result.exit_code == 0, result.output
    assert "13 of 400 rows lack an input" in result.stderr
    found = read_csv(out.read_text())
    assert list(found) == ["prediction", "lower", "upper", "gate_1", "gate_2"]
    empty = [i for i, value in enumerate(found["prediction"]) if value is None]
    assert empty == [i for i in range(400) if i % 50 == 3 or i % 80 == 7]
    rows = [i for i in range(400) if i not in empty]
    low, high = (np.array([found[name][i] for i in rows]) for name in ("lower", "upper"))
    inside = np.mean((low <= columns["y"][rows]) & (columns["y"][rows] <= high))
    assert abs(inside - 0.9) < 4 * np.sqrt(0.09 / len(rows))
    np.testing.assert_allclose([found["gate_1"][i] + found["gate_2"][i] for i in rows], 1.0)


def test_every_way_in_and_out_gives_the_same_predictions(walk):
    folder, _, _ = walk
    model, text = folder / "m.skmoe", (folder / "rows.csv").read_text()
    piped = run("predict", model, "-", "--interval", 0.8, "--out", "-", stdin=text)
    assert piped.exit_code == 0
    expected = read_csv(piped.stdout)
    from pyarrow import csv, feather, parquet

    table = csv.read_csv(io.BytesIO(text.encode()), convert_options=csv.ConvertOptions(strings_can_be_null=True))
    parquet.write_table(table, folder / "rows.parquet")
    feather.write_feather(table.select(["y", "kind", "age", "x"]), folder / "rows.feather")
    for source in ("rows.parquet", "rows.feather"):
        out = folder / "p.parquet"
        assert run("predict", model, folder / source, "--interval", 0.8, "--out", out).exit_code == 0
        assert parquet.read_table(out).to_pydict() == expected


def test_folder_of_files_is_one_table(walk, tmp_path):
    folder, _, _ = walk
    header, *lines = (folder / "rows.csv").read_text().splitlines()
    for i, part in enumerate((lines[:150], lines[150:])):
        (tmp_path / "rows").mkdir(exist_ok=True)
        (tmp_path / "rows" / f"part-{i}.csv").write_text("\n".join([header, *part]))
    out = tmp_path / "m.skmoe"
    words = ("--target", "y", "--experts", 2, "--missing", "drop", "--out", out)
    assert run("fit", tmp_path / "rows", *words).exit_code == 0
    np.testing.assert_array_equal(skmoe.load(out).expert_coef_, skmoe.load(folder / "m.skmoe").expert_coef_)
    words = [run("predict", out, rows, "--out", "-").stdout for rows in (tmp_path / "rows", folder / "rows.csv")]
    assert words[0] == words[1]


def test_lone_column_of_predictions_keeps_its_rows(walk):
    folder, _, _ = walk
    lines = run("predict", folder / "m.skmoe", folder / "rows.csv", "--out", "-").stdout.splitlines()
    assert len(lines) == 401
    assert lines[1 + 3] == '""'
    assert all(line == '""' or np.isfinite(float(line)) for line in lines[1:])


def test_imputed_rows_are_predicted(walk):
    folder, _, _ = walk
    model = folder / "imputed.skmoe"
    words = ("--target", "y", "--experts", 1, "--missing", "impute", "--out", model, "--json")
    fitted = run("fit", folder / "rows.csv", *words)
    assert json.loads(fitted.stdout)["rows"] == 400
    out = read_csv(run("predict", model, folder / "rows.csv", "--interval", 0.9, "--out", "-").stdout)
    assert None not in out["prediction"]


def test_unseen_category_can_be_left_empty(walk):
    folder, _, _ = walk
    rows = "x,age,kind\n1,2,brick\n1,2,straw\n"
    words = ("predict", folder / "m.skmoe", "-", "--interval", 0.9, "--unseen", "empty", "--out", "-")
    found = read_csv(run(*words, stdin=rows).stdout)
    assert [value is None for value in found["prediction"]] == [False, True]


def test_fit_from_stdin_writes_report_and_json_alone_on_stdout(walk):
    folder, _, _ = walk
    words = ("--target", "y", "--experts", 2, "--gate-columns", "age", "--expert-columns", "x,kind", "--json")
    out, page = folder / "j.skmoe", folder / "j.html"
    text = (folder / "rows.csv").read_text()
    result = run("fit", "-", *words, "--out", out, "--report", page, stdin=text)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert found["n_experts"] == 2
    assert found["converged"] is True
    assert found["gate"][0]["coef"]["x"] == 0
    assert found["gate"][0]["coef"]["age"] != 0
    assert found["experts"][0]["coef"]["age"] == 0
    assert skmoe.load(out).gate_features == ["age"]
    assert page.exists()


@pytest.mark.parametrize("read", ["at once", "in blocks"])
def test_gate_and_experts_may_be_constants(walk, tmp_path, monkeypatch, read):
    folder, _, _ = walk
    if read == "in blocks":
        monkeypatch.setattr("skmoe.cli.tables.LARGE", 1000)
    for part in ("gate", "experts"):
        option = f"--{part.removesuffix('s')}-columns"
        words = ("--target", "y", "--experts", 2, option, "none", "--json", "--out", tmp_path / "m.skmoe")
        result = run("fit", folder / "rows.csv", *words)
        assert result.exit_code == 0, result.output
        assert not any(any(one["coef"].values()) for one in json.loads(result.stdout)[part])
    assert skmoe.load(tmp_path / "m.skmoe").expert_features == []
    lines = "none,y\n" + "".join(f"{i},{(-1) ** i * i}\n" for i in range(60))
    run(
        "fit",
        "-",
        "--target",
        "y",
        "--experts",
        2,
        "--gate-columns",
        "none",
        "--out",
        tmp_path / "n.skmoe",
        stdin=lines,
    )
    assert skmoe.load(tmp_path / "n.skmoe").gate_features == ["none"]


def test_weights_count_rows(tmp_path):
    text, _ = simulated_table(200)
    lines = [line for line in text.splitlines() if ",," not in line and not line.startswith(",")]
    repeats = [1 + i % 3 for i in range(len(lines) - 1)]
    weighted = [f"{lines[0]},w", *(f"{line},{r}" for line, r in zip(lines[1:], repeats, strict=True))]
    repeated = [lines[0], *(line for line, r in zip(lines[1:], repeats, strict=True) for _ in range(r))]
    found = []
    for rows, more in ((weighted, ("--weights", "w")), (repeated, ())):
        words = ("fit", "-", "--target", "y", "--experts", 2, "--json", "--out", tmp_path / "m.skmoe", *more)
        found.append(json.loads(run(*words, stdin="\n".join(rows)).stdout))
    for i in range(2):
        one, other = (f["experts"][i]["coef"] for f in found)
        assert one == pytest.approx(other, rel=1e-6)


def test_large_table_is_read_in_blocks_to_the_same_model(tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    X, y, _ = skmoe.make_moe(1500, 3, 2, random_state=0)
    weight = 1.0 + np.arange(1500) % 2
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "w": weight, "id": y, "y": y}), path)
    words = ("fit", path, "--target", "y", "--experts", 2, "--weights", "w", "--drop", "id", "--gate-columns", "a,b")
    whole = run(*words, "--out", tmp_path / "whole.skmoe")
    monkeypatch.setattr("skmoe.cli.tables.LARGE", 1000)
    streamed = run(*words, "--out", tmp_path / "streamed.skmoe")
    assert (whole.exit_code, streamed.exit_code) == (0, 0)
    assert "read in blocks" in streamed.stderr
    models = [skmoe.load(tmp_path / name) for name in ("whole.skmoe", "streamed.skmoe")]
    assert np.allclose(models[0].expert_coef_, models[1].expert_coef_, atol=1e-9)
    assert list(models[1].encoded_feature_names_) == ["a", "b", "c"]
    assert run("predict", tmp_path / "streamed.skmoe", path, "--out", tmp_path / "out.csv").exit_code == 0
    refused = run("fit", path, "--target", "y", "--out", tmp_path / "no.skmoe", "--drop", "none")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("skmoe: error: --drop: there is no column 'none'")


def test_model_of_a_data_frame_is_predicted_by_names(tmp_path):
    pd = pytest.importorskip("pandas")
    _, columns = simulated_table(200)
    frame = pd.DataFrame({name: columns[name] for name in ("x", "age")})
    model = skmoe.MoERegressor(1, random_state=0).fit(frame, columns["y"])
    model.save(tmp_path / "m.skmoe")
    result = run("predict", tmp_path / "m.skmoe", "-", "--out", "-", stdin="age,x\n2,1\n")
    assert "columns are taken as numbers, by name" in result.stderr
    expected = model.predict(pd.DataFrame({"x": [1.0], "age": [2.0]}))
    np.testing.assert_allclose(read_csv(result.stdout)["prediction"], expected)


def test_compare_measures_every_method(walk):
    folder, _, _ = walk
    words = ("compare", folder / "rows.csv", "--target", "y", "--experts", 2, "--folds", 3)
    found = json.loads(run(*words, "--json").stdout)["methods"]
    assert list(found) == ["mixture of experts", "joint EM", "least squares", "gradient boosting"]
    assert found["mixture of experts"]["rmse"]["mean"] < found["least squares"]["rmse"]["mean"]
    assert found["mixture of experts"]["log_density"]["mean"] > found["least squares"]["log_density"]["mean"]
    assert found["gradient boosting"]["coverage"]["mean"] is None
    for name in ("mixture of experts", "joint EM", "least squares"):
        assert 0.7 < found[name]["coverage"]["mean"] <= 1
    assert "gradient boosting" in run(*words).stdout


def test_compare_and_report_give_the_same_figures(walk, tmp_path):
    folder, _, _ = walk
    words = ("--target", "y", "--experts", 2, "--missing", "drop")
    run("fit", folder / "rows.csv", *words, "--out", tmp_path / "m.skmoe")
    told = json.loads(run("compare", folder / "rows.csv", *words, "--folds", 3, "--json").stdout)["methods"]
    run("report", tmp_path / "m.skmoe", folder / "rows.csv", "--html", tmp_path / "r.html", "--folds", 3)
    page = (tmp_path / "r.html").read_text()
    for method in ("mixture of experts", "least squares", "gradient boosting"):
        line = page.partition(f'<tr><th scope="row">{method}</th>')[2].partition("</tr>")[0]
        rmse, r2, *inside = map(float, re.findall(r'data-value="([^"]+)"', line))
        np.testing.assert_allclose((rmse, r2), [told[method][m]["value"] for m in ("rmse", "r2")], rtol=1e-9)
        if inside:
            assert told[method]["coverage"]["value"] in inside


def test_compare_says_that_the_mixture_predicts_worse_than_least_squares(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    lines = [",".join(map(str, (*x, t))) for x, t in zip(X, X[:, 0] + rng.standard_normal(60), strict=True)]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,c,d,e,f,y", *lines]))
    words = ("compare", tmp_path / "rows.csv", "--target", "y", "--experts", 3, "--folds", 2)
    result = run(*words, "--json")
    told = {name: values["rmse"]["value"] for name, values in json.loads(result.stdout)["methods"].items()}
    assert told["mixture of experts"] > 1.05 * told["least squares"]
    assert "note: Careful: rows held out are predicted worse than by" in result.stderr
    assert f"least squares (root mean squared error {told['mixture of experts']:.3g} against " in result.stderr


def test_average_of_models_goes_from_fit_to_prediction_and_report(walk, tmp_path):
    folder, columns, _ = walk
    out, page = tmp_path / "m.skmoe", tmp_path / "r.html"
    asked = ("--target", "y", "--average", 20, "--missing", "drop", "--out", out)
    words = ("fit", folder / "rows.csv", *asked, "--report", page)
    shown = run(*words)
    assert shown.exit_code == 0, shown.output
    model = skmoe.load(out)
    assert f"Predictions are averages of {len(model.members_)} models" in shown.stdout
    assert "experts seen in averaged models: 1 in" in shown.stdout
    assert f"of {len(model.members_)} averaged models" in page.read_text()
    found = read_csv(run("predict", out, folder / "rows.csv", "--interval", 0.9, "--out", "-").stdout)
    keep = [i for i in range(400) if i % 50 != 3 and i % 80 != 7]
    X = np.column_stack([columns["x"], columns["age"], columns["kind"] == "stone", columns["kind"] == "wood"])[keep]
    inputs = skmoe.tables.EncodedTable(X, model.encoder_.features, model.encoder_)
    np.testing.assert_allclose([found["prediction"][i] for i in keep], model.predict(inputs), rtol=1e-9)
    direct = sum(w * member.predict(X) for w, member in zip(model.member_weights_, model.members_, strict=True))
    assert np.corrcoef(model.predict(inputs), direct)[0, 1] > 0.999
    told = json.loads(run(*words[:-2], "--json").stdout)
    assert [member["weight"] for member in told["members"]] == pytest.approx(model.member_weights_)
    assert [expert["stability"] for expert in told["experts"]] == pytest.approx(model.stability_)
    assert told["calibration"]["scale"] == pytest.approx(model.calibration_.scale)
    assert [tried["held_out_log_density"] for tried in told["by_experts"]] == pytest.approx(
        [held for _, held, _ in model.history_["held_out"]]
    )


def test_fit_says_what_rows_held_out_chose(walk):
    folder, _, result = walk
    model = skmoe.load(folder / "m.skmoe")
    assert f"penalty of strength {model.penalty_:g}, chosen by held-out rows" in result.stdout
    assert "By rows held out, predictive distributions were" in result.stdout
    assert "experts seen in fits that left rows out: 1 in 5 of 5, 2 in 5 of 5" in result.stdout


def test_fit_warns_of_regimes_that_other_fits_do_not_show(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{a},{b},{c}" for a, b, c in rng.standard_normal((300, 3))]
    (tmp_path / "rows.csv").write_text("\n".join(["a,b,y", *lines]))
    result = run("fit", tmp_path / "rows.csv", "--target", "y", "--experts", 3, "--out", tmp_path / "m.skmoe")
    assert "note: fits that left rows out show expert 1 in 0 of 5" in result.stderr


def test_compare_tells_the_experts_of_each_fold_and_coverage(walk):
    folder, _, _ = walk
    words = ("compare", folder / "rows.csv", "--target", "y", "--max-experts", 2, "--folds", 3)
    shown = run(*words).stdout
    assert "experts by fold" in shown
    assert "inside 90% interval" in shown
    line = next(line for line in shown.splitlines() if line.startswith("mixture of experts"))
    assert line.split()[-3:] == ["2", "2", "2"]


MESSY = "".join(
    f"{i + 1};{i * 0.25:.2f};{'?' if i % 20 == 3 else i % 7};{'' if i % 9 == 2 else 'abc'[i % 3]};"
    f"2024-{1 + i % 12:02d}-{1 + i % 28:02d};{(i % 7) + 3 * (i % 3 == 1) + 0.01 * (i % 5):.2f}\n"
    for i in range(120)
).replace(".", ",")
HEADER = ';"size, in m²";rooms;kind;sold;price\n'


def test_messy_table_is_fitted_without_an_option_and_predicted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "houses.csv").write_bytes((HEADER + MESSY).encode("latin-1"))
    fitted = run("fit", "houses.csv", "--target", "price", "--max-experts", 1)
    assert "1 expert is the most that may be chosen: a higher limit may predict better." in fitted.stdout
    assert fitted.exit_code == 0, fitted.output
    for words in (
        "was read as Latin-1",
        "cells are split by semicolons",
        "numbers have decimal commas",
        "column 'column 1' numbers the rows and was left out",
        "column 'rooms': '?' (6 rows) counted as missing",
        "column 'kind': 14 missing values count as 'missing'",
        "column 'sold' holds dates",
        "model in houses.skmoe",
    ):
        assert words in fitted.output
    model = skmoe.load("houses.skmoe")
    assert model.n_experts_ == 1
    names = ["size, in m²", "rooms", "rooms=missing", "kind=b", "kind=c", "kind=missing"]
    assert list(model.encoded_feature_names_)[:6] == names
    found = read_csv(run("predict", "houses.skmoe", "houses.csv", "--out", "-").stdout)
    assert len(found["prediction"]) == 120
    assert None not in found["prediction"]
    dropped = run(
        "fit", "houses.csv", "--target", "price", "--experts", 1, "--drop", "size, in m²", "--drop", "sold,kind"
    )
    assert list(skmoe.load("houses.skmoe").encoded_feature_names_) == ["rooms", "rooms=missing"], dropped.output
    chosen = run(
        "fit", "houses.csv", "--target", "price", "--experts", 1, "--columns", "size, in m²", "--columns", "rooms"
    )
    assert list(skmoe.load("houses.skmoe").encoded_feature_names_) == ["size, in m²", "rooms", "rooms=missing"], (
        chosen.output
    )


def test_category_that_was_not_there_is_treated_as_the_fit_was_told(tmp_path):
    kinds = ["a"] * 40 + ["b"] * 40 + ["c", "d", "e", "f"]
    lines = [f"{kind},{i % 7},{i % 5 + (kind == 'b')}" for i, kind in enumerate(kinds)]
    (tmp_path / "rows.csv").write_text("\n".join(["kind,x,y", *lines]))
    for unseen, empty in (("other", [False, False]), ("empty", [False, True]), ("error", None)):
        out = tmp_path / f"{unseen}.skmoe"
        words = ("fit", tmp_path / "rows.csv", "--target", "y", "--experts", 1, "--unseen", unseen, "--out", out)
        assert run(*words).exit_code == 0
        result = run("predict", out, "-", "--interval", 0.5, "--out", "-", stdin="kind,x\nd,1\nnew,1\n")
        if empty is None:
            assert "'kind' holds 'new', which was not there in fitting" in result.stderr
        else:
            assert [value is None for value in read_csv(result.stdout)["prediction"]] == empty
            assert ("not there in fitting: kind (1 row)" in result.stderr) == (unseen == "other")


def test_unseen_categories_of_all_batches_are_counted_in_one_note(walk):
    folder, _, _ = walk
    rows = "x,age,kind\n" + "1,2,straw\n1,2,brick\n" * 70_000  # more than are read at a time
    result = run("predict", folder / "m.skmoe", "-", "--out", "-", stdin=rows)
    notes = [line for line in result.stderr.splitlines() if "not there in fitting" in line]
    assert len(notes) == 1
    assert "kind (70000 rows)" in notes[0]


@pytest.mark.parametrize("missing", ["level", "impute", "drop"])
def test_rows_read_in_blocks_are_those_in_memory(missing, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    n = 1200
    x, kind = (
        rng.standard_normal(n),
        rng.choice(["a", "b", "c", "rare1", "rare2"], size=n, p=[0.5, 0.3, 0.19, 0.005, 0.005]),
    )
    y = np.where(x > 0, 2 * x, -x) + (kind == "b") + 0.1 * rng.standard_normal(n)
    day = np.datetime64("2020-01-01") + rng.integers(0, 900, size=n)
    lines = [
        f"{'' if i % 15 == 1 else x[i]},{'?' if i % 17 == 2 else i % 11},{'' if i % 13 == 4 else kind[i]},{day[i]},"
        f"{'' if i % 40 == 7 else y[i]}"
        for i in range(n)
    ]
    (tmp_path / "rows.csv").write_text("\n".join(["x,z,kind,day,y", *lines]))
    monkeypatch.setattr("skmoe.tables.files.BATCH_ROWS", 100)
    words = ("fit", tmp_path / "rows.csv", "--target", "y", "--experts", 2, "--missing", missing)
    whole = run(*words, "--out", tmp_path / "whole.skmoe")
    monkeypatch.setattr("skmoe.cli.tables.LARGE", 1000)
    streamed = run(*words, "--out", tmp_path / "streamed.skmoe", "--report", tmp_path / "r.html")
    assert (whole.exit_code, streamed.exit_code) == (0, 0), streamed.output
    assert "rows are read in blocks" in streamed.stderr
    models = [skmoe.load(tmp_path / name) for name in ("whole.skmoe", "streamed.skmoe")]
    assert models[0].encoder_ == models[1].encoder_
    assert models[0].history_["rows"] == models[1].history_["rows"]
    np.testing.assert_allclose(models[0].expert_coef_, models[1].expert_coef_, rtol=1e-9)
    notes = [[line for line in result.stderr.splitlines() if "column" in line] for result in (whole, streamed)]
    assert notes[0] == notes[1]
