"""What a script can rely on: exit codes, Ctrl-C, colours, pipes and progress."""

import io
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import skmoe
from command_line import run, simulated_table
from skmoe.search import Progress

pytest.importorskip("pyarrow")

MODULE = [sys.executable, "-m", "skmoe.cli"]


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
    def stumbling(table, names):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise AttributeError("half imported") from None

    monkeypatch.setattr("skmoe.tables.FileTable.cells", stumbling)
    folder, _, _ = walk
    result = run("fit", folder / "rows.csv", "--target", "y", "--out", folder / "never.skmoe")
    assert result.exit_code == 130
    assert not (folder / "never.skmoe").exists()


@pytest.mark.skipif(os.name == "nt", reason="no SIGINT for a child process")
def test_ctrl_c_is_clean(tmp_path, listening):
    (tmp_path / "rows.csv").write_text(simulated_table(20_000)[0])
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
        assert len(skmoe.load(out).encoded_feature_names_) == 6
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

    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120)
    monkeypatch.setattr(shell, "terminal", lambda **how: console)
    with shell.watching("fitting") as tell:
        tell(Progress("starts", 2, 7, -1.25))
        time.sleep(0.3)  # the bar is drawn ten times a second
    assert "2 experts, starts, step 7, log-likelihood per row -1.2500" in screen.getvalue()
