"""How a fit was found: every start has its mark, at its distance below the best on the same rows."""

import numpy as np
import pytest

from skmoe import plots
from streams import fitted, let_samples_be_small

NUMBERS = {"draw": False}  # numbers only


@pytest.fixture(scope="module")
def sampled(rows):
    """A fit of many rows, searched on a sample of them."""
    with pytest.MonkeyPatch.context() as patch:
        let_samples_be_small(patch)
        return fitted(*rows, n_init=4)


def test_trace_tells_the_history(model):
    display = plots.TraceDisplay.from_estimator(model, **NUMBERS)
    np.testing.assert_array_equal(display.log_likelihood, model.history_["objective"])
    assert display.winner == model.history_["winner"]
    assert display.agreement == model.history_["agreement"]
    records = model.history_["starts"]
    assert list(zip(display.starts, display.stages, strict=True)) == [(name, stage) for name, _, stage in records]
    finished = [i for i, record in enumerate(records) if record[2] == "all rows"]
    best = max(records[i][1] for i in finished)
    np.testing.assert_allclose(display.shortfall[finished], [best - records[i][1] for i in finished])


def test_choice_and_spectrum_tell_the_history(model, auto):
    choice = plots.ChoiceDisplay.from_estimator(auto, **NUMBERS)
    shown = zip(choice.n_experts, choice.values, choice.errors, strict=True)
    assert [(int(k), held, error) for k, held, error in shown] == auto.history_["held_out"]
    assert choice.criterion == "held-out"
    assert choice.chosen == choice.n_experts[np.argmax(choice.values)] == auto.n_experts_
    spectrum = plots.SpectrumDisplay.from_estimator(model, **NUMBERS)
    np.testing.assert_array_equal(spectrum.spectrum, model.history_["spectrum"])
    assert spectrum.noise_level == model.history_["noise_level"]
    assert spectrum.n_experts == 2


@pytest.mark.parametrize("criterion", ["bic", "icl"])
def test_choice_by_a_criterion_tells_the_history(auto, criterion):
    choice = plots.ChoiceDisplay.from_estimator(auto, criterion)
    assert [(int(k), b) for k, b in zip(choice.n_experts, choice.values, strict=True)] == auto.history_[criterion]
    assert choice.errors is None
    assert choice.ax_.get_ylabel() == f"{criterion.upper()} (smaller is better)"


def test_choice_draws_standard_errors(auto):
    display = plots.ChoiceDisplay.from_estimator(auto)
    (bars,) = display.ax_.collections
    heights = [abs(float(np.diff(segment[:, 1])[0])) / 2 for segment in bars.get_segments()]
    np.testing.assert_allclose(heights, display.errors, atol=1e-12)


def test_choice_refuses_unknown_criteria(auto):
    with pytest.raises(ValueError, match="criterion must be one of 'held-out', 'bic', 'icl'; got 'aic'"):
        plots.ChoiceDisplay.from_estimator(auto, "aic", **NUMBERS)


def test_every_start_of_a_sampled_search_is_marked(sampled):
    display = plots.TraceDisplay.from_estimator(sampled)
    assert set(display.stages) == {"race", "subsample", "sample", "all rows"}
    right = display.axes_[1]
    marked = sorted(place for line in right.get_lines() for place in line.get_ydata())
    assert marked == list(range(len(display.starts)))
    legend = [text.get_text() for text in right.get_legend().get_texts()]
    assert sorted(legend) == ["dropped early", "on a sample", "on all rows", "on some rows"]
    looks = [(line.get_marker(), line.get_color()) for line in right.get_lines()]
    assert len(set(looks)) == 4


def test_starts_are_compared_on_the_same_rows(sampled):
    display = plots.TraceDisplay.from_estimator(sampled, **NUMBERS)
    values = {"sample": [], "all rows": [], "part": []}
    for _, value, stage in sampled.history_["starts"]:
        values[stage if stage in values else "part"].append(value)
    for (_, value, stage), below in zip(sampled.history_["starts"], display.shortfall, strict=True):
        best = max(values[stage if stage in values else "part"])
        assert below == pytest.approx(best - value, abs=1e-15)


def test_trace_draws_what_there_is(spectral):
    display = plots.TraceDisplay.from_estimator(spectral)
    assert [text.get_text() for text in display.axes_[1].texts] == ["one start: nothing to compare"]
    display.log_likelihood = np.array([])
    assert [text.get_text() for text in display.plot().ax_.texts] == ["no steps were recorded"]
