"""Every name on docs/paper_to_code.md exists, and every numbered item of the paper has its row there."""

import ast
import importlib
import re
from pathlib import Path

import pytest

import skmoe
from experiments import runner

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "paper_to_code.md"
ROWS = [line.strip("| ").split(" | ") for line in PAGE.read_text().splitlines() if line.startswith("| ")]
CODE = re.findall(r"`([^`]+)`", PAGE.read_text())
NUMBERED = {  # how many of each the PDF has
    "equation": 53,
    "theorem": 5,
    "lemma": 5,
    "remark": 3,
    "condition": 2,
    "definition": 1,
    "example": 3,
    "Algorithm": 2,
    "table": 2,
    "figure": 6,
}


def resolve(name):
    """The object behind a dotted name: modules as far as they go, then attributes."""
    words = name.split(".")
    found = skmoe
    for i, word in enumerate(words[1:], 2):
        try:
            found = getattr(found, word)
        except AttributeError:
            found = importlib.import_module(".".join(words[:i]))
    return found


@pytest.mark.parametrize("name", sorted({code for code in CODE if re.fullmatch(r"skmoe(\.\w+)+", code)}))
def test_name_exists_and_is_documented(name):
    assert resolve(name).__doc__


@pytest.mark.parametrize("name", sorted({code for code in CODE if "::" in code}))
def test_test_exists(name):
    path, function = name.split("::")
    tree = ast.parse((ROOT / path).read_text())
    assert function in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_commands_exist():
    named = {code.removeprefix("make reproduce ONLY=") for code in CODE if code.startswith("make reproduce")}
    assert {"table1", "table2", "figure3", "figure4", "figure5", "figure6", "theory", "page"} <= named
    assert named <= {*runner.MODULES, "page"}


def test_every_row_has_a_name_and_a_test():
    rows = [row for row in ROWS if row[0] != "in the paper"]
    assert len(rows) > 50
    for row in rows:
        assert len(row) == 4, row
        assert re.search("`(skmoe|make reproduce)", row[2]), row
        assert "::" in row[3], row


def covered(kind):
    """Numbers of a kind that first columns name, spans such as "equations 29 to 51" and lists included."""
    numbers = set()
    for first in (row[0] for row in ROWS):
        for text in re.findall(rf"\b{kind}s? ((?:\d+(?:, | to | and )?)+)", first):
            spans = re.findall(r"(\d+)(?: to (\d+))?", text)
            numbers |= {i for low, high in spans for i in range(int(low), int(high or low) + 1)}
    return numbers


@pytest.mark.parametrize("kind", sorted(NUMBERED))
def test_every_numbered_item_has_a_row(kind):
    assert covered(kind) == set(range(1, NUMBERED[kind] + 1))


def test_nothing_is_named_by_the_labels_of_the_papers_source():
    """A reader sees numbers: "equation 8" and not "eq. Qdef"."""
    label = re.compile(r"\b(eq|thm|lmm|cond|app|algo|sec|fig|tab)\. ?[A-Za-z]\w{3,}(?![\w(.])")
    suffixes = {".py", ".md", ".jinja"}
    files = [path for top in ("src", "docs", "experiments", "examples") for path in (ROOT / top).rglob("*")]
    own = [p for p in files if p.suffix in suffixes and not {"_build", "generated", "gallery"} & set(p.parts)]
    assert len(own) > 200
    found = [f"{path.name}: {m[0]}" for path in own for m in label.finditer(path.read_text())]
    assert [hit for hit in found if "app.command" not in hit and "app.callback" not in hit] == []
