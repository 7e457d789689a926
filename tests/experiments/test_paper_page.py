"""docs/paper.md is what the results files say, numbers and words, and would say otherwise if they did."""

import copy
import re

import numpy as np
import pytest

from experiments import claims, page, tables, wording

VERDICTS = {"confirmed", "partly confirmed", "not confirmed", "corrected"}
# what the template may state itself: numbers of the paper, of mathematics, and names
NUMBERED = "figures?|tables?|theorems?|equations?|lemmas?|algorithm|assumption|condition"
OWN = (
    r"both 0\.5, as in figure 4, and 0\.1|steps of size 0\.05",
    rf"(?i)\b({NUMBERED}) \d\w*((, | and | to )\d\w*)*",
    r"\b[TSP][123]\b|ICML\n2019|stage1\.md|figure[3-6]\.svg",
    r"\(-1, 1\)|= 1/2 \+|1/λ|= 0:|φ\(0\)",
)


@pytest.fixture(scope="module")
def results():
    return tables.load()


@pytest.fixture
def changed(results):
    """Results that a test may alter."""
    return copy.deepcopy(results)


def test_page_is_what_the_results_say(results):
    assert page.PAGE.read_text() == page.render(results), "run make reproduce ONLY=page"


def test_template_states_no_number_of_its_own():
    text = (page.PAGE.parents[1] / "experiments" / page.TEMPLATE).read_text()
    for stripped in (r"\{%.*?%\}", r"\{\{.*?\}\}", r"(?s)```.*?```", *OWN):
        text = re.sub(stripped, "", text)
    left = [line for line in text.splitlines() if re.search(r"\d", line)]
    assert left == []


def test_every_verdict_is_one_of_a_few_words(results):
    assert set(claims.verdicts(results).values()) <= VERDICTS


def test_every_claim_names_its_place_by_the_pdfs_numbers(results):
    places = {row[0] for row in claims.grid(results).rows}
    pattern = r"(table|figures?|theorem|equation|lemma|remark|sections?|appendi\w+|example|Algorithm)"
    for place in places:
        assert re.match(pattern + r" [\dA-H]", place), place


def test_page_needs_every_experiment(results):
    with pytest.raises(ValueError, match="make reproduce ONLY='figure6'"):
        page.render({name: found for name, found in results.items() if name != "figure6"})


def set_in_figure_3(results, method, **values):
    for setting in ("b, k = 3", "c, k = 4"):
        for trial in results["figure3"].trials[setting]:
            trial[method] = trial[method] | values


def test_verdict_on_figure_3_follows_the_errors(changed):
    set_in_figure_3(changed, "joint EM", final=1e-6)
    assert claims.verdicts(changed)["figure_3"] == "not confirmed"
    set_in_figure_3(changed, "joint EM", final=1e6)
    assert claims.verdicts(changed)["figure_3"] == "confirmed"


def test_verdict_on_iterations_follows_both_paths(changed):
    slow = {"error": [9.0] * 40 + [1.0], "every": 1, "final": 1.0}
    set_in_figure_3(changed, "joint EM", **slow)
    assert claims.verdicts(changed)["fewer_than_joint_em"] == "confirmed"
    for method in ("our two stages", "the paper's two stages"):
        set_in_figure_3(changed, method, **slow)
    after = claims.verdicts(changed)
    assert (after["fewer_than_joint_em"], after["few_iterations"]) == ("not confirmed", "not confirmed")


def test_words_on_a_real_table_follow_its_errors(changed):
    for error, word in ((0.001, "below"), (9.0, "above")):
        for trial in changed["figure6"].trials["concrete"]:
            trial["our two stages"]["mse"] = error
        said = re.search(r"\*our two stages\* are (.*)", page.render(changed))[1]
        assert re.search(rf"{word} on [^,;.]*concrete|{word} on (\w+,? )*(and )?concrete", said)


def test_default_fit_that_misses_is_said(changed):
    found = changed["scaling-panel"]
    for trials in found.trials.values():
        for trial in trials:
            trial["default fit"]["log_likelihood"] = 1e3
    assert f"start, in all {len(found.settings)} settings" in page.render(changed)
    found.trials["k = 2"][0]["default fit"]["log_likelihood"] = -1e3
    assert f"start, in {len(found.settings) - 1} of {len(found.settings)} settings" in page.render(changed)


def test_new_column_of_a_table_is_shown(changed):
    for name in ("table1", "table2"):
        for trials in changed[name].trials.values():
            for trial in trials:
                trial["another"] = dict(trial["default"])
    grid = tables.grids(changed)["table1"]
    assert grid.columns[-1] == "another"
    assert "another" in page.render(changed)


@pytest.mark.parametrize(
    ("name", "setting", "key", "value", "verdict"),
    [
        ("self_consistency", "self-consistency, k = 3", "score, linear", 20.0, "partly confirmed"),
        ("contraction", "contraction, k = 4", "relu, free gate", [1.5] * 5, "partly confirmed"),
        ("any_start", "global start, k = 3, relu", "spread", [1.0] * 4, "partly confirmed"),
        ("theorem_1", "tensor bias, k = 4", "T3, relu, orthogonal gate", 30.0, "partly confirmed"),
        ("moment_sign", "moment gate", "cosine, orthogonal gate", 1.0, "confirmed"),
    ],
)
def test_verdict_on_theory_follows_its_numbers(changed, name, setting, key, value, verdict):
    assert claims.verdicts(changed)[name] != verdict
    for trial in changed["theory"].trials[setting]:
        trial[key] = value
    assert claims.verdicts(changed)[name] == verdict


def test_words_follow_a_paired_test():
    rng = np.random.default_rng(0)
    first = rng.standard_normal(30)
    assert wording.against(first, first + 1) == "below"
    assert wording.against(first, first - 1) == "above"
    assert wording.against(first, first + 0.01 * rng.standard_normal(30)) == "no different from"


def test_spans_and_lists_read_well():
    assert wording.span([0.2, 0.201]) == "0.20"
    assert wording.span([1, 3], "d") == "1 to 3"
    assert wording.joined(["a"]) == "a"
    assert wording.joined(["a", "b", "c"]) == "a, b and c"
    assert wording.number(-0.0001, ".2f") == "0.00"
