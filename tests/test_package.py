"""What is installed: built as sdist and wheel, put into an environment of its own, used from there."""

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from lower_bounds import PROJECT, lower_bounds

ROOT = PROJECT.parent
SOURCES = ROOT / "src"

if not (ROOT / "Makefile").exists():
    pytest.skip("not in a checkout of the repository", allow_module_level=True)


def run(*command, cwd, env=None):
    words = [str(part) for part in command]
    done = subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def built(folder, kind, out):
    """The one file of a kind that hatchling makes of a folder."""
    run(sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", out, cwd=folder)
    (path,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return path


def package_files(wheel):
    return {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("skmoe/")}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    return built(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """An environment that holds the wheel; what it needs is borrowed from this one, skmoe itself is not."""
    folder = tmp_path_factory.mktemp("clean") / "environment"
    venv.create(folder)
    python = folder / "bin" / "python"
    where = Path(run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (where / "borrowed.pth").write_text("".join(f"{path}\n" for path in borrowed))
    install = ("install", "--quiet", "--no-deps", "--no-index", "--force-reinstall", wheel)
    run(sys.executable, "-m", "pip", "--python", python, *install, cwd=folder)
    return folder


def test_wheel_holds_every_file_of_the_package(wheel):
    sources = {
        path.relative_to(SOURCES).as_posix()
        for path in (SOURCES / "skmoe").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert package_files(wheel) == sources
    assert {"skmoe/py.typed", "skmoe/report/page.css", "skmoe/report/templates/macros.html.j2"} <= sources
    assert any(name.startswith("skmoe/datasets/data/") for name in sources)


def test_sdist_makes_the_same_wheel(wheel, tmp_path):
    sdist = built(ROOT, "sdist", tmp_path / "sdist")
    with tarfile.open(sdist) as file:
        names = file.getnames()
        file.extractall(tmp_path, filter="data")
    again = built(tmp_path / sdist.name.removesuffix(".tar.gz"), "wheel", tmp_path / "wheel")
    assert package_files(again) == package_files(wheel)
    for needed in ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/test_package.py"):
        assert any(name.endswith(f"/{needed}") for name in names), needed
    assert not [name for name in names if "/.venv" in name or "__pycache__" in name or "/docs/_build" in name]


def test_installed_package_is_imported_fits_and_answers_on_the_command_line(environment, tmp_path):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    code = (
        "import json, skmoe; from importlib import metadata; from skmoe import MoERegressor, datasets, load;"
        "X, y = datasets.load_concrete(return_X_y=True);"
        "model = MoERegressor(1).fit(X, y); model.save('model.skmoe');"
        "print(json.dumps([skmoe.__file__, load('model.skmoe').score(X, y), metadata.requires('skmoe')]))"
    )
    said = run(environment / "bin" / "python", "-c", code, cwd=tmp_path, env=clean)
    where, score, requires = json.loads(said)
    assert Path(where).is_relative_to(environment)
    assert score > 0.5
    assert {f"{name}>={version}" for name, version in lower_bounds(PROJECT.read_text(), extras=False).items()} == {
        requirement for requirement in requires if "extra ==" not in requirement
    }

    program = environment / "bin" / "skmoe"
    (tmp_path / "t.csv").write_text("a,y\n" + "".join(f"{i},{3 * i + (i * 7) % 5}\n" for i in range(40)))
    run(program, "fit", "t.csv", "--target", "y", "--experts", "1", "--out", "m.skmoe", cwd=tmp_path, env=clean)
    run(program, "report", "m.skmoe", "t.csv", "--html", "page.html", cwd=tmp_path, env=clean)
    assert "<html" in (tmp_path / "page.html").read_text()


def test_every_requirement_has_one_lower_bound():
    bounds = lower_bounds(PROJECT.read_text())
    assert {"numpy", "scipy", "scikit-learn", "typer", "pyarrow", "dask", "pytest"} <= set(bounds)
    for bad, words in (("numpy", "no lower bound"), ("numpy<3", "no lower bound")):
        with pytest.raises(ValueError, match=words):
            lower_bounds(f'[project]\ndependencies = ["{bad}"]\n[project.optional-dependencies]\n')
    with pytest.raises(ValueError, match="two lower bounds"):
        lower_bounds('[project]\ndependencies = ["a>=1"]\n[project.optional-dependencies]\nx = ["a>=2"]')
