"""The report: what it says is true, and nothing in the data can become part of its markup."""

import base64
import hashlib
import json
import re
import sys

import pytest
from markupsafe import Markup
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

import skmoe
from report.pages import HOSTILE, Outline, problem, words_of
from skmoe import MoERegressor, report


@pytest.fixture(scope="module")
def hostile():
    X, y = problem(names=HOSTILE)
    fitted = MoERegressor(n_experts=2, random_state=0).fit(X, y)
    return report.html(fitted, X, y, title=HOSTILE[1], target=HOSTILE[0], test=problem(100, 1, HOSTILE))


def test_page_is_well_formed_and_accessible(model, data):
    outline = Outline(report.html(model, *data, test=problem(100, 1)))
    assert dict(outline.elements)["html"] == {"lang": "en"}
    for landmark in ("header", "main", "nav", "footer"):
        assert len(outline.all(landmark)) == 1
    assert outline.headings[0] == 1
    assert outline.headings.count(1) == 1
    assert all(after - before <= 1 for before, after in zip(outline.headings, outline.headings[1:], strict=False))
    ids = [attributes["id"] for _, attributes in outline.elements if "id" in attributes]
    assert len(set(ids)) == len(ids)
    for _, attributes in outline.elements:
        if attributes.get("href", "").startswith("#"):
            assert attributes["href"][1:] in ids
        for name in ("aria-labelledby", "for"):
            assert attributes.get(name, ids[0]) in ids


def test_page_loads_nothing(page):
    outside = re.findall(r"https?:[^\s\"']*", page)
    assert set(outside) <= {"http://www.w3.org/2000/svg"}  # a name, which nobody opens
    assert not re.search(r"@import|url\((?!#)|\bsrc=", page)
    for _, attributes in Outline(page).elements:
        assert attributes.get("href", "#").startswith(("#", "data:"))


def test_page_policy_names_the_script_that_is_there(model):
    page = report.html(model)
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(m["content"] for m in Outline(page).all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith(f"default-src 'none'; script-src 'sha256-{digest}';")


def test_page_cannot_be_injected_into(hostile):
    outline = Outline(hostile)
    assert len(outline.all("script")) == 2
    assert outline.all("img") == outline.all("b") == []
    for _, attributes in outline.elements:
        assert not any(name.startswith("on") for name in attributes)
    assert hostile.count("<!--") == 0
    text = "".join(outline.text)
    for name in HOSTILE:
        assert name in text
    data = json.loads(re.search(r'id="gate-data">(.*?)</script>', hostile, re.DOTALL)[1])
    assert {feature["name"] for feature in data} <= set(HOSTILE)


def test_page_says_what_was_asked(model, data):
    said = words_of(report.html(model, *data, title="Fields of 1996", target="harvest", folds=0))
    assert "Fields of 1996" in said
    assert "harvest rises by" in said
    for sentence in (*report.gate_in_words(model, data[0]), *report.experts_in_words(model, data[0], target="harvest")):
        assert sentence in said
    for _, finding, words in model.diagnose(*data).rows:
        assert finding in said
        assert words in said


def test_page_takes_the_targets_name_from_y(page, model, data):
    assert "Regimes of yield<" in page
    assert "Regimes of y<" in report.html(model, data[0], data[1].to_numpy(), folds=0)


def test_page_without_rows_says_what_is_missing(model):
    said = words_of(report.html(model))
    assert "Written from the model alone." in said
    assert "none were given" in said
    assert all(sentence in said for sentence in report.gate_in_words(model))


def test_page_with_inputs_alone_shows_the_gate(model, data):
    page = report.html(model, data[0])
    assert 'id="gate-picture"' in page
    assert "Written without outputs." in page


def test_page_of_one_expert(one_expert, data):
    page = report.html(one_expert, *data, folds=2)
    said = words_of(page)
    assert "regimes, each" not in said
    assert "1 experts" not in said
    assert "There is one expert, and it holds everywhere." in said
    assert "One regime" in said
    assert 'id="gate-data"' not in page
    assert "start" not in said.replace("consistent start", "")


def test_page_without_standard_errors():
    X, y, _ = skmoe.make_moe(1500, 4, 2, random_state=0)
    fitted = MoERegressor(method="spectral", random_state=0).fit(X, y)
    said = words_of(report.html(fitted, X, y, folds=2))
    assert "This method gives no standard errors." in said
    assert "clear effect" not in said
    assert "nan" not in said
    assert all(sentence in said for sentence in report.gate_in_words(fitted, X))


def test_page_tells_how_the_number_was_chosen(data):
    fitted = MoERegressor(n_experts="auto", random_state=0).fit(*data)
    said = words_of(report.html(fitted, *data, folds=0))
    assert f"{fitted.n_experts_} were chosen" in said
    assert "compared by the log density of rows held out" in said


def test_page_without_matplotlib_says_so_and_keeps_the_rest(page, model, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    bare = report.html(model, *data, folds=0)
    assert "Written without matplotlib" in bare
    assert "Written without matplotlib" not in page
    assert bare.count("<svg") == 1  # the gate's own
    assert page.count("<svg") >= 7


def test_page_is_the_same_for_the_same_input(page, model, data):
    assert report.html(model, *data, folds=2) == page


def test_page_escapes_a_title_that_calls_itself_markup(model):
    page = report.html(model, title=Markup("<b>bold</b>"), target=Markup("<i>"))
    assert "<title>&lt;b&gt;bold&lt;/b&gt;</title>" in page
    assert "<i>" not in page


def test_page_on_disk_is_the_same_after_the_model_was_saved(page, model, data, tmp_path):
    model.save(tmp_path / "model.zip")
    path = report.write(skmoe.load(tmp_path / "model.zip"), tmp_path / "r.html", *data, folds=2)
    assert path == tmp_path / "r.html"
    assert path.read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    "settings",
    [
        {"gate_features": ["dose"], "expert_features": ["weight", "treated"], "noise": "per-expert"},
        {"method": "joint-em", "n_init": 2, "noise": 0.5, "fit_intercept": False},
    ],
)
def test_page_speaks_only_of_what_the_model_looks_at(data, settings):
    X, y = data[0].assign(same=1.0), data[1]
    fitted = MoERegressor(random_state=0, **settings).fit(X, y)
    page = report.html(fitted, X, y, folds=2)
    Outline(page)
    assert "same" not in "".join(report.gate_in_words(fitted, X) + report.experts_in_words(fitted, X))
    features = json.loads(re.search(r'id="gate-data">(.*?)</script>', page, re.DOTALL)[1])
    assert {f["name"] for f in features} <= set(settings.get("gate_features", set(X) - {"same"}))


def test_write_takes_names_that_no_file_can_hold(tmp_path):
    X, y = problem(names=["a\x00b", "bell \x07", "right-to-left \u202e", "new\nline"])
    fitted = MoERegressor(random_state=0).fit(X, y)
    path = report.write(fitted, tmp_path / "r.html", X, y, target="lone \ud800", folds=0)
    page = path.read_text(encoding="utf-8")
    Outline(page)
    assert not set("\x00\x07\u202e") & set(page)
    assert "\\u202e" not in page


def test_report_refuses_what_it_cannot_tell_of(model, data):
    X, y = data
    with pytest.raises(NotFittedError):
        report.html(MoERegressor())
    with pytest.raises(TypeError, match=r"fitted MoERegressor or MoEClassifier; got Pipeline .*last step"):
        report.html(make_pipeline(model))
    with pytest.raises(ValueError, match="y came without X"):
        report.html(model, y=y)
    with pytest.raises(ValueError, match="test must have outputs"):
        report.html(model, test=(X, None))
    for folds in (1, -1, 2.5):
        with pytest.raises(ValueError, match="folds must be 0, for none, or a whole number of at least 2"):
            report.html(model, X, y, folds=folds)
    with pytest.raises(ValueError, match=r"test must be a pair \(X, y\)"):
        report.html(model, X, y, test=X)
    with pytest.raises(ValueError, match="feature names"):
        report.html(model, X[["age", "dose", "weight", "treated"]], y)
