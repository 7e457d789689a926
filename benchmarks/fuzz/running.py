"""Commands run in this process, and what they may do: a documented exit code, one line of error, no escapes."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path

from typer.testing import CliRunner

from skmoe.cli import app

from .harness import WrongError, refuse_raw

__all__ = ["run_command"]

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def run_command(folder: Path, words: Sequence[str], stdin: str = "") -> int:
    """Run a command in a folder; its exit code, 0, 1 or 2.

    Exit code 3 stands for a failing machine or a defect, and is a fault here.
    """
    with chdir(folder):
        result = CliRunner().invoke(app, list(words), input=stdin, env={"SKMOE_DEBUG": ""}, catch_exceptions=False)
    if result.exit_code not in (0, 1, 2):
        raise WrongError(f"exit code {result.exit_code}: {result.output[-400:]!r}")
    if CONTROL.search(result.output) or "Traceback" in result.output:
        raise WrongError(f"escapes or a traceback in what was printed: {result.output[-400:]!r}")
    errors = [line for line in result.stderr.splitlines() if line.startswith("skmoe: error: ")]
    if len(errors) != (result.exit_code == 2):
        raise WrongError(f"exit code {result.exit_code} with {len(errors)} lines of error: {result.stderr[-400:]!r}")
    for line in errors:
        refuse_raw(line)
    left = [name for name in os.listdir(folder) if name.startswith(".skmoe-")]
    if left:
        raise WrongError(f"left behind: {left}")
    return result.exit_code
