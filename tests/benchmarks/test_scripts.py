"""Every script under benchmarks says what it does and how it is run."""

import os
import runpy
import sys
from pathlib import Path
from unittest import mock

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "benchmarks").glob("*/*.py"))
SCRIPTS = [path for path in FILES if "__main__" in path.read_text()]


def name(path):
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_script_answers_help_with_its_command(script, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(script), "--help"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, name(script), raising=False)
    with pytest.raises(SystemExit) as done, mock.patch.dict(os.environ):
        runpy.run_module(name(script), run_name="__main__")  # a process each would take a minute to load them all
    assert done.value.code == 0
    assert f"python -m {name(script)}" in capsys.readouterr().out


def test_there_are_scripts_in_every_folder_that_holds_them():
    assert {path.parent.name for path in SCRIPTS} == {
        "families",
        "flexmix",
        "fuzz",
        "inference",
        "messy_tables",
        "peers",
        "real",
        "reliability",
        "scale",
        "search",
        "spectral",
        "speed",
    }


def test_no_name_is_used_twice():
    modules = [path for path in FILES if path.stem != "__init__"]
    assert len({path.stem for path in modules}) == len(modules)
    folders = {path.parent.name for path in FILES}
    assert [name(p) for p in modules if p.stem in folders and p.stem != p.parent.name] == []
