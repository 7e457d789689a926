"""Every script under benchmarks says what it does and how it is run."""

import subprocess
import sys

import pytest

from skmoe.cli import checkout

ROOT = checkout.root()
if ROOT is None:
    pytest.skip("not in a checkout of the repository", allow_module_level=True)

FILES = sorted((ROOT / "benchmarks").glob("*/*.py"))
SCRIPTS = [path for path in FILES if "__main__" in path.read_text()]


def name(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("script", SCRIPTS, ids=name)
def test_script_answers_help_with_its_command(script, tmp_path):
    done = subprocess.run([sys.executable, script, "--help"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert f"python {name(script)}" in done.stdout


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
