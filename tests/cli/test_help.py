"""Help: an example each, quickly; and the defaults that it shows."""

import dataclasses
import inspect
import subprocess
import sys

import pytest
import typer

import skmoe
from command_line import run
from skmoe.cli import app
from skmoe.estimators.base import MOST_MEMBERS, MOST_STARTS
from skmoe.spectral import SpectralOptions

COMMANDS = ("demo", "fit", "predict", "report", "compare")


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


def test_defaults_of_the_command_line_are_those_of_python():
    commands = typer.main.get_command(app).commands
    python = inspect.signature(skmoe.MoERegressor).parameters
    fit = {parameter.name: parameter.default for parameter in commands["fit"].params}
    for name in ("noise", "activation", "max_iter", "method", "input_law"):
        assert fit[name] == python[name].default, name
    # not written is not given: Python's own defaults hold
    options = {field.name: field.default for field in dataclasses.fields(SpectralOptions)}
    assert {name: fit[name] for name in options} == dict.fromkeys(options)
    compare = {parameter.name: parameter.default for parameter in commands["compare"].params}
    assert compare["noise"] == python["noise"].default


@pytest.mark.parametrize(("option", "most"), [("--average", MOST_MEMBERS), ("--n-init", MOST_STARTS)])
def test_largest_numbers_of_the_command_line_are_those_of_python(option, most):
    """One more is refused as an option; the largest itself gets as far as the table, which is not there."""
    told = [run("fit", "no.csv", "--target", "y", option, str(number)) for number in (most, most + 1)]
    assert [result.exit_code for result in told] == [2, 2]
    assert ["no.csv" in result.output for result in told] == [True, False]
    assert option in told[1].output
