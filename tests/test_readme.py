"""Every Python block of the README runs, and prints what the block after it says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```\n\n```\n(.*?)```", README.read_text(), re.DOTALL)


@pytest.mark.parametrize(("code", "output"), BLOCKS)
def test_readme_prints_what_it_says(code, output):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(README), "exec"), {})
    assert printed.getvalue() == output


def test_readme_has_its_blocks():
    assert len(BLOCKS) == README.read_text().count("```python")
    assert len(BLOCKS) >= 2
