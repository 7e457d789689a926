"""Fits in extreme units: what is kept of them, the page, and that a case that goes wrong is seen."""

import json

import numpy as np

from benchmarks.reliability import extremes
from skmoe import MoERegressor

ROWS = json.loads(extremes.RESULTS.read_text())


def test_every_case_is_the_same_or_refused():
    expected = {(method, case.name) for method in extremes.METHODS for case in extremes.cases()}
    assert {(row["method"], row["case"]) for row in ROWS} == expected
    assert len(ROWS) == len(expected)
    assert {row["outcome"] for row in ROWS} == {"same", "refused"}


def test_page_shows_the_results_that_are_kept():
    assert extremes.counts(ROWS) in extremes.PAGE.read_text()


def test_wrong_numbers_and_raw_errors_are_seen(monkeypatch):
    case = extremes.Case("y x 1e100", y_scale=1e100)
    assert extremes.outcome(case, {"n_experts": 1})[0] == "same"
    whole = MoERegressor.predict
    monkeypatch.setattr(MoERegressor, "predict", lambda self, X: whole(self, X) * (1 + 1e-5 * (np.max(X) > 1e50)))
    far = extremes.Case("X x 1e100", scale=1e100)
    assert extremes.outcome(far, {"n_experts": 1})[0] == "differs"

    def fails(*_):
        raise ValueError("array must not contain infs or NaNs")

    monkeypatch.setattr(MoERegressor, "predict", fails)
    assert extremes.outcome(far, {"n_experts": 1})[0] == "error"
