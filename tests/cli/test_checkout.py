"""Experiments and benchmarks come from the checkout this package runs from, and from nowhere else."""

import importlib.util
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from skmoe.cli import checkout

ROOT = checkout.root()
if ROOT is None:
    pytest.skip("not in a checkout of the repository", allow_module_level=True)

TRAP = """
from pathlib import Path
(Path(__file__).parents[1] / "imported").touch()
raise SystemExit("this file is not of the checkout")
"""


@pytest.fixture
def elsewhere(tmp_path):
    """A working directory with folders of the names that the command uses, which notice being imported."""
    for name in ("experiments", "benchmarks", "scale", "peers", "shared", "skmoe_checkout"):
        (tmp_path / name).mkdir()
        for file in ("__init__", "__main__", "runner", "reproduce", "scale"):
            (tmp_path / name / f"{file}.py").write_text(TRAP)
    return tmp_path


def run(folder, *words):
    # `python -m` puts the working directory on the import path
    command = [sys.executable, "-m", "skmoe.cli", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | {"COLUMNS": "200"})


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (("reproduce", "--list"), "Table 1"),
        (("bench", "--list"), "bare matrix products"),
        (("bench", "products", "--quick"), "bare products"),  # in fresh processes
    ],
    ids=["reproduce", "bench", "fresh process"],
)
def test_folder_of_the_working_directory_is_not_imported(elsewhere, words, shown):
    done = run(elsewhere, *words)
    assert done.returncode == 0, done.stderr
    assert shown in done.stdout
    assert not (elsewhere / "imported").exists()


def test_trial_in_a_process_is_not_taken_from_the_working_directory(elsewhere):
    code = (
        "import sys, pathlib; from skmoe.cli.checkout import load\n"
        "if __name__ == '__main__':\n"
        "    load('experiments.runner').run(['table2'], folder=pathlib.Path(sys.argv[1]), quick=True, jobs=2)\n"
    )
    (elsewhere / "main.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "main.py", str(elsewhere / "results")], cwd=elsewhere, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (elsewhere / "results" / "table2.jsonl").read_text().count("\n") == 5
    assert not (elsewhere / "imported").exists()


def test_loading_takes_no_name_and_leaves_the_path_alone():
    code = (
        "import sys; from skmoe.cli.checkout import load; before = list(sys.path)\n"
        "load('experiments.reproduce'); load('benchmarks.scale.runner'); load('benchmarks.peers.run')\n"
        "assert sys.path == before, sys.path\n"
        "taken = {'experiments', 'benchmarks', 'scale', 'peers', 'shared', 'flexmix'} & set(sys.modules)\n"
        "assert not taken, taken\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_modules_are_those_of_the_checkout():
    assert Path(checkout.load("experiments.runner").__file__) == ROOT / "experiments" / "runner.py"
    assert Path(checkout.load("benchmarks.scale").__file__) == ROOT / "benchmarks" / "scale" / "__init__.py"
    assert checkout.load("experiments.runner") is checkout.load("experiments.runner")


def test_call_works_in_a_process_that_loaded_nothing():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        done = pool.submit(checkout.call, "benchmarks.scale.memory", "_slope", (10, 100), [1.0, 100.0])
        assert done.result() == pytest.approx(2.0)


@pytest.mark.parametrize("settings", [None, '[project]\nname = "other"\n', "[tool.other]\n"])
def test_directory_above_src_must_be_skmoes(settings, tmp_path):
    place = tmp_path / "src" / "skmoe" / "cli" / "checkout.py"
    place.parent.mkdir(parents=True)
    place.write_text(Path(checkout.__file__).read_text())
    if settings is not None:
        (tmp_path / "pyproject.toml").write_text(settings)
    spec = importlib.util.spec_from_file_location("copy_of_checkout", place)
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    assert copy.root() is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "skmoe"\n')
    assert copy.root() == tmp_path
    with pytest.raises(FileNotFoundError, match="the experiments are in skmoe's repository"):
        copy.load("experiments.runner")


def test_installed_package_has_no_checkout(tmp_path):
    place = tmp_path / "site-packages" / "skmoe" / "cli" / "checkout.py"
    place.parent.mkdir(parents=True)
    place.write_text(Path(checkout.__file__).read_text())
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "skmoe"\n')
    spec = importlib.util.spec_from_file_location("installed_checkout", place)
    copy = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(copy)
    assert copy.root() is None
