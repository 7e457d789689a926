"""Every Python block of the README and of the site runs, and prints what the block after it says.

Blocks of one page share their names, as for a reader who goes through it; ``...`` in an output stands for anything, as
in a doctest. Sessions (``console``) are run too, in the same folder. Other lines that call ``skmoe`` are not, but the
command and its options must exist.
"""

import contextlib
import doctest
import io
import re
import runpy
import shlex
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest
import typer
from typer.testing import CliRunner

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
    return any(block.language in ("python", "console") for block in blocks(page))


def same_text(found: str, said: str) -> bool:
    found, said = ("\n".join(map(str.rstrip, text.splitlines())) for text in (found, said))
    return found == said or doctest.OutputChecker().check_output(said, found, doctest.ELLIPSIS)


def run_session(text: str, where: str) -> None:
    """Lines that begin with a dollar sign are run, and must print what stands below them."""
    for command, said in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n?)*)", text, re.MULTILINE):
        program, *words = shlex.split(command)
        if program == "skmoe":
            printed = CliRunner().invoke(app, words).output
        else:
            assert program == "head"
            count, file = words
            printed = "".join(Path(file).read_text().splitlines(True)[: -int(count)])
        assert same_text(printed, said), f"{where}: {command} prints\n{printed}"


@pytest.mark.parametrize("page", list(filter(with_python, PAGES)), ids=name)
def test_page_prints_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pages may write files
    monkeypatch.setattr("skmoe.cli.shell.SOON", float("inf"))  # progress depends on the machine
    names = {"__name__": "__main__"}
    for block in blocks(page):
        where = f"the block at line {block.line} of {name(page)}"
        if block.language == "console":
            run_session(block.text, where)
        if block.language != "python":
            continue
        printed = io.StringIO()
        # blank lines first, so that an error names the line of the page
        code = compile("\n" * block.line + block.text, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        if block.output is None:
            assert printed.getvalue() == "", f"{where} prints, but no output stands after it"
        else:
            assert same_text(printed.getvalue(), block.output), f"{where} prints\n{printed.getvalue()}"


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
        if block.language in ("", "shell", "console")
        for line in block.text.replace("\\\n", " ").splitlines()
        if line.removeprefix("$ ").startswith("skmoe ")
    ]


@pytest.mark.parametrize(("page", "line"), calls())
def test_commands_on_pages_exist_with_their_options(page, line):
    words = shlex.split(line.removeprefix("$ "), comments=True)[1:]
    commands = typer.main.get_command(app).commands
    assert words[0] in commands
    known = {option for parameter in commands[words[0]].params for option in parameter.opts + parameter.secondary_opts}
    assert {word.split("=")[0] for word in words[1:] if word.startswith("-")} <= known | {"--help"}


def test_page_of_the_command_line_has_every_option_as_it_is():
    page = ROOT / "docs" / "command_line.md"
    source = runpy.run_path(str(ROOT / "docs" / "command_line_options.py"))
    text = page.read_text()
    assert text == source["written"](text), "run python docs/command_line_options.py"
    for command_name, command in typer.main.get_command(app).commands.items():
        options = text.partition(f"<!-- options of {command_name} -->")[2].partition("<!-- end -->")[0]
        for parameter in command.params:
            if parameter.param_type_name == "option" and parameter.name != "help":
                assert f"| `{parameter.opts[0]}`" in options, (command_name, parameter.name)


def links() -> list[tuple[str, str]]:
    return [
        (name(page), target.split("#")[0])
        for page in [*PAGES, ROOT / "CHANGELOG.md"]
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


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "index.md"], ids=name)
def test_first_screen_has_installation_a_few_lines_of_code_and_the_picture(page):
    source = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    install, code, output = blocks(page)[:3]
    assert install.language == "shell"
    assert install.text.splitlines() == [f"git clone {source}", 'pip install "./skmoe[data,plot]"']
    assert code.language == "python"
    assert len(list(filter(None, code.text.splitlines()))) <= 6
    assert page.read_text().count("\n", 0, page.read_text().index("figures/concrete.svg)")) < output.line + 8


def test_landing_page_links_to_the_source():
    source = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Source"]
    assert f"]({source})" in (ROOT / "docs" / "index.md").read_text()


def test_picture_of_the_readme_draws_a_line_for_each_expert():
    picture = (ROOT / "docs" / "figures" / "concrete.svg").read_text()
    assert re.findall(r'<g id="(line-\d)">\s*<path ', picture) == ["line-1", "line-2"]


def test_examples_are_shown_in_the_order_of_their_numbers():
    names = sorted(path.name for path in (ROOT / "examples").glob("plot_*.py"))
    assert [int(example.split("_")[1]) for example in names] == list(range(1, len(names) + 1))


def test_pages_know_that_outputs_and_columns_may_be_other_than_numbers():
    text = {page: (ROOT / "docs" / page).read_text() for page in ("guide/model.md", "flexmix.md")}
    assert "(families.md)" in text["guide/model.md"]
    assert "is a class or a count" not in text["guide/model.md"]  # now families and MoEClassifier
    assert "must be numbers" not in text["flexmix.md"]  # text becomes dummies, as the page shows


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_numbers_on_pages_begin_with_a_digit(page):
    """0.84, as programs print them, and not .84; outside code and links."""
    prose = re.sub(r"^```.*?^```$|`[^`\n]+`|\]\([^)]*\)", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert re.findall(r"(?<![\w.)/])\.\d+", prose) == []
