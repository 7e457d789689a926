"""Templates escape what they print, refuse what is missing, and embed data that cannot end a script."""

import json
import re
from importlib import resources

import numpy as np
import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from report.pages import HOSTILE
from skmoe.report.records import Block, Figure, Number, Table, expert_style
from skmoe.report.rendering import environment, plain

TEMPLATES = [path for path in resources.files("skmoe.report").joinpath("templates").iterdir() if path.is_file()]


def printed(value):
    return environment().from_string("{{ value }}").render(value=value)


def table(*arguments):
    template = environment().from_string('{% from "macros.html.j2" import table %}{{ table(value) }}')
    return template.render(value=Table(*arguments))


def test_text_is_escaped_and_markup_is_not():
    assert printed("<b>\"'&") == "&lt;b&gt;&#34;&#39;&amp;"
    assert printed(Markup("<b>")) == "<b>"


def test_text_that_calls_itself_html_is_escaped():
    class Sly(str):
        def __html__(self):
            return str(self)

    assert printed(Sly("<b>")) == "&lt;b&gt;"


@pytest.mark.parametrize("character", ["\ud800", "\x00", "\x07", "\x1b", "\x7f", "\x85", "\u202e", "\u2066"], ids=ascii)
def test_text_loses_characters_that_a_page_cannot_hold(character):
    assert plain(f"a{character}b") == printed(f"a{character}b") == "a\ufffdb"


def test_text_keeps_what_is_harmless():
    assert plain("a\tb\nc − é 数 ∞") == "a\tb\nc − é 数 ∞"


def test_missing_names_and_none_are_refused():
    for template in ("{{ nothing }}", "{{ value.nothing }}", "{% if nothing %}{% endif %}"):
        with pytest.raises(UndefinedError):
            environment().from_string(template).render(value=Number(1.0))
    with pytest.raises(TypeError, match="printed None"):
        printed(None)


def test_embedded_data_survive_hostile_text_and_come_back():
    data = [*HOSTILE, "<!--", "]]>"]
    inside = environment().from_string("{{ data|tojson }}").render(data=data)
    assert not set("<>&") & set(inside)
    assert json.loads(inside) == data


def test_embedded_data_hold_no_unfit_characters_and_no_nan():
    template = environment().from_string("{{ data|tojson }}")
    assert json.loads(template.render(data={"a\u202e": ("b\x00", 1.5)})) == {"a\ufffd": ["b\ufffd", 1.5]}
    with pytest.raises(ValueError, match="JSON compliant"):
        template.render(data=[float("nan")])


def test_table_marks_what_sorts_by_number():
    made = table("A caption", ("name", "size"), (("<x>", Number(1234.5)), ("b", Number(np.nan))))
    assert '<td class="number" data-value="1234.5">1,230</td>' in made
    assert '<td class="number" data-value="">–</td>' in made
    assert '<th scope="row">&lt;x&gt;</th>' in made
    assert '<th scope="col">name</th><th scope="col" class="number">size</th>' in made


def test_table_shows_details_and_mutes_what_is_not_clear():
    made = table("A caption", ("name", "size"), (("a", Number(1.0, detail="−1 to 3", muted=True)),))
    assert '<td class="number muted" data-value="1.0">1.00 <small>−1 to 3</small></td>' in made


def test_table_without_rows_has_its_headings():
    assert '<th scope="col">name</th>' in table("A caption", ("name",), ())


def test_figure_keeps_its_svg_and_escapes_its_caption():
    template = environment().from_string('{% from "macros.html.j2" import figure %}{{ figure(value) }}')
    made = template.render(value=Figure(Markup("<svg></svg>"), "a < b", width=3.0))
    assert "<svg></svg>" in made
    assert "<figcaption>a &lt; b</figcaption>" in made
    assert "scroll" not in made
    assert "scroll" in template.render(value=Figure(Markup("<svg></svg>"), "a < b"))


def test_experts_have_colours_of_their_own_up_to_seven():
    assert [expert_style(i) for i in (0, 6, 7, 8)] == ["e1", "e7", "e1 dashed", "e2 dashed"]


def test_every_kind_of_block_has_a_macro():
    assert {path.name for path in TEMPLATES} == set(environment().list_templates())
    macros = environment().get_template("macros.html.j2").module
    assert all(callable(getattr(macros, kind.__name__.lower())) for kind in Block.__subclasses__())


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_templates_compile_and_leave_escaping_to_the_environment(path):
    environment().get_template(path.name)
    text = path.read_text("utf-8")
    assert not re.search(r"\|\s*(safe|e|escape|forceescape|xmlattr|urlize)\b|autoescape|\braw\b", text)
    assert not re.search(r"https?:|\bon\w+=|javascript:", text)


def test_script_cannot_end_its_own_element():
    script = resources.files("skmoe.report").joinpath("page.js").read_text("utf-8")
    assert "</" not in script
    assert "<!--" not in script
    assert "innerHTML" not in script
