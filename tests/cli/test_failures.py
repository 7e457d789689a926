"""Whatever goes wrong is one line and a documented exit code; a fit is not lost; names do not steer the terminal."""

import os
import re
import subprocess
import sys
import tempfile

import pytest
from typer.testing import CliRunner

import skmoe
from command_line import run, simulated_table
from skmoe.cli import app, failures

pytest.importorskip("pyarrow")

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FIT = ("--target", "y", "--experts", 1, "--calibration", "none")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(simulated_table(60)[0])
    return path


def raising(error):
    def read(*arguments):
        raise error

    return read


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("a sentence"), 2, "a sentence"),
        (ImportError("no library"), 2, "no library"),
        (PermissionError(13, "Permission denied", "rows.csv"), 2, "Permission denied: rows.csv"),
        (OSError(28, "No space left on device"), 3, "No space left on device"),
        (OSError(5, "Input/output error"), 3, "Input/output error"),
        (MemoryError("Unable to allocate 8 TiB"), 3, "there is not enough memory (Unable to allocate 8 TiB)"),
        (MemoryError(), 3, "there is not enough memory"),
        (
            RuntimeError("lost"),
            3,
            "a defect of skmoe, please report it: RuntimeError: lost (SKMOE_DEBUG=1 shows where)",
        ),
        (RecursionError("deep"), 3, "a defect of skmoe"),
        (AssertionError(), 3, "a defect of skmoe"),
    ],
    ids=repr,
)
def test_exception_is_one_line_and_a_documented_code(table, monkeypatch, error, code, words):
    monkeypatch.setattr("skmoe.tables.FileTable.cells", raising(error))
    result = run("fit", table, *FIT, "--out", table.with_name("m.skmoe"))
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.splitlines() == [result.stderr.strip()]
    assert words in result.stderr
    assert f" {code} " in " ".join(run("--help").stdout.split())


def test_traceback_is_shown_where_it_is_asked_for(table, monkeypatch):
    monkeypatch.setattr("skmoe.tables.FileTable.cells", raising(RuntimeError("lost")))
    monkeypatch.setenv("SKMOE_DEBUG", "1")
    result = CliRunner().invoke(app, ["fit", str(table), *map(str, FIT), "--out", str(table.with_name("m.skmoe"))])
    assert isinstance(result.exception, RuntimeError)


# -- a fit is not lost ------------------------------------------------------------------------------------------------


def test_model_whose_place_is_gone_is_kept_elsewhere(table, tmp_path, monkeypatch):
    """The folder is there when the fit begins, and is not when it ends."""
    folder, spare = tmp_path / "out", tmp_path / "spare"
    folder.mkdir()
    spare.mkdir()
    fit = skmoe.MoERegressor.fit

    def slow(self, *args, **kwargs):
        os.rmdir(folder)
        return fit(self, *args, **kwargs)

    monkeypatch.setattr(skmoe.MoERegressor, "fit", slow)
    monkeypatch.setattr(tempfile, "tempdir", str(spare))
    result = run("fit", table, *FIT, "--out", folder / "m.skmoe")
    assert result.exit_code == 3
    said = re.search(r"the fit is done, but .* could not be written \(.+\); the model is in (\S+)\n", result.stderr)
    assert [str(path) for path in spare.iterdir()] == [said[1]]
    assert skmoe.load(said[1]).n_experts_ == 1


def test_disk_that_fills_up_during_a_fit_leaves_the_model_elsewhere(table, tmp_path):
    """A limit on the size of files stands for a disk without room: it is set when the fit is over."""
    program = (
        "import resource, sys, skmoe\n"
        "from skmoe.cli import app\n"
        "fit, save = skmoe.MoERegressor.fit, skmoe.MoERegressor.save\n"
        "def limited(self, path):\n"
        "    room = 4096 if 'kept' not in str(path) else resource.RLIM_INFINITY\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))\n"
        "    save(self, path)\n"
        "skmoe.MoERegressor.save = limited\n"
        "app(sys.argv[1:])"
    )
    spare = tmp_path / "spare"
    spare.mkdir()
    words = ["fit", table, *FIT, "--out", tmp_path / "m.skmoe"]
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, words)],
        env={**os.environ, "TMPDIR": str(spare)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "(File too large); the model is in " in done.stderr
    (kept,) = spare.iterdir()
    assert skmoe.load(kept).n_experts_ == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["rows.csv", "spare"]


def test_model_that_no_folder_takes_is_said_to_be_lost(table, monkeypatch):
    def full(self, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(skmoe.MoERegressor, "save", full)
    result = run("fit", table, *FIT, "--out", table.with_name("m.skmoe"))
    assert result.exit_code == 3
    assert "could not be kept in any other place either" in result.stderr


def test_place_is_proven_before_the_table_is_read(table, monkeypatch):
    monkeypatch.setattr("skmoe.tables.FileTable.cells", raising(AssertionError("read before")))
    for out in (table.with_name("x" * 256), table.with_name("none") / "m.skmoe", table.parent):
        for words in (("--out", out), ("--out", table.with_name("m.skmoe"), "--report", out)):
            result = run("fit", table, *FIT, *words)
            assert result.exit_code == 2
            assert "a defect" not in result.stderr


# -- the terminal -----------------------------------------------------------------------------------------------------

EVIL = "\x1b[31mred\x07\u202e"


@pytest.fixture
def evil(tmp_path):
    """A table whose columns, levels and file name hold escape sequences, and its columns."""
    names = {"x": f"{EVIL}x", "age": f"{EVIL}age", "kind": f"{EVIL}kind", "y": f"{EVIL}y"}
    text = simulated_table(80)[0].replace("brick", f"{EVIL}brick").replace("stone", f"{EVIL}stone")
    path = tmp_path / f"{EVIL}rows.csv"
    path.write_text(",".join(names.values()) + text[text.index("\n") :])
    return path, names


@pytest.mark.parametrize("on_terminal", [False, True])
def test_names_do_not_steer_the_terminal(evil, monkeypatch, on_terminal):
    path, names = evil
    model, out = path.with_name(f"{EVIL}m.skmoe"), path.with_name(f"{EVIL}p.csv")
    if on_terminal:
        from rich.console import Console

        drawing = lambda **how: Console(force_terminal=True, color_system=None, width=200, highlight=False)  # noqa: E731
        monkeypatch.setattr("skmoe.cli.shell.terminal", lambda *, stderr=False: drawing())
        monkeypatch.setattr("skmoe.cli.models.watching", no_progress)
    target = ("--target", names["y"])
    for words, code in [
        (["fit", path, *target, "--experts", 2, "--calibration", "none", "--out", model], 0),
        (["predict", model, path, "--out", out], 0),
        (["report", model, path, "--html", path.with_name(f"{EVIL}r.html")], 0),
        (["fit", path, "--target", f"{EVIL}z", "--out", model], 2),
        (["fit", path.with_name(f"{EVIL}none.csv"), *target, "--out", model], 2),
        (["fit", path, *target, "--out", path.with_name(f"{EVIL}none") / "m"], 2),
        (["predict", path, path, "--out", out], 2),
        (["predict", model, path, "--out", path.with_name(f"{EVIL}.doc")], 2),
        (["fit", path, *target, "--experts", EVIL, "--out", model], 2),
        (["fit", path, *target, f"--{EVIL}", "--out", model], 2),
        ([EVIL], 2),
    ]:
        result = run(*words)
        assert result.exit_code == code, result.output
        assert not CONTROL.findall(
            re.sub(r"\x1b\[\??[0-9;]*[mhlAK]", "", result.output) if on_terminal and code == 0 else result.output
        )
    shown = run("fit", path, *target, "--experts", 1, "--calibration", "none", "--out", model).output
    assert r"\x1b[31mred\x07\u202eage" in shown


def no_progress(what):
    from contextlib import nullcontext

    return nullcontext(lambda progress: None)


def test_tables_of_python_show_names_escaped(evil):
    from skmoe.tables import TableTransformer, open_table

    held = open_table(evil[0]).read()
    encoder = TableTransformer().learn(held, evil[1]["y"])
    X, y, _ = encoder.rows(held)
    model = skmoe.MoERegressor(2, calibration=None, random_state=0).fit(X, y)
    for table in (model.summary(), model.regimes(), model.diagnose()):
        assert not CONTROL.findall(str(table))
    assert r"\x1b[31m" in str(model.summary())
    with pytest.raises(ValueError, match="there is no column") as caught:
        TableTransformer().learn(held, "none")
    assert not CONTROL.findall(str(caught.value))


def test_nothing_is_printed_before_the_first_rows_are_refused(table, tmp_path):
    model = tmp_path / "m.skmoe"
    assert run("fit", table, *FIT, "--out", model).exit_code == 0
    bad = tmp_path / "bad.csv"
    bad.write_text("x,age,kind\n1,many,brick\n")
    for words in ([bad, "--out", "-"], [bad, "--out", "-", "--interval", 2], [table, "--out", "p.doc"]):
        result = run("predict", model, *words)
        assert result.exit_code == 2
        assert result.stdout == ""
    bad.write_text("x,age,kind\n")
    result = run("predict", model, bad, "--out", "-")
    assert result.exit_code in (0, 2)
    assert result.stdout == ('"prediction"\n' if result.exit_code == 0 else "")


def test_codes_of_the_page_are_those_of_the_program():
    assert (failures.UNRELIABLE, failures.MISTAKE, failures.FAILED, failures.INTERRUPTED) == (1, 2, 3, 130)
