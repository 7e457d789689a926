from typer.testing import CliRunner

from skmoe.cli import app


def test_demo_prints_both_methods_and_their_errors():
    result = CliRunner().invoke(app, ["demo", "--seed", "1"], env={"COLUMNS": "200"})
    assert result.exit_code == 0
    assert "joint EM, random start" in result.output
    assert "moments, then gate EM" in result.output
    assert "Spectrum of T2" in result.output


def test_help_shows_an_example():
    result = CliRunner().invoke(app, ["demo", "--help"])
    assert result.exit_code == 0
    assert "Example" in result.output
