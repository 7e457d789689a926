"""Write the tables of options in docs/command_line.md from the command line itself.

python docs/command_line_options.py
"""

import re
from pathlib import Path
from typing import Any

import typer

from skmoe.cli import app

PAGE = Path(__file__).parent / "command_line.md"
TABLE = re.compile(r"(<!-- options of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table_of(command: Any) -> str:
    """Arguments and options of a command as a table, with defaults and what they mean."""
    lines = ["| option | default | meaning |", "|---|---|---|"]
    for one in command.params:
        if one.name == "help":
            continue
        written = one.opts if one.param_type_name == "option" else [one.name.upper()]
        names = ", ".join(f"`{name}`" for name in written)
        default = "must be given" if one.required else _plain(one.default)
        lines.append(f"| {names} | {default} | {_escaped(one.help or '')} |")
    return "\n".join(lines)


def _plain(value: Any) -> str:
    return "" if value is None or value is False else f"`{value}`"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "\\<")


def written(page: str) -> str:
    """The page with all of its tables written anew."""
    commands = typer.main.get_command(app).commands
    return TABLE.sub(lambda found: f"{found[1]}\n{table_of(commands[found[2]])}\n\n{found[3]}", page)


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
