import io
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

import skmoe
from skmoe.cli import app

pa = pytest.importorskip("pyarrow")

COMMANDS = ("demo", "fit", "predict", "report", "compare", "reproduce", "bench")
MODULE = [sys.executable, "-m", "skmoe.cli"]


def run(*words, stdin=None):
    result = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
    assert "Traceback" not in result.output
    return result


def made_rows(n, seed=0):
    """Two regimes along age, a category that lifts y, and some holes; as CSV and as columns."""
    rng = np.random.default_rng(seed)
    x, age = rng.normal(size=n), rng.uniform(0, 10, size=n)
    kind = rng.choice(["brick", "stone", "wood"], size=n)
    y = np.where(age + 0.3 * rng.normal(size=n) > 5, 10 + 3 * x, -2 * x) + 2 * (kind == "stone")
    y += 0.3 * rng.normal(size=n)
    lines = [f"{'' if i % 50 == 3 else x[i]},{age[i]},{'' if i % 80 == 7 else kind[i]},{y[i]}\n" for i in range(n)]
    return "x,age,kind,y\n" + "".join(lines), {"x": x, "age": age, "kind": kind, "y": y}


@pytest.fixture(scope="module")
def walk(tmp_path_factory):
    """A table, and a model fitted to it by the command line."""
    folder = tmp_path_factory.mktemp("walk")
    text, columns = made_rows(400)
    (folder / "rows.csv").write_text(text)
    result = run("fit", folder / "rows.csv", "--target", "y", "--experts", 2, "--out", folder / "m.skmoe")
    assert result.exit_code == 0, result.output
    return folder, columns, result


def read_csv(text):
    from pyarrow import csv

    return csv.read_csv(io.BytesIO(text.encode())).to_pydict()


# -- help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(command):
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Example: skmoe {command}" in result.stdout


def test_help_names_commands_and_exit_codes():
    for words in ([], ["--help"]):
        result = run(*words)
        assert result.exit_code == 0
        assert "Exit codes: 0" in result.stdout
        for command in COMMANDS:
            assert command in result.stdout


def test_version_is_printed():
    assert run("--version").stdout == f"skmoe {skmoe.__version__}\n"


def test_help_imports_nothing_slow():
    code = (
        "import sys\nfrom skmoe.cli import app\n"
        "try:\n    app(['fit', '--help'])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'pyarrow', 'matplotlib'} & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


# -- the whole walk ---------------------------------------------------------------------------------------------------


def test_fit_says_what_became_of_the_columns(walk):
    _, _, result = walk
    assert "missing values: x 8, kind 5" in result.stderr
    assert "13 of 400 rows lack a value and were dropped" in result.stderr
    assert "coefficients compare with 'brick'" in result.stderr
    assert "kind=stone" in result.stdout
    assert "387 rows" in result.stdout


def test_fitted_model_is_what_python_fits(walk):
    folder, columns, _ = walk
    model = skmoe.load(folder / "m.skmoe")
    keep = np.array([i % 50 != 3 and i % 80 != 7 for i in range(400)])
    X = np.column_stack([columns["x"], columns["age"], columns["kind"] == "stone", columns["kind"] == "wood"])[keep]
    direct = skmoe.MoERegressor(2, noise="per-expert", random_state=0).fit(X, columns["y"][keep])
    np.testing.assert_allclose(model.expert_coef_, direct.expert_coef_, rtol=1e-8)
    assert list(model.feature_names_in_) == ["x", "age", "kind=stone", "kind=wood"]


def test_predictions_keep_order_and_holes(walk):
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


def test_lone_column_of_predictions_keeps_its_rows(walk):
    folder, _, _ = walk
    lines = run("predict", folder / "m.skmoe", folder / "rows.csv", "--out", "-").stdout.splitlines()
    assert len(lines) == 401
    assert lines[1 + 3] == "nan"


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


def test_report_is_written_with_and_without_rows(walk):
    folder, _, _ = walk
    for rows in ([], [folder / "rows.csv"]):
        out = folder / f"r{len(rows)}.html"
        result = run("report", folder / "m.skmoe", *rows, "--html", out)
        assert result.exit_code == 0, result.output
        assert "kind=stone" in out.read_text()


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


def test_weights_count_rows(tmp_path):
    text, _ = made_rows(200)
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
    monkeypatch.setattr(sys.modules["skmoe.cli.fit"], "LARGE", 1000)
    streamed = run(*words, "--out", tmp_path / "streamed.skmoe")
    assert (whole.exit_code, streamed.exit_code) == (0, 0)
    assert "read in blocks" in streamed.stderr
    models = [skmoe.load(tmp_path / name) for name in ("whole.skmoe", "streamed.skmoe")]
    assert np.allclose(models[0].expert_coef_, models[1].expert_coef_, atol=1e-9)
    assert list(models[1].feature_names_in_) == ["a", "b", "c"]
    assert run("predict", tmp_path / "streamed.skmoe", path, "--out", tmp_path / "out.csv").exit_code == 0
    for wrong in (("--report", tmp_path / "r.html"), ("--drop", "none")):
        refused = run("fit", path, "--target", "y", "--out", tmp_path / "no.skmoe", *wrong)
        assert refused.exit_code == 2
        assert refused.stderr.startswith("skmoe: error:")


def test_model_of_a_data_frame_is_predicted_by_names(tmp_path):
    pd = pytest.importorskip("pandas")
    _, columns = made_rows(200)
    frame = pd.DataFrame({name: columns[name] for name in ("x", "age")})
    model = skmoe.MoERegressor(1, random_state=0).fit(frame, columns["y"])
    model.save(tmp_path / "m.skmoe")
    result = run("predict", tmp_path / "m.skmoe", "-", "--out", "-", stdin="age,x\n2,1\n")
    assert "no recipe" in result.stderr
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


def test_demo_tells_experts_gate_and_error(tmp_path):
    out = tmp_path / "report.html"
    result = run("demo", "--experts", 2, "--out", out)
    assert result.exit_code == 0, result.output
    for words in ("expert 2", "age_days", "Which expert holds where", "least squares", "90% intervals"):
        assert words in result.stdout
    assert "Concrete" in out.read_text()


# -- what a script can rely on ----------------------------------------------------------------------------------------


def test_fit_short_of_the_optimum_is_saved_with_exit_code_1(walk):
    folder, _, _ = walk
    out = folder / "short.skmoe"
    result = run("fit", folder / "rows.csv", "--target", "y", "--experts", 3, "--max-iter", 1, "--out", out)
    assert result.exit_code == 1, result.output
    assert "skmoe: note: the fit stopped" in result.stderr
    assert not skmoe.load(out).converged_


@pytest.mark.parametrize("step", [1, 3])
def test_interrupted_fit_keeps_what_there_is(walk, monkeypatch, step):
    from contextlib import contextmanager

    @contextmanager
    def impatient(what):
        def tell(progress):
            if progress.step == step:
                raise KeyboardInterrupt

        yield tell

    monkeypatch.setattr("skmoe.cli.models.watching", impatient)
    folder, _, _ = walk
    out = folder / f"interrupted{step}.skmoe"
    result = run("fit", folder / "rows.csv", "--target", "y", "--experts", 2, "--out", out, "--json")
    assert result.exit_code == 1, result.output
    assert "interrupted; this is the best model so far" in result.stderr
    assert json.loads(result.stdout)["interrupted"] is True
    assert skmoe.load(out).n_experts_ == 2


def test_interrupted_comparison_has_no_result(walk, monkeypatch):
    from skmoe.cli import shell

    monkeypatch.setattr(shell, "_stop_if_asked", interrupt)
    folder, _, _ = walk
    result = run("compare", folder / "rows.csv", "--target", "y", "--experts", 2)
    assert result.exit_code == 130
    assert result.stdout == ""
    assert "skmoe: interrupted" in result.stderr


def interrupt():
    raise KeyboardInterrupt


def test_ctrl_c_that_was_swallowed_ends_the_fit_at_its_next_step(monkeypatch):
    from skmoe.cli import shell
    from skmoe.search.fitting import Progress

    monkeypatch.setattr(shell, "_pressed", True)
    with shell.watching("fitting") as tell, pytest.raises(KeyboardInterrupt):
        tell(Progress("starts", 2, 7, -1.25))


@pytest.fixture
def listening():
    """Ctrl-C is heard, as in a terminal, where the tests themselves run in the background, which is deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_library_that_stumbles_over_ctrl_c_is_no_error(walk, monkeypatch, listening):
    def stumbling(path):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise AttributeError("half imported") from None

    monkeypatch.setattr("skmoe.rows.files.read", stumbling)
    folder, _, _ = walk
    result = run("fit", folder / "rows.csv", "--target", "y", "--out", folder / "never.skmoe")
    assert result.exit_code == 130
    assert not (folder / "never.skmoe").exists()


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a child process")
def test_ctrl_c_is_clean(tmp_path, listening):
    (tmp_path / "rows.csv").write_text(made_rows(20_000)[0])
    out = tmp_path / "m.skmoe"
    words = ["fit", tmp_path / "rows.csv", "--target", "y", "--experts", "auto", "--activation", "tanh", "--out", out]
    child = subprocess.Popen([*MODULE, *map(str, words)], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    seen = []
    for line in child.stderr:
        seen.append(line)
        if "log-likelihood" in line:  # in the middle of the fit
            break
    child.send_signal(signal.SIGINT)
    _, rest = child.communicate(timeout=120)
    text = "".join(seen) + rest
    assert "Traceback" not in text
    assert child.returncode in (1, 130), text
    if child.returncode == 1:
        assert "best model so far" in text
        assert skmoe.load(out).n_features_in_ == 4
    else:
        assert "skmoe: interrupted, with no result" in text
        assert not out.exists()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.skipif(os.name == "nt", reason="no pseudo-terminals")
@pytest.mark.parametrize("to_terminal", [True, False])
def test_error_is_coloured_on_a_terminal_only(to_terminal):
    import pty

    ours, theirs = pty.openpty()
    environment = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
    stderr = theirs if to_terminal else subprocess.PIPE
    child = subprocess.run([*MODULE, "guess"], stderr=stderr, stdout=subprocess.DEVNULL, env=environment, check=False)
    os.close(theirs)
    text = os.read(ours, 4096).decode() if to_terminal else child.stderr.decode()
    os.close(ours)
    assert child.returncode == 2
    assert "skmoe: error: " in text
    assert ("\x1b[" in text) == to_terminal


def test_reader_that_leaves_early_is_no_error(walk):
    folder, _, _ = walk
    long = folder / "long.csv"
    long.write_text("x,age,kind\n" + "1.5,2.5,brick\n" * 100_000)
    words = [*MODULE, "predict", str(folder / "m.skmoe"), str(long), "--out", "-"]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    child.stdout.readline()
    child.stdout.close()
    text = child.stderr.read()
    child.stderr.close()
    child.wait(timeout=60)
    assert "Traceback" not in text
    assert "Exception" not in text


def test_progress_is_shown_on_a_terminal(monkeypatch):
    from rich.console import Console

    from skmoe.cli import shell
    from skmoe.search.fitting import Progress

    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    monkeypatch.setattr(shell, "terminal", lambda **how: console)
    with shell.watching("fitting") as tell:
        tell(Progress("starts", 2, 7, -1.25))
        time.sleep(0.3)  # the bar is drawn ten times a second
    assert "2 experts, starts, step 7, log-likelihood -1.2500" in screen.getvalue()
