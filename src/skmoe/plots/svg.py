"""A display as SVG inside a page: one string without script or links, for light and dark pages."""

from __future__ import annotations

import copy
import hashlib
import io
import re
import warnings
from typing import Any
from xml.etree import ElementTree

from skmoe.plots.style import Display, pyplot

__all__ = ["to_svg"]

FOREGROUND = "#010203"  # stands for the page's own text colour while matplotlib draws; used for nothing else
SVG = "http://www.w3.org/2000/svg"
LINK = "{http://www.w3.org/1999/xlink}href"
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "skmoe",  # the same string for the same numbers
    "svg.fonttype": "none",  # text stays text: found, read aloud, in the page's own fonts
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), "none"),
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), FOREGROUND),
}


def to_svg(display: Display, *, width: float = 6.4, height: float = 4.0, title: str = "") -> str:
    """Return a display as inline SVG, to be put into an HTML page as it is.

    Text and axes take the page's text colour (``currentColor``) and the background is transparent, so that it can be
    read on light and dark. It holds no script and no link to elsewhere, the same numbers give the same string, and
    ids begin with a hash of the picture, so that many pictures can be in one page.

    Parameters
    ----------
    display : Display
        One of the displays of `skmoe.plots`, drawn or not.
        It is left as it is, but a figure that ``from_estimator`` opened by itself is closed.
    width, height : float
        Inches; a narrower page shrinks it.
    title : str
        Description of the picture, for those who cannot see it; by default the display's heading.

    Returns
    -------
    str
        The SVG element.
    """
    plt = pyplot()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    if display._opened:
        plt.close(display.figure_)
        display._opened = False
    with mpl.rc_context(), warnings.catch_warnings():
        mpl.rcdefaults()  # a style that the caller chose for the screen is not the page's
        mpl.rcParams.update(STYLE)
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)  # the page's fonts draw it
        figure = Figure(figsize=(width, height), layout="constrained")
        copy.copy(display).plot(figure.subplots(1, display.panels, squeeze=False)[0])
        file = io.BytesIO()
        figure.savefig(file, format="svg", dpi=200, metadata={"Date": None})
    return _inline(file.getvalue(), title or display.heading)


def _inline(svg: bytes, title: str) -> str:
    """Turn a whole SVG file into an element of a page."""
    root = ElementTree.fromstring(svg)
    prefix = f"moe{hashlib.sha256(svg + title.encode('utf-8', 'replace')).hexdigest()[:10]}-"
    for parent in root.iter():
        for child in list(parent):
            # the style sheet would apply to the whole page, the metadata link elsewhere
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        if "id" in element.attrib:
            element.set("id", prefix + element.attrib["id"])
        if LINK in element.attrib:
            target = element.attrib.pop(LINK)
            element.set("href", f"#{prefix}{target[1:]}" if target.startswith("#") else target)
        for name, value in element.attrib.items():
            if name != "id" and name != "href":
                value = re.sub(r"url\(#", f"url(#{prefix}", value)
                element.set(name, value.replace(FOREGROUND, "currentColor"))
    root.set("style", "stroke-linejoin: round; stroke-linecap: butt; max-width: 100%; height: auto")
    root.set("role", "img")
    root.set("aria-labelledby", f"{prefix}title")
    description = ElementTree.Element(f"{{{SVG}}}title", {"id": f"{prefix}title"})
    description.text = "".join(c if c.isprintable() else " " for c in title)
    root.insert(0, description)
    ElementTree.register_namespace("", SVG)
    return ElementTree.tostring(root, encoding="unicode")
