"""A table, and a model fitted to it by the command line."""

import pytest

from command_line import run, simulated_table


@pytest.fixture(scope="session")
def walk(tmp_path_factory):
    """Folder with rows.csv and m.skmoe, the columns of the table, and what the fit printed."""
    folder = tmp_path_factory.mktemp("walk")
    text, columns = simulated_table(400)
    (folder / "rows.csv").write_text(text)
    words = ("--target", "y", "--experts", 2, "--missing", "drop", "--out", folder / "m.skmoe")
    result = run("fit", folder / "rows.csv", *words)
    assert result.exit_code == 0, result.output
    return folder, columns, result
