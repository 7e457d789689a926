"""Every Python block of the README and of the site runs, and prints what the block after it says.

Blocks of one page share their names, as for a reader who goes through it; ``...`` in an output stands for anything, as
in a doctest. Lines that call ``skmoe`` are not run, but the command and its options must exist.
"""

import contextlib
import doctest
import io
import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
import typer

from skmoe.cli import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "guide").glob("*.md"))]
FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    language: str
    text: str
    line: int
    output: str | None  # what a block without a language, right after it, says that it prints


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found = list(FENCE.finditer(text))
    result = []
    for this, following in pairwise([*found, None]):
        output = None
        if following is not None and following[1] == "" and text[this.end() : following.start()].strip() == "":
            output = following[2]
        result.append(Block(this[1].strip(), this[2], text[: this.start()].count("\n") + 1, output))
    return result


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def with_python(page: Path) -> bool:
    return any(block.language == "python" for block in blocks(page))


@pytest.mark.parametrize("page", list(filter(with_python, PAGES)), ids=name)
def test_page_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages may write files
    names = {"__name__": "__main__"}
    for block in blocks(page):
        if block.language != "python":
            continue
        printed = io.StringIO()
        # blank lines first, so that an error names the line of the page
        code = compile("\n" * block.line + block.text, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        where = f"the block at line {block.line} of {name(page)}"
        if block.output is None:
            assert printed.getvalue() == "", f"{where} prints, but no output stands after it"
        else:
            found, said = ("\n".join(map(str.rstrip, text.splitlines())) for text in (printed.getvalue(), block.output))
            same = found == said or doctest.OutputChecker().check_output(said, found, doctest.ELLIPSIS)
            assert same, f"{where} prints\n{found}"


def test_readme_and_guide_have_their_blocks():
    pages = [name(page) for page in filter(with_python, PAGES)]
    assert {"README.md", "docs/start.md", "docs/extend.md", "docs/flexmix.md", "docs/guide/reading.md"} <= set(pages)
    assert sum(block.output is not None for block in blocks(ROOT / "README.md") if block.language == "python") >= 2


def calls() -> list[tuple[str, str]]:
    """Lines of all pages that call the command line, with lines that go on joined."""
    return [
        (name(page), line)
        for page in PAGES
        for block in blocks(page)
        if block.language in ("", "shell")
        for line in block.text.replace("\\\n", " ").splitlines()
        if line.startswith("skmoe ")
    ]


@pytest.mark.parametrize(("page", "line"), calls())
def test_commands_on_pages_exist_with_their_options(page, line):
    words = shlex.split(line, comments=True)[1:]
    commands = typer.main.get_command(app).commands
    assert words[0] in commands
    known = {option for parameter in commands[words[0]].params for option in parameter.opts + parameter.secondary_opts}
    assert {word.split("=")[0] for word in words[1:] if word.startswith("-")} <= known | {"--help"}


def links() -> list[tuple[str, str]]:
    return [
        (name(page), target.split("#")[0])
        for page in PAGES
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text())
        if not target.startswith(("http", "#", "mailto:"))
    ]


@pytest.mark.parametrize(("page", "target"), links())
def test_links_lead_somewhere(page, target):
    path = ((ROOT / page).parent / target).resolve()
    made = path.relative_to(ROOT).as_posix()
    if made.startswith("docs/gallery/"):  # made from examples/ when the site is built
        path = ROOT / "examples" / f"{path.stem}.py" if path.stem != "index" else ROOT / "examples" / "README.txt"
    assert path.exists()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_tests_that_a_page_names_exist(page):
    for path, test in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", page.read_text()):
        assert (ROOT / path).is_file(), path
        assert not test or f"def {test}(" in (ROOT / path).read_text(), f"{path}::{test}"
