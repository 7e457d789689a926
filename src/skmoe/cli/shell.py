"""Shared by all commands: errors and notes as single lines, exit codes, progress, tables."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from skmoe.cli.advice import worded
from skmoe.cli.failures import DEBUG, INTERRUPTED, UNRELIABLE, exit_code_of, one_line, shown

__all__ = [
    "Shell",
    "check_output",
    "check_page_name",
    "note",
    "print_grid",
    "print_json",
    "print_table",
    "print_text",
    "terminal",
    "watching",
]

SOON, EVERY = 1.0, 10.0  # seconds to the first line of progress where there is no terminal, and between lines


class Shell(TyperGroup):
    """The group of commands: an error is one line on stderr and a documented exit code, without a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Run a command and leave with its exit code."""
        kwargs["standalone_mode"] = False
        with warnings.catch_warnings():
            warnings.simplefilter("default")  # one that several passes over a table give is shown once
            warnings.showwarning = _show
            with _remembering_ctrl_c():
                code = self._run(*args, **kwargs)
        sys.exit(code)

    def _run(self, *args: Any, **kwargs: Any) -> int:
        try:
            code = super().main(*args, **kwargs)
        except (KeyboardInterrupt, typer.Abort):
            return _interrupted()
        except BrokenPipeError:  # the reader of the output has closed it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return UNRELIABLE
        except Exception as error:
            if _pressed:
                return _interrupted()
            if os.environ.get(DEBUG):
                raise
            typer.secho(f"skmoe: error: {one_line(error)}", fg="red", err=True)
            return exit_code_of(error)
        if code == INTERRUPTED:  # typer catches what Ctrl-C raises itself
            return _interrupted()
        return code if isinstance(code, int) else 0


def _interrupted() -> int:
    typer.echo("skmoe: interrupted, with no result", err=True)
    return INTERRUPTED


_pressed = False


@contextmanager
def _remembering_ctrl_c() -> Iterator[None]:
    """Remember that Ctrl-C was pressed: some libraries swallow the exception, or fail by it themselves."""
    global _pressed
    _pressed = False
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler or threading.current_thread() is not threading.main_thread():
        yield
        return

    def press(*_: Any) -> NoReturn:
        global _pressed
        _pressed = True
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, press)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        _pressed = False


def _show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
    if not issubclass(category, DeprecationWarning | PendingDeprecationWarning | FutureWarning):  # not for users
        note(message)


def note(text: Warning | str) -> None:
    """Print a note on stderr, with advice in the words of the command line."""
    typer.echo(f"skmoe: note: {shown(' '.join(worded(text).split()))}", err=True)


def print_text(text: str) -> None:
    """Print a part of the result, without characters of names that would steer the terminal."""
    typer.echo(shown(text, keep="\n"))


def terminal(*, stderr: bool = False) -> Any:
    """Return a rich console."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False)


def check_output(path: str, what: str, *inputs: str | None) -> None:
    """Refuse a place that cannot be written to, or would overwrite an input, before any long work."""
    if path == "-":
        return
    from skmoe.tables.writing import prove_writable

    if any(
        given and os.path.exists(given) and os.path.exists(path) and os.path.samefile(path, given) for given in inputs
    ):
        raise ValueError(f"{what}: {path} is read from, and would be overwritten; name another file")
    prove_writable(path, what)


def check_page_name(path: str, what: str) -> None:
    """Refuse a name for a report that is not one of HTML, which is all that is written."""
    if not path.lower().endswith((".html", ".htm")):
        raise ValueError(f"{what}: a report is an HTML page, and its name must end in .html or .htm; got {path}")


@contextmanager
def watching(what: str) -> Iterator[Callable[[Any], None]]:
    """Give a callback for ``MoERegressor(verbose=...)`` that shows progress: a bar, or a line every few seconds."""
    console = terminal(stderr=True)
    if not console.is_terminal:
        due = time.monotonic() + SOON

        def show(progress: Any) -> None:
            nonlocal due
            _stop_if_asked()
            if time.monotonic() > due:
                due = time.monotonic() + EVERY
                typer.echo(f"skmoe: {what}: {progress}", err=True)

        yield show
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(20), TimeElapsedColumn(), TextColumn("{task.fields[state]}"))
    with Progress(*columns, console=console, transient=True) as bars:
        bar = bars.add_task(what, total=None, state="")

        def draw(progress: Any) -> None:
            _stop_if_asked()
            bars.update(bar, state=str(progress))

        yield draw


def _stop_if_asked() -> None:
    if _pressed:
        raise KeyboardInterrupt


def print_table(table: Any) -> None:
    """Print a `Summary`: drawn on a terminal, plain text elsewhere, for other programs to read."""
    console = terminal()
    if not console.is_terminal:
        print_text(str(table))
        return
    from rich import box
    from rich.table import Table

    # a first column that repeats itself becomes headings, which leaves room for numbers on a narrow screen
    grouped = len({row[0] for row in table.rows}) < len(table.rows)
    drawn = Table(title=_in_table(table.title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(table.columns[grouped:], start=grouped):
        right = all(isinstance(row[i], float | int) for row in table.rows)
        wide = max(len(row[0]) for row in table.rows) if grouped and i == 1 else None
        drawn.add_column(_in_table(column), justify="right" if right else "left", no_wrap=right, min_width=wide)
    before = None
    for row in table.texts(digits=3):
        if grouped and row[0] != before:
            drawn.add_row(f"[bold]{_in_table(row[0])}[/bold]")
            before = row[0]
        drawn.add_row(*map(_in_table, row[grouped:]))
    console.print(drawn)
    for line in table.notes:
        console.print(_in_table(line))


def print_grid(grid: Any, console: Any) -> None:
    """Print a table whose cells are texts: a title, columns and rows."""
    from rich.table import Table

    table = Table(title=_in_table(grid.title), title_justify="left")
    for column in grid.columns:
        table.add_column(_in_table(column))
    for row in grid.rows:
        table.add_row(*map(_in_table, row))
    console.print(table)


def _in_table(text: str) -> str:
    """Return a text as a rich table takes it, without characters that would steer the terminal."""
    from rich.markup import escape

    return escape(shown(text, keep="\n"))


def print_json(value: Any) -> None:
    """Print one JSON object on stdout; what is not a number becomes null."""
    typer.echo(json.dumps(_plain(value), allow_nan=False))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
