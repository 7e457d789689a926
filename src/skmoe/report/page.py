"""The page: what each section says, in the order in which a reader asks."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from skmoe import __version__
from skmoe.report.evidence import care, certainty, everything, prediction
from skmoe.report.known import Known
from skmoe.report.markup import Safe, join, tag
from skmoe.report.numbers import Rows
from skmoe.report.pictures import Pictures
from skmoe.report.story import overview, regimes, where

__all__ = ["html", "write"]

SECTIONS = (
    ("regimes", "What the regimes are", regimes),
    ("where", "Where each regime holds", where),
    ("certainty", "How sure this is", certainty),
    ("prediction", "How well it predicts", prediction),
    ("care", "What to be careful about", care),
    ("numbers", "All numbers", everything),
)


def write(
    model: Any,
    path: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    target: str | None = None,
    test: tuple[Any, Any] | None = None,
) -> Path:
    """Write a report on a fitted model to one HTML file, which loads nothing else.

    Parameters
    ----------
    model : fitted MoERegressor
    path : where to write; a file that is there is replaced
    X : (n, d) rows, optional        y : (n,) outputs, optional
        Those the model was fitted on, or new ones. Without them the report holds what the model alone knows.
    title : heading of the page
    target : what the output is called, by default the name of `y` if it has one
    test : (X, y), optional
        Rows that were kept out of the fit, to judge predictions by.

    Returns
    -------
    The path written to.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skmoe import MoERegressor, make_moe, report
    >>> X, y, truth = make_moe(500, 3, 2, random_state=0)
    >>> model = MoERegressor(n_experts=2, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report.write(model, Path(folder) / "report.html", X, y, target="yield").name
    'report.html'
    """
    text = html(model, X, y, title=title, target=target, test=test)
    path = Path(path)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def html(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    title: str | None = None,
    target: str | None = None,
    test: tuple[Any, Any] | None = None,
) -> str:
    """The report as text; see `write`."""
    known = _known(model, X, y, target, test)
    heading = str(title) if title is not None else f"Regimes of {known.target}"
    script, style = (
        resources.files("skmoe.report").joinpath(name).read_text("utf-8") for name in ("page.js", "page.css")
    )
    contents = [tag("li", tag("a", words, href=f"#{name}")) for name, words, _ in SECTIONS]
    top = tag(
        "header",
        tag("h1", heading),
        tag("button", "Dark colours", type="button", id="theme", class_="control", hidden=True),
    )
    body = [
        tag("a", "Skip to the contents", href="#main", class_="skip"),
        top,
        tag(
            "main",
            overview(known),
            tag("nav", tag("ol", *contents), aria_label="Contents"),
            *_sections(known),
            id="main",
        ),
        tag("footer", f"Written by skmoe {__version__}. This file is complete in itself: it loads and sends nothing."),
        tag("script", Safe(script)),
    ]
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"skmoe {__version__}"),
        tag("title", heading),
        tag("link", rel="icon", href="data:,"),
        tag("style", Safe(style)),
    ]
    page = tag("html", "\n", tag("head", join(head)), "\n", tag("body", join(body)), "\n", lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _sections(known: Known) -> list[Safe]:
    found = []
    for name, words, make in SECTIONS:
        heading = tag("h2", words, id=f"{name}-title")
        found.append(tag("section", heading, make(known), id=name, aria_labelledby=f"{name}-title"))
    return found


def _policy(script: str) -> str:
    """Nothing is loaded, one script runs; pictures carry styles of their own, which no hash can name."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _known(model: Any, X: Any, y: Any, target: str | None, test: Any) -> Known:
    """What the sections may speak of, after the arguments were checked."""
    if not hasattr(model, "gate_proba"):
        raise TypeError(
            f"a report is about a fitted MoERegressor; got {type(model).__name__} (of a pipeline, pass the last step "
            "and the rows as they reach it)"
        )
    check_is_fitted(model)
    if X is None and y is not None:
        raise ValueError("y came without X: pass both, X alone, or neither")
    if test is not None and (X is None or y is None):
        raise ValueError("test is judged beside the rows of the fit: pass X and y too, or the held-out rows as X and y")
    if test is not None and (not isinstance(test, tuple | list) or len(test) != 2):
        raise ValueError(f"test must be a pair (X, y) of held-out rows; got {type(test).__name__}")
    rows = None if X is None else Rows.of(model, X, y)
    held_out = None if test is None else Rows.of(model, *test)
    if target is None:
        name = getattr(y, "name", None)
        target = str(name) if isinstance(name, str) and name else "y"
    return Known(model, rows, held_out, str(target), Pictures())
