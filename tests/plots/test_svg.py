"""Pictures inside a page: safe, small, readable on light and dark."""

from xml.etree import ElementTree

import pytest

from skmoe import MoERegressor, make_moe, plots

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = {"draw": False}  # numbers only


def test_svg_is_safe_inside_a_page(problem, model, auto, all_displays):
    seen = set()
    for display in all_displays(model, *problem, auto, **NUMBERS):
        text = plots.to_svg(display)
        root = ElementTree.fromstring(text)
        assert root.tag == f"{SVG}svg"
        assert root.get("role") == "img"
        assert {e.tag for e in root.iter()}.isdisjoint({f"{SVG}script", f"{SVG}style", f"{SVG}metadata"})
        ids = [e.get("id") for e in root.iter() if e.get("id")]
        assert len(set(ids)) == len(ids)
        assert seen.isdisjoint(ids)
        seen.update(ids)
        for element in root.iter():
            for name, value in element.attrib.items():
                assert not name.startswith("on")
                if name == "href":
                    assert value[1:] in ids or value.startswith("data:image/png")
                if "url(" in value:
                    assert value.split("url(#")[1].split(")")[0] in ids
        assert "currentColor" in text
        assert "#010203" not in text
        assert text.count("http") == 1  # the name of the format
        assert plots.to_svg(display) == text


def test_svg_title_is_escaped_and_has_a_default(model):
    display = plots.TraceDisplay.from_estimator(model, **NUMBERS)
    text = plots.to_svg(display, title="<script>alert(1)</script> & \x00 more", width=5.0, height=3.0)
    root = ElementTree.fromstring(text)
    assert root[0].tag == f"{SVG}title"
    assert root[0].text == "<script>alert(1)</script> &   more"
    assert root.get("aria-labelledby") == root[0].get("id")
    assert (root.get("width"), root.get("height")) == ("360pt", "216pt")
    assert ElementTree.fromstring(plots.to_svg(display))[0].text == plots.TraceDisplay.heading


def test_names_are_drawn_as_they_are(problem):
    pd = pytest.importorskip("pandas")
    X, y = problem
    names = ["a$b$", "<script>x</script>", "r_{1}^2 $\\frac$", "tab\there\x01 漢"]
    frame = pd.DataFrame(X, columns=names)
    model = MoERegressor(2, random_state=0).fit(frame, y)
    shown = ["a$b$", "<script>x</script>", "r_{1}^2 $\\frac$", "tab here\ufffd 漢"]
    for display in (
        plots.CoefficientsDisplay.from_estimator(model, **NUMBERS),
        plots.GateDisplay.from_estimator(model, frame, names[:2], grid_resolution=5, **NUMBERS),
        plots.ResponsibilityDisplay.from_estimator(model, frame, y, names[2], **NUMBERS),
    ):
        drawn = {e.text for e in ElementTree.fromstring(plots.to_svg(display)).iter(f"{SVG}text")}
        wanted = {
            "CoefficientsDisplay": shown,
            "GateDisplay": shown[:2],
            "ResponsibilityDisplay": shown[2:3],
        }[type(display).__name__]
        assert drawn.issuperset(wanted)


def test_svg_leaves_display_and_settings_and_closes_what_nobody_asked_for(model):
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    with mpl.rc_context({"text.color": "red"}):
        mine = plt.figure()
        kept = plots.TraceDisplay.from_estimator(model, ax=mine.subplots())
        opened = plots.TraceDisplay.from_estimator(model)
        figure = kept.figure_
        assert plots.to_svg(kept) == plots.to_svg(opened)
        assert mpl.rcParams["text.color"] == "red"
        assert kept.figure_ is figure is mine
        assert plt.get_fignums() == [mine.number]


def test_many_points_stay_a_small_string():
    X, y, _ = make_moe(3000, 2, 2, random_state=0)
    model = MoERegressor(2, random_state=0).fit(X, y)
    display = plots.ResponsibilityDisplay.from_estimator(model, X, y, 0, **NUMBERS)
    assert len(display.x) == 2000
    assert len(plots.to_svg(display)) < 200_000
