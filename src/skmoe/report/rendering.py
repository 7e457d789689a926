"""Templates turned into text: the one place where text is escaped and data become part of a page.

Everything that a template prints is escaped, after control and direction characters are replaced. Only `Markup` is
printed as it is: the page's own script and style sheet, and the SVG that `skmoe.plots` made.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import asdict, is_dataclass
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from skmoe import __version__
from skmoe.report.records import expert_style

__all__ = ["environment", "plain", "render"]

# UTF-8 has no surrogates and HTML no control characters; direction characters could make a number read otherwise.
UNFIT = re.compile("[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plain(value: Any) -> str:
    """Convert a value to text that a page can hold: lone surrogates, control and direction characters are replaced."""
    return UNFIT.sub("\ufffd", str(value))


def _printed(value: Any) -> Any:
    """Return the text that a template prints for a value, before it is escaped."""
    if value is None:
        raise TypeError("a template printed None")
    return value if isinstance(value, Markup) else plain(value)


def _plain_data(value: Any) -> Any:
    """Convert records, lists and text to what JSON can hold, with all text made `plain`."""
    if is_dataclass(value) and not isinstance(value, type):
        return _plain_data(asdict(value))
    if isinstance(value, dict):
        return {plain(key): _plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_data(item) for item in value]
    return plain(value) if isinstance(value, str) else value


def _json(value: Any, **_: Any) -> str:
    return json.dumps(_plain_data(value), allow_nan=False, separators=(",", ":"))


@cache
def environment() -> Environment:
    """Load the templates of this package, with everything escaped that they print and no undefined names."""
    made = Environment(
        loader=PackageLoader("skmoe.report"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printed,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    # the filter tojson also replaces <, > and &, so that no text can end the script it stands in
    made.filters["expert_style"] = expert_style
    made.policies["json.dumps_function"] = _json
    return made


def render(page: Any) -> str:
    """Return the whole page as HTML; `page` is the record that the template ``page.html.j2`` lays out."""
    script, style = (
        resources.files("skmoe.report").joinpath(name).read_text("utf-8") for name in ("page.js", "page.css")
    )
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            page=page,
            script=Markup(script),
            style=Markup(style),
            policy=_policy(script),
            version=__version__,
        )
    )


def _policy(script: str) -> str:
    """Return the Content-Security-Policy: nothing is loaded and one script runs.

    Styles are not named by a hash, because the SVG of figures has styles of its own.
    """
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
