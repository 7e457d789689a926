"""The check of skipped tests, in a pytest of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import skips

HERE = Path(__file__).parent
SUITE = """
import pytest

def test_runs():
    assert True

@pytest.mark.skip(reason="no moon")
def test_waits():
    assert False

def test_waits_inside():
    pytest.skip("no sun")
"""
CONFTEST = """
import skips
from skips import pytest_configure

skips.CONDITIONS.update({"night": lambda: True, "day": lambda: False})
"""


@pytest.fixture
def suite(tmp_path):
    """Run pytest on three tests, two of which are skipped, with a list of what may be."""
    (tmp_path / "test_sky.py").write_text(SUITE)
    (tmp_path / "conftest.py").write_text(CONFTEST)

    def run(allowed, *options):
        (tmp_path / "allowed.txt").write_text(allowed)
        environment = {**os.environ, "PYTHONPATH": str(HERE), skips.LIST: str(tmp_path / "allowed.txt")}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "."]
        return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["alone", "workers"])
def test_skip_that_is_not_on_the_list_is_a_failure(suite, options):
    done = suite("test_sky.py::test_waits_inside | night | the sun is down\n", *options)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 skipped: test_sky.py::test_waits_inside where night: the sun is down" in done.stdout
    assert "test_sky.py::test_waits: Skipped: no moon" in done.stdout
    assert "test_sky.py::test_waits_inside: Skipped" not in done.stdout


def test_skips_on_the_list_pass_and_the_list_is_printed(suite):
    done = suite("# a list\ntest_sky.py | night | no light\n")
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "2 skipped: test_sky.py where night: no light" in done.stdout


def test_line_counts_only_under_its_condition(suite):
    done = suite("test_sky.py | day | no light\n")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "0 skipped: test_sky.py where day: no light" in done.stdout


def test_skipped_module_that_is_not_on_the_list_is_a_failure(suite, tmp_path):
    (tmp_path / "test_moon.py").write_text("import pytest\npytest.importorskip('no_such_package')\n")
    done = suite("test_sky.py | night | no light\n", "-n", "1")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "test_moon.py: Skipped: could not import 'no_such_package'" in done.stdout


@pytest.mark.parametrize("line", ["test_sky.py | night", "test_sky.py | noon | hot", "test_sky.py | night |"])
def test_line_without_condition_or_reason_is_refused(suite, line):
    done = suite(line)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "is not a test" in done.stderr


def test_list_of_the_project_names_tests_that_exist():
    for line in skips.allowed_skips(HERE / "allowed_skips.txt"):
        file, _, test = line.test.partition("::")
        assert not test or f"def {test}(" in (HERE.parent / file).read_text()
        assert (HERE.parent / file).exists()
