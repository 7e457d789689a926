"""The report: what it says is true, and nothing in the data can become part of its markup."""

import json
import re
import sys
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline

import skmoe
from skmoe import MoERegressor, report
from skmoe.report.markup import Number, Safe, clean, embed, table, tag
from skmoe.report.numbers import Rows, gate_curves, qualities
from skmoe.report.pictures import gate_picture, ticks
from skmoe.report.words import contrast, interval, listed, percent, three

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", '"><b>', "$\\frac{$ &amp; <!--"]
EMPTY = {"meta", "link", "img", "br"}


def problem(n=600, seed=0, names=("dose", "age", "weight", "treated")):
    """Expert 'up' where dose is high, 'down' where it is low; a second, weaker pull of age the other way."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)) * [2.0, 10.0, 1.0, 1.0]
    X[:, 3] = rng.random(n) < 0.5
    up = rng.random(n) < 1 / (1 + np.exp(-(1.5 * X[:, 0] - 0.15 * X[:, 1])))
    y = np.where(up, 3.0 * X[:, 2] + 5.0, -2.0 * X[:, 2] - 5.0 + 4.0 * X[:, 3]) + 0.5 * rng.normal(size=n)
    return pd.DataFrame(X, columns=list(names)), pd.Series(y, name="yield")


def up_expert(model):
    return int(np.argmax(model.expert_coef_[:, 2]))


@pytest.fixture(scope="module")
def data():
    return problem()


@pytest.fixture(scope="module")
def model(data):
    return MoERegressor(n_experts=2, random_state=0).fit(*data)


@pytest.fixture(scope="module")
def page(model, data):
    return report.html(model, *data)


@pytest.fixture(scope="module")
def hostile():
    X, y = problem(names=HOSTILE)
    fitted = MoERegressor(n_experts=2, random_state=0).fit(X, y)
    return report.html(fitted, X, y, title=HOSTILE[1], target=HOSTILE[0], test=problem(100, 1, HOSTILE))


class Outline(HTMLParser):
    """Elements of a page, and whether they are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.text, self.headings = [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))
        if name not in EMPTY:
            self.open.append(name)
        if re.fullmatch(r"h[1-6]", name):
            self.headings.append(int(name[1]))

    def handle_startendtag(self, name, attributes):
        self.elements.append((name, dict(attributes)))

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, text):
        if self.open and self.open[-1] not in ("script", "style"):
            self.text.append(text)

    def all(self, name):
        return [attributes for element, attributes in self.elements if element == name]


def words_of(page):
    return " ".join("".join(Outline(page).text).split())


# -- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.14159, "3.14"),
        (-0.012345, "−0.0123"),
        (1234567.0, "1,230,000"),
        (999.6, "1,000"),
        (0.0, "0"),
        (float("nan"), "–"),
        (float("-inf"), "−∞"),
        (1.234e-9, "1.23e−09"),
        (0.09999, "0.100"),
    ],
)
def test_three_keeps_three_digits(value, text):
    assert three(value) == text


def test_percent_never_rounds_to_nothing_or_all():
    assert [percent(v) for v in (0.0, 0.001, 0.364, 0.999, 1.0)] == ["0%", "under 1%", "36%", "over 99%", "100%"]


def test_interval_is_left_out_without_an_error():
    assert interval(2.0, 0.5) == "2.00 (1.02 to 2.98)"
    assert interval(2.0, np.nan) == interval(2.0, 0.0) == "2.00"


def test_listed_joins_as_a_sentence_does():
    assert [listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_gate_in_words_has_the_right_direction(model, data):
    said = report.gate_in_words(model, data[0])
    i = up_expert(model)
    assert len(said) == 2
    assert said[i].startswith(f"Expert {i + 1} takes over from expert {2 - i} as dose grows")
    assert said[1 - i].startswith(f"Expert {2 - i} takes over from expert {i + 1} as dose falls")
    assert "as age falls" in said[i]
    assert "as age grows" in said[1 - i]
    assert "weight" not in "".join(said)  # it has nothing to do with the gate


def test_gate_in_words_without_rows_names_the_same_inputs(model, data):
    i = up_expert(model)
    said = report.gate_in_words(model)[i]
    assert said == f"Expert {i + 1} takes over from expert {2 - i} as dose grows and as age falls."


def test_gate_in_words_does_not_depend_on_units(data):
    X, y = data
    scaled = X * [1e-3, 1e4, 1.0, 1.0]
    first, second = (MoERegressor(random_state=0).fit(Z, y) for Z in (X, scaled))
    bare = [re.sub(r" \(.*?\)", "", s) for s in report.gate_in_words(first, X)]
    assert bare == [re.sub(r" \(.*?\)", "", s) for s in report.gate_in_words(second, scaled)]


def test_gate_in_words_speaks_of_values_where_there_are_two():
    rng = np.random.default_rng(3)
    X = pd.DataFrame({"member": (rng.random(800) < 0.4) * 1.0, "size": rng.normal(size=800)})
    up = rng.random(800) < np.where(X["member"] == 1, 0.9, 0.1)
    y = np.where(up, 3 * X["size"] + 4, -3 * X["size"] - 4) + 0.3 * rng.normal(size=800)
    fitted = MoERegressor(random_state=0).fit(X, y)
    i = int(np.argmax(fitted.expert_coef_[:, 1]))
    slope, reach = contrast(fitted, i)[0][0], 1.96 * contrast(fitted, i)[1][0]
    odds, low, high = (three(np.exp(slope + part)) for part in (0, -reach, reach))
    said = report.gate_in_words(fitted, X)
    assert f"where member is 1 rather than 0 (odds {odds} times as high; {low} to {high})" in said[i]
    assert f"where member is 0 rather than 1 (odds {odds} times" in said[1 - i]


def test_contrast_of_two_is_the_difference_of_gate_coefficients(model):
    value, error = contrast(model, 0)
    np.testing.assert_allclose(value, model.gate_coef_[0] - model.gate_coef_[1])
    np.testing.assert_allclose(error, model.gate_coef_se_[0], rtol=1e-6)
    np.testing.assert_allclose(contrast(model, 1)[0], -value)


def test_contrast_of_three_is_the_slope_of_the_log_odds_at_the_shares():
    X, y, _ = skmoe.make_moe(1500, 3, 3, random_state=1)
    fitted = MoERegressor(n_experts=3, random_state=0).fit(X, y)
    shares = fitted.shares_ / fitted.shares_.sum()
    step = 1e-6
    for i in range(3):
        for j in range(3):
            P = [shares * np.exp(sign * step * fitted.gate_coef_[:, j]) for sign in (-1, 1)]
            odds = [np.log(p[i] / (p.sum() - p[i])) for p in P]
            assert contrast(fitted, i)[0][j] == pytest.approx((odds[1] - odds[0]) / (2 * step), rel=1e-5, abs=1e-6)


def test_experts_in_words_give_slopes_with_intervals(model, data):
    i = up_expert(model)
    said = report.experts_in_words(model, data[0], target="yield")
    slope, error = model.expert_coef_[i, 2], model.expert_coef_se_[i, 2]
    assert f"yield rises by {interval(slope, error)} per unit of weight" in said[i]
    slope, error = -model.expert_coef_[1 - i, 2], model.expert_coef_se_[1 - i, 2]
    assert f"falls by {interval(slope, error)} per unit of weight" in said[1 - i]
    assert "higher where treated is 1 rather than 0" in said[1 - i]
    assert said[0].startswith(f"Expert 1, {percent(model.shares_[0])} of the rows: ")


def test_experts_in_words_count_clear_effects_that_are_not_named():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2000, 6))
    y = X @ [5.0, 4.0, 3.0, 2.0, 0.1, 0.0] + 0.2 * rng.normal(size=2000)
    fitted = MoERegressor(n_experts=1).fit(X, y)
    assert abs(fitted.expert_coef_[0, 5]) < 1.96 * fitted.expert_coef_se_[0, 5]
    assert "of x2; 2 more inputs have a clear effect." in report.experts_in_words(fitted, X)[0]


def test_experts_in_words_say_a_verb_once_in_a_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    fitted = MoERegressor(n_experts=1).fit(X, X @ [3.0, 2.0, -1.0] + 0.1 * rng.normal(size=300))
    said = re.sub(r"[-−\d.]+ \(.*?\)", "#", report.experts_in_words(fitted, X)[0])
    assert "y rises by # per unit of x0, by # per unit of x1 and falls by # per unit of x2." in said


def test_experts_in_words_of_a_curved_expert_speak_of_its_index():
    X, y, _ = skmoe.make_moe(800, 3, 2, activation="sigmoid", noise_scale=0.05, random_state=0)
    fitted = MoERegressor(activation="sigmoid", random_state=0).fit(X, y)
    assert all("the index inside its sigmoid" in s for s in report.experts_in_words(fitted, X))


# -- numbers ----------------------------------------------------------------------------------------------------------


def test_qualities_agree_with_the_model_and_least_squares(model, data):
    (X, y), held_out = data, problem(200, 5)
    found = qualities(model, Rows.of(model, X, y), Rows.of(model, *held_out))
    line = LinearRegression().fit(X, y)
    assert [(q.rows, q.n) for q in found] == [("given", 600)] * 2 + [("held-out", 200)] * 2
    assert found[0].r2 == pytest.approx(model.score(X, y))
    assert found[2].r2 == pytest.approx(r2_score(held_out[1], model.predict(held_out[0])))
    assert found[3].r2 == pytest.approx(r2_score(held_out[1], line.predict(held_out[0])))
    low, high = model.predict_interval(held_out[0], coverage=0.9).T
    assert found[2].inside_most == pytest.approx(np.mean((held_out[1] >= low) & (held_out[1] <= high)))
    assert found[2].width == pytest.approx(np.median(high - low))


def test_gate_curves_are_the_models_probabilities(model, data):
    X, _ = data
    curves = gate_curves(model, X.to_numpy())
    assert [c.name for c in curves[:2]] == ["dose", "age"]
    moved = X.iloc[np.linspace(0, len(X) - 1, 300).astype(int)].copy()
    moved["age"] = curves[1].grid[30]
    np.testing.assert_allclose(curves[1].curves[:, 30], model.gate_proba(moved).mean(axis=0), rtol=1e-12)


def test_gate_curves_are_at_most_twenty_and_leave_out_constant_inputs():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 24))
    X[:, 0] = 1.0
    y = np.where(rng.random(900) < 1 / (1 + np.exp(-2 * X[:, 1])), 3 * X[:, 2], -3 * X[:, 2] + 1)
    fitted = MoERegressor(random_state=0).fit(X, y + 0.3 * rng.normal(size=900))
    curves = gate_curves(fitted, X)
    assert len(curves) == 20
    assert curves[0].column == 1
    assert 0 not in [curve.column for curve in curves]


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-3.2, 4.1), (3.0, 363.8), (1e5, 1e5 + 1), (-1e-9, 2e-9)])
def test_ticks_are_inside_apart_and_say_their_value(low, high):
    values, texts = ticks(low, high)
    assert 3 <= len(values) <= 8
    slack = 1e-6 * (high - low)
    assert all(low - slack <= v <= high + slack for v in values)
    assert len(set(texts)) == len(texts)
    read = [float(text.replace("−", "-").replace(",", "")) for text in texts]
    np.testing.assert_allclose(read, values, atol=0.01 * (high - low))


# -- markup -----------------------------------------------------------------------------------------------------------


def test_clean_escapes_all_but_markup():
    assert clean("<b>\"'&") == "&lt;b&gt;&quot;&#x27;&amp;"
    assert clean(Safe("<b>")) == "<b>"
    assert tag("p", "<i>", title='"') == '<p title="&quot;">&lt;i&gt;</p>'
    assert clean("lone \ud800 surrogate") == "lone \ufffd surrogate"


def test_embed_survives_hostile_text_and_comes_back():
    script = embed("x", HOSTILE)
    inside = re.fullmatch(r'<script type="application/json" id="x">(.*)</script>', script)[1]
    assert not set("<>&") & set(inside)
    assert json.loads(inside) == HOSTILE


def test_table_marks_what_sorts_by_number():
    made = table("A caption", ["name", "size"], [["<x>", Number(1234.5)], ["b", Number(np.nan)]])
    assert '<td class="number" data-value="1234.5">1,230</td>' in made
    assert '<td class="number" data-value="">–</td>' in made
    assert '<th scope="row">&lt;x&gt;</th>' in made


# -- page -------------------------------------------------------------------------------------------------------------


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
    import base64
    import hashlib

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
    said = words_of(report.html(model, *data, title="Fields of 1996", target="harvest"))
    assert "Fields of 1996" in said
    assert "harvest rises by" in said
    for sentence in (*report.gate_in_words(model, data[0]), *report.experts_in_words(model, data[0], target="harvest")):
        assert sentence in said
    for _, finding, words in model.diagnose(*data).rows:
        assert finding in said
        assert words in said


def test_page_takes_the_targets_name_from_y(page, model, data):
    assert "Regimes of yield<" in page
    assert "Regimes of y<" in report.html(model, data[0], data[1].to_numpy())


def test_page_without_rows_says_what_is_missing(model):
    said = words_of(report.html(model))
    assert "Written from the model alone." in said
    assert "none were given" in said
    assert all(sentence in said for sentence in report.gate_in_words(model))


def test_page_with_inputs_alone_shows_the_gate(model, data):
    page = report.html(model, data[0])
    assert 'id="gate-picture"' in page
    assert "Written without outputs." in page


def test_page_of_one_expert(data):
    fitted = MoERegressor(n_experts=1, random_state=0).fit(*data)
    page = report.html(fitted, *data)
    said = words_of(page)
    assert "There is one expert, and it holds everywhere." in said
    assert "One regime" in said
    assert 'id="gate-data"' not in page


def test_page_without_standard_errors():
    X, y, _ = skmoe.make_moe(1500, 4, 2, random_state=0)
    fitted = MoERegressor(method="spectral", random_state=0).fit(X, y)
    said = words_of(report.html(fitted, X, y))
    assert "This method gives no standard errors." in said
    assert "directions are not tested" in said
    assert "clear effect" not in said
    assert "nan" not in said
    assert all(sentence in said for sentence in report.gate_in_words(fitted, X))


def test_page_tells_how_the_number_was_chosen(data):
    fitted = MoERegressor(n_experts="auto", random_state=0).fit(*data)
    said = words_of(report.html(fitted, *data))
    assert f"{fitted.n_experts_} had the smallest BIC" in said


def test_page_without_matplotlib_says_so_and_keeps_the_rest(page, model, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    bare = report.html(model, *data)
    assert "Written without matplotlib" in bare
    assert "Written without matplotlib" not in page
    assert bare.count("<svg") == 1  # the gate's own
    assert page.count("<svg") >= 7


def test_page_on_disk_is_the_same_after_the_model_was_saved(page, model, data, tmp_path):
    model.save(tmp_path / "model.zip")
    path = report.write(skmoe.load(tmp_path / "model.zip"), tmp_path / "r.html", *data)
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
    page = report.html(fitted, X, y)
    Outline(page)
    assert "same" not in "".join(report.gate_in_words(fitted, X) + report.experts_in_words(fitted, X))
    features = json.loads(re.search(r'id="gate-data">(.*?)</script>', page, re.DOTALL)[1])
    assert {f["name"] for f in features} <= set(settings.get("gate_features", set(X) - {"same"}))


def test_write_takes_names_that_no_file_can_hold(tmp_path):
    X, y = problem(names=["a\x00b", "bell \x07", "right-to-left \u202e", "new\nline"])
    fitted = MoERegressor(random_state=0).fit(X, y)
    path = report.write(fitted, tmp_path / "r.html", X, y, target="lone \ud800")
    page = path.read_text(encoding="utf-8")
    Outline(page)
    assert not set("\x00\x07\u202e") & set(page)
    assert "\\u202e" not in page


def test_report_refuses_what_it_cannot_tell_of(model, data):
    X, y = data
    with pytest.raises(NotFittedError):
        report.html(MoERegressor())
    with pytest.raises(TypeError, match=r"fitted MoERegressor; got Pipeline .*last step"):
        report.html(make_pipeline(model))
    with pytest.raises(ValueError, match="y came without X"):
        report.html(model, y=y)
    with pytest.raises(ValueError, match="pass X and y too"):
        report.html(model, test=(X, y))
    with pytest.raises(ValueError, match=r"test must be a pair \(X, y\)"):
        report.html(model, X, y, test=X)
    with pytest.raises(ValueError, match="feature names"):
        report.html(model, X[["age", "dose", "weight", "treated"]], y)


def test_gate_picture_is_drawn_without_the_script(model, data):
    picture = gate_picture(gate_curves(model, data[0].to_numpy()))
    features = json.loads(re.search(r'id="gate-data">(.*?)</script>', picture)[1])
    for path in features[0]["paths"]:
        assert f'<path d="{path}"' in picture
    assert 'class="control" hidden' in picture
