"""``python -m skmoe.cli`` is ``skmoe``."""

from skmoe.cli import app

app(prog_name="skmoe")
